"""Finds dies whose energy is one counter, shown twice.

Some processors (Zen 1 and 2) show the energy of the package once for each die, others
(Cascade Lake AP) that of each die; only the data tells which. Counters that grow alike
all the time are suspected. The proof, a load on one die alone, is up to a person.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations, pairwise
from typing import Final

from registry.documents.findings import Finding, Severity, code, finding
from tools.readings.series import Series
from tools.recording.recording import Recording

__all__ = ["mirrors"]

MIRRORED: Final = code(
    "O013",
    Severity.WARNING,
    "Two dies of a package count alike: it may be one counter, shown twice.",
    "Do not add them up. Load one die alone: true counters differ then.",
)

_APART: Final = 0.001
_SHARE: Final = 0.95
_INTERVALS: Final = 20
_UPDATES: Final = 2
"""The two counters are read some microseconds apart, so that one may have been renewed
once more than the other, at either end."""


def mirrors(recording: Recording) -> Iterator[Finding]:
    """Find pairs of dies of one package that grew alike, in nearly every interval.

    They differ by less than a thousandth and two renewals of the counter, in 95 % of at
    least 20 intervals and in the whole.
    """
    dies = [
        one
        for one in recording.columns
        if one.source == "rapl" and one.coverage == "package" and " die " in one.device
    ]
    for one, other in combinations(dies, 2):
        if one.device.partition(" die ")[0] != other.device.partition(" die ")[0]:
            continue
        alike, intervals = _alike(recording, one, other)
        if intervals >= _INTERVALS and alike >= _SHARE * intervals:
            grew = f"{other.device} grew like {one.device}"
            what = f"{grew} in {alike} of {intervals} intervals"
            yield finding(MIRRORED, other.name, what)


def _alike(recording: Recording, one: Series, other: Series) -> tuple[int, int]:
    """In how many intervals two counters grew alike, and how many there are."""
    rows = [
        (time, first, second)
        for time, first, second in zip(
            recording.times_ns,
            recording.readings(one.name),
            recording.readings(other.name),
            strict=True,
        )
        if first is not None and second is not None
    ]
    update_ns = (one.update_seconds or 0.001) * 1e9
    alike = intervals = all_ns = 0
    whole = [0, 0]
    for before, after in pairwise(rows):
        grown = [after[1] - before[1], after[2] - before[2]]
        if min(grown) <= 0:
            continue  # not moved, or begun again
        passed = after[0] - before[0]
        intervals += 1
        alike += _close(grown, passed, update_ns)
        whole = [whole[0] + grown[0], whole[1] + grown[1]]
        all_ns += passed
    if not intervals or not _close(whole, all_ns, update_ns):
        return 0, intervals
    return alike, intervals


def _close(grown: list[int], passed_ns: int, update_ns: float) -> bool:
    larger = max(grown)
    allowed = larger * (_APART + _UPDATES * update_ns / max(passed_ns, 1))
    return abs(grown[0] - grown[1]) <= allowed
