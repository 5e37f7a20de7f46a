"""Arrivals: every process fits its law, and times are absolute."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from registry.documents.findings import RegistryError
from tools.load import schedules
from tools.load.arrivals import parse_arrivals
from tools.load.plan import make_plan
from tools.load.schedules import schedule
from tools.load.streams import open_streams


def times(
    text: str, count: int | None = 10_000, seconds: float | None = None
) -> np.ndarray:
    duration = None if seconds is None else round(seconds * 1e9)
    found = schedule(parse_arrivals(text), open_streams(17).schedule, count, duration)
    assert (np.diff(found) >= 0).all()
    return found / 1e9


def gaps(text: str) -> np.ndarray:
    return np.diff(times(text), prepend=0.0)


def test_poisson_gaps_are_exponential() -> None:
    assert (
        stats.kstest(gaps("poisson:rate=40"), stats.expon(scale=1 / 40).cdf).pvalue
        > 0.05
    )


def test_poisson_counts_in_windows_are_poisson() -> None:
    found = times("poisson:rate=20", None, 1000)
    counts = np.bincount(found.astype(int), minlength=1000)[:1000]
    law = stats.poisson(20)
    observed = np.bincount(np.clip(counts, 12, 29) - 12, minlength=18)
    chances = law.pmf(np.arange(12, 30))
    chances[0], chances[-1] = law.cdf(12), law.sf(28)
    assert stats.chisquare(observed, chances * 1000).pvalue > 0.05


def test_poisson_gaps_are_independent() -> None:
    found = gaps("poisson:rate=40")
    assert abs(np.corrcoef(found[:-1], found[1:])[0, 1]) < 3 / np.sqrt(len(found))


@pytest.mark.parametrize("burstiness", [0.25, 1.0, 4.0])
def test_gamma_gaps_are_gamma(burstiness: float) -> None:
    found = gaps(f"gamma:rate=40,burstiness={burstiness}")
    law = stats.gamma(burstiness, scale=1 / (40 * burstiness))
    assert stats.kstest(found, law.cdf).pvalue > 0.05
    assert found.std() / found.mean() == pytest.approx(burstiness**-0.5, rel=0.05)


def test_report_14_infinite_burstiness_is_constant_and_not_nan() -> None:
    """vllm-project/vllm #26940."""
    found = times("gamma:rate=30,burstiness=inf", 100)
    assert (found == times("constant:rate=30", 100)).all()
    assert found == pytest.approx(np.arange(1, 101) / 30)
    plan = make_plan(["a"], "equal", "gamma:rate=30,burstiness=inf", requests=9)
    assert plan.header.arrivals.values == {"rate": 30.0, "burstiness": "inf"}


def test_a_large_burstiness_comes_near_constant_gaps() -> None:
    found = gaps("gamma:rate=30,burstiness=1e6")
    assert found == pytest.approx(np.full(len(found), 1 / 30), rel=0.01)


@pytest.mark.parametrize("rate", [3.0, 7.0, 700_000.0, 0.37])
def test_a_constant_rate_does_not_drift(rate: float) -> None:
    found = times(f"constant:rate={rate}")
    assert np.abs(found - np.arange(1, 10_001) / rate).max() < 1e-9 + found[-1] * 1e-15


@pytest.mark.parametrize("rate", [0.002, 50.0, 1e6])
def test_the_mean_rate_of_a_poisson_process(rate: float) -> None:
    found = times(f"poisson:rate={rate}")
    assert found[-1] * rate == pytest.approx(10_000, abs=4 * 100)


def test_on_and_off() -> None:
    found = times("onoff:rate=40,on=2,off=3", None, 4000)
    phase = found % 5
    assert (phase < 2 + 1e-9).all()
    assert len(found) == pytest.approx(4000 * 40 * 2 / 5, abs=4 * 253)
    assert parse_arrivals("onoff:rate=40,on=2,off=3").mean_rate == 16
    busy = found - 3 * np.floor(found / 5)
    law = stats.expon(scale=1 / 40)
    assert stats.kstest(np.diff(busy), law.cdf).pvalue > 0.05


