"""Any events at all are filtered, drawn, converted or refused: no error of ours."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hypothesis import given, settings
from hypothesis import strategies as st

from registry.documents.findings import RegistryError
from tools.traces.converting import convert_trace
from tools.traces.filtering import filter_trace
from tools.traces.filtering_conditions import Conditions
from tools.traces.forms import Form, Source
from tools.traces.imports.importing import import_trace
from tools.traces.viewing import view_trace

if TYPE_CHECKING:
    from collections.abc import Callable

    import pytest

small = st.integers(-3, 30)
odd = (
    st.none()
    | st.booleans()
    | st.floats()
    | st.integers(-(1 << 70), 1 << 70)
    | st.text(max_size=4)
    | st.lists(st.integers(), max_size=2)
    | st.dictionaries(st.sampled_from(["local", "name", "v"]), st.floats(), max_size=2)
)
event = st.fixed_dictionaries(
    {"ph": st.sampled_from("XXBEbeniICMstfNODPSTpFc") | odd},
    optional={
        "name": st.sampled_from(["a", "b", "process_name", "thread_name"]) | odd,
        "ts": small | st.floats(0, 30) | odd,
        "dur": small | odd,
        "pid": st.integers(0, 2) | odd,
        "tid": st.integers(0, 2) | odd,
        "id": st.integers(0, 2) | odd,
        "id2": odd,
        "cat": st.sampled_from(["c", "c,d"]) | odd,
        "args": odd,
        "bp": st.just("e") | odd,
        "scope": odd,
    },
)


def attempts(folder: Path) -> list[Callable[[], object]]:
    """Everything that is done with a trace, each into a file of its own."""
    path = folder / "a.json"
    conditions = Conditions(names=("a", "?"), start=0, end=20_000, shortest=1)
    return [
        lambda: filter_trace(path, folder / "f.json", Conditions()),
        lambda: filter_trace(path, folder / "g.json", conditions),
        lambda: view_trace(path, folder / "v.html", spans=5),
        lambda: import_trace(path, folder / "i.json", Source.TORCH),
        *(_conversion(path, form) for form in Form),
    ]


def _conversion(path: Path, form: Form) -> Callable[[], object]:
    return lambda: convert_trace(path, form, path.with_name(f"c.{form.value}"))


@settings(max_examples=25)
@given(st.lists(event, max_size=12))
def test_any_events_are_used_or_refused(
    tmp_path_factory: pytest.TempPathFactory, events: list[Any]
) -> None:
    folder = tmp_path_factory.mktemp("any")
    (folder / "a.json").write_text(json.dumps({"traceEvents": events}))

    refused = 0
    for attempt in attempts(folder):
        try:
            attempt()
        except RegistryError as error:
            refused += 1
            assert all(one.code[0] == "V" for one in error.findings)  # noqa: PT017
    names = {path.name for path in folder.iterdir()} - {"a.json"}
    assert len(names) == len(attempts(folder)) - refused
    assert not {name for name in names if name.endswith(".part")}


lines = st.one_of(
    st.text(max_size=40),
    st.builds(
        lambda key, value, time: (
            f':::MLLOG {{"key": "{key}", "value": {json.dumps(value)},'
            f' "time_ms": {json.dumps(time)}, "metadata": {{}}}}'
        ),
        st.sampled_from(["power_begin", "power_end", "generated_query_count", "x"]),
        st.sampled_from(["11-30-2026 13:29:26.614", "01-01-0001 00:00:00.0", 5, None]),
        st.floats() | st.integers() | st.text(max_size=3),
    ),
)


@settings(max_examples=60)
@given(st.lists(lines, max_size=8))
def test_any_detail_log_is_read_or_refused(
    tmp_path_factory: pytest.TempPathFactory, text: list[str]
) -> None:
    folder = tmp_path_factory.mktemp("log")
    log = "\n".join([":::MLLOG {}", *text]).encode("utf-8", "surrogatepass")
    (folder / "log.txt").write_bytes(log)
    try:
        account = import_trace(folder / "log.txt", folder / "t.json", Source.LOADGEN)
    except RegistryError as error:
        assert {one.code for one in error.findings} == {"V050"}  # noqa: PT017
    else:
        trace = json.loads((folder / "t.json").read_bytes())
        assert len(trace["traceEvents"]) == account.events
