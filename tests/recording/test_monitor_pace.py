"""Deadlines: absolute, never overlapping, late and missed ones counted."""

from __future__ import annotations

import threading
import time
from collections.abc import Sequence

import pytest

from tests.recording.conftest import SECOND, FakeClock, Scripted, series
from tools.recording import recording as recordings
from tools.recording.monitor import Monitor, Opened

ONE = [series()]


def test_deadlines_do_not_drift() -> None:
    clock = FakeClock(1)
    # each read takes 7 ms, which a loop that sleeps between reads would add up
    source = Scripted(ONE, lambda _: [1], lambda: clock.pass_(0.007))
    monitor = Monitor([source], 50_000_000, clock)
    monitor.run()
    times = [time - clock.start for time in monitor.recording.times_ns]
    assert times == [50_000_000 * number for number in range(1, 21)]
    pace = monitor.recording.pace
    assert (pace.ticks, pace.late, pace.missed, pace.worst_ns) == (20, 0, 0, 0)
    assert set(monitor.recording.took_ns["scripted"]) == {7_000_000}


def test_a_slow_read_misses_deadlines_and_keeps_the_grid() -> None:
    clock = FakeClock(1)
    slow = iter([0.01, 0.17, 0.01, 0.01] * 10)
    source = Scripted(ONE, lambda _: [1], lambda: clock.pass_(next(slow)))
    monitor = Monitor([source], 50_000_000, clock)
    monitor.run()
    times = [(time - clock.start) // 1_000_000 for time in monitor.recording.times_ns]
    # the second of each four takes more than three intervals
    assert times == [50, 100, 300, 350, 400, 450, 650, 700, 750, 800, 1000]
    pace = monitor.recording.pace
    assert pace.ticks == 11
    assert pace.missed == 3 * 3
    assert pace.ticks + pace.missed == 20
    (told,) = monitor.recording.summary().findings
    assert (told.code, told.what) == ("O016", "9 missed, 0 late, 11 kept")


def test_a_tick_that_begins_late_is_counted() -> None:
    class Busy(FakeClock):
        """A machine that wakes us 6 ms late at every third deadline."""

        woken = 0

        def wait_until(self, deadline_ns: int, stop: threading.Event) -> bool:
            going = super().wait_until(deadline_ns, stop)
            self.woken += 1
            if self.woken % 3 == 0:
                self.pass_(0.006)
            return going

    clock = Busy(0.6)
    monitor = Monitor([Scripted(ONE, lambda _: [1])], 50_000_000, clock)
    monitor.run()
    pace = monitor.recording.pace
    assert (pace.ticks, pace.late, pace.missed) == (12, 4, 0)
    assert pace.worst_ns == 6_000_000


def test_each_source_has_its_own_instant() -> None:
    clock = FakeClock(0.1)
    first = Scripted(
        [series("a_watts", source="first")],
        lambda _: [1],
        lambda: clock.pass_(0.004),
        "first",
    )
    second = Scripted(
        [series("b_watts", source="second")],
        lambda _: [2],
        lambda: clock.pass_(0.002),
        "second",
    )
    recording = record_once(Monitor([first, second], 50_000_000, clock))
    start = recording.times_ns[0]
    assert list(recording.points("a_watts")) == [(start + 2_000_000, 1)]
    assert list(recording.points("b_watts")) == [(start + 5_000_000, 2)]


def record_once(monitor: Monitor) -> recordings.Recording:
    monitor.sample()
    return monitor.recording


def test_two_samples_at_one_instant_are_one() -> None:
    monitor = Monitor([Scripted(ONE, lambda _: [1])], 50_000_000, FakeClock(1))
    monitor.sample()
    monitor.sample()
    assert len(monitor.recording) == 1


def test_both_clocks_are_kept() -> None:
    clock = FakeClock(1)
    recording = record_once(Monitor([Scripted(ONE, lambda _: [1])], 1, clock))
    assert recording.times_ns[0] == clock.start
    assert recording.started_epoch_ns == 1_700_000_000 * SECOND + clock.start


def test_an_interval_lasts_longer_than_nothing() -> None:
    with pytest.raises(ValueError, match="longer than nothing"):
        Monitor([], 0)


def test_gaps_are_moved_from_source_to_recording() -> None:
    source = Scripted(ONE, lambda _: [None])
    source.gaps.note("gpu_0_watts", "a reason", 3)
    first = record_once(Monitor([source], 1, FakeClock(1)))
    assert first.gaps.counts == {("gpu_0_watts", "a reason"): 3}
    second = record_once(Monitor([source], 1, FakeClock(1)))
    assert not second.gaps.counts


def test_reasons_are_counted_within_bounds(monkeypatch: pytest.MonkeyPatch) -> None:
    source = Scripted(ONE, lambda _: [None])
    for number in range(5000):
        source.gaps.note("gpu_0_watts", f"reason {number}")
    assert len(source.gaps.counts) == 4096
    assert source.gaps.uncounted == 904


def test_a_recording_without_end_has_bounds_and_covers_all_its_time(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Of 1 s at 10 ms, in room for 16 rows, samples are left out evenly."""
    monkeypatch.setattr(recordings, "CELLS", 16 * 5)
    clock = FakeClock(1)
    monitor = Monitor(
        [Scripted([series("a"), series("b")], lambda _: [1, 2])], 10_000_000, clock
    )
    monitor.sample()
    monitor.run()
    recording = monitor.recording
    times = [(one - clock.start) // 1_000_000 for one in recording.times_ns]
    assert times == [80 * number for number in range(13)]
    assert recording.readings("b") == [2] * 13
    assert list(recording.points("a"))[-1][0] == clock.start + 960_000_000
    assert recording.pace.interval_ns == 80_000_000
    assert recording.full
    (told,) = recording.summary().findings
    assert told.code == "O017"
    assert "one sample in 0.08 s" in told.what


def test_the_thread_samples_until_the_block_ends() -> None:
    threads: set[str] = set()

    def values(_: int) -> Sequence[int | None]:
        threads.add(threading.current_thread().name)
        return [100_000]

    with Monitor([Scripted(ONE, values)], 2_000_000) as monitor:
        limit = time.monotonic() + 10
        while monitor.recording.pace.ticks < 3:
            assert time.monotonic() < limit
            time.sleep(0.002)
    rows = len(monitor.recording)
    assert rows >= monitor.recording.pace.ticks + 1  # and one at each end
    assert "monitor" in threads
    assert "MainThread" in threads
    time.sleep(0.01)
    assert len(monitor.recording) == rows
    assert not [one for one in threading.enumerate() if one.name == "monitor"]


def broken() -> Monitor:
    """A monitor whose third sample, in its thread, breaks."""
    calls = iter([[1], [2]])
    return Monitor([Scripted(ONE, lambda _: next(calls))], 1_000_000)


def until_it_stops(monitor: Monitor, error: Exception | None = None) -> None:
    with monitor:
        limit = time.monotonic() + 10
        while not monitor.stopped:
            assert time.monotonic() < limit
            time.sleep(0.002)
        if error is not None:
            raise error


def test_what_breaks_the_thread_is_told_where_the_block_ends() -> None:
    monitor = broken()
    with pytest.raises(StopIteration):
        until_it_stops(monitor)
    assert len(monitor.recording) == 2


def test_what_breaks_the_block_goes_before_what_breaks_the_thread() -> None:
    with pytest.raises(KeyError, match="ours"):
        until_it_stops(broken(), KeyError("ours"))


def test_closing_closes_all() -> None:
    source = Scripted(ONE, lambda _: [1])
    with Opened((source,)) as opened:
        assert opened.sources == (source,)
    assert source.closed
