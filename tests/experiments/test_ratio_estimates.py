"""Ratios with intervals: exact where runs are alike, and honest where they scatter."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from registry.documents.findings import RegistryError
from tests.experiments.experiment_samples import sample_run
from tools.experiments.comparison import compare
from tools.experiments.metrics import joules, metric
from tools.experiments.ratios import Method, estimate, geometric_mean
from tools.experiments.record import Run
from tools.experiments.series import comparison_bars

WORDS = ("faster", "slower")
QUICK = Method(resamples=999)


def runs(walls: list[float], variant: str, **fields: object) -> list[Run]:
    return [
        sample_run(number, wall_seconds=wall, variant=variant, **fields)
        for number, wall in enumerate(walls)
    ]


def test_alike_runs_have_an_exact_ratio() -> None:
    ratio, _ = estimate([2.0] * 5, [1.0] * 5, QUICK, WORDS)
    assert (ratio.low, ratio.value, ratio.high) == (2.0, 2.0, 2.0)
    assert (ratio.verdict, ratio.interval) == ("faster", "all runs alike")


@pytest.mark.parametrize("interval", ["percentile", "bca"])
@pytest.mark.parametrize("statistic", ["median", "mean"])
@pytest.mark.parametrize("paired", [False, True])
def test_a_factor_of_two_is_found(
    interval: str, statistic: str, *, paired: bool
) -> None:
    chance = np.random.default_rng(5)
    slow, fast = (list(chance.lognormal(m, 0.05, 20)) for m in (math.log(2), 0.0))
    method = Method(statistic, interval, resamples=999, paired=paired)
    ratio, drawn = estimate(slow, fast, method, WORDS)
    assert ratio.low is not None
    assert ratio.high is not None
    assert ratio.low < 2 < ratio.high
    assert ratio.high - ratio.low < 0.4
    assert ratio.verdict == "faster"
    assert ratio.interval == interval
    assert len(drawn) == 999
    assert estimate(slow, fast, method, WORDS)[0] == ratio
    assert estimate(fast, slow, method, WORDS)[0].verdict == "slower"


def test_intervals_hold_the_truth_as_often_as_they_say() -> None:
    """Of 200 comparisons of equal programs about 5 in 100 show a difference."""
    chance = np.random.default_rng(11)
    method = Method("mean", resamples=250)
    wrong = 0
    for stream in range(200):
        a, b = (list(chance.lognormal(0, 0.2, 20)) for _ in range(2))
        verdict = estimate(a, b, method, WORDS, stream)[0].verdict
        wrong += verdict != "no difference shown"
    assert 2 <= wrong <= 22


@pytest.mark.parametrize("paired", [False, True])
def test_intervals_of_few_means_are_no_surer_than_they_say(*, paired: bool) -> None:
    """Plain percentiles show a difference in 11 of 100 comparisons of 10 runs."""
    chance = np.random.default_rng(13)
    method = Method("mean", resamples=1500, paired=paired)
    wrong = 0
    for stream in range(200):
        a, b = (list(chance.lognormal(0, 0.05, 10)) for _ in range(2))
        verdict = estimate(a, b, method, WORDS, stream)[0].verdict
        wrong += verdict != "no difference shown"
    assert wrong <= 15


def test_rounds_of_several_comparisons_are_told_apart() -> None:
    """As a folder of the hour holds them: each has a first round, in another drift."""
    old: list[Run] = []
    new: list[Run] = []
    for drift, name in ((1.0, "one"), (3.0, "two")):
        old += runs([2 * drift, 4 * drift, 6 * drift], "a", comparison=name)
        new += runs([1 * drift, 2 * drift, 3 * drift], "b", comparison=name)
    method = Method(resamples=999, paired=True)
    (row,) = compare(old, new, metric("wall"), method).rows
    assert (row.baseline_runs, row.candidate_runs, row.unpaired) == (6, 6, 0)
    assert (row.speedup.low, row.speedup.high) == (2.0, 2.0)


def test_a_run_without_a_ratio_is_not_left_out_in_silence() -> None:
    """Else the workload's other runs, which took longer, would stand for all."""
    old = runs([1.0] * 5, "a", user_seconds=1.0)
    new = runs([1.0] * 5, "b", user_seconds=1.0)
    new[0] = new[0].model_copy(update={"user_seconds": 0.0})
    with pytest.raises(RegistryError, match="user of 0 or less"):
        compare(old, new, metric("user"), QUICK)


