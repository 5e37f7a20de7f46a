"""All runs of an experiment, side by side if wanted, each recorded whatever happens.

A failed run does not end the others. An interrupt ends the runs that go on; what was
recorded stays whole.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from itertools import groupby
from typing import Final

from tools.experiments.orders import Order
from tools.experiments.performing import Bench, perform
from tools.experiments.record import Run

__all__ = ["Watch", "perform_all"]

_LOOK_SECONDS: Final = 0.5
Watch = Callable[[Run, int, int], object]
"""Told of each run that ended, how many have, and how many there are."""


def perform_all(orders: Sequence[Order], bench: Bench, watch: Watch) -> list[Run]:
    """Make all runs, in order, so many at a time as the experiment wants.

    Warm-ups and measured runs never go on at once, nor do the variants of a comparison.

    Args:
        orders: what to run.
        bench: what the runs share.
        watch: told of each that ended, in this thread.

    Returns:
        Their records, in the order in which they ended.

    Raises:
        OSError: a folder or record cannot be written; the runs that went on are ended.
    """
    going = _Going(bench, watch, len(orders))
    workers = min(bench.spec.concurrency, max(len(orders), 1))
    with ThreadPoolExecutor(workers, thread_name_prefix="run") as pool:
        try:
            for batch in _batches(orders, bench):
                going.perform(batch, pool, workers)
        except BaseException:
            # Ends the children; their threads record that, then the pool is closed.
            bench.stopping.set()
            pool.shutdown(wait=True, cancel_futures=True)
            raise
    return going.runs


def _batches(orders: Sequence[Order], bench: Bench) -> list[list[Order]]:
    """Part the orders where something begins that must not go on beside the others."""
    compared = bench.comparison is not None
    parts = groupby(orders, lambda one: (one.warm_up, compared and one.target.variant))
    return [list(part) for _, part in parts]


class _Going:
    """Runs that go on and those that ended."""

    def __init__(self, bench: Bench, watch: Watch, total: int) -> None:
        self.runs: list[Run] = []
        self._bench = bench
        self._watch = watch
        self._total = total
        self._warm: set[tuple[str, str]] = set()

    def perform(
        self, orders: Sequence[Order], pool: ThreadPoolExecutor, workers: int
    ) -> None:
        """Make the runs of a batch.

        At most so many are handed to the pool as it has workers, since whether a run is
        warm is known only when it begins.
        """
        waiting = list(reversed(orders))
        going: dict[Future[Run], Order] = {}
        while waiting or going:
            while waiting and len(going) < workers:
                order = waiting.pop()
                warm = _key(order) in self._warm
                future = pool.submit(perform, order, self._bench, warm=warm)
                going[future] = order
            # Not without end: a signal that another thread takes wakes nobody here.
            done, _ = wait(going, _LOOK_SECONDS, return_when=FIRST_COMPLETED)
            for future in done:
                self._ended(future.result(), going.pop(future))

    def _ended(self, run: Run, order: Order) -> None:
        self.runs.append(run)
        if run.returncode is not None:
            self._warm.add(_key(order))
        self._watch(run, len(self.runs), self._total)


def _key(order: Order) -> tuple[str, str]:
    return order.target.label, order.target.variant
