"""Summaries of whatever a trace may hold, in any order."""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from registry.documents.findings import RegistryError
from tests.simulators.commands import Done
from tests.simulators.nests import nested_trace
from tests.traces.summarised import CALLS, one_of, write
from tools.traces.summaries import Summary

Powerkit = Callable[..., Done]


def test_too_many_threads_are_refused(
    powerkit: Powerkit, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tools.traces.naming.THREADS", 10)
    calls = [{"ph": "X", "ts": 0, "dur": 1, "pid": 1, "tid": tid} for tid in range(11)]
    done = powerkit("trace", "summarize", write(tmp_path / "a.json", calls))
    assert done.code == 1
    assert "V030" in done.out
    assert "more than 10 threads" in done.out


@pytest.mark.parametrize(
    "events", [[], CALLS[:2]], ids=["nothing", "only metadata events"]
)
def test_a_trace_without_slices_is_an_empty_summary(
    powerkit: Powerkit, tmp_path: Path, events: list[dict[str, Any]]
) -> None:
    file = write(tmp_path / "a.json", events, traceName="t")
    one = one_of(powerkit("trace", "summarize", file, "--json", "--deep"))
    assert one["statistics"] == one["asynchronous"] == one["calls"] == []
    assert one["inputs"][0]["first_ns"] is None
    for form in ("table", "csv", "md"):
        assert powerkit("trace", "summarize", file, "-f", form, "--detailed").code == 0


def test_the_order_of_the_file_does_not_matter(
    powerkit: Powerkit, tmp_path: Path
) -> None:
    events = nested_trace(seed=3, threads=2, calls=60)
    first = write(tmp_path / "a.json", events)
    random.Random(4).shuffle(events)
    second = write(tmp_path / "b.json", events)
    one, other = (
        one_of(powerkit("trace", "summarize", file, "--json", "--deep"))
        for file in (first, second)
    )
    for key in ("statistics", "asynchronous", "calls", "instants"):
        assert one[key] == other[key]
    assert one["inputs"][0]["phases"] == other["inputs"][0]["phases"]


def test_the_same_text_in_every_process(tmp_path: Path) -> None:
    """Nothing may depend on the seed of hashes, or on the time."""
    file = write(tmp_path / "a.json", nested_trace(seed=3, threads=2, calls=60))
    command = (sys.executable, "-m", "tools", "trace", "summarize", file, "--detailed")
    texts = [
        subprocess.run(
            [*command, "--json"],
            env=os.environ | {"PYTHONHASHSEED": seed},
            capture_output=True,
            check=True,
        ).stdout
        for seed in ("1", "2")
    ]
    assert texts[0] == texts[1]
    assert json.loads(texts[0])["summaries"][0]["events"]


fields = st.sampled_from(["ph", "name", "cat", "ts", "dur", "pid", "tid", "id", "args"])
values = (
    st.sampled_from([*"BEXbeSFstfiCMn", "zz", "", "0x1", "1e5", "nan", None, {}, []])
    | st.integers(-(2**70), 2**70)
    | st.floats(allow_nan=False)
    | st.dictionaries(
        st.sampled_from(["name", "a", "value"]), st.integers() | st.text()
    )
)


@settings(max_examples=50, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.lists(st.dictionaries(fields, values) | st.sampled_from([5, "text"])),
    st.integers(0, 300),
    st.binary(max_size=3),
)
def test_whatever_is_in_a_trace_is_summed_up_or_refused(
    tmp_path: Path, events: list[Any], at: int, noise: bytes
) -> None:
    data = json.dumps({"traceEvents": events}).encode()
    file = tmp_path / "fuzz.json"
    file.write_bytes(data[:at] + noise + data[at:] if noise else data)
    summary = Summary(tree=True)
    try:
        summary.add(file)
    except RegistryError:  # anything else fails the test
        return
    for asynchronous in (False, True):
        for row in summary.statistics(asynchronous=asynchronous):
            assert 0 <= row.self <= row.total
            assert 0 <= row.incomplete <= row.count
    assert summary.calls() is not None
