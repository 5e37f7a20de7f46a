"""Is the candidate faster than the baseline, and how sure is that?

Runs of both variants are compared workload by workload: the ratio of medians (or means)
with a bootstrap interval, and the geometric mean of all workloads. A speed-up above 1
says that the candidate is faster, an energy ratio below 1 that it needs less.

The runs of one round saw the machine in the same state, so rounds are resampled whole
where each has a run of both variants (a paired bootstrap).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Final

from registry.documents.findings import Finding, RegistryError, Severity, code, finding
from tools.experiments.metrics import ENERGY, Metric
from tools.experiments.ratios import (
    Method,
    Ratio,
    Values,
    estimate,
    geometric_mean,
    statistic,
)
from tools.experiments.record import Run

__all__ = ["Comparison", "WorkloadRatio", "compare"]

_FASTER: Final = ("faster", "slower")
_LESS: Final = ("more", "less")

NOTHING_COMMON = code(
    "B042",
    Severity.ERROR,
    "Nothing can be compared: no workload has runs of both variants with the metric.",
    "Run both variants of the same workloads, and choose a metric that they report.",
)
PARTLY = code(
    "B043",
    Severity.WARNING,
    "A workload cannot be compared.",
    "Run it in both variants, with the metric, and without failures.",
)


@dataclass(frozen=True, slots=True)
class WorkloadRatio:
    """One workload in both variants.

    Attributes:
        workload: Its name, with that of its item.
        baseline_runs: How many runs of the baseline count.
        candidate_runs: The same of the candidate.
        failed: Runs of both that do not count.
        without: Runs that do not count since they lack the metric.
        unpaired: Runs that do not count since their round lacks the other variant.
        baseline: The statistic of the baseline's runs, in the metric's unit.
        candidate: The same of the candidate's.
        speedup: How much better the candidate is.
        energy: Energy of the candidate by that of the baseline, if monitors have it.
    """

    workload: str
    baseline_runs: int
    candidate_runs: int
    failed: int
    without: int
    unpaired: int
    baseline: float
    candidate: float
    speedup: Ratio
    energy: Ratio | None


@dataclass(frozen=True, slots=True)
class Comparison:
    """All workloads of two variants.

    Attributes:
        metric: What was compared.
        unit: Its unit.
        method: How.
        rows: A workload each.
        speedup: The geometric mean of all workloads.
        energy: The same of energy, if every workload has it.
        findings: What could not be compared.
    """

    metric: str
    unit: str
    method: Method
    rows: tuple[WorkloadRatio, ...]
    speedup: Ratio
    energy: Ratio | None
    findings: tuple[Finding, ...] = ()

    def document(self) -> dict[str, Any]:
        """Return it as a JSON document, comparison/1."""
        return {
            "schema": "comparison/1",
            "metric": self.metric,
            "unit": self.unit,
            "method": asdict(self.method),
            "workloads": [asdict(row) for row in self.rows],
            "speedup": asdict(self.speedup),
            "energy": None if self.energy is None else asdict(self.energy),
            "not_compared": [one.what for one in self.findings],
        }


def compare(
    baseline: Iterable[Run], candidate: Iterable[Run], wanted: Metric, method: Method
) -> Comparison:
    """Compare the runs of two variants, warm-ups left out.

    Args:
        baseline: runs of the baseline.
        candidate: runs of the candidate.
        wanted: what to compare.
        method: how.

    Raises:
        RegistryError: B042, no workload can be compared.
    """
    old, new = _by_label(baseline), _by_label(candidate)
    rows: list[WorkloadRatio] = []
    speeds: list[Values] = []
    energies: list[Values] = []
    found: list[Finding] = []
    for stream, label in enumerate(sorted({*old, *new})):
        sides = old.get(label, ()), new.get(label, ())
        done = _workload(label, sides, wanted, method, stream)
        if isinstance(done, Finding):
            found.append(done)
            continue
        row, speed, joules = done
        rows.append(row)
        speeds.append(speed)
        energies += [] if joules is None else [joules]
    if not rows:
        nothing = finding(NOTHING_COMMON, wanted.name, "there is no such workload")
        raise RegistryError([nothing, *found])
    fewest = min(min(row.baseline_runs, row.candidate_runs) for row in rows)
    ratios = [row.speedup for row in rows]
    speedup = geometric_mean(ratios, speeds, method, _FASTER, fewest)
    parts = [row.energy for row in rows if row.energy is not None]
    energy = None
    if len(parts) == len(rows):
        energy = geometric_mean(parts, energies, method, _LESS, fewest)
    return Comparison(
        wanted.name, wanted.unit, method, tuple(rows), speedup, energy, tuple(found)
    )


def _by_label(runs: Iterable[Run]) -> Mapping[str, Sequence[Run]]:
    grouped: dict[str, list[Run]] = {}
    for run in runs:
        if not run.warm_up:
            grouped.setdefault(run.label, []).append(run)
    return grouped


def _workload(
    label: str,
    sides: tuple[Sequence[Run], Sequence[Run]],
    wanted: Metric,
    method: Method,
    stream: int,
) -> tuple[WorkloadRatio, Values, Values | None] | Finding:
    """Compare one workload, or say why that cannot be done."""
    counted = [[run for run in side if run.accepted] for side in sides]
    failed = sum(len(side) for side in sides) - sum(len(side) for side in counted)
    accepted = sum(len(side) for side in counted)
    counted = [[run for run in side if _known(wanted, run)] for side in counted]
    before = sum(len(side) for side in counted)
    if not all(_positive(wanted, run) for side in counted for run in side):
        # Left out, the runs that remain would be those with larger numbers.
        what = f"{label}: a run has a {wanted.name} of 0 or less, which has no ratio"
        return finding(PARTLY, label, what)
    if method.paired:
        counted = _paired(counted[0], counted[1])
    unpaired = before - sum(len(side) for side in counted)
    old, new = counted
    if not old or not new:
        lacking = "baseline" if not old else "candidate"
        what = f"{label}: no run of the {lacking} has a {wanted.name} that counts"
        return finding(PARTLY, label, what)
    a, b = ([float(wanted.of(run) or 0) for run in side] for side in counted)
    better = (b, a) if wanted.more_is_better else (a, b)
    speedup, drawn = estimate(*better, method, _FASTER, 2 * stream)
    energy, drawn_energy = _energy(old, new, method, 2 * stream + 1)
    of = statistic(method.statistic)
    row = WorkloadRatio(
        label,
        len(old),
        len(new),
        failed,
        accepted - before,
        unpaired,
        float(of(a)),
        float(of(b)),
        speedup,
        energy,
    )
    return row, drawn, drawn_energy


def _energy(
    old: Sequence[Run], new: Sequence[Run], method: Method, stream: int
) -> tuple[Ratio | None, Values | None]:
    """Compare energy where every run has it."""
    if not all(_positive(ENERGY, run) for run in (*old, *new)):
        return None, None
    a, b = ([float(ENERGY.of(run) or 0) for run in side] for side in (old, new))
    return estimate(b, a, method, _LESS, stream)


def _known(wanted: Metric, run: Run) -> bool:
    value = wanted.of(run)
    return value is not None and value < float("inf")


def _positive(wanted: Metric, run: Run) -> bool:
    value = wanted.of(run)
    return value is not None and 0 < value < float("inf")


def _paired(old: Sequence[Run], new: Sequence[Run]) -> list[list[Run]]:
    """Keep the rounds that have a run of both variants, in order."""
    # A folder may hold several comparisons, each of which has a first round.
    first = {(run.comparison or "", run.repeat): run for run in old}
    second = {(run.comparison or "", run.repeat): run for run in new}
    common = sorted(first.keys() & second.keys())
    return [[side[key] for key in common] for side in (first, second)]