def test_runs_that_lack_the_metric_are_counted() -> None:
    old = runs([1.0] * 5, "a", performance=1.0)
    new = runs([1.0] * 6, "b", performance=1.0)
    new[0] = new[0].model_copy(update={"performance": None})
    (row,) = compare(old, new, metric("performance"), QUICK).rows
    assert (row.baseline_runs, row.candidate_runs, row.without) == (5, 5, 1)


def test_rounds_take_the_drift_of_the_machine_out() -> None:
    chance = np.random.default_rng(3)
    drift = np.exp(np.linspace(0, 1, 20))
    slow = list(1.1 * drift * chance.lognormal(0, 0.01, 20))
    fast = list(drift * chance.lognormal(0, 0.01, 20))
    apart, _ = estimate(slow, fast, Method("mean", resamples=999), WORDS)
    together, _ = estimate(
        slow, fast, Method("mean", resamples=999, paired=True), WORDS
    )
    assert apart.verdict == "no difference shown"
    assert together.verdict == "faster"
    assert together.low is not None
    assert together.high is not None
    assert together.low < 1.1 < together.high


@pytest.mark.parametrize(("count", "interval"), [(1, False), (2, True), (4, True)])
def test_few_runs_give_no_verdict(count: int, *, interval: bool) -> None:
    ratio, _ = estimate([2.0, 2.1, 2.2, 2.3][:count], [1.0] * count, QUICK, WORDS)
    assert ratio.verdict == "too few runs"
    assert (ratio.low is not None) == interval


def test_an_interval_that_does_not_exist_is_replaced_and_named() -> None:
    method = Method("median", "bca", resamples=999)
    above = [2.0, 2.0, 2.0, 2.0, 2.0, 2.0, 2.0, 2.0, 9.0]
    ratio, _ = estimate(above, [1.0] * 9, method, WORDS)
    assert ratio.low is not None
    assert math.isfinite(ratio.low)
    assert ratio.interval == "percentile"


@settings(max_examples=15)
@given(
    st.lists(st.floats(1e-6, 1e6), min_size=1, max_size=8),
    st.lists(st.floats(1e-6, 1e6), min_size=1, max_size=8),
)
def test_any_samples_have_a_finite_ratio(a: list[float], b: list[float]) -> None:
    ratio, _ = estimate(a, b, Method(interval="bca", resamples=99), WORDS)
    numbers = [ratio.value, *(n for n in (ratio.low, ratio.high) if n is not None)]
    assert all(math.isfinite(number) and number > 0 for number in numbers)


def test_the_mean_of_ratios_is_geometric() -> None:
    parts = [estimate([v] * 5, [1.0] * 5, QUICK, WORDS) for v in (2.0, 8.0)]
    ratios, drawn = zip(*parts, strict=True)
    mean = geometric_mean(ratios, drawn, QUICK, WORDS, 5)
    assert mean.value == pytest.approx(4)
    assert mean.low == pytest.approx(4)
    assert mean.verdict == "faster"


def test_workloads_are_compared_one_by_one() -> None:
    old = runs([2.0] * 5, "a", item="x") + runs([3.0] * 5, "a", item="y")
    new = runs([1.0] * 5, "b", item="x") + runs([3.0] * 5, "b", item="y")
    done = compare(old, new, metric("wall"), QUICK)
    assert [(r.workload, r.speedup.value) for r in done.rows] == [
        ("work/x", 2.0),
        ("work/y", 1.0),
    ]
    assert done.rows[1].speedup.verdict == "no difference shown"
    assert done.speedup.value == pytest.approx(math.sqrt(2))
    bars = comparison_bars(done)
    assert bars.labels == ("work/x", "work/y", "geometric mean")
    assert bars.values[:2] == (2.0, 1.0)
    assert bars.lows[0] == 2.0


def test_more_performance_is_better() -> None:
    old = runs([1.0] * 5, "a", performance=100.0)
    new = runs([1.0] * 5, "b", performance=200.0)
    (row,) = compare(old, new, metric("performance"), QUICK).rows
    assert (row.speedup.value, row.speedup.verdict) == (2.0, "faster")


def test_what_does_not_count_is_left_out_and_counted() -> None:
    old = runs([2.0] * 6, "a")
    new = runs([1.0] * 6, "b")
    new[0] = new[0].model_copy(update={"returncode": 1, "wall_seconds": 90.0})
    new.append(sample_run(9, warm_up=True, wall_seconds=90.0))
    (row,) = compare(old, new, metric("wall"), QUICK).rows
    assert (row.baseline_runs, row.candidate_runs, row.failed) == (6, 5, 1)
    assert row.speedup.value == 2.0
    paired = Method(resamples=99, paired=True)
    (row,) = compare(old, new, metric("wall"), paired).rows
    assert (row.baseline_runs, row.candidate_runs, row.unpaired) == (5, 5, 1)


