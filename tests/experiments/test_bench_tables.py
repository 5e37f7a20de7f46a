"""`powerkit bench tables`: samples and runs of experiments as tables of a bundle."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from registry.documents.findings import RegistryError
from registry.documents.workloads import is_pseudonym
from tests.experiments.recorded_runs import at, load_result, recorded, series
from tests.simulators.commands import Done
from tools.experiments import tables_samples
from tools.experiments.record import Run, RunHost
from tools.experiments.tables import Tables, Wanted, make_tables, write_tables
from tools.experiments.tables_labels import Labels, read_map
from tools.experiments.tables_loads import read_load
from tools.readings.series import Kind
from tools.recording.recording import Recording

ENERGY = "rapl_package_0_joules_total"
WATTS = "wall_watts"


def seconds(begin: int, end: int, watts: float = 100.0) -> list[Any]:
    """A row a second of energy and watts."""
    return [
        (now, {ENERGY: f"{50_000 + watts * now:.6f}", WATTS: f"{watts + now % 7:.3f}"})
        for now in range(begin, end + 1)
    ]


def wanted(said: dict[str, str] | None = None, **changes: Any) -> Wanted:
    return Wanted(Labels(said or {}), **changes)


def codes(made: Tables) -> dict[str, str]:
    """What is told, the last of each code."""
    return {one.code: f"{one.path}: {one.what}" for one in made.findings}


def refused(runs: Sequence[Run], **changes: Any) -> str:
    with pytest.raises(RegistryError) as caught:
        make_tables(runs, wanted(**changes))
    return "\n".join(f"{one.code} {one.what}" for one in caught.value.findings)


def rows(made: Tables, name: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(made.data[name].decode())))


@pytest.fixture
def two(tmp_path: Path) -> list[Run]:
    """Two runs after each other; the second has one more column."""
    first = recorded(tmp_path / "r", at(0, 100, 103), seconds(100, 103))
    more = [
        (now, cells | {"memory_used_bytes": "5"}) for now, cells in seconds(110, 113)
    ]
    second = at(1, 109.5, 112.5, workload="fp")
    return [first, recorded(tmp_path / "r", second, more)]


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


def test_conditions_of_the_catalogue_become_columns(tmp_path: Path) -> None:
    good = {"frequency_set_hertz": "1500000000", "turbo": False, "threads": 4}
    bad = {"governor": "fast", "frequency_set_hertz": 5, "repeat": 9, "batch": 3}
    runs = [
        recorded(tmp_path, at(0, 100, 103, parameters=good), seconds(100, 103)),
        recorded(tmp_path, at(1, 104, 107, parameters=bad), seconds(104, 107)),
    ]
    made = make_tables(runs, wanted())
    first, second = rows(made, "runs.csv")
    shown = ("frequency_set_hertz", "turbo", "threads", "repeat")
    assert [first[name] for name in shown] == ["1500000000", "off", "4", "0"]
    assert [second[name] for name in shown] == ["", "", "", "0"]
    assert "governor" not in first
    assert "batch" not in first
    told = [one.what for one in made.findings if one.code == "B110"]
    assert told == ["governor is fast", "frequency_set_hertz is 5"]


@pytest.mark.parametrize(
    ("unit", "word"),
    [
        ("flops", "flops"),
        ("operations per second", "operations"),
        ("requests/s", "requests"),
        ("Image a second", "images"),
        ("bogo-ops/sec", "bogo_ops"),
        ("parsecs", None),
        (None, None),
    ],
)
def test_performance_in_the_units_of_the_catalogue(
    tmp_path: Path, unit: str | None, word: str | None
) -> None:
    run = at(0, 100, 103, performance=12.5, performance_unit=unit)
    made = make_tables([recorded(tmp_path, run, seconds(100, 103))], wanted())
    row = rows(made, "runs.csv")[0]
    assert row.get("performance_unit") == word
    assert row.get("performance") == (None if word is None else "12.5")
    assert ("B111" in codes(made)) == (word is None)


def test_threads_by_the_workload_or_by_the_pin(tmp_path: Path) -> None:
    result = {"result.json": json.dumps({"threads": 3}).encode()}
    pinned = {"OMP_NUM_THREADS": "2"}
    kinds: list[tuple[dict[str, Any], dict[str, bytes]]] = [
        ({"environment": pinned}, result),
        ({"environment": pinned}, {}),
        ({"environment": {"OMP_NUM_THREADS": "2,2"}}, {}),
        ({"environment": pinned, "workload": "idle"}, {}),
    ]
    runs = [
        recorded(
            tmp_path,
            at(k, 100 + 10 * k, 103 + 10 * k, **changes),
            seconds(100 + 10 * k, 103 + 10 * k),
            files,
        )
        for k, (changes, files) in enumerate(kinds)
    ]
    found = rows(make_tables(runs, wanted()), "runs.csv")
    assert [row["threads"] for row in found] == ["3", "2", "", "0"]


def test_labels_are_said_known_or_drawn(tmp_path: Path) -> None:
    kit = {"result.json": b'{"schema": "workload-result/1", "label": "membw"}'}
    unlike = {"result.json": b'{"schema": "workload-result/1", "label": "other"}'}
    forged = {"result.json": b'{"schema": "workload-result/1", "label": "host-a"}'}
    kinds: list[tuple[dict[str, Any], dict[str, bytes]]] = [
        ({"workload": "memory:copy"}, kit),
        ({"workload": "secret"}, forged),
        ({"workload": "secret", "item": "vgg"}, {}),
        ({"workload": "secret"}, {}),
        ({"workload": "a=b"}, {}),
        ({"workload": "numpy:fft"}, unlike),
    ]
    runs = [
        recorded(
            tmp_path / "r",
            at(k, 100 + 10 * k, 103 + 10 * k, **changes),
            seconds(100 + 10 * k, 103 + 10 * k),
            files,
        )
        for k, (changes, files) in enumerate(kinds)
    ]
    file = tmp_path / "labels"
    file.write_text("# ours\n\nsecret/vgg = vec\nnobody=fp\n")
    labels = Labels(read_map([str(file), "a=b=mix"]), pseudonyms=True)
    made = make_tables(runs, Wanted(labels))
    found = [row["workload"] for row in rows(made, "runs.csv")]
    assert [found[0], found[2], found[4]] == ["membw", "vec", "mix"]
    assert found[1] == found[3]
    assert is_pseudonym(found[1])
    assert labels.own == {"secret": found[1], "numpy:fft": found[5]}
    assert is_pseudonym(found[5])
    assert codes(made)["B084"] == "nobody: the label fp"
    assert b"secret" not in b"".join(made.data.values())


@pytest.mark.parametrize(
    ("texts", "said"),
    [
        (["x=fast"], "x=fast"),
        (["=fp"], "=fp"),
        (["x=fp", "x=vec"], "x is fp and vec"),
    ],
)
def test_labels_that_are_none_are_refused(texts: list[str], said: str) -> None:
    with pytest.raises(RegistryError) as caught:
        read_map(texts)
    assert [one.code for one in caught.value.findings] == ["B083"]
    assert said in caught.value.findings[0].what


def test_loads_cut_runs_and_give_shares_of_full_load(tmp_path: Path) -> None:
    runs = [
        recorded(
            tmp_path,
            at(k, 100 + 20 * k, 115 + 20 * k),
            seconds(100 + 20 * k, 115 + 20 * k),
        )
        for k in range(3)
    ]
    offline = {"completed": 99.0, "planned": None, "nominal": None}
    loads = tuple(
        read_load(path)
        for path in (
            load_result(tmp_path / "a", 102, 112),
            load_result(tmp_path / "b", 123, 130, scenario="offline", rate=offline),
            load_result(
                tmp_path / "c", 141, 150, valid=False, rate={"verdict": "missed"}
            ),
        )
    )
    made = make_tables(runs, wanted({"load:server": "int"}, loads=loads))
    found = rows(made, "runs.csv")
    assert [row["workload"] for row in found] == ["int", "other", "int"]
    assert [row["start_seconds"] for row in found] == ["2", "23", "41"]
    assert [row["end_seconds"] for row in found] == ["12", "30", "50"]
    assert [row["load_target_ratio"] for row in found] == ["0.505051", "1", "0.505051"]
    assert [row["load_achieved_ratio"] for row in found] == ["0.5", "1", "0.5"]
    assert [row["performance"] for row in found] == ["49.5", "99", "49.5"]
    assert {row["performance_unit"] for row in found} == {"requests"}
    assert [row["rejected_because"] for row in found] == ["", "", "load-off-target"]
    inside = [row["run"] for row in rows(made, "samples.csv")]
    assert inside.count("0") == 11

    unknown = make_tables(runs, wanted(loads=loads[:1]))
    assert "load_target_ratio" not in rows(unknown, "runs.csv")[0]
    assert "none of the offline scenario" in codes(unknown)["B088"]
    named = make_tables(runs, wanted(loads=loads[:1], full=100.0))
    assert rows(named, "runs.csv")[0]["load_achieved_ratio"] == "0.495"


def test_a_load_outside_of_all_runs_is_refused(tmp_path: Path, two: list[Run]) -> None:
    load = read_load(load_result(tmp_path / "a", 101, 108))
    assert "B087 its time lies in no run" in refused(two, loads=(load,))


@pytest.mark.parametrize(
    "changes",
    [
        {"schema": "load-result/9"},
        {"rate": None},
        {"power_begin": {"monotonic_ns": True}},
        {"power_begin": {"monotonic_ns": 10**18}},
        {"rate": {"completed": "many"}},
    ],
)
def test_what_is_no_result_of_a_load_is_refused(
    tmp_path: Path, changes: dict[str, Any]
) -> None:
    given = dict(changes)
    path = tmp_path / "a"
    if given.get("rate", {}) is None:
        path.write_text('{"schema": "load-result/1", "rate": null}')
    else:
        load_result(path, 101, 102, **given)
    with pytest.raises(RegistryError) as caught:
        read_load(path)
    assert [one.code for one in caught.value.findings] == ["B086"]


def test_runs_without_any_samples_are_refused(tmp_path: Path) -> None:
    assert "B095 1 runs without samples.csv" in refused(
        [recorded(tmp_path, at(0, 1, 2))]
    )


def test_more_than_a_table_may_have_is_refused(
    two: list[Run], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tables_samples.limits, "ROWS", 7)
    assert "B099 more than 7 rows" in refused(two)
    monkeypatch.setattr(tables_samples.limits, "ROWS", 100)
    monkeypatch.setattr(tables_samples.limits, "FILE_BYTES", 100)
    assert "B099" in refused(two)


def test_a_folder_that_is_taken_stays_as_it_is(tmp_path: Path, two: list[Run]) -> None:
    made = make_tables(two, wanted())
    out = tmp_path / "a" / "tables"
    write_tables(made, out)
    before = (out / "runs.csv").read_bytes()
    with pytest.raises(RegistryError, match="B115"):
        write_tables(made, out)
    assert (out / "runs.csv").read_bytes() == before
    assert [one.name for one in out.parent.iterdir()] == ["tables"]
    empty = tmp_path / "empty"
    empty.mkdir()
    write_tables(made, empty)
    assert len(list(empty.iterdir())) == 2


def test_the_command_tells_what_comes_next(
    powerkit: Callable[..., Done], tmp_path: Path, two: list[Run]
) -> None:
    done = powerkit("bench", "tables", "--help")
    assert "next: powerkit pack" in " ".join(done.out.split())
    folder, out = tmp_path / "r", tmp_path / "t"
    told = powerkit("bench", "tables", folder, folder, "--out", out)
    assert told.code == 0, told
    assert f"next: powerkit pack {out} --spec" in told.out
    assert "runs: 2, accepted: 2, samples: 8" in told.out
    again = powerkit("bench", "tables", folder, "--out", out, "--json")
    assert again.code == 1
    assert json.loads(again.out)["findings"][0]["code"] == "B115"
    assert Kind.COUNTER is series(ENERGY).kind
