"""Reads sources at a steady pace while something runs.

    opened = open_sources(["cpu", "rapl"])
    with Monitor(opened.sources, 50_000_000) as monitor:
        work()
    monitor.recording.summary()

Deadlines are absolute, so that they do not drift. Ticks never overlap: a tick that
takes longer than the interval makes those after it late, or missed, and both are
counted.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Sequence
from typing import Final, Protocol, Self

from tools.readings.series import Source
from tools.recording.files import read_recording
from tools.recording.opening import NAMES, Opened, open_sources
from tools.recording.recording import Pace, Recording

__all__ = [
    "NAMES",
    "Clock",
    "Monitor",
    "Opened",
    "Pace",
    "Recording",
    "SystemClock",
    "open_sources",
    "read_recording",
]

_LATE_SHARE: Final = 10  # a tick later than a tenth of the interval counts as late


class Clock(Protocol):
    """What a monitor needs of time."""

    def monotonic_ns(self) -> int:
        """CLOCK_MONOTONIC in nanoseconds."""

    def epoch_ns(self) -> int:
        """CLOCK_REALTIME in nanoseconds."""

    def wait_until(self, deadline_ns: int, stop: threading.Event) -> bool:
        """Wait for an instant of CLOCK_MONOTONIC; False if stopped before."""


class SystemClock:
    """The clocks of the machine."""

    def monotonic_ns(self) -> int:
        """CLOCK_MONOTONIC in nanoseconds."""
        return time.monotonic_ns()

    def epoch_ns(self) -> int:
        """CLOCK_REALTIME in nanoseconds."""
        return time.time_ns()

    def wait_until(self, deadline_ns: int, stop: threading.Event) -> bool:
        """Wait for an instant of CLOCK_MONOTONIC; False if stopped before."""
        return not stop.wait(max(deadline_ns - time.monotonic_ns(), 0) / 1e9)


class Monitor:
    """Records sources: in a thread within its `with` block, or by `sample()`.

    Attributes:
        recording: what was recorded so far.

    """

    def __init__(
        self,
        sources: Opened | Sequence[Source],
        interval_ns: int,
        clock: Clock | None = None,
    ) -> None:
        """Prepare for recording; nothing is read yet.

        Args:
            sources: what to read; of `open_sources`, with what is missing, or a list.
            interval_ns: nanoseconds from one deadline to the next.
            clock: time; the machine's if None.

        Raises:
            ValueError: the interval is not positive.
        """
        if interval_ns <= 0:
            raise ValueError("an interval lasts longer than nothing")
        opened = sources if isinstance(sources, Opened) else Opened(tuple(sources))
        self._sources = opened.sources
        self._clock = clock or SystemClock()
        self._stop = threading.Event()
        self._thread: threading.Thread | None = None
        self._failure: BaseException | None = None
        self.recording = Recording(
            columns=tuple(one for source in self._sources for one in source.series),
            pace=Pace(interval_ns),
            missing=opened.missing,
        )

    def __enter__(self) -> Self:
        """Take the first sample and go on in a thread."""
        self.sample()
        self._thread = threading.Thread(
            target=self._run_guarded, name="monitor", daemon=True
        )
        try:
            self._thread.start()
        except BaseException:
            self._stop.set()  # an order to end may come while it starts
            raise
        return self

    def __exit__(self, kind: object, *_: object) -> None:
        """Stop, after a last sample.

        Raises:
            Exception: what ended the thread early, unless something else went wrong.
        """
        self._stop.set()
        if self._thread is not None:
            self._thread.join()
            self._thread = None
        if self._failure is None:
            self.sample()
        elif kind is None:
            raise self._failure

    @property
    def stopped(self) -> bool:
        """Whether recording ended early, since reading failed."""
        return self._failure is not None

    def sample(self) -> None:
        """Read every source once, now."""
        now = self._clock.monotonic_ns()
        recording = self.recording
        if not len(recording):
            recording.started_epoch_ns = self._clock.epoch_ns()
        elif now <= recording.times_ns[-1]:
            return  # two samples at one instant say nothing new
        reads: dict[str, tuple[int, int]] = {}
        readings: list[int | None] = []
        for source in self._sources:
            start = self._clock.monotonic_ns()
            readings.extend(source.read(start))
            reads[source.name] = start, self._clock.monotonic_ns() - start
            self._note_gaps(source)
        recording.append(now, reads, readings)

    def run(self) -> None:
        """Sample at each deadline until stopped, counted from now, the first apart."""
        pace = self.recording.pace
        interval = pace.interval_ns
        start = self._clock.monotonic_ns()
        number = 1
        while self._clock.wait_until(start + number * interval, self._stop):
            late = self._clock.monotonic_ns() - (start + number * interval)
            pace.ticks += 1
            pace.worst_ns = max(pace.worst_ns, late)
            pace.late += late * _LATE_SHARE > interval
            self.sample()
            passed = (self._clock.monotonic_ns() - start) // interval
            pace.missed += max(passed - number, 0)
            number = max(passed, number) + 1
            if pace.interval_ns != interval:  # rows were left out: go on at their pace
                start += (number - 1) * interval
                interval, number = pace.interval_ns, 1

    def _run_guarded(self) -> None:
        try:
            self.run()
        except Exception as failure:  # noqa: BLE001  told where the block ends
            self._failure = failure

    def _note_gaps(self, source: Source) -> None:
        # The tally of a source is moved, so that two monitors in turn do not share it.
        if source.gaps.counts:
            for (series, why), count in source.gaps.counts.items():
                self.recording.gaps.note(series, why, count)
            source.gaps.counts.clear()
