"""`powerkit bench matrix`: rows that are done stay, all others are made again."""

from __future__ import annotations

import fcntl
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.experiments.experiment_samples import TRIMS_TABLE, child, yaml_file
from tests.simulators.commands import Done
from tools.experiments.record import read_runs

Matrix = Callable[..., Done]
ITEMS = ("--items", "a,b,c")


@pytest.fixture
def matrix(powerkit: Callable[..., Done]) -> Matrix:
    """Run `powerkit bench matrix` on a table."""

    def run(
        *options: object, text: str = TRIMS_TABLE, command: tuple[str, ...] = ("true",)
    ) -> Done:
        path = Path("table.csv")
        path.write_text(text)
        where = ("--host-label", "host")
        words = ("bench", "matrix", path, *where, *options)
        return powerkit(*words, *(("--", *command) if command else ()))

    return run


@pytest.fixture
def place(apart: Path) -> Path:
    """The matrix's folder."""
    return apart / "host" / "table"


def states(done: Done) -> dict[str, tuple[str, bool]]:
    rows = json.loads(done.out)["rows"]
    return {row["name"]: (row["state"], row["kept"]) for row in rows}


def table(*rows: str) -> str:
    return "\n".join(["outputfile,iterations,env.CODE", *rows, ""])


CODE = child('exit "$CODE"')


def test_a_trims_table_runs_whole(matrix: Matrix, place: Path) -> None:
    done = matrix(*ITEMS)
    assert done.code == 0
    assert "3 rows: 3 done" in done.out
    assert "1 row skipped: Pareto_xm1_l3" in done.out
    assert [line.partition(" done")[0] for line in done.err.splitlines()] == [
        "1 of 3: Pareto_xm1_l1_cncur5",
        "2 of 3: Exponential_rt0.5",
        "3 of 3: Uniform_min0_max1",
    ]
    runs = read_runs(place / "Pareto_xm1_l1_cncur5")
    assert len(runs) == 4
    assert {run.item for run in runs} <= {"a", "b"}
    assert runs[0].description == "Pareto distribution xm=1 lambda=1 concurrent=5"
    said = runs[0].parameters
    assert (
        said.items()
        >= {
            "row": "Pareto_xm1_l1_cncur5",
            "concurrency": 5,
            "models_percentage": 50.0,
            "P1": "1",
        }.items()
    )
    assert {run.item for run in read_runs(place / "Uniform_min0_max1")} <= {
        "a",
        "b",
        "c",
    }


def test_a_dry_run_says_what_would_be_done(matrix: Matrix, place: Path) -> None:
    done = matrix("--dry-run", "--json", *ITEMS)
    document = json.loads(done.out)
    assert document["schema"] == "matrix-plan/1"
    assert [(row["state"], row["runs"]) for row in document["rows"]] == [
        ("new", 4),
        ("new", 3),
        ("new", 3),
    ]
    assert document["skipped"] == ["Pareto_xm1_l3"]
    assert "3 rows would be made" in matrix("--dry-run", *ITEMS).out
    assert not place.exists()


def test_rows_are_selected(matrix: Matrix) -> None:
    done = matrix("--select", "^Exp|Uni", "--json", *ITEMS)
    assert set(states(done)) == {"Exponential_rt0.5", "Uniform_min0_max1"}
    assert "B060" in matrix("--only", "nothing", *ITEMS).out
    assert "B060" in matrix("--only", "(", *ITEMS).out


def test_results_are_refused_kept_or_deleted(matrix: Matrix, place: Path) -> None:
    text = table("a,1,0", "b,1,0")
    matrix(text=text, command=CODE)
    (before,) = read_runs(place / "a")
    done = matrix(text=text, command=CODE)
    assert done.code == 1
    assert done.out.count("B057") == 2
    done = matrix("--resume", "--json", text=text, command=CODE)
    assert states(done) == {"a": ("done", True), "b": ("done", True)}
    assert read_runs(place / "a") == [before]
    done = matrix("--profile-output-overwrite", "--json", text=text, command=CODE)
    assert states(done) == {"a": ("done", False), "b": ("done", False)}
    assert read_runs(place / "a") != [before]
    assert len(read_runs(place)) == 2


def test_rows_of_other_conditions_are_never_mixed(matrix: Matrix, place: Path) -> None:
    matrix(text=table("a,1,0"), command=CODE)
    done = matrix("--resume", text=table("a,2,0"), command=CODE)
    assert done.code == 1
    assert "B058" in done.out
    done = matrix("--resume", text=table("a,1,0"), command=child("exit $CODE # new"))
    assert "B058" in done.out
    assert len(read_runs(place)) == 1


def test_failed_rows_are_made_anew_only_if_told(matrix: Matrix, place: Path) -> None:
    flag = Path("mended").resolve()
    text = table("a,2,0", "b,2,1")
    command = child(f'[ "$CODE" = 0 ] || [ -e {flag} ]')
    done = matrix("--json", text=text, command=command)
    assert done.code == 1
    assert states(done) == {"a": ("done", False), "b": ("failed", False)}
    flag.touch()
    done = matrix("--resume", "--json", text=text, command=command)
    assert done.code == 1
    assert states(done) == {"a": ("done", True), "b": ("failed", True)}
    again = ("--resume", "--retry-failed", "--json")
    done = matrix(*again, text=text, command=command)
    assert done.code == 0
    assert states(done) == {"a": ("done", True), "b": ("done", False)}
    assert len(read_runs(place / "b")) == 2
    assert matrix("--retry-failed", text=text, command=command).code == 2


