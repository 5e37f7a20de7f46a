"""Experiments as documents: typed, complete, and refused with file and line."""

from __future__ import annotations

import json
from pathlib import Path

import jsonschema
import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from registry.documents.findings import RegistryError
from tests.experiments.experiment_samples import sample_run, yaml_file
from tools.experiments.record import Init
from tools.experiments.schemas import schemas
from tools.experiments.spec import Spec, changed, read_spec

WHOLE = """\
schema: experiment/1
name: matmul
description: all fields
workloads:
  - name: numpy
    builtin: numpy:matmul
    work: 3
  - name: mine
    command: ./predict --model {item} 'two words'
    env: {A: b}
    cwd: sub
    items:
      - alexnet
      - {name: vgg16, bytes: 5, parameters: {height: 224}}
variants:
  baseline: {}
  candidate: {env: {A: c}, init: lazy}
iterations: 5
warm_up: 1
init: async
concurrency: 2
time_limit_seconds: 1.5
env: {B: c}
pin: false
monitors: [cpu, memory]
monitor_interval_ms: 20
trace: true
postprocess: false
service: service.yaml
models: alexnet
models_percentage: 50
load: {distribution: pareto, params: [1, 1.5], seed: 7}
visible_devices: "0"
trims_environment: true
"""


def refused(tmp_path: Path, text: str) -> list[tuple[str, int | None, str]]:
    with pytest.raises(RegistryError) as error:
        read_spec(yaml_file(tmp_path / "spec.yaml", text))
    return [(one.code, one.line, one.what) for one in error.value.findings]


def test_every_field_is_read(tmp_path: Path) -> None:
    spec = read_spec(yaml_file(tmp_path / "spec.yaml", WHOLE))
    mine = spec.workloads[1]
    assert mine.command == ("./predict", "--model", "{item}", "two words")
    assert [item.name for item in mine.items] == ["alexnet", "vgg16"]
    assert mine.items[1].parameters == {"height": "224"}
    assert (spec.iterations, spec.init, spec.pin) == (5, Init.ASYNC, False)
    assert spec.load is not None
    assert spec.load.params == (1.0, 1.5)
    assert spec.variants["candidate"].init is Init.LAZY


def test_paths_are_relative_to_the_document(tmp_path: Path) -> None:
    spec = read_spec(yaml_file(tmp_path / "spec.yaml", WHOLE))
    assert spec.workloads[1].cwd == str(tmp_path / "sub")
    assert spec.service == str(tmp_path / "service.yaml")


def test_all_problems_are_told_with_their_lines(tmp_path: Path) -> None:
    text = (
        "name: a\n"
        "workloads:\n"
        "  - name: x\n"
        '    command: "unbalanced \'"\n'
        "  - name: y\n"
        "    colour: red\n"
        "iterations: none\n"
    )
    found = refused(tmp_path, text)
    assert ("B020", 6, "workloads[1].colour: no such field") in found
    assert [(code, line) for code, line, _ in found if code == "B022"] == [
        ("B022", 4),
        ("B022", 7),
    ]
    assert any("No closing quotation" in what for _, _, what in found)


@pytest.mark.parametrize(
    ("workload", "what"),
    [
        ("- {name: x}", "it needs a command or a builtin"),
        (
            "- {name: x, command: a, builtin: b}",
            "command and builtin exclude each other",
        ),
        ("- {name: x, command: 'a {item}'}", "the command holds {item}"),
        ("- {name: x, builtin: 'onnx:{item}'}", "the command holds {item}"),
        ("- {name: x, command: a, items: [b, b]}", "an item is listed twice"),
        (
            "- {name: x, command: a}\n- {name: x, command: b}",
            "another workload has this name",
        ),
    ],
)
def test_contradictions_are_refused(tmp_path: Path, workload: str, what: str) -> None:
    ((code, line, said),) = refused(tmp_path, f"name: a\nworkloads:\n{workload}\n")
    assert code == "B023"
    assert line is not None
    assert said.startswith(what)


def test_a_plan_and_a_distribution_exclude_each_other(tmp_path: Path) -> None:
    load = "load: {plan: p, distribution: zipf}\n"
    text = "name: a\nworkloads: [{name: x, command: a}]\n" + load
    assert refused(tmp_path, text) == [
        ("B023", 3, "a plan and a distribution exclude each other")
    ]


def test_missing_fields_are_named(tmp_path: Path) -> None:
    found = refused(tmp_path, "iterations: 3\n")
    assert [(code, what) for code, _, what in found] == [
        ("B021", "name: the field is missing"),
        ("B021", "workloads: the field is missing"),
    ]


def test_a_file_that_is_no_file_is_refused(tmp_path: Path) -> None:
    with pytest.raises(RegistryError, match="B001"):
        read_spec(tmp_path)


def test_changes_are_checked_as_the_document_is(tmp_path: Path) -> None:
    spec = read_spec(yaml_file(tmp_path / "spec.yaml", WHOLE))
    assert changed(spec, "options", {"iterations": 9, "init": None}).iterations == 9
    with pytest.raises(RegistryError, match="options: B022 iterations"):
        changed(spec, "options", {"iterations": 0})


def test_documents_fit_their_schemas(tmp_path: Path) -> None:
    every = schemas()
    for one in every.values():
        jsonschema.Draft202012Validator.check_schema(one)
    value = yaml.safe_load(WHOLE)
    jsonschema.validate(value, every["experiment"])
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(value | {"colour": "red"}, every["experiment"])
    run = sample_run().model_dump(mode="json", by_alias=True)
    jsonschema.validate(run, every["run"])
    assert "folder" not in every["run"]["properties"]
    jsonschema.validate({"axes": {"concurrency": ["1", "5"]}}, every["matrix"])


@settings(max_examples=50)
@given(st.binary(max_size=300) | st.text(max_size=300).map(str.encode))
def test_any_bytes_are_an_experiment_or_findings(
    tmp_path_factory: pytest.TempPathFactory, data: bytes
) -> None:
    path = tmp_path_factory.mktemp("spec") / "spec.yaml"
    path.write_bytes(data)
    with pytest.raises(RegistryError):
        read_spec(path)


VALUES = st.recursive(
    st.text(max_size=6) | st.integers() | st.booleans() | st.floats(),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner)
    ),
    max_leaves=5,
)


@settings(max_examples=50)
@given(st.dictionaries(st.sampled_from(sorted(Spec.model_fields)), VALUES))
def test_any_values_are_an_experiment_or_findings(
    tmp_path_factory: pytest.TempPathFactory, changes: dict[str, object]
) -> None:
    path = tmp_path_factory.mktemp("spec") / "spec.yaml"
    value = {"name": "a", "workloads": [{"name": "x", "command": "true"}]} | changes
    path.write_text(json.dumps(value))
    try:
        spec = read_spec(path)
    except RegistryError:
        return
    assert spec.iterations >= 1
