"""Spans of traces that become runs, and counters of traces that become columns."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from registry.documents.findings import RegistryError
from tests.experiments.recorded_runs import BOOT, SECOND, at, recorded, trace
from tests.simulators.commands import Done
from tools.experiments.record import Run
from tools.experiments.tables import Tables, Wanted, make_tables
from tools.experiments.tables_labels import Labels

ENERGY = "rapl_package_0_joules_total"


def span(name: str, begin: float, end: float, **changes: Any) -> dict[str, Any]:
    """A complete event, in seconds."""
    times = {"ts": begin * 1e6, "dur": (end - begin) * 1e6}
    return {"ph": "X", "name": name, "pid": 4711, "tid": 1, **times} | changes


def counter(name: str, time: float, **values: object) -> dict[str, Any]:
    return {"ph": "C", "name": name, "pid": 4711, "ts": time * 1e6, "args": values}


def traced(folder: Path, files: dict[str, bytes], **changes: Any) -> Run:
    """A run from 100 to 110 s after the boot, sampled every half second."""
    listed = [
        (100 + k / 2, {ENERGY: f"{50_000 + 40 * k}.000000"}) for k in range(1, 21)
    ]
    return recorded(folder, at(0, 100, 110, **changes), listed, files)


def made(run: Run, labels: dict[str, str] | None = None, **changes: Any) -> Tables:
    return make_tables([run], Wanted(Labels(labels or {}), **changes))


def refused(run: Run, **changes: Any) -> str:
    with pytest.raises(RegistryError) as caught:
        made(run, **changes)
    return "\n".join(f"{one.code} {one.what}" for one in caught.value.findings)


def rows(tables: Tables, name: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(tables.data[name].decode())))


EVENTS = (
    span("init", 1, 2, cat="phase"),
    span("run", 3, 8, cat="phase"),
    {"ph": "B", "name": "step", "pid": 4711, "tid": 2, "ts": 4e6},
    {"ph": "E", "name": "step", "pid": 4711, "tid": 2, "ts": 5e6},
    {"ph": "b", "name": "step", "cat": "a", "id": 7, "pid": 4711, "ts": 6e6},
    {"ph": "e", "name": "step", "cat": "a", "id": 7, "pid": 4711, "ts": 7e6},
)
BASE = BOOT + 100 * SECOND  # its 0 is the start of the run


def test_a_span_becomes_a_run_on_the_clock_of_the_samples(tmp_path: Path) -> None:
    run = traced(
        tmp_path,
        trace(EVENTS, BASE),
        workload="secret",
        performance=9.0,
        performance_unit="images",
    )
    tables = made(run, {"run": "vec"}, span="run")
    (row,) = rows(tables, "runs.csv")
    # The first sample is half a second after the start.
    assert (row["start_seconds"], row["end_seconds"]) == ("2.5", "7.5")
    assert (row["workload"], row["performance"]) == ("vec", "9")
    inside = [r["time_seconds"] for r in rows(tables, "samples.csv") if r["run"] == "0"]
    assert (inside[0], inside[-1]) == ("2.5", "7.5")
    assert b"4711" not in b"".join(tables.data.values())


def test_each_phase_becomes_a_run(tmp_path: Path) -> None:
    run = traced(tmp_path, trace(EVENTS, BASE), performance=9.0)
    tables = made(run, {"run": "vec", "init": "mix"}, span="cat:phase")
    found = rows(tables, "runs.csv")
    assert [row["workload"] for row in found] == ["mix", "vec"]
    assert [row["start_seconds"] for row in found] == ["0.5", "2.5"]
    assert "performance" not in found[0]
    assert "B112" in {one.code for one in tables.findings}


def test_pairs_of_begin_and_end_become_runs(tmp_path: Path) -> None:
    found = rows(made(traced(tmp_path, trace(EVENTS, BASE)), span="step"), "runs.csv")
    assert [row["start_seconds"] for row in found] == ["3.5", "5.5"]
    assert [row["repeat"] for row in found] == ["0", "1"]


def test_times_of_the_monotonic_clock_need_no_base(tmp_path: Path) -> None:
    run = traced(tmp_path, trace([span("run", 103, 108)]))
    (row,) = rows(made(run, span="run"), "runs.csv")
    assert (row["start_seconds"], row["end_seconds"]) == ("2.5", "7.5")


@pytest.mark.parametrize(
    ("events", "base", "said"),
    [
        ([span("run", 3, 8)], None, "B091 its times are -97.000 s to -92.000 s"),
        (
            [span("run", 3, 8)],
            BASE + 3 * SECOND,
            "B091 its times are 6.000 s to 11.000",
        ),
        ([span("other", 3, 8)], BASE, "B090 run"),
        ([{**EVENTS[2], "name": "run"}, span("x", 3, 4)], BASE, "B090 run"),
        ([span("run", 1, 4), span("run", 3, 8, tid=2)], BASE, "B080 run of run-0000"),
        ([span("run", 1, 4), span("run", 2, 3)], BASE, "share 1.000 s"),
    ],
)
def test_spans_that_can_be_no_runs_are_refused(
    tmp_path: Path, events: list[dict[str, Any]], base: int | None, said: str
) -> None:
    assert said in refused(traced(tmp_path, trace(events, base)), span="run")


def test_spans_without_an_end_are_counted(tmp_path: Path) -> None:
    events = [span("run", 1, 3), {**EVENTS[2], "name": "run"}, span("x", 6, 7, tid=2)]
    tables = made(traced(tmp_path, trace(events, BASE)), span="run")
    assert [one.what for one in tables.findings if one.code == "B092"] == [
        "1 of 2 spans run"
    ]
    assert len(rows(tables, "runs.csv")) == 1


def test_a_run_without_a_trace_is_refused(tmp_path: Path) -> None:
    assert "B089 work" in refused(traced(tmp_path, {}), span="run")


def test_a_failed_run_stays_one_run_whatever_its_trace_is(tmp_path: Path) -> None:
    run = traced(tmp_path, trace([span("run", 1, 2)], BASE), returncode=1)
    (row,) = rows(made(run, span="run"), "runs.csv")
    assert (row["accepted"], row["rejected_because"]) == ("0", "other")
    assert row["end_seconds"] == "9.5"


def test_counters_of_the_catalogue_become_columns(tmp_path: Path) -> None:
    events = [
        span("run", 1, 8),
        *(counter("wall_watts", 0.5 + k / 2, value=90 + k) for k in range(4)),
        counter("power", 1.25, acpi_watts=70.5, secret=3),
        counter(ENERGY, 1.5, joules=1),
        counter("rapl_core_0_watts", 1.5, watts=5),
        counter("queue depth", 1.5, value=1),
        counter("wall_watts", 3.25, value="many"),
        counter("wall_watts", 3.5, value=float(10**9)),
    ]
    tables = made(traced(tmp_path, trace(events, BASE)), counters=True)
    samples = rows(tables, "samples.csv")
    watts = {row["time_seconds"]: row["wall_watts"] for row in samples}
    assert {time: text for time, text in watts.items() if text} == {
        "0": "90",
        "0.5": "91",
        "1": "92",
        "1.5": "93",
    }
    # What is of the same instant shares a row; what is not has one of its own.
    assert len(samples) == 21
    (own,) = [row for row in samples if row["acpi_watts"]]
    assert (own["time_seconds"], own["acpi_watts"], own[ENERGY]) == ("0.75", "70.5", "")
    assert "secret" not in tables.data["samples.csv"].decode()
    told = {one.code: one.what for one in tables.findings}
    assert told["B094"] == "3: power, queue depth, rapl_core_0_watts"
    assert "1 of 5 are outside 0.1 to 100000 watts" in told["B098"]
    assert told["B096"].startswith("counters of a trace; the samples have it")


def test_counters_may_be_left_out(tmp_path: Path) -> None:
    run = traced(tmp_path, trace([counter("wall_watts", 1, value=90)], BASE))
    tables = made(run, counters=True, without=("wall_watts",))
    assert tables.samples.columns == ["time_seconds", "run", ENERGY]


def test_a_workload_of_the_kit_names_its_phases(
    bench: Callable[..., Done],
    powerkit: Callable[..., Done],
    folder: Path,
    tmp_path: Path,
) -> None:
    """Against what the kit itself writes: clock, names and categories."""
    sampled = ("--monitor", "cpu", "--monitor-interval-ms", 5, "--trace")
    assert bench("--workload", "sleep:0.2", "--work", 2, *sampled).code == 0
    out = tmp_path / "t"
    done = powerkit("bench", "tables", folder, "--out", out, "--runs-from", "iteration")
    assert done.code == 0, done
    with (out / "runs.csv").open() as file:
        found = list(csv.DictReader(file))
    lengths = [float(row["end_seconds"]) - float(row["start_seconds"]) for row in found]
    assert lengths == pytest.approx([0.2, 0.2], abs=0.1)
    assert [row["repeat"] for row in found] == ["0", "1"]
    assert {row["workload"] for row in found} == {"idle"}
