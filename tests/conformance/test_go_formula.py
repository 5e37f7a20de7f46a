"""Sections a3 and a4 of kepler-clients.md: what Kepler Go computes from a file."""

from __future__ import annotations

import json
from typing import Any

import pytest

from registry.publish.kepler import go_reader
from registry.publish.kepler.go_reader import GoPanicError, GoRejectsError

BUSY = {"bpf_cpu_time_ms": 1995.845, "cpu_cycles": 7e9}


def weights(**all_weights: Any) -> dict[str, Any]:
    return {"platform": {"All_Weights": all_weights}}


def sgd(bias: float = 64.0949, **variables: Any) -> bytes:
    numerical = variables or {"bpf_cpu_time_ms": {"scale": 3991.69, "weight": 59.546}}
    body = weights(
        Bias_Weight=bias, Categorical_Variables={}, Numerical_Variables=numerical
    )
    return json.dumps({"model_name": "SGDRegressorTrainer_0", **body}).encode()


def curve(trainer: str, values: list[float], **scales: float) -> bytes:
    names = scales or {"bpf_cpu_time_ms": 3991.69}
    body = weights(
        CurveFit_Weights=values,
        Numerical_Variables={name: {"scale": scale} for name, scale in names.items()},
    )
    return json.dumps({"model_name": f"{trainer}_0", **body}).encode()


def test_linear_formula() -> None:
    model = go_reader.load(sgd())
    expected = 64.0949 + 59.546 * (1995.845 / 3991.69)
    assert go_reader.watts(model, "platform", BUSY) == pytest.approx(expected)


def test_millijoules_as_measured_with_the_real_kepler() -> None:
    model = go_reader.load(sgd(bias=93.93, bpf_cpu_time_ms={"scale": 1, "weight": 0}))
    milliwatts = go_reader.platform_milliwatts(model, {})
    assert milliwatts == 93930
    assert milliwatts * 3 == 281790


def test_all_listed_features_add_up() -> None:
    model = go_reader.load(
        sgd(
            bias=1,
            bpf_cpu_time_ms={"scale": 2, "weight": 3},
            cache_miss={"scale": 10, "weight": 5},
        )
    )
    features = {"bpf_cpu_time_ms": 4.0, "cache_miss": 20.0}
    assert go_reader.watts(model, "platform", features) == 1 + 6 + 10


def test_architecture_adds_to_the_bias_and_an_unknown_one_nothing() -> None:
    body = weights(
        Bias_Weight=10,
        Categorical_Variables={"cpu_architecture": {"Sky Lake": {"weight": 5.5}}},
    )
    model = go_reader.load(json.dumps(body).encode())
    assert go_reader.watts(model, "platform", {}, "Sky Lake") == 15.5
    assert go_reader.watts(model, "platform", {}, "Ice Lake") == 10


@pytest.mark.parametrize(
    ("trainer", "values", "expected"),
    [
        ("ExponentialRegressionTrainer", [2.0, 1.0, 3.0], 5.0),
        ("LogarithmicRegressionTrainer", [2.0, 1.0, 3.0], 3.0),
        ("LogisticRegressionTrainer", [10.0, 0.0, 1.0, 3.0], 8.0),
    ],
)
def test_curve_formulas_at_zero(
    trainer: str, values: list[float], expected: float
) -> None:
    model = go_reader.load(curve(trainer, values))
    assert go_reader.watts(model, "platform", {}) == pytest.approx(expected)


@pytest.mark.parametrize(
    ("trainer", "values", "expected"),
    [
        ("ExponentialRegressionTrainer", [1.0, 1.0, 0.0], 2.718281828),
        ("LogarithmicRegressionTrainer", [1.0, 1.0, 0.0], 0.693147181),
        ("LogisticRegressionTrainer", [1.0, 1.0, 1.0, 0.0], 0.5),
    ],
)
def test_curve_formulas_at_one(
    trainer: str, values: list[float], expected: float
) -> None:
    model = go_reader.load(curve(trainer, values, cpu_cycles=7e9))
    assert go_reader.watts(model, "platform", BUSY) == pytest.approx(expected)


def test_curves_beyond_their_range_give_no_number() -> None:
    model = go_reader.load(
        curve("LogarithmicRegressionTrainer", [1.0, -9.0, 0.0], cpu_cycles=7e9)
    )
    assert go_reader.platform_milliwatts(model, BUSY) == 1 << 63
    model = go_reader.load(
        curve("ExponentialRegressionTrainer", [1.0, 1e6, 0.0], cpu_cycles=1.0)
    )
    assert go_reader.platform_milliwatts(model, BUSY) == 1 << 63


