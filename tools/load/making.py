"""Make a load plan of items, a popularity and arrivals."""

from __future__ import annotations

import math
from array import array
from collections.abc import Mapping, Sequence
from typing import Any, Final, Literal

import numpy as np

from registry.documents.findings import RegistryError, finding
from tools.load.arrival_traces import read_arrivals
from tools.load.arrivals import REQUESTS
from tools.load.drawing import Q007, cover, draw, refuse_impossible
from tools.load.items import Item
from tools.load.ordering import Q014, Order, read_order
from tools.load.popularity import shares, weights_at
from tools.load.requests import (
    ArrivalsEntry,
    Header,
    Plan,
    PlanItem,
    PopularityEntry,
    Requests,
)
from tools.load.schedules import schedule, times_within
from tools.load.streams import Floats, Integers, Streams, open_streams
from tools.load.trims import alias_draws, kept_at_limit
from tools.load.weight_files import read_weights

__all__ = ["GENERATOR", "make_plan"]

GENERATOR: Final = "PCG64, children of SeedSequence(seed)"


def make_plan(
    items: Sequence[Item | str],
    popularity: str = "none",
    arrivals: str = "closed:concurrency=1",
    *,
    requests: int | None = None,
    duration: float | None = None,
    max_per_item: int | None = None,
    covering: bool = False,
    seed: int = 0,
    shuffle_ranks: bool = False,
    drawn_weights: bool = False,
    trims_compatible: bool = False,
) -> Plan:
    """Make a plan; the same arguments give the same plan.

    Args:
        items: what can be asked for, the most popular first.
        popularity: ``NAME[:PARAMETERS]``, see `tools.load.popularity`.
        arrivals: ``KIND[:PARAMETERS]``, see `tools.load.arrivals`.
        requests: how many requests there are.
        duration: or the seconds that arrivals fill.
        max_per_item: the most requests of one item; with `trims_compatible` TRIMS's
            `model_iterations`.
        covering: ask for every item at least once.
        seed: of every random choice, from 0 to 2**53 - 1.
        shuffle_ranks: give the ranks to items at random, not in their order.
        drawn_weights: draw the weights instead of taking quantiles.
        trims_compatible: draw as TRIMS does, see `tools.load.trims`.

    Raises:
        RegistryError: Q001 to Q014, with the problems of all arguments.
    """
    return _made(
        read_order(
            items,
            popularity,
            arrivals,
            requests=requests,
            duration=duration,
            max_per_item=max_per_item,
            covering=covering,
            seed=seed,
            shuffle_ranks=shuffle_ranks,
            drawn_weights=drawn_weights,
            trims_compatible=trims_compatible,
        )
    )


def _made(order: Order) -> Plan:
    streams = open_streams(order.seed)
    weights = _weights(order, streams)
    times, replay = _times(order, streams)
    count = order.requests or 0
    if times is not None:
        count = len(times)
    if count > REQUESTS:
        what = f"{count} requests, at most {REQUESTS} are possible"
        raise RegistryError(finding(Q014, "--requests", what))
    drawn, kept = _drawn(order, weights, count, streams)
    covered = cover(drawn, len(weights), streams.cover) if order.covering else 0
    if times is not None:
        times = times[kept]
    header = Header(
        format="load-plan/1",
        seed=order.seed,
        generator=GENERATOR,
        popularity=PopularityEntry(
            order.popularity.kind,
            _plain(order.popularity.values),
            order.weighting,
            order.shuffled,
        ),
        arrivals=ArrivalsEntry(
            order.arrivals.kind, _plain(order.arrivals.values), replay
        ),
        requests=len(drawn),
        items=tuple(
            PlanItem(item.name, weight, item.bytes)
            for item, weight in zip(order.items, weights.tolist(), strict=True)
        ),
        duration_ns=order.duration_ns,
        max_per_item=order.cap,
        cover=order.covering,
        covered=covered,
        skipped=count - len(drawn),
        trims_compatible=order.trims,
    )
    return Plan(header, _columns(order.items, drawn, times))


def _weights(order: Order, streams: Streams) -> Floats:
    """Every item's share of the requests."""
    popularity, count = order.popularity, len(order.items)
    if popularity.file is not None:
        weights = read_weights(popularity.file, order.items)
        return shares(weights, str(popularity.file))
    drawn = streams.weights if order.weighting in {"drawn", "unsorted"} else None
    weights = weights_at(popularity, count, drawn)
    if order.weighting == "drawn":
        weights = np.sort(weights)[::-1]
    weights = shares(weights)
    if order.shuffled:
        weights = weights[streams.ranks.permutation(count)]
    return weights


def _times(
    order: Order, streams: Streams
) -> tuple[Integers | None, dict[str, Any] | None]:
    """The schedule, if there is one, and where it was replayed from."""
    if order.arrivals.closed:
        return None, None
    if order.arrivals.replay is None:
        stream = streams.schedule
        return (
            schedule(order.arrivals, stream, order.requests, order.duration_ns),
            None,
        )
    times, facts = read_arrivals(order.arrivals.replay)
    times = times_within(times, order.duration_ns)
    if order.requests is not None:
        if order.requests > len(times):
            what = f"the trace has {len(times)} arrivals, not {order.requests}"
            raise RegistryError(finding(Q014, "--requests", what))
        times = times[: order.requests]
    return times, facts


def _drawn(
    order: Order, weights: Floats, count: int, streams: Streams
) -> tuple[Integers, Any]:
    """The items' indices, and which of the arrivals they belong to."""
    every = slice(None)
    if order.popularity.kind == "none":
        times = int(order.popularity.values["times"])
        return np.repeat(np.arange(len(weights), dtype=np.int64), times), every
    if not order.trims:
        refuse_impossible(weights, count, order.cap, covering=order.covering)
        return draw(weights, count, streams.draws, order.cap), every
    drawn = alias_draws(weights, count, streams.draws)
    kept = kept_at_limit(drawn, len(weights), order.cap)
    if not kept.any():
        what = "under TRIMS's rule a limit of 0 or 1 runs nothing"
        raise RegistryError(finding(Q007, "--max-per-item", what))
    return drawn[kept], kept


def _columns(
    items: Sequence[Item], drawn: Integers, times: Integers | None
) -> Requests:
    return Requests(
        [item.name for item in items],
        array("q", drawn.astype(np.int64).tobytes()),
        None if times is None else array("q", times.astype(np.int64).tobytes()),
    )


def _plain(values: Mapping[str, float]) -> dict[str, float | Literal["inf"]]:
    """Numbers that JSON has."""
    return {
        name: "inf" if math.isinf(value) else value for name, value in values.items()
    }
