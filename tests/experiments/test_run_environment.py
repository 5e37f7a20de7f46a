"""What a run finds in its environment, and what of that is recorded."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tools.experiments.environment import (
    PINS,
    TRIMS_PINS,
    RunPaths,
    host,
    run_environment,
    shareable,
)
from tools.experiments.launching import prepare
from tools.experiments.orders import targets
from tools.experiments.performing import command_of
from tools.experiments.spec import spec_of

PATHS = RunPaths(Path("/r"), Path("/r/trace.json"), Path("/r/result.json"))
SIZES = {"channels": 3, "height": 224, "width": 224, "mean_r": 123.68}


def environment(
    devices: str = "all", **fields: Any
) -> tuple[dict[str, str], dict[str, str]]:
    item = {"name": "vgg16", "parameters": {k: str(v) for k, v in SIZES.items()}}
    work = {"name": "work", "command": "run {item} {height}", "items": [item]}
    spec = spec_of({"name": "x", "workloads": [work]} | fields, "test")
    return run_environment(spec, prepare(spec).orders[0], "id-1", PATHS, devices)


def test_libraries_are_pinned_unless_told_otherwise() -> None:
    whole, said = environment()
    assert said == PINS
    assert whole["OMP_NUM_THREADS"] == "1"
    whole, said = environment(pin=False)
    assert said == {}
    _, said = environment(env={"OMP_NUM_THREADS": "8"})
    assert said["OMP_NUM_THREADS"] == "8"


def test_the_child_is_told_of_its_run(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("POWERKIT_TRACE_FILE", "/of/an/outer/run")
    whole, said = environment(init="async")
    told = {k: v for k, v in whole.items() if k.startswith("POWERKIT_")}
    assert (
        told.items()
        >= {
            "POWERKIT_RUN_ID": "id-1",
            "POWERKIT_RESULT_FILE": "/r/result.json",
            "POWERKIT_INIT": "async",
            "POWERKIT_ITERATION": "1",
            "POWERKIT_WORKLOAD": "work",
            "POWERKIT_ITEM": "vgg16",
        }.items()
    )
    assert "POWERKIT_TRACE_FILE" not in whole
    assert not set(told) & set(said)
    whole, _ = environment(trace=True)
    assert whole["POWERKIT_TRACE_FILE"] == "/r/trace.json"


def test_visible_devices() -> None:
    assert "CUDA_VISIBLE_DEVICES" not in environment("all")[1]
    assert environment("0,2")[1]["CUDA_VISIBLE_DEVICES"] == "0,2"
    assert environment("")[1]["CUDA_VISIBLE_DEVICES"] == ""


def test_trims_binaries_find_all_their_variables() -> None:
    whole, said = environment(trims_environment=True, trace=True)
    assert said.items() >= TRIMS_PINS.items()
    assert {k: v for k, v in whole.items() if k.startswith("UPR_INPUT")} == {
        "UPR_INPUT_CHANNELS": "3",
        "UPR_INPUT_HEIGHT": "224",
        "UPR_INPUT_WIDTH": "224",
        "UPR_INPUT_MEAN_R": "123.68",
        "UPR_INPUT_MEAN_G": "0",
        "UPR_INPUT_MEAN_B": "0",
    }
    assert whole["UPR_PROFILE_TARGET"] == "/r/trace.json"
    assert (whole["UPR_RUN_ID"], whole["UPR_MODEL_NAME"]) == ("id-1", "vgg16")
    assert whole["UPR_CLIENT"] == "1"
    assert whole["DATE"].endswith("Z")
    assert "HOME" in whole
    assert whole["UPR_BASE_DIR"]


@pytest.mark.parametrize(
    ("fields", "name", "value"),
    [
        ({}, "UPR_ENABLED", "true"),
        ({"trims_enabled": False}, "UPR_ENABLED", "false"),
        ({}, "UPR_ENABLE_MEMORY_PROFILE", "true"),
        ({"profile_memory": False}, "UPR_ENABLE_MEMORY_PROFILE", None),
        ({"init": "eager"}, "UPR_INITIALIZE_EAGER", "true"),
        ({"init": "lazy"}, "UPR_INITIALIZE_EAGER", None),
        ({"init": "async"}, "UPR_INITIALIZE_EAGER_ASYNC", "true"),
        ({"init": "eager"}, "UPR_INITIALIZE_EAGER_ASYNC", None),
        ({"debug": True}, "GLOG_logtostderr", "1"),
    ],
)
def test_trims_flags(fields: dict[str, Any], name: str, value: str | None) -> None:
    _, said = environment(trims_environment=True, **fields)
    assert said.get(name) == value


def test_the_commit_of_a_checkout_is_told(repository: Path) -> None:
    if not (repository / ".git").exists():
        pytest.skip("this is no checkout")
    work = {"name": "w", "command": "a", "cwd": str(repository)}
    spec = spec_of(
        {"name": "x", "workloads": [work], "trims_environment": True}, "test"
    )
    whole, _ = run_environment(spec, prepare(spec).orders[0], "i", PATHS, "all")
    assert len(whole["UPR_GIT_SHA"]) == 40
    assert whole["UPR_GIT_Date"][:2] == "20"


def test_secrets_are_withheld() -> None:
    said = shareable({"HF_TOKEN": "abc", "AWS_SECRET": "def", "A": "plain"})
    assert said == {"A": "plain", "AWS_SECRET": "withheld", "HF_TOKEN": "withheld"}


def test_the_numbers_of_this_machines_gpus_are_withheld() -> None:
    uuid = "01234567-89ab-cdef-0123-456789abcdef"
    said = shareable({"CUDA_VISIBLE_DEVICES": f"0,GPU-{uuid},MIG-{uuid}", "B": "GPU-x"})
    assert said["CUDA_VISIBLE_DEVICES"] == "0,GPU-withheld,MIG-withheld"
    assert said["B"] == "GPU-x"


def test_the_host_has_no_name() -> None:
    assert set(host().model_dump()) == {"cpu", "cores"}
    assert host().cores >= 1


def test_placeholders_are_filled_in_and_other_braces_left() -> None:
    work = {
        "name": "w",
        "command": ["a", "{item}", "{height}x", "{json: 1}", "{trace}"],
        "items": [{"name": "vgg16", "parameters": {"height": "224"}}],
    }
    (target,) = targets(spec_of({"name": "x", "workloads": [work]}, "test"))
    assert command_of(target, PATHS, trace=True) == (
        "a",
        "vgg16",
        "224x",
        "{json: 1}",
        "/r/trace.json",
    )


@pytest.mark.parametrize("items", [[], ["vgg16"]])
def test_a_program_may_have_placeholders_of_its_own(items: list[str]) -> None:
    command = ["load", "http://h/{{item}}", "{{trace}}", "{{other}}", "{trace}"]
    work = {"name": "w", "command": command, "items": items}
    (target,) = targets(spec_of({"name": "x", "workloads": [work]}, "test"))
    assert command_of(target, PATHS, trace=True) == (
        *("load", "http://h/{item}", "{trace}", "{{other}}", "/r/trace.json"),
    )


def test_a_value_is_not_filled_in_again() -> None:
    item = {"name": "vgg16", "parameters": {"a": "{b}", "b": "{item}"}}
    work = {"name": "w", "command": ["{a}{b}{item}"], "items": [item]}
    (target,) = targets(spec_of({"name": "x", "workloads": [work]}, "test"))
    assert command_of(target, PATHS, trace=True) == ("{b}{item}vgg16",)


def test_a_workload_of_the_kit_is_a_child_of_its_own() -> None:
    work = {"name": "onnx", "builtin": "onnx:{item}", "items": ["a.onnx"], "work": 3}
    (target,) = targets(spec_of({"name": "x", "workloads": [work]}, "test"))
    words = command_of(target, PATHS, trace=True, launcher=("powerkit",))
    assert " ".join(words) == (
        "powerkit workload run onnx:a.onnx --iterations 3 --init eager"
        " --trace /r/trace.json --result /r/result.json"
    )
