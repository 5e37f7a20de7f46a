"""Any text of an option gives a value or findings, and values keep their bounds."""

from __future__ import annotations

import math

from hypothesis import given
from hypothesis import strategies as st

from tests.load.outcomes import outcome
from tools.load import arrivals, popularity
from tools.load.arrivals import parse_arrivals
from tools.load.popularity import parse_popularity

NUMBERS = st.sampled_from(
    ["1", "0", "-1", "nan", "inf", "-inf", "1e400", "1e-400", "٣", "1_0", "", " 2 "]
) | st.floats().map(str)


def texts(kinds: list[str], names: list[str]) -> st.SearchStrategy[str]:
    """Texts that are nearly right."""
    value = st.tuples(st.sampled_from([*names, "x", ""]), NUMBERS).map("=".join)
    part = NUMBERS | value | st.text(max_size=5)
    return st.tuples(
        st.sampled_from(kinds) | st.text(max_size=6),
        st.sampled_from(["", ":", ":", ":", "::"]),
        st.lists(part, max_size=4).map(",".join),
    ).map("".join)


def parameters(kinds: dict[str, tuple[popularity.Parameter, ...]]) -> list[str]:
    return sorted({one.name for known in kinds.values() for one in known})


@given(
    text=texts(
        [*popularity.KINDS, "exp", "weights"], parameters(dict(popularity.KINDS))
    )
    | st.text()
)
def test_texts_of_popularity(text: str) -> None:
    found, findings = outcome(lambda: parse_popularity(text))
    assert (found is None) is bool(findings)
    if found is not None and found.file is None:
        known = {one.name: one for one in popularity.KINDS[found.kind]}
        assert found.values.keys() == known.keys()
        for name, value in found.values.items():
            assert math.isfinite(value)
            assert value >= known[name].least


@given(
    text=texts([*arrivals.KINDS, "trace"], parameters(dict(arrivals.KINDS))) | st.text()
)
def test_texts_of_arrivals(text: str) -> None:
    found, findings = outcome(lambda: parse_arrivals(text))
    assert (found is None) is bool(findings)
    if found is not None and found.replay is None:
        for value in found.values.values():
            assert not math.isnan(value)
            assert value >= 0
