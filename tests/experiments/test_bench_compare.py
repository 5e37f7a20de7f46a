"""`powerkit bench compare`: variants in rounds, experiments, or runs that exist."""

from __future__ import annotations

import csv
import gzip
import io
import json
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.experiments.experiment_samples import (
    child,
    reporting,
    sample_run,
    stored,
    yaml_file,
)
from tests.simulators.commands import Done
from tools.experiments.record import read_runs

Compare = Callable[..., Done]
TRACE = '{"traceEvents":[{"name":"a","ph":"X","ts":1,"dur":2,"pid":1,"tid":1}]}'


@pytest.fixture
def compare(powerkit: Callable[..., Done]) -> Compare:
    """Run `powerkit bench compare` into the folder ``x``."""

    def run(*options: object, command: tuple[str, ...] = ()) -> Done:
        place = ("--host-label", "host", "--profile-output", "x", "--resamples", 500)
        after = ("--", *command) if command else ()
        return powerkit("bench", "compare", *place, *options, *after)

    return run


REPORT = child(
    'printf \'{"phases":{"run":%s},"performance":%s}\' "$RUN" "$SPEED"'
    ' > "$POWERKIT_RESULT_FILE"'
)
TWICE = (
    *("--baseline-env", "RUN=0.5", "--baseline-env", "SPEED=10"),
    *("--candidate-env", "RUN=0.25", "--candidate-env", "SPEED=20"),
)


def test_a_factor_of_two_between_variants(compare: Compare, folder: Path) -> None:
    options = (*TWICE, "--rounds", 6, "--seed", 1)
    done = compare(*options, "--metric", "phase:run", "--json", command=REPORT)
    assert (done.code, done.err) == (0, "")
    document = json.loads(done.out)
    (row,) = document["workloads"]
    assert row["speedup"]["low"] <= 2 <= row["speedup"]["high"]
    assert row["speedup"]["verdict"] == "faster"
    assert (row["baseline"], row["candidate"]) == (0.5, 0.25)
    assert document["method"]["paired"] is True
    kept = json.loads((folder / "comparison.json").read_text())
    assert kept["workloads"] == document["workloads"]
    runs = read_runs(folder)
    assert [run.repeat for run in runs] == [1, 1, 2, 2, 3, 3, 4, 4, 5, 5, 6, 6]
    first = [run.variant for run in runs[::2]]
    assert set(first) == {"baseline", "candidate"}


def test_performance_and_runs_that_exist(compare: Compare, folder: Path) -> None:
    compare(*TWICE, "--rounds", 5, command=REPORT)
    done = compare(folder, "--metric", "performance", "-f", "csv")
    (row,) = csv.DictReader(io.StringIO(done.out))
    assert (row["speedup"], row["speedup_verdict"]) == ("2.0", "faster")
    swapped = ("--baseline", "candidate", "--candidate", "baseline")
    done = compare(folder, *swapped, "--metric", "performance", "--json")
    assert json.loads(done.out)["speedup"]["verdict"] == "slower"
    done = compare(folder, "--baseline", "nobody")
    assert (done.code, "B061" in done.out) == (1, True)


def test_programs_that_really_take_twice_as_long(compare: Compare) -> None:
    options = ("--baseline", "sleep 0.1", "--candidate", "sleep 0.05", "--rounds", 5)
    done = compare(*options, "--name", "sleep", "--json")
    assert done.code == 0
    speedup = json.loads(done.out)["speedup"]
    # Starting a program takes its own time on both sides, so below 2.
    assert 1.1 < speedup["value"] < 2.5
    assert speedup["low"] <= speedup["value"] <= speedup["high"]
    assert speedup["verdict"] == "faster"


def test_variants_of_an_experiment(compare: Compare, folder: Path) -> None:
    spec = yaml_file(
        Path("spec.yaml"),
        "name: e\n"
        "workloads:\n"
        "  - {name: one, command: [sh, -c, 'exit 0']}\n"
        "  - {name: two, command: [sh, -c, 'exit 0'], items: [a, b]}\n"
        "variants: {old: {env: {A: x}}, new: {env: {A: y}}}\n"
        "warm_up: 1\n",
    )
    names = ("--baseline", "old", "--candidate", "new")
    done = compare(spec, *names, "--rounds", 2, "--json")
    document = json.loads(done.out)
    assert [row["workload"] for row in document["workloads"]] == [
        "one",
        "two/a",
        "two/b",
    ]
    assert document["speedup"]["verdict"] == "too few runs"
    runs = read_runs(folder)
    assert sum(run.warm_up for run in runs) == 6
    assert {run.environment["A"] for run in runs if run.variant == "old"} == {"x"}
    assert "B061" in compare(spec, "--append", "--rounds", 1).out


def test_two_experiments(compare: Compare, folder: Path) -> None:
    one, two = (
        yaml_file(
            Path(f"{name}.yaml"),
            f"name: {name}\nworkloads: [{{name: w, command: [echo, {name}]}}]\n",
        )
        for name in ("a", "b")
    )
    sides = ("--baseline", one, "--candidate", two)
    assert compare(*sides, "--rounds", 1).code == 0
    said = {
        run.variant: (folder / run.run_id / "stdout").read_text()
        for run in read_runs(folder)
    }
    assert said == {"baseline": "a\n", "candidate": "b\n"}


