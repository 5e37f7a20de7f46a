"""One point a run: what ran, how busy the machine was, and what each source gave."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

import numpy as np

from registry.documents import workloads

if TYPE_CHECKING:
    from collections.abc import Mapping

    import polars as pl

    from registry.gate.expectations.series import Floats, Integers, Mask
    from registry.gate.expectations.sources import Source

__all__ = ["MOST_RUNS", "Points", "Power", "plan_of"]

MOST_RUNS: Final = 10_000
"""Runs that are looked at; a full plan (measuring.md section 4) has 1,560."""


@dataclass(frozen=True, slots=True)
class Power:
    """What one source gave in each run.

    Attributes:
        source: The column.
        watts: Mean power of every run in W of one node; NaN where there is none.

    """

    source: Source
    watts: Floats


@dataclass(frozen=True, slots=True)
class Points:
    """The runs of a bundle as arrays of one length.

    Attributes:
        runs: Their numbers.
        workloads: Their labels.
        accepted: Whether the recorder accepted them.
        idle: Whether nothing ran.
        target: Load that was asked for (a ratio), NaN if unknown.
        achieved: Load that was reached, NaN if unknown.
        activity: How busy the machine was, by column: cycles or CPU seconds a second.
        powers: What each source gave.

    """

    runs: Integers
    workloads: tuple[str, ...]
    accepted: Mask
    idle: Mask
    target: Floats
    achieved: Floats
    activity: Mapping[str, Floats]
    powers: tuple[Power, ...] = ()

    @property
    def load(self) -> Floats:
        """Load that was reached, or else the one that was asked for."""
        return np.where(np.isfinite(self.achieved), self.achieved, self.target)

    @property
    def busy(self) -> Mask:
        """Accepted runs in which something ran."""
        return self.accepted & ~self.idle

    @property
    def at_rest(self) -> Mask:
        """Accepted runs in which nothing ran."""
        return self.accepted & self.idle

    def measured(
        self, activity: Mapping[str, Floats], powers: tuple[Power, ...]
    ) -> Points:
        """Return the same runs with what was measured in them."""
        return replace(self, activity=activity, powers=powers)

    def zone(self, *zones: str) -> tuple[Power, ...]:
        """Return the sources of some zones."""
        return tuple(power for power in self.powers if power.source.zone in zones)

    def busyness(self) -> list[Floats]:
        """Return all columns that say how busy the machine was, the load last."""
        return [*self.activity.values(), self.load]


def plan_of(runs: pl.DataFrame) -> Points:
    """Read runs.csv; nothing is measured yet.

    A run is idle if its workload is an idle one, or if a load of 0 was asked for.
    """
    few = runs.head(MOST_RUNS)
    labels = tuple(few["workload"].fill_null("").to_list())
    kinds = [workloads.workload(label) for label in labels]
    resting = np.array(
        [kind is not None and kind.idle for kind in kinds], dtype=np.bool_
    )
    target, achieved = (
        _floats(few, name) for name in ("load_target_ratio", "load_achieved_ratio")
    )
    return Points(
        runs=few["run"].fill_null(-1).to_numpy().astype(np.int64),
        workloads=labels,
        accepted=few["accepted"].fill_null(0).to_numpy() == 1,
        idle=resting | (target == 0),
        target=target,
        achieved=achieved,
        activity={},
    )


def _floats(frame: pl.DataFrame, name: str) -> Floats:
    if name not in frame.columns:
        return np.full(frame.height, np.nan)
    numbers: Floats = frame[name].cast(float).fill_null(float("nan")).to_numpy()
    return numbers
