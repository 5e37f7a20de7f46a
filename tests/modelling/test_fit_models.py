"""Builds: the same bytes however they are made, and only what a plan asks for."""

from __future__ import annotations

import os
import random
import subprocess
import sys
from pathlib import Path

import pytest

from registry.documents import canonical
from registry.documents.findings import RegistryError
from registry.modelling.build import fit_models
from registry.modelling.catalogue import read_catalogue
from registry.modelling.model import Model, model_document, predict
from registry.modelling.plan import plan
from tests.simulators.machines import Machine
from tests.simulators.registry import NOW, Simulator

XEON = "Intel Xeon Gold 6200R"


def small() -> Simulator:
    simulated = Simulator()
    simulated.enrol(7)
    for name, model in (("one", XEON), ("two", XEON), ("three", "Intel Xeon 5600")):
        simulated.add_levels(name, 7, Machine(name, model, seed=len(name)))
    machine = Machine("four", "AMD EPYC 7763", seed=4)
    usual = {"profile": "timeseries", "workloads": ["fp", "idle", "int"]}
    simulated.add_bundle("recorded", 7, machine, recording(), **usual)
    return simulated


def recording() -> dict[str, bytes]:
    """Forty seconds of one package and its counters, in three workloads."""
    chance = random.Random(5)
    names = "rapl_package_0_joules_total,cpu_cycles_total,cpu_instructions_total"
    lines = [f"time_seconds,run,{names},cache_misses_total"]
    joules, cycles, instructions, misses = 0.0, 0, 0, 0
    for at in range(42):
        run = at // 14
        load = 0.0 if run == 0 else chance.uniform(0.1, 1.0)
        joules += 40 + load * (90 if run == 1 else 120) + chance.uniform(-1, 1)
        cycles += int(load * 3e11)
        instructions += int(load * 4e11 * chance.uniform(0.9, 1.1))
        misses += int(load * (1e8 if run == 1 else 5e8))
        lines.append(
            f"{at},{run},{round(joules * 1000) / 1000},{cycles},{instructions},{misses}"
        )
    runs = ["run,workload,accepted", "0,idle,1", "1,int,1", "2,fp,1"]
    tables = {"samples.csv": lines, "runs.csv": runs}
    return {name: ("\n".join(rows) + "\n").encode() for name, rows in tables.items()}


def built(simulated: Simulator, jobs: int = 1) -> list[Model]:
    arrived, tree = simulated.arrivals(), simulated.tree()
    made = plan(read_catalogue(tree, arrivals=arrived, now=NOW))
    return fit_models(tree, made, arrivals=arrived, now=NOW, jobs=jobs)


def digest(models: list[Model]) -> str:
    documents = [model_document(model) for model in models]
    return canonical.sha256(canonical.encode_numbers(documents))


@pytest.fixture(scope="module")
def models() -> list[Model]:
    return built(small())


def test_every_planned_model_comes_back_once(models: list[Model]) -> None:
    names = [str(model.id) for model in models]
    assert names == sorted(names, key=lambda n: models[names.index(n)].id)
    assert len(names) == len(set(names))
    assert {model.class_key for model in models} >= {"generic"}
    for model in models:
        assert model.why
        assert (model.status == "published") <= bool(model.components)


def test_errors_and_points_are_there(models: list[Model]) -> None:
    for model in models:
        if model.status == "published":
            error = model.error
            assert 0 <= error.mae_low <= error.mae <= error.mae_high
            assert error.mae < error.baseline_mae
            assert error.p95 <= error.worst
            assert 0 < len(model.points) <= 12
            assert set(model.components) == set(error.components)


def test_the_generic_class_holds_out_whole_classes(models: list[Model]) -> None:
    name = "acpi/AbsPower/BPFOnly/SGDRegressorTrainer_0"
    generic = next(model for model in models if str(model.id) == name)
    assert generic.error.protocol == "server"
    assert generic.error.folds == 2
    assert generic.machines == 3
    assert [b.dataset for b in generic.bundles] == ["one", "three", "two"]


def test_predictions_are_never_negative(models: list[Model]) -> None:
    for model in models:
        for share in (0.0, 0.5, 1.0):
            row = dict.fromkeys(model.features, share * 1e5) | {"load_ratio": share}
            assert min(predict(model, row).values(), default=0.0) >= 0


def test_workers_do_not_change_a_byte(models: list[Model]) -> None:
    assert digest(built(small(), jobs=2)) == digest(models)


def test_the_order_of_bundles_does_not_change_a_byte(models: list[Model]) -> None:
    simulated = small()
    simulated.files = dict(reversed(simulated.files.items()))
    assert digest(built(simulated)) == digest(models)


@pytest.mark.parametrize(
    "settings",
    [
        {"PYTHONHASHSEED": "2", "OMP_NUM_THREADS": "3", "LC_ALL": "tr_TR.UTF-8"},
        {"OPENBLAS_CORETYPE": "Prescott", "NPY_DISABLE_CPU_FEATURES": "AVX512F"},
    ],
)
def test_the_environment_does_not_change_a_byte(
    models: list[Model], settings: dict[str, str], repository: Path
) -> None:
    code = (
        "from tests.modelling import test_fit_models as t;"
        "print(t.digest(t.built(t.small())))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=repository,
        env={**os.environ, "PYTHONWARNINGS": "ignore", **settings},
        check=True,
        capture_output=True,
        text=True,
    )
    assert done.stdout.strip() == digest(models)


def test_one_more_bundle_changes_no_other_class(models: list[Model]) -> None:
    more = small()
    more.add_levels("five", 7, Machine("five", "Intel Xeon 5600", seed=9))
    after = {str(model.id): model for model in built(more)}
    gained = [m for m in after.values() if "five" in {b.dataset for b in m.bundles}]
    assert {m.class_key.split("-")[0] for m in gained} == {"generic", "xeon"}
    assert len(gained) == 10
    for model in models:
        same = model_document(model) == model_document(after[str(model.id)])
        assert same != (str(model.id) in {str(m.id) for m in gained})


def test_progress_is_told_in_words() -> None:
    simulated = Simulator()
    simulated.enrol(7)
    simulated.add_levels("one", 7)
    arrived, tree = simulated.arrivals(), simulated.tree()
    made = plan(read_catalogue(tree, arrivals=arrived, now=NOW))
    lines: list[str] = []
    fit_models(tree, made, arrivals=arrived, now=NOW, progress=lines.append)
    assert lines[-1] == "fitted 10 of 10 models, last generic"


def test_a_bundle_that_does_not_pass_stops_the_build() -> None:
    simulated = small()
    arrived, tree = simulated.arrivals(), simulated.tree()
    made = plan(read_catalogue(tree, arrivals=arrived, now=NOW))
    simulated.files["datasets/one/levels.csv"] += b"\n"
    with pytest.raises(RegistryError):
        fit_models(simulated.tree(), made, arrivals=arrived, now=NOW)
