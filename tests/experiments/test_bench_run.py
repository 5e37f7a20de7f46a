"""`powerkit bench run` as it is called."""

from __future__ import annotations

import csv
import io
import json
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.experiments.experiment_samples import child, reporting, yaml_file
from tests.simulators.commands import Done
from tools.experiments.record import Run, read_runs
from tools.load.making import make_plan
from tools.load.plan import write_plan

Bench = Callable[..., Done]

TRACE = '{"traceEvents":[{"name":"a","ph":"X","ts":%s,"dur":2,"pid":1,"tid":1}]}'


def test_a_command_runs_as_often_as_wanted(bench: Bench, folder: Path) -> None:
    done = bench(
        "-n", 3, "--experiment-description", "two words", command=child("true")
    )
    assert (done.code, done.err) == (0, "")
    assert f"3 runs, 0 failed: {folder}" in done.out
    runs = read_runs(folder)
    assert [run.iteration for run in runs] == [1, 2, 3]
    assert {run.description for run in runs} == {"two words"}
    assert {run.workload for run in runs} == {"sh"}


def test_a_failed_run_ends_with_1_and_is_recorded(bench: Bench, folder: Path) -> None:
    done = bench("--items", "a,b,c", command=child('[ "{item}" != b ]'))
    assert done.code == 1
    assert "3 runs, 1 failed" in done.out
    assert [run.accepted for run in read_runs(folder)] == [True, False, True]


def test_a_run_whose_samples_cannot_be_kept_does_not_end_the_others(
    bench: Bench, folder: Path
) -> None:
    # As on a full disk: the file's own name is taken, so nothing can be put there.
    program = 'mkdir -p "${POWERKIT_RESULT_FILE%/*}/samples.csv/{item}"'
    done = bench("--items", "a,b", "--monitor", "cpu", command=child(program))
    assert done.code == 1
    problems = [run.problems for run in read_runs(folder)]
    assert len(problems) == 2
    assert all("samples.csv cannot be written" in said for (said,) in problems)


def test_json_for_a_program(bench: Bench, folder: Path) -> None:
    done = bench("--json", command=child(reporting(performance=5)))
    document = json.loads(done.out)
    assert document["schema"] == "runs/1"
    assert document["folder"] == str(folder)
    (run,) = document["runs"]
    assert (run["schema"], run["performance"]) == ("run/1", 5.0)


def test_tables_for_other_programs(bench: Bench) -> None:
    rows = list(csv.DictReader(io.StringIO(bench("-f", "csv", command=("true",)).out)))
    assert [row["workload"] for row in rows] == ["true"]
    done = bench("-f", "md", "--append", command=("true",))
    assert done.out.splitlines()[1].startswith("| --- |")


def test_simulate_starts_nothing(bench: Bench, folder: Path) -> None:
    done = bench(
        "--simulate", "--json", "-n", 2, "--items", "a,b", command=("rm", "{item}")
    )
    document = json.loads(done.out)
    assert document["schema"] == "planned-runs/1"
    assert [(run["item"], run["iteration"]) for run in document["runs"]] == [
        ("a", 1),
        ("a", 2),
        ("b", 1),
        ("b", 2),
    ]
    assert (
        "4 runs would be made"
        in bench(
            "--simulate-run", "-n", 2, "--items", "a,b", command=("rm", "{item}")
        ).out
    )
    assert not folder.exists()


def test_a_folder_with_results_is_kept(bench: Bench, folder: Path) -> None:
    assert bench(command=("true",)).code == 0
    done = bench(command=("true",))
    assert done.code == 1
    assert "B011" in done.out
    assert bench("--append", command=("true",)).code == 0
    assert len(read_runs(folder)) == 2
    assert bench("--profile-output-overwrite", command=("true",)).code == 0
    assert len(read_runs(folder)) == 1
    done = bench("--append", "--profile-output-overwrite", command=("true",))
    assert done.code == 2


def test_runs_under_way_are_not_overwritten(bench: Bench, folder: Path) -> None:
    """The run itself tries, as a second terminal would, to overwrite its own folder."""
    place = "--host-label host --profile-output x --profile-output-directory {dir}"
    again = f"{sys.executable} -m tools bench run --profile-output-overwrite {place}"
    program = again.format(dir=folder.parent.parent) + " -- true"
    root = Path(__file__).resolve().parents[2]
    done = bench("--env", f"PYTHONPATH={root}", command=child(program))
    assert done.code == 1
    (run,) = read_runs(folder)
    output = run.file("stdout")
    assert output is not None
    assert "error B014" in output.read_text()


def test_without_a_name_runs_go_into_the_folder_of_the_hour(
    powerkit: Bench, apart: Path
) -> None:
    for _ in range(2):
        done = powerkit("bench", "run", "--host-label", "host", "--", "true")
        assert done.code == 0
    assert 1 <= len(list((apart / "host").iterdir())) <= 2
    assert len(read_runs(apart)) == 2


