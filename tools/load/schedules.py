"""Schedules: the times of arrivals in nanoseconds from the beginning of a load.

Times are absolute, never gaps. The first request of a process comes one gap after the
beginning, and a load of S seconds has the arrivals in (0, S], so that the expected
number is rate times S. A random gap is the inverse distribution function of one uniform
value, rounded to a whole nanosecond; then only whole numbers are added. Constant gaps
are those between the rounded multiples of 1/rate.
"""

from __future__ import annotations

import math
from typing import Final

import numpy as np

from registry.documents.findings import RegistryError, Severity, code, finding
from tools.load.arrivals import LONGEST_NS, OPTION, REQUESTS, Arrivals
from tools.load.streams import Floats, Integers, Stream

__all__ = ["schedule", "times_within"]

_SECOND: Final = 10**9
_CHUNK: Final = 65_536

Q006 = code(
    "Q006",
    Severity.ERROR,
    "A schedule of arrivals is too long, too large or empty.",
    "Ask for fewer requests, a shorter load or another rate: at most ten million"
    " requests in 104 days.",
)


def schedule(
    arrivals: Arrivals, stream: Stream, requests: int | None, duration_ns: int | None
) -> Integers:
    """The times of a process, ascending.

    Args:
        arrivals: any kind but `closed` and `trace`.
        stream: where the gaps are drawn from.
        requests: how many arrivals, or None for all of the duration; `offline` has no
            duration.
        duration_ns: the last instant, or None for as long as the requests need.

    Raises:
        RegistryError: Q006, too many or too long.
    """
    if arrivals.kind == "offline":
        return np.zeros(requests or 0, dtype=np.int64)
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
