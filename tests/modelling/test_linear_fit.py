"""Linear fits are optimal, nonnegative, and of the form that Kepler's Go reads."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import linprog

from registry.modelling.fits.linear import (
    LinearChoice,
    _best_line,
    _least_deviations,
    fit_linear,
    linear_choices,
)
from registry.modelling.model import predict_rows
from registry.modelling.table import Table, thinned
from tests.simulators.tables import levels, recording, table

LAD = LinearChoice("lad")
LS = LinearChoice("ls")


def loss(made: Table, bias: float, slope: float) -> float:
    x = made.values[:, 0] / made.values[:, 0].max()
    return float(np.abs(made.watts - bias - slope * x).sum())


@pytest.mark.parametrize("choice", [LAD, LS])
def test_an_exact_line_is_found(choice: LinearChoice) -> None:
    load = np.linspace(0, 1, 20)
    found = fit_linear(table(60 + 90 * load, cpu_cycles=load * 5e10), choice)
    assert found.bias == pytest.approx(60, rel=1e-5)
    scale, weight = found.weights["cpu_cycles"]
    assert scale == 5e10
    assert weight == pytest.approx(90, rel=1e-5)


@given(
    watts=st.lists(st.floats(0, 500), min_size=3, max_size=12),
    seed=st.integers(0, 10_000),
)
def test_trying_all_lines_is_as_good_as_the_linear_programme(
    watts: list[float], seed: int
) -> None:
    chance = np.random.default_rng(seed)
    x = chance.uniform(0, 1, len(watts))
    x[0] = 1.0
    y, weight = np.array(watts), chance.uniform(0.5, 2, len(watts))
    design = np.column_stack([np.ones(len(x)), x])
    ours = _best_line(x, y, weight)
    rows = len(x)
    exact = linprog(
        np.concatenate([np.zeros(2), weight, weight]),
        A_eq=np.column_stack([design, np.eye(rows), -np.eye(rows)]),
        b_eq=y,
        bounds=(0, None),
    )
    assert np.all(ours >= 0)
    miss = np.abs(y - design @ ours) @ weight
    assert miss == pytest.approx(exact.fun, rel=1e-6, abs=1e-6)


def test_the_dual_programme_gives_the_primal_optimum() -> None:
    made = recording(200)
    x = made.values / made.values.max(axis=0)
    design = np.column_stack([np.ones(len(x)), x])
    found = _least_deviations(design, made.watts, made.weight)
    rows = len(x)
    exact = linprog(
        np.concatenate([np.zeros(4), np.ones(2 * rows)]),
        A_eq=np.column_stack([design, np.eye(rows), -np.eye(rows)]),
        b_eq=made.watts,
        bounds=(0, None),
    )
    assert np.abs(made.watts - design @ found).sum() == pytest.approx(exact.fun)


@pytest.mark.parametrize("choice", [LAD, LS])
@pytest.mark.parametrize("intercept", [True, False])
def test_nothing_is_negative_even_where_power_falls(
    choice: LinearChoice, intercept: bool
) -> None:
    chance = np.random.default_rng(3)
    load = np.linspace(0.01, 1, 60)
    made = table(
        200 - 150 * load + chance.normal(0, 5, 60),
        intercept=intercept,
        cpu_cycles=load * 1e10,
        cache_miss=chance.uniform(0, 1e6, 60),
    )
    found = fit_linear(made, choice)
    assert found.bias >= 0
    assert all(w >= 0 and s > 0 for s, w in found.weights.values())
    for x in (0.0, 1.0, 50.0):
        row = {name: np.array([x * s]) for name, (s, _) in found.weights.items()}
        assert predict_rows(found, row, 1)[0] >= 0


def test_dynamic_power_has_no_bias() -> None:
    made = replace(levels(), intercept=False)
    for choice in (LAD, LS):
        found = fit_linear(replace(made, watts=made.watts - 50), choice)
        assert found.bias == 0
        assert found.weights["bpf_cpu_time_ms"][1] > 0


def test_an_unobserved_feature_has_scale_one_and_weight_zero() -> None:
    found = fit_linear(levels(), LAD)
    assert found.weights["bpf_page_cache_hit"] == (1.0, 0.0)
    never = table(np.full(9, 80.0), cache_miss=np.zeros(9))
    assert fit_linear(never, LAD) == fit_linear(never, LS)
    assert fit_linear(never, LAD).weights == {"cache_miss": (1.0, 0.0)}
    assert fit_linear(never, LAD).bias == 80.0


def test_numbers_have_six_significant_digits() -> None:
    found = fit_linear(recording(), LAD)
    numbers = [found.bias, *(n for pair in found.weights.values() for n in pair)]
    assert numbers == [float(f"{n:.5e}") for n in numbers]


def test_features_that_are_left_out_keep_their_place() -> None:
    choice = LinearChoice("ls", ("cpu_instructions",))
    found = fit_linear(recording(), choice)
    assert found.weights["cpu_instructions"] == (1.0, 0.0)
    assert str(choice) == "nonnegative least squares without cpu_instructions"


def test_choices_go_from_simple_to_rich() -> None:
    choices = linear_choices(recording())
    assert [len(choice.without) for choice in choices] == [2, 2, 1, 1, 0, 0]
    assert [choice.loss for choice in choices] == ["lad", "ls"] * 3
    assert linear_choices(levels()) == (LAD, LS)


def test_large_tables_are_thinned_evenly_and_barely_move_the_fit() -> None:
    made = recording(60_000)
    few = thinned(made)
    assert len(few) == 20_000
    assert np.array_equal(few.watts, thinned(made).watts)
    found = fit_linear(made, LS)
    assert found.bias == pytest.approx(100, abs=1)
    assert found.weights["cache_miss"][1] == pytest.approx(40, abs=2)


def test_weights_count_rows() -> None:
    made = table(np.array([10.0, 10.0, 30.0]), cache_miss=np.zeros(3))
    heavy = replace(made, weight=np.array([1.0, 1.0, 3.0]))
    assert fit_linear(made, LAD).bias == 10.0
    assert fit_linear(heavy, LAD).bias == 30.0
    assert fit_linear(heavy, LS).bias == pytest.approx(22.0)
