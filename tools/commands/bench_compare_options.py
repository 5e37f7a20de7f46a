"""Options of `powerkit bench compare` alone."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

__all__ = ["Combined", "Comparing", "Interval", "Statistic"]


class Combined(StrEnum):
    """Which traces are combined."""

    NONE = "none"
    ALL = "all"
    PER_WORKLOAD = "per-workload"


class Statistic(StrEnum):
    """What of a variant's runs is compared."""

    MEDIAN = "median"
    MEAN = "mean"


class Interval(StrEnum):
    """How an interval is found."""

    PERCENTILE = "percentile"
    BCA = "bca"


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparing:
    """Options of the comparison itself."""

    baseline: Annotated[
        str | None,
        typer.Option(
            help="The baseline: a variant, a folder of runs, a SPEC or a command."
        ),
    ] = None
    candidate: Annotated[
        str | None, typer.Option(help="The candidate, of the same kind.")
    ] = None
    baseline_env: Annotated[
        list[str] | None, typer.Option(help="NAME=VALUE for the baseline only.")
    ] = None
    candidate_env: Annotated[
        list[str] | None, typer.Option(help="NAME=VALUE for the candidate only.")
    ] = None
    rounds: Annotated[
        int | None, typer.Option(min=1, help="Runs of each variant; 10 by default.")
    ] = None
    interleave: Annotated[
        bool,
        typer.Option(
            "--interleave/--no-interleave",
            help="In each round both variants, in random order.",
        ),
    ] = True
    metric: Annotated[
        str,
        typer.Option(
            help="wall, cpu, performance, memory, energy, phase:NAME, energy:COLUMN."
        ),
    ] = "wall"
    statistic: Annotated[Statistic, typer.Option(help="Of a variant's runs.")] = (
        Statistic.MEDIAN
    )
    interval: Annotated[Interval, typer.Option(help="Kind of bootstrap interval.")] = (
        Interval.PERCENTILE
    )
    confidence: Annotated[
        float, typer.Option(min=0.5, max=0.999, help="Of the intervals.")
    ] = 0.95
    resamples: Annotated[
        int, typer.Option(min=100, max=1_000_000, help="Of the bootstrap.")
    ] = 9999
    plot: Annotated[
        Path | None, typer.Option(help="Draw speed-ups: a file .svg, .png or .pdf.")
    ] = None
