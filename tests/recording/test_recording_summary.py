"""Peak, mean and energy: over turns, gaps, windows and odd instants."""

from __future__ import annotations

import math
import tracemalloc

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from tests.recording.conftest import SECOND, FakeClock, Scripted, energy, record, series
from tools.readings.series import Kind, Series, decimal_text
from tools.recording.counting import counter_growth, difference, rate_window_seconds
from tools.recording.gauging import gauge_level
from tools.recording.monitor import Monitor, Pace, Recording

ENERGY = energy(update_seconds=0.001)


def points(*pairs: tuple[float, int]) -> list[tuple[int, int]]:
    return [(round(seconds * SECOND), reading) for seconds, reading in pairs]


def by_hand(*rows: tuple[float, list[int | None]], columns: list[Series]) -> Recording:
    """A recording with samples at those seconds."""
    clock = FakeClock(0)
    values = iter([readings for _, readings in rows])
    monitor = Monitor([Scripted(columns, lambda _: next(values))], 10**9, clock)
    for seconds, _ in rows:
        clock.now = clock.start + round(seconds * SECOND)
        monitor.sample()
    return monitor.recording


def test_the_mean_is_over_time_and_not_over_samples() -> None:
    level = gauge_level(series(), points((0, 10_000), (1, 10_000), (4, 40_000)), 1e10)
    assert level.mean == pytest.approx((10 * 1 + 25 * 3) / 4)
    assert (level.minimum, level.peak, level.last, level.count) == (10, 40, 40, 3)
    assert level.integral == pytest.approx(85)


def test_one_reading_has_a_mean_and_no_energy() -> None:
    recording = by_hand((0, [5_000]), columns=[series()])
    summary = recording.summary()
    (only,) = summary.series
    assert (only.mean, only.peak, only.last) == (5, 5, 5)
    assert [(one.joules, one.why) for one in summary.energies] == [
        (None, "there are not two readings of it")
    ]


def test_nothing_was_read() -> None:
    summary = record(
        [Scripted([series(), ENERGY], lambda _: [None, None])], 1
    ).summary()
    for one in summary.series:
        assert (one.count, one.mean, one.peak, one.last) == (0, None, None, None)
    assert [one.joules for one in summary.energies] == [None, None]


def test_no_sample_at_all() -> None:
    summary = Monitor([Scripted([series()], lambda _: [1])], 1).recording.summary()
    assert (summary.rows, summary.seconds) == (0, 0)
    assert summary.series[0].mean is None


def test_a_long_gap_is_not_drawn_over() -> None:
    rows = [(t / 10, [100_000]) for t in range(11)]
    rows += [(2, [None])]  # type: ignore[list-item]
    rows += [(10 + t / 10, [100_000]) for t in range(11)]
    recording = by_hand(*rows, columns=[series()])  # type: ignore[arg-type]
    recording.pace.interval_ns = SECOND // 10
    (found,) = recording.summary().energies
    assert found.joules == pytest.approx(200)
    assert found.seconds == pytest.approx(2)
    assert found.gap_seconds == pytest.approx(9)
    assert found.watts == pytest.approx(100)