def test_a_spec_is_run_and_options_replace_it(bench: Bench, folder: Path) -> None:
    spec = yaml_file(
        Path("spec.yaml"),
        "name: two\n"
        "workloads:\n"
        "  - {name: env, command: [sh, -c, 'echo $A $B'], env: {A: spec, B: spec}}\n"
        "iterations: 3\n"
        "init: lazy\n",
    )
    assert bench("-n", 1, "--env", "C=d", "--init", "async", spec).code == 0
    (run,) = read_runs(folder)
    assert run.environment.items() >= {"A": "spec", "C": "d"}.items()
    assert run.init == "async"
    assert run.experiment == "two"


def test_a_wrong_spec_is_refused_with_its_line(bench: Bench, folder: Path) -> None:
    spec = yaml_file(Path("spec.yaml"), "name: a\nworkload: b\n")
    done = bench(spec)
    assert done.code == 1
    assert "B020 spec.yaml:2: workload: no such field" in done.out
    assert "B021 spec.yaml" in done.out
    assert not folder.exists()


@pytest.mark.parametrize(
    ("options", "init"),
    [
        ((), "eager"),
        (("--eager",), "eager"),
        (("--lazy",), "lazy"),
        (("--eager-async",), "async"),
        (("--eager", "--eager-async"), "async"),
        (("--init", "lazy"), "lazy"),
    ],
)
def test_ways_to_initialise(bench: Bench, options: tuple[str, ...], init: str) -> None:
    done = bench("--simulate", "--json", *options, command=("true",))
    assert [run["init"] for run in json.loads(done.out)["runs"]] == [init]


@pytest.mark.parametrize(
    "options",
    [
        ("--lazy", "--eager-async"),
        ("--init", "lazy", "--eager"),
        ("--env", "novalue"),
    ],
)
def test_options_that_make_no_sense_are_usage(
    bench: Bench, options: tuple[str, ...]
) -> None:
    assert bench(*options, command=("true",)).code == 2


@pytest.mark.parametrize(
    ("program", "name"),
    [("./a(1)", "a-1-"), ("/bin/sh", "sh"), ("é", "command"), ("-x", "x")],
)
def test_a_program_of_any_name_is_called_something(
    bench: Bench, program: str, name: str
) -> None:
    done = bench("--simulate", "--json", command=(program,))
    assert [run["workload"] for run in json.loads(done.out)["runs"]] == [name]


def test_nothing_to_run_is_usage(powerkit: Bench) -> None:
    done = powerkit("bench", "run")
    assert done.code == 2
    assert "give a SPEC, --workload or a command after --" in done.err
    assert powerkit("bench", "run", "--").code == 2


def test_models_by_list_expression_and_share(bench: Bench) -> None:
    def chosen(*options: object) -> list[str]:
        names = "large_vgg,alexnet,resnet,vgg"
        done = bench(
            "--simulate", "--json", "--items", names, *options, command=("a", "{item}")
        )
        return [run["item"] for run in json.loads(done.out)["runs"]]

    assert chosen("--models", "alexnet,resnet") == ["alexnet", "resnet"]
    assert chosen("--models", "v.g$") == ["large_vgg", "vgg"]
    assert chosen("--models", "vgg") == ["vgg"]
    assert chosen("--large-models") == ["large_vgg"]
    assert chosen("--models-percentage", "0.5") == ["large_vgg", "alexnet"]
    assert chosen("--models-percentage", "25") == ["alexnet"]


def test_a_distribution_and_a_plan_decide_the_order(bench: Bench, folder: Path) -> None:
    options = ("-n", 5, "--items", "a,b", "--distribution", "pareto")
    params = ("--distribution-params", "1,2", "--seed", 4, "--trims-compatible")
    assert bench(*options, *params, command=("true",)).code == 0
    runs = read_runs(folder)
    assert len(runs) == 5
    lines = (folder / "plan.jsonl").read_text().splitlines()
    header = json.loads(lines[0])
    assert header["seed"] == 4
    assert header["popularity"]["values"] == {"xm": 1.0, "alpha": 2.0}
    asked = [json.loads(line)["item"] for line in lines[1:]]
    assert asked == [run.label for run in runs]
    path = Path("plan.jsonl")
    write_plan(make_plan(["b", "a"], "none:2"), path)
    done = bench("--append", "--items", "a,b", "--plan", path, command=("true",))
    assert done.code == 0
    assert [run.item for run in read_runs(folder)[5:]] == ["b", "b", "a", "a"]


def test_an_unknown_distribution_is_refused_and_zipf_works(bench: Bench) -> None:
    done = bench("--items", "a,b", "--distribution", "nope", command=("true",))
    assert done.code == 1
    assert "Q00" in done.out
    done = bench("--items", "a,b", "--distribution", "zipf", "-n", 2, command=("true",))
    assert done.code == 0


