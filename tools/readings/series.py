"""What a series of readings is: its unit, kind, wrap and coverage, and who reads it.

Readings are whole numbers of ``10**-decimals`` units, as the interface gave them: a
RAPL zone gives microjoules, so its series has the unit ``joules`` and six decimals.
Nothing is rounded between the interface and the file, and a reading that is missing is
None, never 0.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Final, Protocol

__all__ = ["GAPS", "Gaps", "Kind", "Missing", "Series", "Source", "decimal_text"]

GAPS: Final = 4096
"""The most pairs of series and reason that are counted apart."""


class Kind(StrEnum):
    """What a number of a series says about the time before it."""

    COUNTER = "counter"
    """A sum since some unknown instant; differences count."""
    INSTANT = "instant"
    """The state at the instant of the reading."""
    AVERAGE = "average"
    """The mean over a window that ends at the reading."""
    UNKNOWN = "unknown"
    """An instant or an average: the interface does not say which."""


@dataclass(frozen=True, slots=True)
class Series:
    """One series of readings.

    Attributes:
        name: its column, after registry/documents/columns.yaml where that has one.
        unit: the base unit: joules, watts, seconds, bytes, hertz, ratio, events …
        decimals: a reading is a whole number of 10**-decimals units.
        kind: counter, instant, average or unknown.
        source: the source that reads it, such as ``rapl``.
        device: the thing measured, for people: ``gpu 0``, ``package 0``, ``machine``.
        quantity: what is measured of it: ``power``, ``energy``, ``memory_used`` …
        coverage: what the number covers: package, core, uncore, dram, psys, gpu,
            machine or process.
        origin: the interface that gives it, such as ``intel-rapl:0 package-0``.
        wraps: whether a counter begins again at 0; one that does not only grows.
        modulus: at how many steps it does; None of a counter that wraps at an unknown
            number, whose differences are then invalid where it went down.
        window_seconds: how long the window of an average is; None if unknown.
        update_seconds: how often the interface renews the number; None if unknown.
        rate_maximum: the largest rate in units a second that can be true, such as a
            processor's limit of power; None if unknown.

    """

    name: str
    unit: str
    decimals: int
    kind: Kind
    source: str
    device: str
    quantity: str
    coverage: str
    origin: str = ""
    wraps: bool = False
    modulus: int | None = None
    window_seconds: float | None = None
    update_seconds: float | None = None
    rate_maximum: float | None = None

    @property
    def steps(self) -> int:
        """How many steps of a reading make one unit."""
        return int(10**self.decimals)


def decimal_text(steps: int, decimals: int) -> str:
    """Write a reading as an exact decimal number of units."""
    if decimals == 0:
        return str(steps)
    whole, part = divmod(abs(steps), 10**decimals)
    return f"{'-' if steps < 0 else ''}{whole}.{part:0{decimals}d}"


@dataclass(frozen=True, slots=True)
class Missing:
    """Something that could be measured here in principle, and is not.

    Attributes:
        source: the source that it belongs to.
        what: the series, zone or device; empty if it is the whole source.
        why: the reason, in plain words.
        remedy: what a person can do about it; empty if nothing.
        expected: whether nothing is wrong, such as a second view of the same counter.

    """

    source: str
    what: str
    why: str
    remedy: str = ""
    expected: bool = False


@dataclass(slots=True)
class Gaps:
    """Counts readings that failed, by series and reason, within bounds.

    Attributes:
        counts: how many readings failed, by series and reason.
        uncounted: failures beyond the bound of distinct reasons.

    """

    counts: dict[tuple[str, str], int] = field(default_factory=dict)
    uncounted: int = 0

    def note(self, series: str, why: str, count: int = 1) -> None:
        """Count failed readings of a series."""
        key = (series, why)
        if key not in self.counts and len(self.counts) >= GAPS:
            self.uncounted += count
            return
        self.counts[key] = self.counts.get(key, 0) + count


class Source(Protocol):
    """Something that reads a few series at once."""

    @property
    def name(self) -> str:
        """The source's name: rapl, nvml, cpu, memory or process."""

    @property
    def series(self) -> tuple[Series, ...]:
        """What it reads, in the order of its readings."""

    @property
    def gaps(self) -> Gaps:
        """Readings that failed so far, and why."""

    def read(self, now_ns: int) -> Sequence[int | None]:
        """Read all series.

        Args:
            now_ns: CLOCK_MONOTONIC in nanoseconds, for what is not read every time.

        Returns:
            A reading for each series; None where it failed (then `gaps` says why) or
            is not due yet. It never raises for what the machine does.
        """

    def close(self) -> None:
        """Let go of the interface; harmless if it was done before."""
