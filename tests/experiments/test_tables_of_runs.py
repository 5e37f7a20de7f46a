"""The table of runs: conditions, threads, labels, loads; and its folder."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from registry.documents.findings import RegistryError
from registry.documents.workloads import is_pseudonym
from tests.experiments.made_tables import (
    ENERGY,
    codes,
    refused,
    rows,
    seconds,
    wanted,
)
from tests.experiments.recorded_runs import at, load_result, recorded, series
from tests.simulators.commands import Done
from tools.experiments import tables_samples
from tools.experiments.record import Run
from tools.experiments.tables import Wanted, make_tables, write_tables
from tools.experiments.tables_labels import Labels, read_map
from tools.experiments.tables_loads import read_load
from tools.readings.series import Kind


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
