"""`powerkit bench tables`: samples and runs of experiments as tables of a bundle."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.experiments.made_tables import (
    ENERGY,
    WATTS,
    codes,
    refused,
    rows,
    seconds,
    wanted,
)
from tests.experiments.recorded_runs import at, recorded, series
from tools.experiments import tables_samples
from tools.experiments.record import Run, RunHost
from tools.experiments.tables import make_tables
from tools.recording.recording import Recording


def test_one_clock_and_united_columns(two: list[Run]) -> None:
    made = make_tables(two[::-1], wanted())
    samples = rows(made, "samples.csv")
    times = [row["time_seconds"] for row in samples]
    assert times == ["0", "1", "2", "3", "10", "11", "12", "13"]
    assert [row["run"] for row in samples] == [*"0000111", ""]
    assert [row["memory_used_bytes"] for row in samples] == [""] * 4 + ["5"] * 4
    assert samples[5][ENERGY] == "61100"
    runs = rows(made, "runs.csv")
    assert [row["workload"] for row in runs] == ["other", "fp"]
    # The first sample is where time begins; the second run began before its first one.
    begins = [(row["start_seconds"], row["end_seconds"]) for row in runs]
    assert begins == [("0", "3"), ("9.5", "12.5")]
    assert [row["accepted"] for row in runs] == ["1", "1"]
    assert made.days == ("2026-01-01", "2026-01-01")
    assert "runs 0, 1 have less than 10 samples" in codes(made)["B114"]


def test_digits_are_those_that_were_read(tmp_path: Path) -> None:
    texts = ["262143.328850", "0.000001", "99999.999999", "7.100000"]
    cells = [(100 + k, {ENERGY: text}) for k, text in enumerate(texts)]
    cycles = [str(2**53 + k) for k in range(4)]
    for (_, row), text in zip(cells, cycles, strict=True):
        row["cpu_cycles_total"] = text
    run = recorded(tmp_path, at(0, 100, 103), cells)
    samples = rows(make_tables([run], wanted()), "samples.csv")
    assert [row[ENERGY] for row in samples] == [
        "262143.32885",
        "0.000001",
        "99999.999999",
        "7.1",
    ]
    assert [row["cpu_cycles_total"] for row in samples] == cycles


@settings(
    max_examples=25,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(
    st.lists(
        st.lists(
            st.tuples(
                st.integers(1, 5_000_000),  # microseconds after the row before
                st.none() | st.integers(0, 10**12),
                st.none() | st.integers(100, 10**8),
            ),
            min_size=1,
            max_size=8,
        ),
        min_size=1,
        max_size=4,
    )
)
def test_every_reading_stands_once_in_its_row(
    tmp_path_factory: pytest.TempPathFactory, parts: list[list[Any]]
) -> None:
    folder = tmp_path_factory.mktemp("any")
    now, runs, truth = 10**9, [], []
    for number, part in enumerate(parts):
        begin, listed = now, []
        for step, energy, watts in part:
            now += step
            cells = {
                ENERGY: "" if energy is None else f"{energy / 1e6:.6f}",
                WATTS: "" if watts is None else f"{watts / 1e3:.3f}",
            }
            listed.append((now / 1e6, cells))
            truth.append((now, number, energy, watts))
        run = at(number, begin / 1e6, now / 1e6)
        runs.append(recorded(folder, run, listed))
        now += 1000
    if all(watts is None and energy is None for *_, energy, watts in truth):
        return
    samples = rows(make_tables(runs, wanted()), "samples.csv")
    assert len(samples) == len(truth)
    for row, (time, number, energy, watts) in zip(samples, truth, strict=True):
        assert round(float(row["time_seconds"]) * 1e6) == time - truth[0][0]
        assert row["run"] == str(number)
        for name, reading, scale in ((ENERGY, energy, 1e6), (WATTS, watts, 1e3)):
            cell = row.get(name, "")
            assert (cell == "") == (reading is None)
            assert not cell or round(float(cell) * scale) == reading


def test_what_the_catalogue_does_not_know_is_named(tmp_path: Path) -> None:
    names = {
        "process_threads": ("1", "does not know it"),
        "rapl_core_0_watts": ("1", "a rate of rapl_core_0_joules_total"),
        "cpu_user_seconds_total": ("1", "as was asked for"),
        "rapl_dram_0_joules_total": ("", "it has no reading"),
        "memory_used_bytes": ("1", "it is in pages, the catalogue has bytes"),
    }
    listed = [
        (
            100 + k,
            {ENERGY: f"{k}.000000"} | {name: text for name, (text, _) in names.items()},
        )
        for k in range(3)
    ]
    columns = [
        series(name, unit="pages") if name == "memory_used_bytes" else series(name)
        for name in listed[0][1]
    ]
    run = recorded(tmp_path, at(0, 100, 102), listed, columns=columns)
    made = make_tables([run], wanted(without=("cpu_user_seconds_total",)))
    assert made.samples.columns == ["time_seconds", "run", ENERGY]
    said = {one.path: one.what for one in made.findings if one.code == "B096"}
    assert said.keys() == names.keys()
    for name, (_, why) in names.items():
        assert why in said[name]


def test_readings_that_cannot_be_are_emptied_and_counted(tmp_path: Path) -> None:
    listed = [(100 + k, {WATTS: "0.000" if k == 1 else "90.5"}) for k in range(3)]
    made = make_tables([recorded(tmp_path, at(0, 100, 102), listed)], wanted())
    assert [row[WATTS] for row in rows(made, "samples.csv")] == ["90.5", "", "90.5"]
    assert "1 of 3 are outside 0.1 to 100000 watts" in codes(made)["B098"]


@pytest.mark.parametrize(
    ("later", "said"),
    [
        ("1000.000000", None),  # from near its range: a turn
        ("70000.000000", "it jumped by what would be"),
    ],
)
def test_a_reset_between_runs_is_told_from_a_turn(
    tmp_path: Path, later: str, said: str | None
) -> None:
    first = [(100 + k, {ENERGY: f"{261_900 + 40 * k}.000000"}) for k in range(3)]
    second = [(110 + k, {ENERGY: later}) for k in range(3)]
    runs = [
        recorded(tmp_path, at(0, 100, 102), first),
        recorded(tmp_path, at(1, 110, 112), second),
    ]
    told = codes(make_tables(runs, wanted())).get("B097")
    if said is None:
        assert told is None
    else:
        assert told is not None
        assert told.startswith(f"{ENERGY}: 1 times, first at 10.000 s: {said}")


def test_a_counter_that_was_set_back_is_told(tmp_path: Path) -> None:
    listed = [(100 + k, {"context_switches_total": str(9 - k)}) for k in range(3)]
    made = make_tables([recorded(tmp_path, at(0, 100, 102), listed)], wanted())
    assert "2 times, first at 1.000 s: it went down" in codes(made)["B097"]


def test_thinned_samples_keep_edges_and_the_fullest_rows(tmp_path: Path) -> None:
    listed = [
        (
            100 + k / 10,
            {ENERGY: f"{10 * k}.000000", WATTS: "5.000" if k % 4 == 3 else ""},
        )
        for k in range(41)
    ]
    columns = [series(ENERGY), series(WATTS)]
    run = recorded(tmp_path, at(0, 100.15, 103.85), listed, columns=columns)
    samples = rows(make_tables([run], wanted(every=1.0)), "samples.csv")
    # Of the run the first and the last, at 0.2 s and 3.8 s, where time begins at 0.2 s;
    # of each second the first one that has watts, too.
    times = [row["time_seconds"] for row in samples]
    assert times == ["0", "0.1", "0.9", "2.1", "2.9", "3.6", "3.8"]
    assert [row[WATTS] for row in samples] == ["", "5", "5", "5", "5", "", ""]


@pytest.mark.parametrize("warm_up", [False, True])
def test_runs_at_once_are_refused(tmp_path: Path, warm_up: bool) -> None:
    runs = [
        recorded(tmp_path, at(0, 100, 103), seconds(100, 103)),
        recorded(tmp_path, at(1, 102, 104, warm_up=warm_up), seconds(102, 104)),
    ]
    assert "B080 work of run-0000 and work of run-0001 share 1.000 s" in refused(runs)


def test_a_long_run_is_told_of_each_that_it_covers(tmp_path: Path) -> None:
    runs = [
        recorded(tmp_path, at(0, 100, 110)),
        recorded(tmp_path, at(1, 101, 102)),
        recorded(tmp_path, at(2, 108, 109)),
    ]
    said = refused(runs)
    assert "work of run-0000 and work of run-0001 share 1.000 s" in said
    assert "work of run-0000 and work of run-0002 share 1.000 s" in said


def test_runs_of_two_boots_or_machines_are_refused(tmp_path: Path) -> None:
    first = recorded(tmp_path, at(0, 100, 103), seconds(100, 103))
    booted = at(1, 90_000, 90_003).model_copy(
        update={"started_monotonic_ns": 200 * 10**9, "host": RunHost(cpu="b", cores=2)}
    )
    second = recorded(tmp_path, booted, seconds(200, 203))
    said = refused([first, second])
    assert "B081 89900.0 s after run-0000 by the time of day, 100.0 s by" in said
    assert "B082 cpu, 2 processors; b, 2 processors" in said


def test_a_clock_that_is_slewed_is_one_clock(tmp_path: Path) -> None:
    first = recorded(tmp_path, at(0, 100, 103), seconds(100, 103))
    slewed = at(1, 90_000, 90_003).model_copy(
        update={"started_monotonic_ns": 90_030 * 10**9}
    )
    second = recorded(tmp_path, slewed, seconds(90_030, 90_033))
    assert make_tables([first, second], wanted()).runs.height == 2


def test_warm_ups_leave_samples_outside_runs(tmp_path: Path) -> None:
    runs = [
        recorded(tmp_path, at(0, 100, 103, warm_up=True), seconds(100, 103)),
        recorded(tmp_path, at(1, 104, 107), seconds(104, 107)),
    ]
    made = make_tables(runs, wanted())
    assert [row["run"] for row in rows(made, "samples.csv")] == [""] * 4 + ["0"] * 4
    assert "B116" in refused(runs[:1])


def test_why_runs_are_not_accepted(tmp_path: Path) -> None:
    kinds: list[dict[str, Any]] = [
        {"timed_out": True, "returncode": -9},
        {"returncode": -15},
        {"returncode": 3},
        {"returncode": None},
        {"returncode": 0, "problems": ("it was interrupted",)},
        {"returncode": 0, "problems": ("B044 no trace",)},
        {},
    ]
    runs = [
        recorded(tmp_path, at(k, 100 + 10 * k, 105 + 10 * k, **kind), [])
        if not kind
        else recorded(
            tmp_path,
            at(k, 100 + 10 * k, 105 + 10 * k, **kind),
            seconds(100 + 10 * k, 105 + 10 * k),
        )
        for k, kind in enumerate(kinds)
    ]
    made = make_tables(runs, wanted())
    assert [row["rejected_because"] for row in rows(made, "runs.csv")] == [
        "aborted",
        "aborted",
        "other",
        "recorder-failure",
        "aborted",
        "recorder-failure",
        "too-few-samples",
    ]
    assert {row["accepted"] for row in rows(made, "runs.csv")} == {"0"}
    assert codes(made)["B113"] == "runs.csv: runs 6"


def test_a_run_whose_recording_was_cut_is_not_accepted(
    two: list[Run], monkeypatch: pytest.MonkeyPatch
) -> None:
    read = tables_samples.read_recording

    def cut(path: Path) -> Recording:
        recording = read(path)
        recording.full = path.parent.name == "run-0001"
        return recording

    monkeypatch.setattr(tables_samples, "read_recording", cut)
    found = rows(make_tables(two, wanted()), "runs.csv")
    assert [row["rejected_because"] for row in found] == ["", "recorder-failure"]
