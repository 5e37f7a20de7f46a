"""Forms in which a single model is written, and those that are refused."""

from __future__ import annotations

import io
import json
import zipfile
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import xgboost

from registry.documents.findings import RegistryError
from registry.modelling.model import (
    CURVE,
    LINEAR,
    TREES,
    Curve,
    Linear,
    ModelId,
    Trees,
    parse_id,
    predict_rows,
)
from registry.publish.assets import file_paths, flat_name, forms, model_forms
from registry.publish.kepler.archives import model_zip
from registry.publish.kepler.boosters import linear_booster, tree_booster
from registry.publish.kepler.curves import curve_file
from registry.publish.kepler.node_types import format_processor, machine_of
from registry.publish.kepler.readback import read_components
from registry.publish.kepler.weights import weight_file
from tests.simulators import models as made
from tests.simulators.releases import SPEC

IDENTITY = ModelId("acpi", "AbsPower", "BPFOnly", LINEAR, 0)


def codes(error: RegistryError) -> set[str]:
    return {finding.code for finding in error.findings}


def test_a_weight_file_is_what_kepler_documents() -> None:
    body = json.loads(weight_file(made.model(number=123456789), machine_of(SPEC)))
    assert body["model_name"] == "SGDRegressorTrainer_123456789"
    assert body["machine_spec"]["cores"] == 96
    assert body["platform"] == {
        "All_Weights": {
            "Bias_Weight": 60.0,
            "Categorical_Variables": {},
            "Numerical_Variables": {
                "bpf_cpu_time_ms": {"scale": 96000.0, "weight": 250.5},
                "bpf_page_cache_hit": {"scale": 1.0, "weight": 0.0},
            },
        }
    }


def test_all_problems_of_a_weight_file_are_told_at_once() -> None:
    part = made.linear(bias=-1.0)
    part.weights["unheard_of"] = (0.0, -1.0)  # type: ignore[index]
    with pytest.raises(RegistryError) as caught:
        weight_file(made.model(part=part), None)
    assert codes(caught.value) == {"R002"}
    assert len(caught.value.findings) == 4


@pytest.mark.parametrize("trainer", [LINEAR, TREES, CURVE])
@pytest.mark.parametrize("source", ["acpi", "rapl-sysfs"])
def test_what_is_written_reads_back_as_it_was(trainer: str, source: str) -> None:
    model = made.model(trainer, source)
    data = model_forms(model, None)[forms(trainer)[0]]
    parts = read_components(model.id, data)
    columns = {
        "bpf_cpu_time_ms": np.array([0.0, 1e4, 9e4]),
        "bpf_page_cache_hit": np.array([0.0, 1.0, 2.0]),
        "load_ratio": np.array([0.0, 0.3, 1.0]),
    }
    assert parts.keys() == model.components.keys()
    for name, part in model.components.items():
        again = predict_rows(parts[name], columns, 3)
        assert again.tolist() == predict_rows(part, columns, 3).tolist()


def test_forms_and_paths() -> None:
    assert forms(LINEAR) == ("json", "zip")
    assert forms(TREES) == ("zip",)
    assert flat_name(IDENTITY, "zip") == (
        "acpi-AbsPower-BPFOnly-SGDRegressorTrainer_0.zip"
    )
    assert file_paths(IDENTITY, "zip", published=True) == (
        "acpi-AbsPower-BPFOnly-SGDRegressorTrainer_0.zip",
        "models/std_v0.7.11/acpi/AbsPower/BPFOnly/SGDRegressorTrainer_0.zip",
    )
    assert file_paths(IDENTITY, "zip", published=False) == (
        "withheld/acpi-AbsPower-BPFOnly-SGDRegressorTrainer_0.zip",
    )
    curve = replace(IDENTITY, trainer=CURVE)
    assert file_paths(curve, "json", published=True) == (
        "acpi-AbsPower-BPFOnly-PowerCurve_0.json",
    )


def test_a_constant_is_a_level_curve() -> None:
    flat = Linear(7.5, dict.fromkeys(made.BPF, (1.0, 0.0)))
    model = made.model(CURVE, "rapl-sysfs")
    model = replace(model, components={**model.components, "dram": flat})
    parts = read_components(model.id, curve_file(model))
    assert parts["dram"] == Curve(((0.0, 7.5), (1.0, 7.5)))
    assert parts["package"] == made.curve()


def test_a_constant_among_trees_reads_back() -> None:
    flat = Linear(7.5, dict.fromkeys(made.BPF, (1.0, 0.0)))
    model = made.model(TREES, "rapl-sysfs")
    model = replace(model, components={**model.components, "dram": flat})
    parts = read_components(model.id, model_zip(model))
    columns = {name: np.array([1.0, 9e4]) for name in made.BPF}
    assert predict_rows(parts["dram"], columns, 2).tolist() == [7.5, 7.5]


