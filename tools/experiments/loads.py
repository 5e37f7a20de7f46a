"""Which runs a load asks for: a plan that was written, or one made of a distribution.

A plan decides the order of items. When requests arrive is for `powerkit load run`; here
the next run begins when one of the concurrent ones ends.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from tools.experiments.orders import Order, Target, planned, scheduled
from tools.experiments.spec import Load, Spec
from tools.load.items import Item
from tools.load.making import make_plan
from tools.load.plan import read_plan
from tools.load.requests import Plan

__all__ = ["load_plan", "ordered"]


def load_plan(spec: Spec, chosen: Sequence[Target]) -> Plan | None:
    """Read or make the plan of an experiment; None if it runs each item in turn.

    Args:
        spec: the experiment.
        chosen: what can run; the items of a plan that is made are their labels.

    Raises:
        RegistryError: Q codes, the plan cannot be read or made.
    """
    load = spec.load
    if load is None:
        return None
    if load.plan is not None:
        return read_plan(Path(load.plan))
    if load.distribution == "none":
        return None
    sizes = {item.name: item.bytes for w in spec.workloads for item in w.items}
    labels = {target.label: sizes.get(target.item or "") for target in chosen}
    return make_plan(
        [Item(label, size) for label, size in labels.items()],
        popularity(load),
        f"closed:concurrency={spec.concurrency}",
        requests=spec.iterations,
        max_per_item=load.max_per_item,
        seed=load.seed,
        trims_compatible=load.trims_compatible,
    )


def popularity(load: Load) -> str:
    """Return a distribution and its parameters as `powerkit load plan` takes them."""
    if not load.params:
        return load.distribution
    return f"{load.distribution}:{','.join(f'{one:.17g}' for one in load.params)}"


def ordered(spec: Spec, chosen: Sequence[Target], plan: Plan | None) -> list[Order]:
    """Return the runs of an experiment, in order.

    Raises:
        RegistryError: B031, the plan asks for what the experiment does not have.
    """
    if plan is None:
        return scheduled(spec, chosen)
    path = "the load" if spec.load is None else spec.load.plan or "the load"
    return planned(spec, chosen, (one.item for one in plan.requests), path)
