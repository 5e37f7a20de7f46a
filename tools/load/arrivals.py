"""When requests arrive: schedules in nanoseconds from the beginning of a load.

Times are absolute, never gaps. The first request of a process comes one gap after the
beginning, and a load of S seconds has the arrivals in (0, S], so that the expected
number is rate times S. A random gap is the inverse distribution function of one uniform
value, rounded to a whole nanosecond; then only whole numbers are added. Constant gaps
are those between the rounded multiples of 1/rate.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import numpy as np

from registry.documents.findings import RegistryError, Severity, code, finding, shown
from tools.load.parameters import Q002, Parameter, parse_choice, split_name
from tools.load.streams import Floats, Integers, Stream

__all__ = [
    "KINDS",
    "LONGEST_NS",
    "OPTION",
    "REQUESTS",
    "Arrivals",
    "Replay",
    "parse_arrivals",
    "schedule",
    "times_within",
]

OPTION: Final = "--arrivals"
REQUESTS: Final = 10_000_000
"""The most requests of a plan."""
LONGEST_NS: Final = 2**53 - 1
"""The latest time of a plan: 104 days, which every JSON reader keeps exactly."""
_SECOND: Final = 10**9
_CHUNK: Final = 65_536

Q006 = code(
    "Q006",
    Severity.ERROR,
    "A schedule of arrivals is too long, too large or empty.",
    "Ask for fewer requests, a shorter load or another rate: at most ten million"
    " requests in 104 days.",
)

KINDS: Final[Mapping[str, tuple[Parameter, ...]]] = {
    "closed": (
        Parameter("concurrency", least=1.0, exclusive=False, whole=True, most=10_000),
        Parameter("think", 0.0, exclusive=False, most=86_400.0),
    ),
    "poisson": (Parameter("rate", most=1e6),),
    "gamma": (
        Parameter("rate", most=1e6),
        Parameter("burstiness", 1.0, infinite=True, most=1e6),
    ),
    "constant": (Parameter("rate", most=1e6),),
    "onoff": (
        Parameter("rate", most=1e6),
        Parameter("on", least=1e-9, exclusive=False, most=1e6),
        Parameter("off", exclusive=False, most=1e6),
    ),
    "offline": (),
}
"""The parameters of every kind of arrivals: rates a second, times in seconds."""

_UNITS: Final = ("s", "ms", "us", "ns")


@dataclass(frozen=True, slots=True)
class Replay:
    """Where the times of recorded arrivals stand.

    Attributes:
        path: a table, a plan, a Chrome trace or text with a time a line.
        column: the column of the times; found by its name if None.
        unit: s, ms, us or ns; by the column's ending, else seconds, if None.
        event: the events of a Chrome trace whose beginnings are arrivals.
        origin: `first` moves the earliest time to 0, `keep` keeps times as they stand;
            `keep` for plans and `first` for all others if None.

    """

    path: Path
    column: str | None = None
    unit: str | None = None
    event: str | None = None
    origin: str | None = None


@dataclass(frozen=True, slots=True)
class Arrivals:
    """A kind of arrivals.

    Attributes:
        kind: its name.
        values: its parameters.
        replay: what is replayed, for the kind `trace`.

    """

    kind: str
    values: dict[str, float]
    replay: Replay | None = None

    @property
    def closed(self) -> bool:
        """Whether requests wait for answers, so that there is no schedule."""
        return self.kind == "closed"

    @property
    def mean_rate(self) -> float | None:
        """The arrivals a second that are expected in the long run, if there are any."""
        rate = self.values.get("rate")
        if rate is not None and self.kind == "onoff":
            on, off = self.values["on"], self.values["off"]
            return rate * on / (on + off)
        return rate


def parse_arrivals(text: str) -> Arrivals:
    """Read ``KIND[:PARAMETERS]`` or ``trace:FILE[,column=C][,unit=U][,event=E]``.

    Raises:
        RegistryError: Q001 or Q002, with every problem of the text.
    """
    kind, rest = split_name(text, OPTION, (*KINDS, "trace"))
    if kind == "trace":
        return Arrivals(kind, {}, _replay(rest))
    return Arrivals(kind, parse_choice(text, OPTION, KINDS).values)


def schedule(
    arrivals: Arrivals, stream: Stream, requests: int | None, duration_ns: int | None
) -> Integers:
    """The times of a process, ascending.

    Args:
        arrivals: any kind but `closed` and `trace`.
        stream: where the gaps are drawn from.
        requests: how many arrivals, or None for all of the duration.
        duration_ns: the last instant, or None for as long as the requests need.

    Raises:
        RegistryError: Q002, without an end; Q006, too many or too long.
    """
    if arrivals.kind == "offline":
        if requests is None:
            what = "offline asks for everything at once: it needs --requests"
            raise RegistryError(finding(Q002, OPTION, what))
        return np.zeros(requests, dtype=np.int64)
    found: list[Integers] = []
    count, busy = 0, 0
    while count != requests:
        wanted = _CHUNK if requests is None else min(_CHUNK, requests - count)
        steps = _steps(arrivals, stream, count, wanted)
        times, busy = _at_clock(arrivals, steps, busy)
        found.append(times)
        count += wanted
        if len(times) < wanted and requests is not None:
            raise RegistryError(finding(Q006, OPTION, "the load takes over 104 days"))
        if len(times) < wanted or (duration_ns and int(times[-1]) > duration_ns):
            break
        if count > REQUESTS:
            what = f"more than {REQUESTS} requests in the duration"
            raise RegistryError(finding(Q006, OPTION, what))
    return times_within(np.concatenate(found), duration_ns)


def times_within(times: Integers, duration_ns: int | None) -> Integers:
    """The times up to an instant.

    Raises:
        RegistryError: Q006, none is left, or they end too late.
    """
    if duration_ns is not None:
        times = times[: int(np.searchsorted(times, duration_ns, side="right"))]
    if not len(times):
        what = "no request arrives in this time"
        raise RegistryError(finding(Q006, OPTION, what))
    if int(times[-1]) > LONGEST_NS:
        raise RegistryError(finding(Q006, OPTION, "the load takes over 104 days"))
    return times


def _steps(arrivals: Arrivals, stream: Stream, first: int, count: int) -> Floats:
    """So many gaps in whole nanoseconds, as floats, which may be beyond 64 bits."""
    rate = arrivals.values["rate"]
    if arrivals.kind == "constant" or math.isinf(arrivals.values.get("burstiness", 1)):
        # Rounded as times: rounded gaps would add up to another rate.
        numbers = np.arange(first, first + count + 1, dtype=np.float64)
        return np.diff(np.rint(numbers * _SECOND / rate))
    uniforms = stream.uniforms(count)
    if arrivals.kind == "gamma":
        gaps = _gamma(arrivals.values["burstiness"], uniforms)
    else:
        gaps = -np.log(uniforms)
    return np.rint(gaps * _SECOND / rate)


def _gamma(shape: float, uniforms: Floats) -> Floats:
    """Gaps of mean 1: a shape of 1 is Poisson, less has bursts, more is regular.

    The parameter is the burstiness of vLLM's benchmarks.
    """
    from scipy.special import gammaincinv  # noqa: PLC0415 - only gamma needs it

    return np.asarray(gammaincinv(shape, uniforms) / shape, dtype=np.float64)


def _at_clock(arrivals: Arrivals, steps: Floats, busy: int) -> tuple[Integers, int]:
    """Times on the clock, those beyond the longest load left out.

    Args:
        arrivals: the kind; `onoff` counts its periods of arrivals only.
        steps: the gaps in that count.
        busy: the count before the first gap.

    Returns:
        The times, and the count at the last one.
    """
    on = max(1, round(arrivals.values.get("on", 1) * _SECOND))
    off = round(arrivals.values.get("off", 0) * _SECOND)
    counts: Floats = busy + np.cumsum(steps)
    fit = int(np.count_nonzero(counts + off * (counts // on) <= LONGEST_NS))
    whole = busy + np.cumsum(steps[:fit].astype(np.int64))
    return whole + off * (whole // on), int(whole[-1]) if fit else busy


def _replay(text: str) -> Replay:
    """A file, which may hold commas, and settings after it."""
    parts = text.split(",")
    settings: dict[str, str] = {}
    problems: list[str] = []
    known = ("column", "unit", "event", "origin")
    while len(parts) > 1 and parts[-1].partition("=")[0].strip() in known:
        name, _, value = (piece.strip() for piece in parts.pop().partition("="))
        if name in settings:
            problems.append(f"{name} is given twice")
        if not value:
            problems.append(f"{name} has no value")
        settings[name] = value
    path = ",".join(parts).strip()
    if not path or "\0" in path:
        problems.append("trace needs a file")
    if (unit := settings.get("unit", "s")) not in _UNITS:
        problems.append(f"no unit: {shown(unit)}; known: {', '.join(_UNITS)}")
    if (origin := settings.get("origin", "keep")) not in {"first", "keep"}:
        problems.append(f"origin is first or keep, not {shown(origin)}")
    if problems:
        raise RegistryError(finding(Q002, OPTION, what) for what in problems)
    return Replay(
        Path(path),
        settings.get("column"),
        settings.get("unit"),
        settings.get("event"),
        settings.get("origin"),
    )
