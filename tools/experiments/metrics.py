"""Numbers of a run that can be compared, by name."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Final

from registry.documents.findings import RegistryError, Severity, code, finding, shown
from tools.experiments.record import Run

__all__ = ["ENERGY", "Metric", "joules", "metric"]

_APART: Final = frozenset({"package", "dram", "gpu"})
"""Coverages that do not contain each other."""
_STUCK: Final = "O011"
_MIRRORED: Final = "O013"
"""Findings of monitors that forbid to use an energy, or to add several up."""
_UNCOVERED_SHARE: Final = 0.05
_UNCOVERED_SAMPLES: Final = 3
"""Sources are read one after the other, so none covers a short run to its very ends."""

UNKNOWN = code(
    "B041",
    Severity.ERROR,
    "There is no metric of that name.",
    "Give wall, cpu, user, system, memory, performance, energy, energy:COLUMN or"
    " phase:NAME.",
)


@dataclass(frozen=True, slots=True)
class Metric:
    """A number of a run.

    Attributes:
        name: What it is called.
        unit: Its unit; empty if runs say it themselves.
        more_is_better: Whether a larger number is the better one.
        of: Takes it from a run; None if the run does not have it.
    """

    name: str
    unit: str
    more_is_better: bool
    of: Callable[[Run], float | None]


def joules(run: Run, column: str | None = None) -> float | None:
    """Return the energy of a run, or None if it is not known.

    Counters are those of the machine: of runs that went on side by side none is known.
    Neither is one that was not read during nearly the whole run or that stood still,
    nor a sum in which dies may show one counter twice.

    Args:
        run: the run.
        column: one column's energy. None for the sum of all packages, their memory and
            GPUs, which do not overlap; the counter of each goes before the integral of
            its power.
    """
    if run.parameters.get("concurrency", 1) != 1:
        return None
    listed = run.monitors.get("energies")
    energies = [one for one in listed or () if isinstance(one, dict)]
    if column is not None:
        return next(
            (_number(one, run) for one in energies if one.get("series") == column), None
        )
    if _found(run, _MIRRORED):
        return None
    best: dict[tuple[object, object], dict[str, Any]] = {}
    for one in energies:
        key = one.get("device"), one.get("coverage")
        if key[1] in _APART and (key not in best or one.get("method") == "counter"):
            best[key] = one
    parts = [_number(one, run) for one in best.values()]
    known = [part for part in parts if part is not None]
    return sum(known) if known and len(known) == len(parts) else None


def _number(energy: dict[str, Any], run: Run) -> float | None:
    """Take an energy if it is that of the whole run."""
    value = energy.get("joules")
    if not isinstance(value, int | float) or not _covers(energy, run):
        return None
    return None if energy.get("series") in _found(run, _STUCK) else float(value)


def _covers(energy: dict[str, Any], run: Run) -> bool:
    """Whether readings lasted as long as the run: a source may fail meanwhile."""
    seconds = energy.get("seconds")
    if not isinstance(seconds, int | float):
        return False
    pace = run.monitors.get("pace")
    interval = pace.get("interval_ns", 0) / 1e9 if isinstance(pace, dict) else 0
    allowed = _UNCOVERED_SHARE * run.wall_seconds, _UNCOVERED_SAMPLES * interval
    return bool(run.wall_seconds - seconds <= max(allowed))


def _found(run: Run, code_id: str) -> set[object]:
    """Return the series that monitors say this of."""
    listed = run.monitors.get("findings")
    found = [one for one in listed or () if isinstance(one, dict)]
    return {one.get("path") for one in found if one.get("code") == code_id}


_PLAIN: Final[dict[str, Metric]] = {
    one.name: one
    for one in (
        Metric("wall", "s", more_is_better=False, of=lambda run: run.wall_seconds),
        Metric(
            "cpu",
            "s",
            more_is_better=False,
            of=lambda run: run.user_seconds + run.system_seconds,
        ),
        Metric("user", "s", more_is_better=False, of=lambda run: run.user_seconds),
        Metric("system", "s", more_is_better=False, of=lambda run: run.system_seconds),
        Metric("memory", "B", more_is_better=False, of=lambda run: run.max_rss_bytes),
        Metric("performance", "", more_is_better=True, of=lambda run: run.performance),
        Metric("energy", "J", more_is_better=False, of=joules),
    )
}
ENERGY: Final = _PLAIN["energy"]


def metric(name: str) -> Metric:
    """Return a metric by its name.

    Raises:
        RegistryError: B041.
    """
    if name in _PLAIN:
        return _PLAIN[name]
    kind, colon, part = name.partition(":")
    if kind == "phase" and part:
        return Metric(
            name, "s", more_is_better=False, of=lambda run: run.phases.get(part)
        )
    if kind == "energy" and part:
        return Metric(name, "J", more_is_better=False, of=lambda run: joules(run, part))
    what = f'"{shown(name)}" is none'
    if colon and not part:
        what += ": a name is missing after the colon"
    raise RegistryError(finding(UNKNOWN, "--metric", what))


def values(runs: Iterable[Run], wanted: Metric) -> Sequence[float]:
    """Take a metric from every run that has it."""
    found = [wanted.of(run) for run in runs]
    return [value for value in found if value is not None]
