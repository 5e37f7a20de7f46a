"""Model documents: nothing is lost on the way, nothing strange is read."""

from __future__ import annotations

import json

import numpy as np
import pytest

from registry.documents import canonical
from registry.modelling.digest import LIBRARIES, SOURCES, code_digest, library_versions
from registry.modelling.model import (
    CURVE,
    LINEAR,
    TREES,
    ModelId,
    model_document,
    parse_id,
    predict,
    predict_rows,
    read_model,
)
from tests.simulators import models as made


@pytest.mark.parametrize("trainer", [LINEAR, TREES, CURVE])
def test_a_document_holds_all_of_a_model(trainer: str) -> None:
    model = made.model(trainer, "rapl-sysfs", 123_456_789)
    data = canonical.encode_numbers(model_document(model))
    again = read_model(json.loads(data))
    assert again == model
    assert canonical.encode_numbers(model_document(again)) == data


@pytest.mark.parametrize(
    "change",
    [
        {"schema": "power-model/2"},
        {"id": "acpi"},
        {"error": {}},
        {"components": {"platform": {"kind": "linear"}}},
        {"bundles": [{"dataset": "a"}]},
        {"points": [1]},
    ],
)
def test_other_documents_are_refused(change: dict[str, object]) -> None:
    document = model_document(made.model())
    with pytest.raises(ValueError, match=r"."):
        read_model(document | change)


def test_the_linear_formula_is_that_of_kepler() -> None:
    model = made.model(LINEAR)
    half = predict(model, {"bpf_cpu_time_ms": 48_000.0})
    assert half == {"platform": pytest.approx(60 + 250.5 / 2)}
    assert predict(model, {}) == {"platform": 60.0}
    assert predict(model, {"unknown": 5.0}) == {"platform": 60.0}


def test_curves_are_read_at_the_load() -> None:
    found = predict(made.model(CURVE), {"load_ratio": 0.25})
    assert found == {"platform": pytest.approx(130.125)}


def test_trees_take_what_is_absent_as_missing() -> None:
    part = made.trees()
    column = {"bpf_cpu_time_ms": np.array([1_000.0, 90_000.0])}
    low, high = predict_rows(part, column, 2)
    assert low < high


@pytest.mark.parametrize(
    "text",
    [
        "acpi/AbsPower/BPFOnly/SGDRegressorTrainer_0",
        "rapl-sysfs/DynPower/CounterIRQCombined/GradientBoostingRegressorTrainer_123",
        "acpi/AbsPower/BPFOnly/PowerCurve_999999999",
    ],
)
def test_ids_are_read_as_written(text: str) -> None:
    assert str(parse_id(text)) == text


@pytest.mark.parametrize(
    "text",
    [
        "",
        "acpi/AbsPower/BPFOnly/SGDRegressorTrainer",
        "acpi/AbsPower/BPFOnly/SGDRegressorTrainer_01",
        "acpi/AbsPower/BPFOnly/KNeighborsRegressorTrainer_1",
        "acpi/../BPFOnly/SGDRegressorTrainer_1",
        "acpi/AbsPower/BPFOnly/SGDRegressorTrainer_1\n",
    ],
)
def test_other_ids_are_refused(text: str) -> None:
    with pytest.raises(ValueError, match="not the id"):
        parse_id(text)


def test_ids_sort_by_place_and_then_by_number() -> None:
    low = ModelId("acpi", "AbsPower", "BPFOnly", LINEAR, 9)
    high = ModelId("acpi", "AbsPower", "BPFOnly", LINEAR, 10)
    assert low < high
    assert high.model_name == "SGDRegressorTrainer_10"


def test_digests_name_every_file_that_decides_a_model() -> None:
    from importlib import resources

    light = {
        "__init__.py",
        "build.py",
        "catalogue.py",
        "classes.py",
        "digest.py",
        "plan.py",
    }
    for package in ("registry.modelling", "registry.modelling.fits"):
        here = {f.name for f in resources.files(package).iterdir() if f.is_file()}
        assert set(SOURCES[package]) == {n for n in here if n.endswith(".py")} - light
    documents = {f.name for f in resources.files("registry.documents").iterdir()}
    tables = {n for n in documents if n.startswith(("column", "csv", "strict_csv"))}
    named = set(SOURCES["registry.documents"])
    assert tables - {"columns_page.py"} | {"spec.py", "workloads.py"} == named
    assert len(code_digest()) == 64
    assert set(library_versions()) == set(LIBRARIES)
    assert "absent" not in library_versions().values()
