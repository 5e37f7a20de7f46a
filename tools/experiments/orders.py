"""What is to run, in which order: made before anything starts, so it can be shown."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from registry.documents.findings import RegistryError, Severity, code, finding, shown
from tools.experiments.record import Init
from tools.experiments.spec import NO_VARIANT, Item, Spec, Variant, Workload
from tools.load import items as load_items

__all__ = ["Order", "Target", "compared", "planned", "scheduled", "targets"]

NOT_ITEM = code(
    "B031",
    Severity.ERROR,
    "A plan of load asks for an item that the experiment does not have.",
    "Plan with the experiment's own items: `powerkit bench run --simulate` lists them.",
)


@dataclass(frozen=True, slots=True)
class Target:
    """What runs: a workload, perhaps with an item, in a variant.

    Attributes:
        workload: its name.
        item: what it runs on, or None.
        variant: the variant's name.
        command: the program and its arguments, with placeholders; empty for a workload
            of the kit.
        builtin: the name of such a workload.
        work: how often it repeats its work.
        environment: variables of experiment, workload and variant, the last one wins.
        parameters: values of further placeholders.
        cwd: the folder that it starts in; ours if None.
        init: when it initialises.
    """

    workload: str
    item: str | None
    variant: str
    command: tuple[str, ...]
    builtin: str | None
    work: int
    environment: Mapping[str, str]
    parameters: Mapping[str, str]
    cwd: Path | None
    init: Init

    @property
    def label(self) -> str:
        """Workload and item in one text."""
        return self.workload if self.item is None else f"{self.workload}/{self.item}"


@dataclass(frozen=True, slots=True)
class Order:
    """One run to be made.

    Attributes:
        target: what runs.
        iteration: counted from 1 for each target; warm-ups by themselves.
        repeat: the round of a comparison, from 1.
        warm_up: whether statistics leave it out.
    """

    target: Target
    iteration: int
    repeat: int = 1
    warm_up: bool = False

    def document(self) -> dict[str, Any]:
        """Return it as a part of a JSON document."""
        return {
            "workload": self.target.workload,
            "item": self.target.item,
            "variant": self.target.variant,
            "iteration": self.iteration,
            "repeat": self.repeat,
            "warm_up": self.warm_up,
            "init": self.target.init.value,
            "command": list(self.target.command),
            "builtin": self.target.builtin,
        }


def targets(spec: Spec) -> list[Target]:
    """Return everything that can run, variant by variant, after models are selected.

    Raises:
        RegistryError: Q005, a wanted model fits nothing.
    """
    wanted = _wanted_items(spec)
    variants = spec.variants or {NO_VARIANT: Variant()}
    return [
        _target(spec, workload, item, name, variant)
        for name, variant in variants.items()
        for workload in spec.workloads
        for item in (workload.items or (None,))
        if item is None or item.name in wanted
    ]


def _wanted_items(spec: Spec) -> frozenset[str]:
    names = list(dict.fromkeys(one.name for w in spec.workloads for one in w.items))
    models = ",".join(spec.models) or None
    if not names and models is None:
        return frozenset()
    # 1 means all, as a fraction does that TRIMS reads.
    part = None if spec.models_percentage == 1 else f"{spec.models_percentage:g}"
    chosen = load_items.select([load_items.Item(one) for one in names], models, part)
    return frozenset(one.name for one in chosen)


def _target(
    spec: Spec, workload: Workload, item: Item | None, name: str, variant: Variant
) -> Target:
    return Target(
        workload=workload.name,
        item=None if item is None else item.name,
        variant=name,
        command=variant.command or workload.command or (),
        builtin=None if variant.command else workload.builtin,
        work=workload.work,
        environment={**spec.env, **workload.env, **variant.env},
        parameters=item.parameters if item else {},
        cwd=Path(workload.cwd) if workload.cwd else None,
        init=variant.init or spec.init,
    )


def scheduled(spec: Spec, chosen: Sequence[Target]) -> list[Order]:
    """Return the runs of an experiment without a plan: each target in turn.

    Where runs go on side by side, all warm-ups come first: else they would disturb.
    """
    if spec.concurrency > 1:
        return [
            *_repeated(chosen, spec.warm_up, warm_up=True),
            *_repeated(chosen, spec.iterations),
        ]
    return [
        order
        for target in chosen
        for order in (
            *_repeated([target], spec.warm_up, warm_up=True),
            *_repeated([target], spec.iterations),
        )
    ]


def _repeated(
    chosen: Sequence[Target], times: int, *, warm_up: bool = False
) -> Iterator[Order]:
    for target in chosen:
        for number in range(times):
            yield Order(target, number + 1, warm_up=warm_up)


def planned(
    spec: Spec, chosen: Sequence[Target], items: Iterable[str], path: str
) -> list[Order]:
    """Return the runs that a plan asks for, in its order.

    Args:
        spec: the experiment.
        chosen: what can run. An item of the plan is the label of a target, or its item
            alone; it runs in every variant.
        items: names in the order of the plan.
        path: the plan's name in findings.

    Raises:
        RegistryError: B031, with every item that is unknown.
    """
    by_name: dict[str, list[Target]] = {}
    for target in chosen:
        for name in {target.label, target.item or target.label}:
            by_name.setdefault(name, []).append(target)
    orders = list(_repeated(chosen, spec.warm_up, warm_up=True))
    counted: Counter[tuple[str, str]] = Counter()
    unknown: dict[str, None] = {}
    for name in items:
        if name not in by_name:
            unknown[name] = None
        for target in by_name.get(name, ()):
            counted[target.label, target.variant] += 1
            orders.append(Order(target, counted[target.label, target.variant]))
    if unknown:
        raise RegistryError(
            [
                finding(NOT_ITEM, path, f'there is no item "{shown(name)}"')
                for name in list(unknown)[:20]
            ]
        )
    return orders


def compared(
    pairs: Sequence[tuple[Target, ...]],
    *,
    rounds: int,
    warm_up: int,
    seed: int,
    interleave: bool,
) -> list[Order]:
    """Return the runs of a comparison.

    Args:
        pairs: the variants of each workload and item.
        rounds: how often each variant runs.
        warm_up: runs of each variant before that.
        seed: where random numbers start.
        interleave: in each round take workloads, and the variants of each, in random
            order, so that drift of the machine strikes all alike; every second round
            takes the variants the other way round, so that each is first as often as
            it is last. Else one variant after the other, workload by workload.
    """
    everything = [target for pair in pairs for target in pair]
    orders = list(_repeated(everything, warm_up, warm_up=True))
    if not interleave:
        measured = list(_repeated(everything, rounds))
        return [*orders, *(replace(one, repeat=one.iteration) for one in measured)]
    chance = random.Random(seed)  # noqa: S311  an order, no secret
    drawn = list(pairs)
    for number in range(rounds):
        for place in chance.sample(range(len(pairs)), len(pairs)):
            before = drawn[place]
            pair = before[::-1] if number % 2 else chance.sample(before, len(before))
            drawn[place] = tuple(pair)
            orders += [Order(one, number + 1, repeat=number + 1) for one in pair]
    return orders