def test_two_folders(compare: Compare, tmp_path: Path) -> None:
    for name, wall in (("a", 3.0), ("b", 1.5)):
        stored(tmp_path / name, *(sample_run(n, wall_seconds=wall) for n in range(5)))
    sides = ("--baseline", tmp_path / "a", "--candidate", tmp_path / "b")
    done = compare(*sides)
    assert done.code == 0
    assert "all workloads: 2 [2, 2] at 95%, faster" in done.out
    document = json.loads(compare(*sides, "--json").out)
    assert document["method"]["paired"] is False


def test_trims_two_modes_are_variants(compare: Compare, folder: Path) -> None:
    compare("--trims-environment", "--rounds", 1, command=("true",))
    said = {run.variant: run.environment["UPR_ENABLED"] for run in read_runs(folder)}
    assert said == {"baseline": "false", "candidate": "true"}


def test_without_interleaving_one_variant_follows_the_other(
    compare: Compare, folder: Path
) -> None:
    options = ("--no-interleave", "--rounds", 3, "--json", *TWICE)
    done = compare(*options, command=REPORT)
    variants = [run.variant for run in read_runs(folder)]
    assert variants == ["baseline"] * 3 + ["candidate"] * 3
    assert json.loads(done.out)["method"]["paired"] is False


def test_runs_side_by_side_are_those_of_one_variant(
    compare: Compare, folder: Path
) -> None:
    options = (*TWICE, "--rounds", 2, "--concurrent", 2)
    done = compare(*options, command=REPORT)
    assert done.code == 2
    assert "--no-interleave" in done.err
    assert not folder.exists()
    assert compare(*options, "--no-interleave", command=REPORT).code == 0
    assert [run.variant for run in read_runs(folder)] == ["baseline"] * 2 + [
        "candidate"
    ] * 2


def test_a_second_comparison_in_a_folder_overwrites_nothing(
    compare: Compare, folder: Path
) -> None:
    once = (*TWICE, "--rounds", 2, "--append", "--combine", "all", "--trace")
    program = (*REPORT[:2], f"{REPORT[2]}; printf '{TRACE}' > $POWERKIT_TRACE_FILE")
    for _ in range(2):
        assert compare(*once, command=program).code == 0
    names = {path.name for path in folder.iterdir() if path.is_file()}
    assert names - {"powerkit-experiment.json"} == {
        *("comparison.json", "comparison-2.json"),
        *("compared-all.json.gz", "compared-all-2.json.gz"),
    }
    (row,) = json.loads(compare(folder, "--json").out)["workloads"]
    assert (row["baseline_runs"], row["candidate_runs"], row["unpaired"]) == (4, 4, 0)
    assert compare(*once, "--profile-output-overwrite").code == 2
    again = (*TWICE, "--rounds", 1, "--profile-output-overwrite")
    assert compare(*again, command=REPORT).code == 0
    assert [path.name for path in folder.glob("comp*")] == ["comparison.json"]


def test_failed_runs_are_counted_and_end_with_1(compare: Compare) -> None:
    fail = child('[ "$POWERKIT_ITERATION" != 2 ]')
    done = compare("--baseline-env", "A=1", "--rounds", 6, "--json", command=fail)
    assert done.code == 1
    (row,) = json.loads(done.out)["workloads"]
    assert (row["failed"], row["baseline_runs"]) == (2, 5)


@pytest.mark.parametrize(
    ("mode", "names"),
    [
        ("all", ["compared-all.json.gz"]),
        ("per-workload", ["compared-1-sh-a.json.gz", "compared-2-sh-b.json.gz"]),
    ],
)
def test_traces_are_combined(
    compare: Compare, folder: Path, mode: str, names: list[str]
) -> None:
    program = child(f"printf '%s' '{TRACE}' > \"$POWERKIT_TRACE_FILE\"")
    options = ("--trace", "--rounds", 1, "--items", "a,b", "--combine", mode)
    done = compare(*options, "--candidate-env", "A=b", command=program)
    assert (done.code, done.err) == (0, "")
    assert sorted(path.name for path in folder.glob("compared-*")) == names
    data = gzip.decompress((folder / names[0]).read_bytes())
    assert b"sh/a baseline 1" in data
    assert b"sh/a candidate 1" in data


def test_plots_are_drawn(compare: Compare) -> None:
    done = compare(*TWICE, "--rounds", 5, "--plot", "c.svg", command=REPORT)
    assert done.code == 0
    assert Path("c.svg").read_text().startswith("<?xml")
    done = compare(*TWICE, "--append", "--rounds", 1, "--plot", "c.gif", command=REPORT)
    assert "B071" in done.out


@pytest.mark.parametrize(
    "options",
    [
        (),
        ("--baseline", "true"),
        ("--baseline", "", "--candidate", "true"),
        ("--baseline", "'", "--candidate", "true"),
        ("--baseline", ".", "--candidate", "true"),
    ],
)
def test_sides_that_are_none_are_usage(
    compare: Compare, options: tuple[str, ...]
) -> None:
    assert compare(*options).code == 2


def test_a_long_command_is_no_name_of_a_folder(compare: Compare, folder: Path) -> None:
    long = f"true {'x' * 5000}"
    done = compare("--baseline", long, "--candidate", "true", "--rounds", 1)
    assert done.code == 0
    assert len(read_runs(folder)) == 2


def test_a_report_of_itself(compare: Compare) -> None:
    said = child(reporting(performance=1))
    done = compare("--candidate-env", "A=b", "--rounds", 1, command=said)
    assert "too few runs" in done.out
