"""Filters keep what they are asked for, and keep it whole."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from registry.documents.findings import RegistryError
from tests.simulators.small_traces import at, filtered, names, x
from tools.traces import filtering
from tools.traces.filtering import filter_trace
from tools.traces.filtering_conditions import Conditions, Patterns, nanoseconds_of
from tools.traces.forms import Source
from tools.traces.imports.importing import import_trace

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.simulators.commands import Done


def test_names_are_globs_of_the_whole_name(tmp_path: Path) -> None:
    events = [x("cudaMalloc", 0, 1), x("cudaFree", 2, 1), x("acudaMalloc", 4, 1)]

    assert names(filtered(tmp_path, events, names=("cuda*",))[1]) == [
        "cudaMalloc",
        "cudaFree",
    ]
    kept = filtered(tmp_path, events, names=("cuda*",), not_names=("*Free",))[1]
    assert names(kept) == ["cudaMalloc"]
    kept = filtered(tmp_path, events, names=("cudaFree", "a*"))[1]
    assert names(kept) == ["cudaFree", "acudaMalloc"]


def test_regular_expressions_match_anywhere(tmp_path: Path) -> None:
    events = [x("void gemm<float>(int)", 0, 1), x("relu", 2, 1), x("Gemm", 3, 1)]

    _, kept = filtered(tmp_path, events, names=("(?i)gemm",), regex=True)

    assert names(kept) == ["void gemm<float>(int)", "Gemm"]


@pytest.mark.parametrize("regex", [False, True])
def test_no_pattern_hangs(tmp_path: Path, *, regex: bool) -> None:
    pattern = "(a+)+$" if regex else "*a" * 100 + "*b"
    events = [x("a" * 5000 + "!", 0, 1)]

    _, kept = filtered(tmp_path, events, names=(pattern,), regex=regex)

    assert kept == []


@pytest.mark.parametrize(
    ("pattern", "said"), [("(a", "unclosed group"), ("(a{1000}){1000}", "size limit")]
)
def test_a_pattern_that_is_none_is_refused(
    tmp_path: Path, pattern: str, said: str
) -> None:
    with pytest.raises(RegistryError) as refused:
        filtered(tmp_path, [x("a", 0, 1)], names=(pattern,), regex=True)

    one = refused.value.findings[0]
    assert (one.code, one.path) == ("V055", "--name")
    assert said in one.what
    assert not (tmp_path / "b.json").exists()


def test_too_many_patterns_are_refused() -> None:
    with pytest.raises(RegistryError, match="V055"):
        Patterns(["a"] * 101, regex=False, option="--name")
    with pytest.raises(RegistryError, match="V055"):
        Patterns(["a" * 1001], regex=True, option="--name")


@pytest.mark.parametrize(
    ("text", "time"),
    [
        ("1500", 1_500_000),
        ("1500us", 1_500_000),
        ("1.5µs", 1500),
        ("20ms", 20_000_000),
        ("1.25s", 1_250_000_000),
        ("-3ns", -3),
        ("0.001", 1),
    ],
)
def test_times_have_units(text: str, time: int) -> None:
    assert nanoseconds_of(text, "--from") == time


@pytest.mark.parametrize(
    "text", ["", "soon", "1h", "1e3", "nan", "9" * 20, "+5", "1.5.2"]
)
def test_times_that_are_none_are_refused(text: str) -> None:
    with pytest.raises(RegistryError) as refused:
        nanoseconds_of(text, "--from")

    assert refused.value.findings[0].path == "--from"


def test_categories_processes_threads_and_phases(tmp_path: Path) -> None:
    events = [
        x("a", 0, 1, cat="io, net"),
        x("b", 0, 1, cat="net", pid=2),
        x("c", 0, 1, tid=9),
        at("i", 3, name="d", cat="net"),
        at("C", 3, name="e", args={"v": 1}),
    ]

    def kept(**conditions: Any) -> list[str]:
        return names(filtered(tmp_path, events, **conditions)[1])

    assert kept(categories=("net",)) == ["a", "b", "d"]
    assert kept(processes=frozenset({"2"})) == ["b"]
    assert kept(threads=frozenset({"9"})) == ["c"]
    assert kept(phases=frozenset("C")) == ["e"]
    assert kept(phases=frozenset("X"), categories=("n*",)) == ["a", "b"]


def test_slices_that_overlap_a_time_are_kept(tmp_path: Path) -> None:
    events = [
        x("before", 0, 10),
        x("into", 5, 6),
        x("inside", 12, 1),
        x("over", 0, 100),
        x("after", 20, 5),
        at("i", 10, name="at the start"),
        at("i", 21, name="late"),
    ]

    _, kept = filtered(tmp_path, events, start=10_000, end=20_000)

    assert names(kept) == ["into", "inside", "over", "at the start"]


def test_times_may_be_counted_from_the_first_event(tmp_path: Path) -> None:
    first = 1_661_203_462_598_738
    named = {"ph": "M", "name": "process_name", "pid": 1, "ts": 0, "args": {}}
    events = [named, x("late", first + 50, 5), x("early", first, 5)]

    _, kept = filtered(tmp_path, events, start=40_000, end=60_000, relative=True)
    assert names(kept) == ["process_name", "late"]
    start = nanoseconds_of(str(first + 1), "--from")
    _, kept = filtered(tmp_path, events, start=start, end=start + 1000)
    assert names(kept) == ["process_name", "early"]


def test_short_slices_are_dropped_and_instants_stay(tmp_path: Path) -> None:
    events = [
        x("short", 0, 4.999),
        x("long", 0, 5),
        at("B", 10, name="pair"),
        at("E", 14),
        at("B", 20, name="other"),
        at("E", 26),
        at("i", 3, name="instant"),
    ]

    _, kept = filtered(tmp_path, events, shortest=5000)

    assert names(kept) == ["long", "other", "E", "instant"]


def test_names_of_what_is_kept_stay(tmp_path: Path) -> None:
    named = [
        {"ph": "M", "name": "process_name", "pid": pid, "tid": 5, "args": {"name": "p"}}
        for pid in (1, 2)
    ]
    thread = {"ph": "M", "name": "thread_name", "pid": 1, "tid": 5, "args": {}}

    _, kept = filtered(
        tmp_path,
        [*named, thread, x("a", 0, 1)],
        processes=frozenset({"1"}),
        threads=frozenset({"1"}),
        names=("a",),
    )

    assert names(kept) == ["process_name", "a"]


def test_events_without_a_time_are_counted(tmp_path: Path) -> None:
    done, kept = filtered(tmp_path, [x("a", 0, 1), {"ph": "X", "dur": 1}, {"a": 1}])

    assert names(kept) == ["a"]
    assert done.untimed == {"X": 1, "(no phase)": 1}


def test_other_keys_of_a_trace_stay(tmp_path: Path) -> None:
    document = {"traceEvents": [x("a", 0, 1)], "otherData": {"run_id": "r"}}
    (tmp_path / "a.json").write_text(json.dumps(document))

    filter_trace(tmp_path / "a.json", tmp_path / "b.json", Conditions(names=("b",)))

    trace = json.loads((tmp_path / "b.json").read_bytes())
    assert trace["otherData"] == {"run_id": "r"}
    assert trace["filtered"] == {"events": 1, "kept": 0, "arrows dropped": 0}


def test_a_trace_that_changes_meanwhile_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "a.json"
    path.write_text(json.dumps([x("a", 0, 1)]))
    settle = filtering.settle_steps

    def meanwhile(*given: Any) -> None:
        path.write_text(json.dumps([x("a", 0, 1)] * 2))
        settle(*given)

    monkeypatch.setattr(filtering, "settle_steps", meanwhile)

    with pytest.raises(RegistryError) as refused:
        filter_trace(path, tmp_path / "b.json", Conditions())

    one = refused.value.findings[0]
    assert (one.code, one.what) == ("V056", "it had 1 events, and then 2")
    assert [one.name for one in tmp_path.iterdir()] == ["a.json"]


def test_no_condition_keeps_all_that_is_whole(
    shared_data: Path, tmp_path: Path
) -> None:
    for path in sorted((shared_data / "chrome_traces/pytorch_hta").glob("*/*.gz"))[:4]:
        done = filter_trace(path, tmp_path / "b.json", Conditions())

        assert done.found.whole
        lost = done.arrows_dropped + done.unmatched_ends + done.untimed.total()
        assert done.events - done.kept <= 2 * lost
        assert done.events - done.kept >= lost


def test_a_pipe_is_refused_and_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")

    for attempt in (
        lambda: filter_trace(tmp_path / "pipe", tmp_path / "b.json", Conditions()),
        lambda: import_trace(tmp_path / "pipe", tmp_path / "b.json", Source.TORCH),
        lambda: import_trace(tmp_path, tmp_path / "b.json"),
    ):
        with pytest.raises(RegistryError) as refused:
            attempt()
        one = refused.value.findings[0]
        assert (one.code, one.what) == ("V059", "it is no regular file")


def test_the_command_filters_and_tells(
    powerkit: Callable[..., Done], tmp_path: Path
) -> None:
    flow = {"name": "flow", "cat": "f", "id": 1}
    events = [x("call", 0, 5), at("s", 1, **flow), x("kernel", 10, 5, tid=2)]
    events += [at("f", 10, tid=2, bp="e", **flow), x("old", 500, 1)]
    (tmp_path / "a.json").write_text(json.dumps(events))
    out = tmp_path / "b.json"

    done = powerkit(
        *("trace", "filter", tmp_path / "a.json", "-o", out),
        *("--name", "c*", "--not-name", "cc*", "--to", "1ms", "--min-duration", "5"),
        *("--from", "0", "--pid", "1", "--tid", "1", "--phase", "X", "--json"),
    )

    assert done.code == 0
    told = json.loads(done.out)
    assert told["schema"] == "trace-filter/1"
    assert (told["events"], told["kept"]) == (5, 1)
    assert names(json.loads(out.read_bytes())["traceEvents"]) == ["call"]
    told = powerkit("trace", "filter", tmp_path / "a.json", "-o", out, "--name", "call")
    assert told.out == f"{out}: 1 of 5 events, 1 arrows dropped\n"


def test_a_wrong_call_is_a_usage_error(
    powerkit: Callable[..., Done], tmp_path: Path
) -> None:
    (tmp_path / "a.json").write_text("[]")
    call = ("trace", "filter", tmp_path / "a.json", "-o", tmp_path / "b.json")

    done = powerkit(*call, "--phase", "XB")
    assert done.code == 2
    assert "a phase is one letter" in done.err
    done = powerkit(*call, "--from", "noon", "--to", "1h")
    assert done.code == 1
    assert "V055 --from" in done.err + done.out
    assert "V055 --to" in done.err + done.out
    done = powerkit(*call, "--regex", "--name", "(", "--category", "[")
    assert "V055 --name" in done.err + done.out
    assert "V055 --category" in done.err + done.out
