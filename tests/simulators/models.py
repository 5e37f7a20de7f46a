"""Hand-made power models of every kind, without any fitting."""

from __future__ import annotations

import functools
import json
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import xgboost

from registry.documents.canonical import sha256
from registry.modelling.model import (
    CURVE,
    LINEAR,
    TREES,
    ComponentError,
    Curve,
    ErrorReport,
    Linear,
    Model,
    ModelId,
    Origin,
    Point,
    Trees,
)

if TYPE_CHECKING:
    from registry.modelling.model import Component

__all__ = ["BPF", "COUNTERS", "curve", "error", "linear", "model", "trees"]

BPF = ("bpf_cpu_time_ms", "bpf_page_cache_hit")
COUNTERS = ("cache_miss", "cpu_cycles", "cpu_instructions")
COMPONENTS = {"acpi": ("platform",), "rapl-sysfs": ("package", "dram")}


def error(mae: float, components: tuple[str, ...], mape: float = 4.0) -> ErrorReport:
    """An error report with figures that are easy to tell apart."""
    parts = {
        name: ComponentError(
            mae=mae - at,
            mae_low=mae / 2,
            mae_high=mae * 2,
            mape=mape + at,
            rmse=mae * 1.5,
            p95=mae * 3,
            worst=mae * 4,
            baseline_mae=mae * 10,
        )
        for at, name in enumerate(components)
    }
    return ErrorReport(
        protocol="server",
        folds=3,
        rows=30,
        mae=mae,
        mae_low=mae / 2,
        mae_high=mae * 2,
        mape=mape + len(components) - 1,
        rmse=mae * 1.5,
        p95=mae * 3,
        worst=mae * 4,
        baseline_mae=mae * 10,
        components=parts,
    )


def linear(bias: float = 60.0, features: tuple[str, ...] = BPF) -> Linear:
    """A linear component that uses its first feature."""
    weights = dict.fromkeys(features, (1.0, 0.0))
    weights[features[0]] = (96_000.0, 250.5)
    return Linear(bias, weights)


@functools.cache
def trees(features: tuple[str, ...] = BPF, rounds: int = 5) -> Trees:
    """Trees that XGBoost itself fitted to a rising line, as it writes them."""
    chance = np.random.default_rng(7)
    values = chance.uniform(0, 96_000, (200, len(features)))
    matrix = xgboost.DMatrix(values, label=100 + values[:, 0] / 300, nthread=1)
    booster = xgboost.train(
        {"max_depth": 3, "nthread": 1, "verbosity": 0}, matrix, rounds
    )
    text = json.dumps(json.loads(bytes(booster.save_raw("json"))))
    return Trees(text, features)


def curve() -> Curve:
    """A rising power curve."""
    return Curve(((0.0, 60.0), (0.5, 200.25), (1.0, 310.5)))


def model(
    trainer: str = LINEAR,
    source: str = "acpi",
    number: int = 0,
    *,
    part: Component | None = None,
    features: tuple[str, ...] = BPF,
    mae: float = 5.0,
    output: str = "AbsPower",
    group: str = "BPFOnly",
    key: str | None = None,
) -> Model:
    """A published model whose components are all alike."""
    made = part or {LINEAR: linear, TREES: trees, CURVE: curve}[trainer]()
    names = COMPONENTS[source]
    held_out = Point(
        {"bpf_cpu_time_ms": 48_000.0, "load_ratio": 0.5},
        dict.fromkeys(names, 190.0),
        dict.fromkeys(names, 190.0 + mae),
    )
    key = key or ("generic" if not number else f"class-{number}")
    identity = ModelId(source, output, group, trainer, number)
    return Model(
        id=identity,
        class_key=key,
        components=dict.fromkeys(names, made),
        features=features,
        error=error(mae, names),
        bundles=(Origin("server-a", "a" * 64, 11),),
        input_digest=sha256(str(identity).encode()),
        status="published",
        why="chosen by the test",
        machines=1,
        points=(held_out,),
    )


def withheld(made: Model, why: str = "no better than a constant") -> Model:
    """The same model, withheld."""
    return replace(made, status="withheld", why=why)