def test_what_comes_at_the_end_of_an_on_period_comes_after_the_pause() -> None:
    arrivals = parse_arrivals("onoff:rate=1,on=2,off=3")
    found, busy = schedules._at_clock(arrivals, np.array([1.999999999e9, 1.0, 1.0]), 0)
    assert found.tolist() == [1_999_999_999, 5_000_000_000, 5_000_000_001]
    assert busy == 2_000_000_001


def test_a_duration_has_the_arrivals_up_to_its_end() -> None:
    assert times("constant:rate=10", None, 2).tolist() == [n / 10 for n in range(1, 21)]
    assert len(times("constant:rate=100000", None, 3)) == 300_000  # several chunks


def test_arrivals_do_not_depend_on_how_many_are_asked_for() -> None:
    long = times("poisson:rate=1000", 200_000)
    assert (long[:100] == times("poisson:rate=1000", 100)).all()
    assert (long[:70_000] == times("poisson:rate=1000", 70_000)).all()


def test_offline_is_due_at_once() -> None:
    assert times("offline", 5).tolist() == [0] * 5


@pytest.mark.parametrize(
    ("text", "code", "what"),
    [
        ("posson:rate=1", "Q001", "no such kind: posson; known: closed, poisson"),
        ("poisson", "Q002", "poisson needs rate: poisson:rate=…"),
        ("poisson:0", "Q002", "rate must be more than 0, not 0"),
        ("poisson:rate=-3", "Q002", "rate must be more than 0, not -3"),
        ("poisson:rate=inf", "Q002", "rate may be at most 1e+06, not inf"),
        ("poisson:rate=2e6", "Q002", "rate may be at most 1e+06, not 2e6"),
        ("gamma:rate=1,burstiness=nan", "Q002", "burstiness is no number: nan"),
        ("closed", "Q002", "closed needs concurrency: closed:concurrency=…,think=0"),
        ("closed:concurrency=2.5", "Q002", "concurrency must be a whole number"),
        ("closed:concurrency=0", "Q002", "concurrency must be at least 1, not 0"),
        ("onoff:rate=1,on=1", "Q002", "onoff needs off: onoff:rate=…,on=…,off=…"),
        ("trace:", "Q002", "trace needs a file"),
        ("trace:a.csv,unit=h", "Q002", "no unit: h; known: s, ms, us, ns"),
        ("trace:a.csv,unit=s,unit=s", "Q002", "unit is given twice"),
        ("trace:a.csv,origin=x", "Q002", "origin is first or keep, not x"),
        ("trace:a.csv,column=", "Q002", "column has no value"),
    ],
)
def test_wrong_arrivals_are_told(text: str, code: str, what: str) -> None:
    with pytest.raises(RegistryError) as refused:
        parse_arrivals(text)
    found = refused.value.findings[0]
    assert (found.code, found.path) == (code, "--arrivals")
    assert found.what.startswith(what)


@pytest.mark.parametrize(
    ("text", "requests", "seconds", "what"),
    [
        ("poisson:rate=1e-9", 100, None, "the load takes over 104 days"),
        ("onoff:rate=1,on=1e-9,off=1e6", 100, None, "the load takes over 104 days"),
        ("poisson:rate=1e-6", None, 1.0, "no request arrives in this time"),
        ("poisson:rate=1e6", None, 30.0, "more than 100000 requests in the duration"),
    ],
)
def test_impossible_schedules(
    text: str,
    requests: int | None,
    seconds: float | None,
    what: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(schedules, "REQUESTS", 100_000)
    with pytest.raises(RegistryError) as refused:
        times(text, requests, seconds)
    assert (refused.value.findings[0].code, refused.value.findings[0].what) == (
        "Q006",
        what,
    )