@pytest.mark.parametrize(
    ("name", "url", "trainer"),
    [
        ("SGDRegressorTrainer_0", "", "SGDRegressorTrainer"),
        ("", "http://x/SGDRegressorTrainer_7.json", "SGDRegressorTrainer"),
        ("", "http://x/a.b/SGDRegressorTrainer_7.v2.json", "SGDRegressorTrainer"),
        ("LinearRegressionTrainer_0", "", ""),
        ("", "http://x/specpower_acpi_SGDRegressorTrainer_0.json", ""),
        ("SGDRegressorTrainer", "", ""),
    ],
)
def test_trainer_comes_from_the_body_or_the_last_segment(
    name: str, url: str, trainer: str
) -> None:
    body = json.loads(sgd())
    body["model_name"] = name
    assert go_reader.load(json.dumps(body).encode(), url).trainer == trainer


def test_platform_silences_the_components() -> None:
    body = json.loads(sgd())
    body["package"] = body["platform"]
    model = go_reader.load(json.dumps(body).encode())
    assert set(model.components) == {"platform"}


def test_keys_ignore_case_and_unknown_ones_are_ignored() -> None:
    body = json.loads(sgd())
    body = {"MODEL_NAME": body["model_name"], "Platform": body["platform"], "mae": "x"}
    model = go_reader.load(json.dumps(body).encode())
    assert model.trainer == "SGDRegressorTrainer"
    assert go_reader.watts(model, "platform", {}) == 64.0949


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"[]",
        b"\xef\xbb\xbf{}",
        b'{"platform": {"All_Weights": {"Bias_Weight": NaN}}}',
        b'{"platform": {"All_Weights": {"Bias_Weight": Infinity}}}',
        b'{"platform": {"All_Weights": {"Bias_Weight": 1e400}}}',
        b'{"platform": {"All_Weights": {"Bias_Weight": "64"}}}',
        b'{"platform": {"All_Weights": {"Bias_Weight": true}}}',
        b'{"platform": {"All_Weights": {"CurveFit_Weights": 3}}}',
        b'{"platform": 3}',
        b'{"platform": {"All_Weights": []}}',
        b'{"model_name": 3}',
        b'{"machine_spec": {"cores": 4.0}}',
        b'{"machine_spec": {"cores": 1e2}}',
        b'{"machine_spec": {"cores": "4"}}',
        b'{"machine_spec": {"vendor": 4}}',
        b'{"machine_spec": {"cores": 99999999999999999999}}',
        b'{"platform": {"All_Weights": {"Bias_Weight": 1' + b"0" * 400 + b"}}}",
        b"\xff{}",
        b"[" * 100_000,
        b"not found",
    ],
)
def test_rejects_the_whole_file(body: bytes) -> None:
    with pytest.raises(GoRejectsError):
        go_reader.load(body)


def test_null_is_like_absent() -> None:
    model = go_reader.load(b'{"platform": {"All_Weights": {"Bias_Weight": null}}}')
    assert go_reader.platform_milliwatts(model, {}) == 0
    assert go_reader.load(b"null").components == {}


def test_wrong_lengths_kill_kepler() -> None:
    with pytest.raises(GoPanicError):
        go_reader.load(curve("ExponentialRegressionTrainer", [1.0, 2.0]))
    with pytest.raises(GoPanicError):
        go_reader.load(curve("SGDRegressorTrainer", [1.0]))


def test_idle_is_scaled_by_cores_and_absolute_power_is_not() -> None:
    body = json.loads(sgd(bias=40, bpf_cpu_time_ms={"scale": 1, "weight": 0.0240}))
    body["machine_spec"] = {"cores": 8}
    model = go_reader.load(json.dumps(body).encode())
    busy = {"bpf_cpu_time_ms": 2000.0}
    assert go_reader.platform_milliwatts(model, busy, cores=2) == 88000
    assert go_reader.platform_milliwatts(model, busy, idle=True, cores=2) == 10000
    assert go_reader.platform_milliwatts(model, busy, idle=True, cores=16) == 40000
    assert go_reader.platform_milliwatts(model, busy, idle=True) == 40000


def components(**watts: float) -> go_reader.GoModel:
    body = {
        name: {"All_Weights": {"Bias_Weight": value}} for name, value in watts.items()
    }
    return go_reader.load(json.dumps(body).encode())


def test_package_is_at_least_core_and_uncore() -> None:
    power = go_reader.component_milliwatts(components(package=5, core=4, uncore=3), {})
    assert power == {"package": 7000, "core": 4000, "uncore": 3000, "dram": 0}


def test_a_missing_core_is_derived() -> None:
    power = go_reader.component_milliwatts(components(package=9, uncore=3, dram=1), {})
    assert power == {"package": 9000, "core": 6000, "uncore": 3000, "dram": 1000}


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (1.9, 1),
        (-0.5, 0),
        (-40200.0, 18446744073709511416),
        (float("nan"), 1 << 63),
        (float("inf"), 1 << 63),
        (-1e30, 1 << 63),
        (-1.0 * (1 << 63) - 4096, 1 << 63),
    ],
)
def test_uint64(value: float, expected: int) -> None:
    assert go_reader.uint64(value) == expected
