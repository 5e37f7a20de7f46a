"""The two sides of a comparison: what runs as baseline, and what as candidate."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

from registry.documents.findings import RegistryError, Severity, code, finding, shown
from tools.experiments.orders import Target, targets
from tools.experiments.record import Run
from tools.experiments.spec import Spec

__all__ = ["BASELINE", "CANDIDATE", "Sides", "paired_targets", "sides_of_runs"]

BASELINE: Final = "baseline"
CANDIDATE: Final = "candidate"

NO_VARIANT = code(
    "B061",
    Severity.ERROR,
    "A variant that is to be compared does not exist.",
    "Name variants of the experiment, or of the runs, with --baseline and --candidate.",
)
UNLIKE = code(
    "B062",
    Severity.ERROR,
    "Two experiments cannot be compared, since they run under different conditions.",
    "Give both the same conditions; only workloads, their environment and init differ.",
)
ALONE = code(
    "B063",
    Severity.ERROR,
    "A workload is in one of the experiments only.",
    "Give workloads and items of both experiments the same names.",
)

_SHARED: Final = (
    "concurrency",
    "time_limit_seconds",
    "pin",
    "monitors",
    "monitor_interval_ms",
    "trace",
    "postprocess",
    "service",
    "visible_devices",
    "trims_environment",
    "trims_enabled",
    "profile_memory",
    "debug",
)


@dataclass(frozen=True, slots=True)
class Sides:
    """Runs of the two sides.

    Attributes:
        baseline: runs of the baseline.
        candidate: runs of the candidate.
        interleaved: whether they were made in rounds of both.
    """

    baseline: Sequence[Run]
    candidate: Sequence[Run]
    interleaved: bool


def sides_of_runs(
    runs: Sequence[Run], others: Sequence[Run] | None, baseline: str, candidate: str
) -> Sides:
    """Part existing runs into two sides.

    Args:
        runs: those of both variants, or of the baseline.
        others: those of the candidate, if they are apart.
        baseline: the baseline's variant, where they are not.
        candidate: the candidate's.

    Raises:
        RegistryError: B061, there are no runs of a variant.
    """
    if others is not None:
        return Sides(runs, others, interleaved=False)
    parts = [[r for r in runs if r.variant == name] for name in (baseline, candidate)]
    known = sorted({run.variant for run in runs})
    for name, part in zip((baseline, candidate), parts, strict=True):
        if not part:
            raise _no_variant(name, known)
    together = all(run.parameters.get("interleaved") is True for run in runs)
    return Sides(parts[0], parts[1], interleaved=together)


def paired_targets(
    spec: Spec, other: Spec | None, baseline: str, candidate: str
) -> list[tuple[Target, ...]]:
    """Return the two variants of every workload and item.

    Args:
        spec: the experiment with both variants, or the baseline's.
        other: the candidate's own experiment, if it has one.
        baseline: the baseline's variant, where both are in one experiment.
        candidate: the candidate's.

    Raises:
        RegistryError: B061 to B063, Q005.
    """
    if other is None:
        both = targets(spec)
        known = sorted({target.variant for target in both})
        for name in (baseline, candidate):
            if name not in known:
                raise _no_variant(name, known)
        old = [target for target in both if target.variant == baseline]
        new = [target for target in both if target.variant == candidate]
    else:
        _refuse_unlike(spec, other)
        old = [replace(target, variant=BASELINE) for target in targets(spec)]
        new = [replace(target, variant=CANDIDATE) for target in targets(other)]
    first = {target.label: target for target in old}
    second = {target.label: target for target in new}
    alone = [
        label for label in {**first, **second} if (label in first) != (label in second)
    ]
    if alone:
        raise RegistryError(
            finding(ALONE, spec.name, f'"{shown(label)}" is on one side only')
            for label in alone[:20]
        )
    return [(first[label], second[label]) for label in first]


def _refuse_unlike(spec: Spec, other: Spec) -> None:
    unlike = [n for n in _SHARED if getattr(spec, n) != getattr(other, n)]
    if unlike:
        raise RegistryError(
            finding(UNLIKE, other.name, f"{name} is not the same") for name in unlike
        )


def _no_variant(name: str, known: Sequence[str]) -> RegistryError:
    what = f'"{shown(name)}" is none of {shown(", ".join(known), 100) or "no variants"}'
    return RegistryError(finding(NO_VARIANT, "--baseline, --candidate", what))