def test_kinds_do_not_mix() -> None:
    with pytest.raises(RegistryError) as caught:
        curve_file(made.model(LINEAR))
    assert codes(caught.value) == {"R005"}
    with pytest.raises(RegistryError) as caught:
        model_zip(made.model(CURVE))
    assert codes(caught.value) == {"R004"}
    with pytest.raises(RegistryError) as caught:
        weight_file(made.model(TREES), None)
    assert codes(caught.value) == {"R001"}


def booster(**changes: Any) -> Trees:
    """Trees with something about them changed."""
    document = json.loads(made.trees().booster_json)
    learner = document["learner"]
    for name, value in changes.items():
        match name:
            case "base_score" | "num_target":
                learner["learner_model_param"][name] = value
            case "objective":
                learner["objective"] = {"name": value}
            case "name":
                learner["gradient_booster"]["name"] = value
            case "best_iteration":
                learner["attributes"] = {"best_iteration": value}
            case "split_type":
                learner["gradient_booster"]["model"]["trees"][0]["split_type"] = value
    return Trees(json.dumps(document), made.BPF)


def test_the_base_score_is_in_the_only_form_that_old_clients_read() -> None:
    for written, expected in (
        ("[1.5E2]", "1.5E2"),
        ("1.5E2", "1.5E2"),
        ("150.25", "1.5025E2"),
        ("[1.16594170001E3]", "1.1659417E3"),
        ("0", "0E0"),
        ("-0.001", "-1E-3"),
    ):
        document = json.loads(tree_booster(booster(base_score=written), "x"))
        assert document["learner"]["learner_model_param"]["base_score"] == expected


def test_trees_lose_nothing_but_what_old_clients_do_not_know() -> None:
    trees = made.trees()
    document = json.loads(tree_booster(trees, "x"))
    original = json.loads(trees.booster_json)
    assert document["version"] == [2, 1, 0]
    ours = document["learner"]["gradient_booster"]["model"]
    theirs = original["learner"]["gradient_booster"]["model"]
    theirs.pop("cats", None)
    assert ours == theirs


@pytest.mark.parametrize(
    "changes",
    [
        {"objective": "reg:gamma"},
        {"name": "dart"},
        {"best_iteration": "3"},
        {"split_type": [1]},
        {"num_target": "2"},
    ],
)
def test_trees_that_old_clients_misread_are_refused(changes: dict[str, Any]) -> None:
    with pytest.raises(RegistryError) as caught:
        tree_booster(booster(**changes), "x")
    assert codes(caught.value) == {"R003"}


def test_trees_need_their_features() -> None:
    trees = made.trees()
    with pytest.raises(RegistryError):
        tree_booster(replace(trees, features=("bpf_cpu_time_ms",)), "x")


def test_the_linear_booster_is_the_linear_model() -> None:
    data = linear_booster(made.linear(), made.BPF)
    regressor = xgboost.XGBRegressor()
    regressor.load_model(bytearray(data))
    power = regressor.predict(np.array([[0.0, 5.0], [96_000.0, 5.0]]))
    assert power.tolist() == pytest.approx([60.0, 310.5])


def test_a_zip_is_a_function_of_its_content() -> None:
    data = model_zip(made.model(TREES))
    assert data == model_zip(made.model(TREES))
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        assert all(entry.create_system == 3 for entry in archive.infolist())


@pytest.mark.parametrize(
    ("brand", "expected"),
    [
        ("Intel(R) Xeon(R) CPU E5-2686 v4 @ 2.30GHz", "intel_xeon_e5_2686v4"),
        (
            "Intel(R) Xeon(R) Platinum 8259CL CPU @ 2.50GHz",
            "intel_xeon_platinum_8259cl",
        ),
        ("AMD EPYC 7742 64-Core Processor", "amd_epyc_7742_64_core"),
        ("Intel Xeon X5670, 2.93 GHz", "intel_xeon_x5670"),
        ("Quad-Core AMD Opteron(tm) Processor 2356", "quad_core_amd_opteron"),
        ("POWER9 [rev 2]", "power9"),
        ("64-Bit Multi-Core Thing", "thing"),
    ],
)
def test_processors_are_named_as_the_server_names_them(
    brand: str, expected: str
) -> None:
    assert format_processor(brand) == expected


def test_a_machine_is_described_as_the_server_would_discover_it() -> None:
    cpu = SPEC.cpu.model_copy(update={"vendor": "amd", "model": "EPYC 7742"})
    frequency = cpu.frequency.model_copy(update={"max_hertz": None, "base_hertz": None})
    spec = SPEC.model_copy(
        update={"cpu": cpu.model_copy(update={"frequency": frequency})}
    )
    machine = machine_of(spec)
    assert machine.processor == "amd_epyc_7742_24_core"
    assert machine.frequency == 0
    assert machine_of(SPEC).frequency == 4000


def test_ids_survive_being_written() -> None:
    assert parse_id(str(IDENTITY)) == IDENTITY
