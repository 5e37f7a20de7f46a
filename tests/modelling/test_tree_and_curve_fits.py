"""Trees and curves never fall with activity, and always come out the same."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest

from registry.modelling.fits.booster import scientific
from registry.modelling.fits.curve import (
    KNOTS,
    CurveChoice,
    curve_choices,
    fit_curve,
)
from registry.modelling.fits.trainers import FITS, constant
from registry.modelling.fits.trees import (
    FEW_ROWS,
    MANY_ROWS,
    fit_trees,
    guess_trees,
    predict_trees,
    tree_choices,
)
from registry.modelling.model import CURVE, LINEAR, TREES, Trees, predict_rows
from tests.simulators.tables import levels, recording, table


def test_trees_follow_a_load_curve() -> None:
    made = levels()
    found = fit_trees(made, FEW_ROWS)
    guess = predict_rows(found, made.columns(), len(made))
    assert np.abs(guess - made.watts).max() < 3


def test_trees_never_fall_with_any_feature_and_stay_within_what_was_measured() -> None:
    made = recording()
    chance = np.random.default_rng(0)
    noisy = replace(made, watts=made.watts + chance.normal(0, 30, len(made)))
    found = fit_trees(noisy, MANY_ROWS[1])
    for at in range(3):
        rows = np.tile(np.median(made.values, axis=0), (50, 1))
        rows[:, at] = np.linspace(0, 10 * made.values[:, at].max(), 50)
        guess = predict_trees(found.booster_json, rows)
        assert np.all(np.diff(guess) >= 0)
        assert guess.max() < noisy.watts.max() + 1


def test_storing_trees_changes_nothing() -> None:
    made = recording()
    stored = fit_trees(made, MANY_ROWS[0])
    direct = guess_trees(made, MANY_ROWS[0], made)
    assert np.array_equal(predict_rows(stored, made.columns(), len(made)), direct)
    assert fit_trees(made, MANY_ROWS[0]) == stored


def test_a_feature_that_was_not_observed_is_never_asked_for() -> None:
    found = fit_trees(levels(), FEW_ROWS)
    assert found.features == ("bpf_cpu_time_ms", "bpf_page_cache_hit")
    model = json.loads(found.booster_json)["learner"]["gradient_booster"]["model"]
    asked = {at for tree in model["trees"] for at in tree["split_indices"]}
    assert asked == {0}
    one = np.array([[16_000.0, 0.0], [16_000.0, np.nan], [16_000.0, 1e9]])
    assert len(set(predict_trees(found.booster_json, one).tolist())) == 1


def test_the_base_score_is_in_the_notation_that_old_versions_read() -> None:
    found = fit_trees(levels(), FEW_ROWS)
    learner = json.loads(found.booster_json)["learner"]
    base = learner["learner_model_param"]["base_score"]
    assert base == scientific(float(base))
    assert "[" not in base


@pytest.mark.parametrize(
    ("value", "text"),
    [(200.02, "2.0002E2"), (94.0, "9.4E1"), (0.5, "5E-1"), (0.0, "0E0")],
)
def test_scientific_notation(value: float, text: str) -> None:
    assert scientific(value) == text


def test_few_rows_leave_nothing_to_choose() -> None:
    assert tree_choices(levels()) == (FEW_ROWS,)
    assert tree_choices(recording()) == MANY_ROWS
    assert str(FEW_ROWS) == "30 monotone trees of depth 2"


def test_trees_predict_no_negative_watts() -> None:
    made = levels(idle=0.0, peak=5.0)
    found = fit_trees(replace(made, watts=np.maximum(made.watts - 1, 0)), FEW_ROWS)
    assert predict_rows(found, made.columns(), len(made)).min() >= 0


def test_a_curve_passes_through_rising_levels() -> None:
    made = levels()
    found = fit_curve(made, CurveChoice())
    assert [watts for _, watts in found.points] == pytest.approx(made.watts.tolist())
    outside = predict_rows(found, {"load_ratio": np.array([-1.0, 2.0])}, 2)
    assert outside.tolist() == [found.points[0][1], found.points[-1][1]]
    assert curve_choices(made) == (CurveChoice(),)
    assert str(CurveChoice()) == "isotonic curve"


def test_a_curve_never_falls_and_has_few_points() -> None:
    chance = np.random.default_rng(5)
    made = recording(5_000)
    load = chance.uniform(0, 1, 5_000)
    watts = 80 + 100 * load + chance.normal(0, 40, 5_000)
    found = fit_curve(replace(made, load=load, watts=watts), CurveChoice())
    heights = [watts for _, watts in found.points]
    assert heights == sorted(heights)
    assert len(found.points) <= KNOTS
    at_half = predict_rows(found, {"load_ratio": np.array([0.5])}, 1)[0]
    assert at_half == pytest.approx(130, abs=5)


def test_a_curve_needs_loads() -> None:
    made = levels()
    unknown = replace(made, load=np.full(len(made), np.nan))
    with pytest.raises(ValueError, match="load of at least one row"):
        fit_curve(unknown, CurveChoice())


@pytest.mark.parametrize("trainer", [LINEAR, TREES])
def test_a_constant_has_the_form_of_its_trainer(trainer: str) -> None:
    made = table(np.array([4.0, 5.0, 60.0]), cpu_cycles=np.array([1.0, 2.0, 3.0]))
    found = constant(made, trainer)
    guess = predict_rows(found, made.columns(), 3)
    assert guess.tolist() == [5.0, 5.0, 5.0]
    assert isinstance(found, Trees) == (trainer == TREES)


@pytest.mark.parametrize("trainer", [LINEAR, TREES, CURVE])
def test_guessing_is_fitting_and_predicting(trainer: str) -> None:
    made = levels()
    choice = FITS[trainer].choices(made)[0]
    part = FITS[trainer].fit(made, choice)
    expected = predict_rows(part, made.columns(), len(made))
    assert np.array_equal(FITS[trainer].guess(made, choice, made), expected)


def test_a_level_that_two_servers_reach_is_one_point() -> None:
    """Loads of 0.499 and 0.502 are one level, else the curve would be a staircase."""
    made = levels()
    load = np.concatenate([made.load - 0.001, made.load + 0.002]).clip(0)
    two = replace(
        made.take(np.tile(np.arange(len(made)), 2)),
        load=load,
        watts=np.concatenate([made.watts, made.watts + 40]),
    )
    found = fit_curve(two, CurveChoice())
    assert len(found.points) == len(made)
    steps = np.diff([watts for _, watts in found.points])
    assert steps.max() < 2 * np.diff(made.watts).max()