def test_a_row_that_was_only_begun_is_made_anew(
    matrix: Matrix, place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = table("a,1,0", "b,3,0")
    from tools.commands import bench_matrix

    whole = bench_matrix.watched
    calls: list[str] = []

    def interrupted(*arguments: Any, **options: Any) -> Any:
        runs = whole(*arguments, **options)
        calls.append(options["prefix"])
        if len(calls) == 2:
            raise KeyboardInterrupt
        return runs

    monkeypatch.setattr(bench_matrix, "watched", interrupted)
    assert matrix(text=text, command=CODE).code != 0
    assert calls == ["1 of 2 a: ", "2 of 2 b: "]
    assert json.loads((place / "b" / "row.json").read_text())["state"] == "running"
    left = {run.run_id for run in read_runs(place / "b")}
    done = matrix("--resume", "--json", text=text, command=CODE)
    assert states(done) == {"a": ("done", True), "b": ("done", False)}
    runs = read_runs(place / "b")
    assert len(runs) == 3
    assert not left & {run.run_id for run in runs}


def test_foreign_files_in_a_row_stop_all_before_anything(
    matrix: Matrix, place: Path
) -> None:
    text = table("a,1,0", "b,1,0")
    matrix(text=text, command=CODE)
    before = read_runs(place / "a")
    (place / "b" / "notes.txt").write_text("mine")
    done = matrix("--profile-output-overwrite", text=text, command=CODE)
    assert done.code == 1
    assert "B012" in done.out
    assert read_runs(place / "a") == before


def test_a_second_matrix_in_the_folder_is_kept_out(matrix: Matrix, place: Path) -> None:
    matrix(text=table("a,1,0"), command=CODE)
    with (place / "matrix.lock").open() as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        done = matrix(text=table("b,1,0"), command=CODE)
    assert done.code == 1
    assert "B059" in done.out


def test_the_service_is_started_for_each_row_with_its_eviction(
    matrix: Matrix, place: Path
) -> None:
    service = yaml_file(
        Path("service.yaml"),
        "name: server\n"
        "command: [sh, -c, 'echo policy $UPRD_EVICTION_POLICY; exec sleep 60']\n"
        "ready: regex:policy\n",
    )
    text = "outputfile,eviction\na,lcu\nb,\n"
    done = matrix("--service", service, "--eviction", "fifo", text=text)
    assert done.code == 0
    assert (place / "a" / "service.log").read_text() == "policy lcu\n"
    assert (place / "b" / "service.log").read_text() == "policy fifo\n"
    ids = {run.service["service_id"] for run in read_runs(place) if run.service}
    assert len(ids) == 2


def test_one_service_is_kept_for_all_rows_if_told(matrix: Matrix, place: Path) -> None:
    service = yaml_file(
        Path("service.yaml"),
        "name: server\n"
        "command: [sh, -c, 'echo policy $UPRD_EVICTION_POLICY; exec sleep 60']\n"
        "ready: regex:policy\n",
    )
    options = ("--service", service, "--keep-service")
    text = "outputfile,eviction\na,lcu\nb,lcu\n"
    assert matrix(*options, text=text).code == 0
    ids = {run.service["service_id"] for run in read_runs(place) if run.service}
    assert len(ids) == 1
    assert (place / "service.log").read_text() == "policy lcu\n"
    again = "--profile-output-overwrite"
    done = matrix(*options, again, text="outputfile,eviction\na,lcu\nb,lru\n")
    assert (done.code, "B065" in done.out) == (1, True)


def test_a_row_whose_service_fails_does_not_end_the_others(
    matrix: Matrix, place: Path
) -> None:
    service = yaml_file(
        Path("service.yaml"),
        "name: server\n"
        "command: [sh, -c, 'exit $UPRD_EVICTION_POLICY']\n"
        "ready: regex:never\n"
        "ready_timeout_seconds: 0.2\n",
    )
    text = "outputfile,eviction\na,7\nb,8\n"
    done = matrix("--service", service, "--json", text=text)
    assert done.code == 1
    assert [row["state"] for row in json.loads(done.out)["rows"]] == ["failed"] * 2
    assert "F014" in json.loads(done.out)["rows"][0]["problems"][0]
    assert "F014" in done.err


def test_a_grid_with_its_own_experiment(
    powerkit: Callable[..., Done], apart: Path
) -> None:
    yaml_file(
        Path("spec.yaml"),
        "name: e\nworkloads: [{name: w, command: 'true'}]\n",
    )
    grid = yaml_file(
        Path("grid.yaml"),
        "experiment: spec.yaml\naxes: {concurrency: [1, 2], iterations: [1, 2]}\n",
    )
    done = powerkit("bench", "matrix", grid, "--host-label", "host", "-f", "csv")
    assert done.code == 0
    assert len(done.out.splitlines()) == 5
    assert len(read_runs(apart / "host" / "grid")) == 6
    done = powerkit("bench", "matrix", grid, "--spec", "spec.yaml")
    assert done.code == 2


def test_wrong_values_in_any_row_stop_all_before_anything(
    matrix: Matrix, place: Path
) -> None:
    done = matrix(text=table("a,1,0", "b,none,0", "c,0,0"), command=CODE)
    assert done.code == 1
    assert done.out.count("B022 table.csv:") == 2
    assert not place.exists()