def test_what_cannot_be_compared_is_told() -> None:
    old = runs([2.0] * 5, "a", item="x") + runs([2.0] * 5, "a", item="only")
    new = runs([1.0] * 5, "b", item="x")
    done = compare(old, new, metric("wall"), QUICK)
    assert [one.code for one in done.findings] == ["B043"]
    assert "work/only: no run of the candidate" in done.findings[0].what
    with pytest.raises(RegistryError, match="B042"):
        compare(old, new, metric("phase:gone"), QUICK)
    zero = runs([0.0] * 5, "b", item="x")
    with pytest.raises(RegistryError, match="B042"):
        compare(old, zero, metric("wall"), QUICK)


def energy(counter: float, integral: float) -> dict[str, object]:
    def one(device: str, coverage: str, method: str, value: float | None) -> object:
        return {
            "device": device,
            "coverage": coverage,
            "method": method,
            "series": f"{device}_{method}",
            "joules": value,
            "seconds": 0.98,
        }

    return {
        "pace": {"interval_ns": 10_000_000},
        "energies": [
            one("package 0", "package", "counter", counter),
            one("package 0", "core", "counter", 1e9),
            one("gpu 0", "gpu", "integral", integral * 2),
            one("gpu 0", "gpu", "counter", integral),
        ],
    }


def test_energy_is_that_of_what_does_not_overlap() -> None:
    run = sample_run(monitors=energy(100.0, 50.0))
    assert joules(run) == 150.0
    assert joules(run, "gpu 0_integral") == 100.0
    assert joules(sample_run()) is None
    beside = run.model_copy(update={"parameters": {"concurrency": 2}})
    assert joules(beside) is None
    lacking = energy(100.0, 50.0)
    lacking["energies"][0]["joules"] = None  # type: ignore[index]
    assert joules(sample_run(monitors=lacking)) is None


def test_dies_that_may_be_one_are_not_added_up() -> None:
    monitors = energy(100.0, 50.0)
    monitors["findings"] = [{"code": "O013", "path": "package 0_counter"}]
    run = sample_run(monitors=monitors)
    assert joules(run) is None
    assert joules(run, "package 0_counter") == 100.0


def test_a_counter_that_stood_still_gives_no_energy() -> None:
    monitors = energy(100.0, 50.0)
    monitors["findings"] = [{"code": "O011", "path": "package 0_counter"}]
    run = sample_run(monitors=monitors)
    assert joules(run) is None
    assert joules(run, "package 0_counter") is None
    assert joules(run, "gpu 0_counter") == 50.0


def test_energy_of_a_part_of_a_run_is_not_that_of_the_run() -> None:
    monitors = energy(100.0, 50.0)
    assert joules(sample_run(monitors=monitors, wall_seconds=1.02)) == 150.0
    half = sample_run(monitors=monitors, wall_seconds=2.0)
    assert joules(half) is None
    assert joules(half, "gpu 0_counter") is None
    monitors["pace"] = {"interval_ns": 500_000_000}
    assert joules(sample_run(monitors=monitors, wall_seconds=2.0)) == 150.0


def test_energy_is_compared_where_every_run_has_it() -> None:
    old = runs([1.0] * 5, "a", monitors=energy(100.0, 0.0))
    new = runs([1.0] * 5, "b", monitors=energy(50.0, 0.0))
    done = compare(old, new, metric("wall"), QUICK)
    assert done.energy is not None
    assert (done.energy.value, done.energy.verdict) == (0.5, "less")
    new[0] = new[0].model_copy(update={"monitors": {}})
    assert compare(old, new, metric("wall"), QUICK).energy is None


@pytest.mark.parametrize("name", ["", "phase:", "speed", "energy:"])
def test_an_unknown_metric_is_refused(name: str) -> None:
    with pytest.raises(RegistryError, match="B041"):
        metric(name)


def test_every_metric_is_taken_from_its_field() -> None:
    run = sample_run(phases={"init": 0.5}, performance=7.0)
    found = {
        name: metric(name).of(run)
        for name in ("wall", "cpu", "user", "system", "memory", "performance")
    }
    assert found == {
        "wall": 1.0,
        "cpu": 0.75,
        "user": 0.5,
        "system": 0.25,
        "memory": 1 << 28,
        "performance": 7.0,
    }
    assert metric("phase:init").of(run) == 0.5
    assert metric("phase:other").of(run) is None