def test_model_iterations_limits_each_and_1_runs_once(bench: Bench) -> None:
    options = ("--distribution", "uniform", "--model-iterations", 1, "-n", 3)
    done = bench(
        "--simulate", "--json", "--items", "a,b,c", *options, command=("true",)
    )
    assert sorted(run["item"] for run in json.loads(done.out)["runs"]) == [
        "a",
        "b",
        "c",
    ]


def test_verbose_tells_of_each_run(bench: Bench) -> None:
    done = bench("-v", "-n", 2, command=child("exit 4"))
    lines = done.err.splitlines()
    assert [line.partition(":")[0] for line in lines] == ["1 of 2", "2 of 2"]
    assert lines[0].endswith("code 4")


def test_a_workload_of_the_kit_reports_its_phases(bench: Bench, folder: Path) -> None:
    options = ("--workload", "numpy:matmul:32", "--work", 3, "--trace")
    done = bench(*options, "--init", "async")
    assert (done.code, done.err) == (0, "")
    (run,) = read_runs(folder)
    assert run.phases.keys() >= {"init", "run"}
    assert run.performance is not None
    assert run.command[:6] == (
        *("powerkit", "workload", "run", "numpy:matmul:32"),
        *("--iterations", "3"),
    )
    assert run.trace is not None
    assert run.trace["whole"] is True


def test_listing_runs(bench: Bench, powerkit: Bench, folder: Path) -> None:
    bench("-n", 2, command=child('[ "$POWERKIT_ITERATION" = 1 ]'))
    done = powerkit("bench", "list", folder.parent, "--json")
    listed = [Run.model_validate(one) for one in json.loads(done.out)["runs"]]
    assert [one.returncode for one in listed] == [0, 1]
    done = powerkit("bench", "list", folder, "--failed")
    assert "1 run, 1 failed" in done.out
    done = powerkit("bench", "list", Path.cwd())
    assert done.code == 1
    assert "B007" in done.out


def test_a_failed_warm_up_says_why(bench: Bench) -> None:
    done = bench("-n", 1, "--warm-up", 1, command=child("exit 7"))
    assert "warm-up failed: code 7" in done.out


def test_schemas_are_printed(powerkit: Bench) -> None:
    every = json.loads(powerkit("bench", "schema").out)
    assert set(every) == {"experiment", "run", "matrix"}
    assert json.loads(powerkit("bench", "schema", "run").out) == every["run"]


MANIFEST = """\
name: {name}
version: 1.0
inputs:
  - type: image
    parameters: {{dimensions: [3, {size}, {size}], mean: [123.68, 116.78, 103.94]}}
output:
  type: feature
model:
  base_url: http://localhost/{name}
  graph_path: model.symbol
  weights_path: model.params
large_model: {large}
"""


def test_models_of_trims_manifests(bench: Bench, folder: Path) -> None:
    place = Path("models")
    place.mkdir()
    for name, size, large in (("VGG16", 224, "false"), ("large_vgg16", 672, "true")):
        text = MANIFEST.format(name=name, size=size, large=large)
        yaml_file(place / f"{name}.yml", text)
    options = ("--manifests", place, "--trims-environment")
    echo = child("echo $UPR_MODEL_NAME {width} $UPR_INPUT_HEIGHT $UPR_INPUT_MEAN_R")
    assert bench(*options, command=echo).code == 0
    assert bench(*options, "--large-models", "--append", command=echo).code == 0
    said = [(run.folder or folder) / "stdout" for run in read_runs(folder)]
    assert [path.read_text() for path in said] == [
        "vgg16_1.0 224 224 123.68\n",
        "large_vgg16_1.0 672 672 123.68\n",
    ]
    assert bench(*options, "--items", "a", command=echo).code == 2


def test_the_setting_describes_what_nothing_else_does(
    bench: Bench, folder: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("POWERKIT_EXPERIMENT_DESCRIPTION", "of the setting")
    text = "{name: e, %s workloads: [{name: w, command: [true]}]}"
    own = yaml_file(tmp_path / "own.yaml", text % "description: of the file,")
    plain = yaml_file(tmp_path / "plain.yaml", text % "")
    bench("--append", command=("true",))
    bench("--append", own)
    bench("--append", plain)
    bench("--append", "--experiment-description", "of the option", plain)
    said = [run.description for run in read_runs(folder)]
    assert said == ["of the setting", "of the file", "of the setting", "of the option"]


def test_the_client_of_the_settings_runs_where_it_is_built(
    bench: Bench, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = Path("client")
    place.mkdir()
    (place / "predict").write_text("#!/bin/sh\necho predicted\n")
    (place / "predict").chmod(0o755)
    monkeypatch.setenv("POWERKIT_CLIENT_RUN_COMMAND", "./predict 'two words'")
    monkeypatch.setenv("POWERKIT_CLIENT_DIRECTORY", str(place))
    assert bench().code == 0
    (run,) = read_runs(folder)
    assert (run.workload, run.command) == ("predict", ("./predict", "two words"))
    assert ((run.folder or folder) / "stdout").read_text() == "predicted\n"
