"""Results of loads: when power was to be read, and which share of full load it was.

A share needs a full load. It is that of the offline scenario, which asks for everything
at once, if there is one among the results; or a rate that somebody names.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from registry.documents.findings import Finding, RegistryError, Severity, code, finding
from tools.experiments.files import read_document
from tools.experiments.tables_windows import Window

__all__ = ["LoadResult", "full_load", "ratios", "read_load", "with_loads"]

BAD_LOAD: Final = code(
    "B086",
    Severity.ERROR,
    "A file is no result of a load.",
    "Give a file that `powerkit load run --output FILE` wrote.",
)
OUTSIDE: Final = code(
    "B087",
    Severity.ERROR,
    "A load was not sent while a run was recorded.",
    "Run the load inside a run: `powerkit bench run --monitor all -- powerkit load run"
    " …`.",
)
NO_FULL: Final = code(
    "B088",
    Severity.WARNING,
    "The share of full load is not known, so that it is left empty.",
    "Add the result of the offline scenario with `--load-result`, or name a rate with"
    " `--full-load`.",
)

_SCHEMA: Final = "load-result/1"
_SLACK_NS: Final = 1_000_000  # two processes read the clock, each at its own instant
_MOST_RATIO: Final = 2.0


@dataclass(frozen=True, slots=True)
class LoadResult:
    """What a result says.

    Attributes:
        path: where it was read.
        scenario: single-stream, multi-stream, server or offline.
        begin_ns: CLOCK_MONOTONIC where power is to be read from.
        end_ns: until where.
        asked: requests a second that were planned; None if none were.
        completed: requests a second that were answered.
        missed: whether the rate of arrivals was missed.
        interrupted: whether somebody stopped it.
        valid: whether the result counts.
    """

    path: str
    scenario: str
    begin_ns: int
    end_ns: int
    asked: float | None
    completed: float | None
    missed: bool
    interrupted: bool
    valid: bool


def read_load(path: Path) -> LoadResult:
    """Read a result.

    Raises:
        RegistryError: B001, B002, B086.
    """
    value = read_document(path)
    if value.get("schema") != _SCHEMA:
        raise RegistryError(
            finding(BAD_LOAD, str(path), f"its schema is not {_SCHEMA}")
        )
    try:
        return _result(value, str(path))
    except (KeyError, TypeError, ValueError) as error:
        what = f"{type(error).__name__}: {error}"
        raise RegistryError(finding(BAD_LOAD, str(path), what)) from None


def _result(value: Mapping[str, Any], path: str) -> LoadResult:
    rate = value["rate"]
    asked = rate["planned"] if rate["planned"] is not None else rate["nominal"]
    begin, end = (_instant(value[f"power_{which}"]) for which in ("begin", "end"))
    if end <= begin:
        raise ValueError("it ends before it begins")
    return LoadResult(
        path,
        str(value["scenario"]),
        begin,
        end,
        _rate(asked),
        _rate(rate["completed"]),
        rate["verdict"] == "missed",
        value["interrupted"] is True,
        value["valid"] is True,
    )


def _instant(value: Mapping[str, Any]) -> int:
    found = value["monotonic_ns"]
    if isinstance(found, bool) or not isinstance(found, int) or not 0 <= found < 2**62:
        raise ValueError("an instant is no number of nanoseconds")
    return found


def _rate(value: Any) -> float | None:
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise TypeError("a rate is no number")
    return float(value) if math.isfinite(value) and value >= 0 else None


def full_load(results: Sequence[LoadResult], named: float | None) -> float | None:
    """Requests a second at full load: as named, or the best offline result."""
    if named is not None:
        return named
    rates = [
        one.completed
        for one in results
        if one.scenario == "offline" and one.valid and one.completed
    ]
    return max(rates, default=None)


def with_loads(
    windows: Sequence[Window], results: Sequence[LoadResult]
) -> list[Window]:
    """Cut the windows of runs in which loads were sent to the time of those loads.

    A run with several loads becomes several windows.

    Raises:
        RegistryError: B087, every load that no run covers.
    """
    loaded: dict[int, list[LoadResult]] = {}
    problems: list[Finding] = []
    for result in results:
        place = next(
            (at for at, one in enumerate(windows) if _covers(one, result)), None
        )
        if place is None:
            what = "its time lies in no run"
            problems.append(finding(OUTSIDE, result.path, what))
        else:
            loaded.setdefault(place, []).append(result)
    if problems:
        raise RegistryError(problems)
    found: list[Window] = []
    for at, one in enumerate(windows):
        found += [
            Window(one.run, load.begin_ns, load.end_ns, one.span, load=load)
            for load in loaded.get(at, ())
        ] or [one]
    return found


def _covers(window: Window, result: LoadResult) -> bool:
    return (
        window.begin_ns - _SLACK_NS <= result.begin_ns
        and result.end_ns <= window.end_ns + _SLACK_NS
    )


def ratios(load: LoadResult, full: float | None) -> tuple[float | None, float | None]:
    """The share of full load that was asked for and that was reached."""
    if full is None or full <= 0:
        return None, None
    asked = 1.0 if load.scenario == "offline" else None
    if load.asked is not None and asked is None:
        asked = load.asked / full
    reached = None if load.completed is None else load.completed / full
    return _in_range(asked), _in_range(reached)


def _in_range(ratio: float | None) -> float | None:
    return None if ratio is None or ratio > _MOST_RATIO else round(ratio, 6)