def test_the_ends_that_are_not_measured_are_stated() -> None:
    recording = by_hand(
        (0, [None, 1_000]),
        (1, [100_000, 101_000]),
        (2, [100_000, 201_000]),
        (3, [100_000, None]),
        columns=[series(), energy()],
    )
    start = recording.times_ns[0]
    summary = recording.summary(start - SECOND // 2, start + 4 * SECOND)
    integral, counter = summary.energies
    assert (integral.joules, integral.before_seconds, integral.after_seconds) == (
        pytest.approx(200),
        pytest.approx(1.5),
        pytest.approx(1),
    )
    assert (counter.joules, counter.before_seconds, counter.after_seconds) == (
        pytest.approx(200),
        pytest.approx(0.5),
        pytest.approx(2),
    )
    assert summary.seconds == pytest.approx(4.5)


def test_a_window_leaves_out_what_lies_beyond() -> None:
    recording = by_hand(
        *[(t, [100_000 * (t in (3, 4, 5))]) for t in range(9)], columns=[series()]
    )
    start = recording.times_ns[0]
    summary = recording.summary(start + 3 * SECOND, start + 5 * SECOND)
    assert summary.rows == 3
    assert summary.energies[0].joules == pytest.approx(200)
    assert summary.series[0].minimum == 100


def test_failed_readings_are_counted_and_no_zero() -> None:
    source = Scripted([series()], lambda now: [None if now // SECOND % 2 else 80_000])

    def note() -> None:
        source.gaps.note("gpu_0_watts", "permission denied")

    source._took = note
    summary = record([source], 1).summary()
    (only,) = summary.series
    assert only.minimum == 80
    assert only.missing == 21
    (told,) = summary.findings
    assert (told.code, told.what) == ("O014", "21 readings: permission denied")


def test_a_counter_that_was_not_renewed_yet_is_no_zero() -> None:
    recording = by_hand((0, [7_000]), (0.05, [7_000]), columns=[energy()])
    (found,) = recording.summary().energies
    assert (found.joules, found.why) == (None, "it stood still for 0.05 s")
    assert not recording.summary().findings  # in so short a time nothing is wrong


def test_a_peak_rate_is_over_a_window_that_the_interface_allows() -> None:
    # The counter is renewed every 100 ms; between two samples of 50 ms it seems to
    # stand still, and then to draw twice as much.
    def values(now: int) -> list[int]:
        return [(now - start) // (SECOND // 10) * 10_000]

    start = FakeClock(0).start
    summary = record([Scripted([energy()], values)], 10).summary()
    (only,) = summary.series
    assert only.mean == pytest.approx(100, rel=0.02)
    assert only.peak == pytest.approx(100, rel=0.02)
    assert only.minimum == pytest.approx(100, rel=0.02)
    assert rate_window_seconds(energy()) == 1
    assert rate_window_seconds(ENERGY) == 0.01


def test_a_last_sample_right_after_another_makes_no_peak() -> None:
    found = counter_growth(
        ENERGY, points((0, 0), (0.05, 5_000), (0.0501, 6_000), (0.1, 10_000))
    )
    assert found.peak == pytest.approx(100, rel=0.01)


def test_findings_say_when_few_seconds_make_a_disagreement_likely() -> None:
    rows = [(t / 10, [100_000, t * 5_000]) for t in range(11)]
    recording = by_hand(*rows, columns=[series(), energy()])  # type: ignore[arg-type]
    (told,) = recording.summary().findings
    assert (told.code, told.severity) == ("O010", "info")


def test_devices_and_coverages_are_not_compared_with_each_other() -> None:
    columns = [
        series("gpu_0_watts", device="gpu 0"),
        energy("gpu_1_joules_total", device="gpu 1"),
        energy("rapl_package_0_joules_total", device="gpu 0", coverage="package"),
    ]
    rows = [(t, [100_000, 1 + t * 5_000, 1 + t * 5_000]) for t in range(6)]
    recording = by_hand(*rows, columns=columns)  # type: ignore[arg-type]
    assert not recording.summary().findings


def test_a_document_is_plain_values() -> None:
    import json

    recording = by_hand(
        (0, [1_000, 0]), (1, [1_000, 1_000]), columns=[series(), energy()]
    )
    document = json.loads(json.dumps(recording.summary().document()))
    assert document["schema"] == "monitor/1"
    assert [one["joules"] for one in document["energies"]] == [1, 1]
    assert document["series"][0]["name"] == "gpu_0_watts"
    assert document["pace"]["interval_ns"] == SECOND


@given(
    modulus=st.integers(10**6, 10**12),
    first=st.integers(0, 10**12),
    steps=st.lists(st.integers(0, 10**6), min_size=1, max_size=30),
)
@settings(max_examples=50)
def test_turns_are_never_negative_and_nothing_is_lost(
    modulus: int, first: int, steps: list[int]
) -> None:
    # at most 1 J in a second: far below a turn at twice the rate that is allowed
    counter = energy(wraps=True, modulus=modulus, decimals=6, rate_maximum=1.0)
    assume(modulus / 1e6 > 2.0)
    total, made = first, [(0, first % modulus)]
    for number, step in enumerate(steps, 1):
        total += step
        made.append((number * SECOND, total % modulus))
    growth = counter_growth(counter, made)
    assert growth.total == sum(steps)
    assert growth.turns == total // modulus - first // modulus
    assert growth.peak is None or growth.peak >= 0


@given(
    before=st.integers(0, 2**63 - 1),
    after=st.integers(0, 2**63 - 1),
    seconds=st.floats(0.001, 1e6),
    modulus=st.none() | st.integers(1, 2**63 - 1),
    limit=st.none() | st.floats(0.001, 1e6),
)
@settings(max_examples=50)
def test_a_difference_is_a_number_or_a_reason(
    before: int, after: int, seconds: float, modulus: int | None, limit: float | None
) -> None:
    for wraps in (False, True):
        one = energy(wraps=wraps, modulus=modulus, rate_maximum=limit)
        step, why = difference(one, (0, before), (round(seconds * SECOND), after))
        assert step >= 0
        assert step == 0 or why is None
        if why is None and after < before:
            assert wraps
            assert modulus is not None


@given(
    st.lists(
        st.tuples(st.integers(1, 10**9), st.integers(0, 10**6)), min_size=2, max_size=50
    )
)
@settings(max_examples=50)
def test_a_mean_lies_between_least_and_peak(pairs: list[tuple[int, int]]) -> None:
    time, made = 0, []
    for passed, reading in pairs:
        time += passed
        made.append((time, reading))
    level = gauge_level(series(), made, math.inf)
    assert level.minimum is not None
    assert level.peak is not None
    assert level.mean is not None
    assert level.minimum - 1e-9 <= level.mean <= level.peak + 1e-9
    assert level.seconds == pytest.approx((made[-1][0] - made[0][0]) / 1e9)


@given(st.integers(-(2**62), 2**62), st.integers(0, 9))
@settings(max_examples=50)
def test_decimal_texts_are_exact(steps: int, decimals: int) -> None:
    from decimal import Context, Decimal

    text = decimal_text(steps, decimals)
    assert Decimal(text) == Decimal(steps).scaleb(-decimals, Context(prec=40))
    assert len(text.partition(".")[2]) == decimals


def test_a_counter_that_is_no_energy_goes_on_after_a_step_back() -> None:
    plain = Series(
        "a_total", "events", 0, Kind.COUNTER, "scripted", "machine", "a", "machine"
    )
    growth = counter_growth(plain, points((0, 5), (1, 9), (2, 2), (3, 4)))
    assert growth.total == 6
    assert growth.problems == ["it went down: it was set back"]


def test_a_long_recording_is_summarised_without_a_copy_of_it() -> None:
    """A copy as Python's numbers would take more than a hundred bytes a reading."""
    recording = Recording((series("a"),), Pace(50_000_000))
    for number in range(50_000):
        now = 50_000_000 * number
        recording.append(now, {"scripted": (now, 1000)}, [number])
    tracemalloc.start()
    try:
        recording.summary()
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 50 * 50_000
