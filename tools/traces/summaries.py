"""Summaries of traces: statistics, counters, flows, calls, and all that was odd.

    summary = Summary(By.NAME)
    summary.add(path)
    rows = summary.statistics()

Events are read a few MiB at a time and kept as columns of numbers; slices are matched
and nested at the end of each file, since events need not be in order.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from tools.traces.choices import By
from tools.traces.collecting import rarely_collected
from tools.traces.columns import Numbers
from tools.traces.counters import Series
from tools.traces.flows import FlowCounts
from tools.traces.gathering import Gathered
from tools.traces.naming import Pairs, label
from tools.traces.reading import Found
from tools.traces.records import Records
from tools.traces.runs import runs_of
from tools.traces.slices import Batch, Troubles
from tools.traces.statistics import Statistic, Statistics
from tools.traces.tree import Node, Tree

__all__ = ["Input", "Summary"]


@dataclass(slots=True)
class Input:
    """One file of a summary.

    Attributes:
        path: the file.
        found: its form, and what could not be read.
        phases: how many events of each phase it has.
        unknown_phases: how many have a phase that the format does not know, or none.
        troubles: what was odd about its slices.
        flows: its flows.
        runs: what it says about its runs.
        first_ns: when its first slice begins; None if there is none.
        last_ns: when its last slice ends.
        counter_values_unusable: values of counters that are no numbers or have no time.
        counter_series_left_out: values of counters beyond those told apart.

    """

    path: Path
    found: Found
    phases: Counter[str] = field(default_factory=Counter)
    unknown_phases: int = 0
    troubles: Troubles = field(default_factory=Troubles)
    flows: FlowCounts = field(default_factory=FlowCounts)
    runs: list[dict[str, Any]] = field(default_factory=list)
    first_ns: int | None = None
    last_ns: int | None = None
    counter_values_unusable: int = 0
    counter_series_left_out: int = 0


class Summary:
    """One summary of any number of files."""

    def __init__(
        self, by: By = By.NAME, *, tree: bool = False, records: Records | None = None
    ) -> None:
        """Begin without files.

        Args:
            by: what the slices of one statistic have in common.
            tree: whether to gather the tree of calls.
            records: where every slice goes, if that is wanted.
        """
        self.by = by
        self.inputs: list[Input] = []
        self.counters: list[tuple[str, Series]] = []  # with the name of the process
        self.instants: Counter[str] = Counter()
        self.pairs = Pairs()
        self._statistics = {False: Statistics(), True: Statistics()}
        self._processes: dict[str, int] = {}
        self._tree = Tree() if tree else None
        self._records = records

    def add(
        self, path: Path, report: Callable[[Found], None] = lambda _: None
    ) -> Input:
        """Read a file to its end.

        Args:
            path: a trace.
            report: is told now and then how far the reading is.

        Raises:
            RegistryError: it is no trace, or has too many threads (V030).
            OSError: it cannot be read.
        """
        file = Gathered(self.pairs)
        found = Found()
        with rarely_collected():
            for _ in file.read(path, found):
                report(found)
        one = Input(path, found, file.phases, file.unknown_phases)
        one.runs = runs_of(found.metadata)
        self._take_others(one, file)
        labels = file.labels(f"{path}: " if self.inputs else "")
        for batch in file.slices.close():
            self._take(one, batch, labels)
        one.troubles = file.slices.troubles
        self.inputs.append(one)
        return one

    def statistics(self, *, asynchronous: bool = False) -> list[Statistic]:
        """Statistics of all slices, once, after the last file.

        Args:
            asynchronous: whether of asynchronous events, which have no thread.
        """
        names: Sequence[str] = {
            By.NAME: self.pairs.names,
            By.CATEGORY: self.pairs.categories,
            By.PROCESS: list(self._processes),
        }[self.by]
        return self._statistics[asynchronous].rows(names)

    def calls(self, sort: str = "total") -> list[Node]:
        """The tree of calls, if it was wanted, by `total`, `self` or `count`."""
        return self._tree.nodes(self.pairs.names, sort) if self._tree else []

    def _take_others(self, one: Input, file: Gathered) -> None:
        """Take all but the slices, and let go of it."""
        names = file.process_names
        self.counters += [
            (label(names, each.pid, each.pid), each) for each in file.counters.close()
        ]
        counters, flows = file.counters, file.flows
        one.counter_values_unusable = counters.not_numbers + counters.without_time
        one.counter_series_left_out = counters.series_left_out
        one.flows = flows.close()
        for name, count in file.instants.items():
            self.instants[self.pairs.names[name]] += count
        file.release()

    def _take(
        self, one: Input, batch: Batch, labels: Sequence[tuple[str, str]]
    ) -> None:
        if not len(batch.pairs):
            return
        first = int(batch.starts.min())
        last = int((batch.starts + batch.durations).max())
        one.first_ns = first if one.first_ns is None else min(first, one.first_ns)
        one.last_ns = last if one.last_ns is None else max(last, one.last_ns)
        self._statistics[batch.asynchronous].add(
            self._groups(batch, labels), batch.durations, batch.selves, batch.incomplete
        )
        if self._tree is not None:
            self._tree.add(
                np.array(self.pairs.name_of)[batch.pairs],
                batch.parents,
                batch.depths,
                batch.durations,
                batch.selves,
                asynchronous=batch.asynchronous,
            )
        if self._records is not None:
            self._records.add(len(self.inputs), batch, self.pairs, labels)

    def _groups(self, batch: Batch, labels: Sequence[tuple[str, str]]) -> Numbers:
        if self.by is By.NAME:
            return np.array(self.pairs.name_of)[batch.pairs]
        if self.by is By.CATEGORY:
            return np.array(self.pairs.category_of)[batch.pairs]
        known = self._processes
        places, which = np.unique(batch.places, return_inverse=True)
        numbers = [
            known.setdefault(labels[place][0], len(known)) for place in places.tolist()
        ]
        return np.array(numbers, "q")[which]
