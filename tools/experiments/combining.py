"""The traces of several runs in one, each from its own zero, under the run's name."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

from registry.documents.findings import RegistryError, Severity, code, finding
from tools.experiments.folders import free_name
from tools.experiments.record import Run
from tools.experiments.tracing import trace_of
from tools.traces.alignment import Align
from tools.traces.combination import Combination
from tools.traces.combining import combine

__all__ = ["combine_each", "combine_runs"]

NO_TRACES = code(
    "B064",
    Severity.ERROR,
    "There are no traces to combine.",
    "Run with --trace, and have the workload write the file that POWERKIT_TRACE_FILE"
    " names.",
)


def combine_runs(runs: Sequence[Run], output: Path) -> Path:
    """Combine the traces of all runs that have one; they begin at the same time.

    Args:
        runs: in the order of the result.
        output: the file to write.

    Raises:
        RegistryError: B064, no run has a trace; V codes, one cannot be read.
    """
    sources = [
        (path, _name(run)) for run in runs if (path := trace_of(run)) is not None
    ]
    if not sources:
        what = f"none of {len(runs)} runs has one"
        raise RegistryError(finding(NO_TRACES, str(output), what))
    combine(sources, output, Combination(align=Align.ZERO))
    return output


def combine_each(runs: Sequence[Run], folder: Path) -> list[Path]:
    """Combine the traces of each workload and item, into ``compared-<name>``.

    Raises:
        RegistryError: B064, a workload has no traces; V codes, one cannot be read.
    """
    grouped: dict[str, list[Run]] = {}
    for run in runs:
        grouped.setdefault(run.label, []).append(run)
    done: list[Path] = []
    for number, (label, own) in enumerate(sorted(grouped.items()), 1):
        name = re.sub(r"[^A-Za-z0-9._+-]+", "-", label)[:150]
        # The number keeps names apart that differ in other characters only.
        path = free_name(folder, f"compared-{number}-{name}.json.gz")
        done.append(combine_runs(own, path))
    return done


def _name(run: Run) -> str:
    variant = "" if run.variant == "none" else f" {run.variant}"
    return f"{run.label}{variant} {run.iteration}"
