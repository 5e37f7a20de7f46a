"""Fit what a plan asks for: class by class, in parallel, to the same bytes anyhow."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from joblib import Parallel, delayed
from threadpoolctl import threadpool_limits

from registry.documents.bundle import Bundle
from registry.documents.classkey import GENERIC
from registry.gate.opening import open_bundle
from registry.gate.tree import Tree
from registry.modelling.assemble import GENERIC_ROWS, fit_order, reduced
from registry.modelling.catalogue import trusted
from registry.modelling.extract import Frame, extract
from registry.modelling.model import Model
from registry.modelling.plan import Order, Plan
from registry.modelling.table import FIT_ROWS

_Open = Callable[[str], Bundle]


@dataclass(frozen=True, slots=True, eq=False)
class Unit:
    """Models of one class, source and output, with the frames they need."""

    orders: tuple[Order, ...]
    frames: tuple[Frame, ...]


def fit_models(
    tree: Tree,
    plan: Plan,
    *,
    arrivals: Mapping[str, int],
    now: int,
    jobs: int = 1,
    progress: Callable[[str], None] | None = None,
) -> list[Model]:
    """Fit every model that a plan asks for.

    The tables of one class are in memory at a time, thinned to what a fit uses; the
    generic class keeps a few rows of every server.

    Args:
        tree: The registry.
        plan: What to fit.
        arrivals: When each dataset came to main, in seconds since 1970.
        now: The same for datasets that are not on main yet.
        jobs: Processes to fit with; the models do not depend on it.
        progress: Called with a line for people after every few models.

    Returns:
        Models, published and withheld, sorted by id.

    Raises:
        RegistryError: A bundle does not pass.
    """
    total = len(plan.fit)
    models: list[Model] = []
    workers = Parallel(
        n_jobs=jobs, return_as="generator", batch_size=1, pre_dispatch="2*n_jobs"
    )
    keyring = trusted(tree)

    def opened(name: str) -> Bundle:
        return open_bundle(tree, name, trust=keyring, at=arrivals.get(name, now))

    units = _units(plan, opened)
    for fitted in workers(delayed(_fit_unit)(unit) for unit in units):
        models.extend(fitted)
        if progress is not None:
            key = fitted[0].class_key
            progress(f"fitted {len(models)} of {total} models, last {key}")
    return sorted(models, key=lambda model: model.id)


def _fit_unit(unit: Unit) -> list[Model]:
    """Fit a unit; one BLAS thread, since sums must not depend on how many there are."""
    with threadpool_limits(limits=1):
        by_name = {frame.dataset: frame for frame in unit.frames}
        return [
            fit_order(order, [by_name[bundle.dataset] for bundle in order.bundles])
            for order in unit.orders
        ]


def _units(plan: Plan, opened: _Open) -> Iterator[Unit]:
    """Open each bundle once, class by class; the generic class comes last."""
    by_class: dict[str, list[Order]] = {}
    for order in plan.fit:
        by_class.setdefault(order.class_key, []).append(order)
    generic = by_class.pop(GENERIC, [])
    pooled = {bundle.dataset for order in generic for bundle in order.bundles}
    datasets = _by_class(plan.classes)
    few: list[Frame] = []
    for key in sorted(datasets):
        orders = by_class.get(key, [])
        wanted = {bundle.dataset for order in orders for bundle in order.bundles}
        needed = [n for n in datasets[key] if n in wanted or n in pooled]
        limit = max(FIT_ROWS // max(len(needed), 1), GENERIC_ROWS)
        frames: list[Frame] = []
        for name in needed:
            frame = reduced(extract(opened(name), key), limit)
            if name in wanted:
                frames.append(frame)
            if name in pooled:
                few.append(reduced(frame, GENERIC_ROWS))
        yield from _split(orders, frames)
    yield from _split(generic, few)


def _split(orders: Sequence[Order], frames: Sequence[Frame]) -> Iterator[Unit]:
    parts: dict[tuple[str, str], list[Order]] = {}
    for order in orders:
        parts.setdefault((order.id.source, order.id.output), []).append(order)
    for part in parts.values():
        wanted = {bundle.dataset for order in part for bundle in order.bundles}
        kept = tuple(frame for frame in frames if frame.dataset in wanted)
        yield Unit(tuple(part), kept)


def _by_class(classes: Mapping[str, str]) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for dataset in sorted(classes):
        found.setdefault(classes[dataset], []).append(dataset)
    return found
