"""What a change affects: models whose inputs moved are fitted, others are reused."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from registry.documents.classkey import GENERIC, node_type
from registry.modelling.catalogue import (
    BundleRef,
    Catalogue,
    PreviousRelease,
    read_catalogue,
)
from registry.modelling.classes import members
from registry.modelling.digest import fit_digest, input_digest
from registry.modelling.model import (
    CURVE,
    LINEAR,
    OUTPUTS,
    TREES,
    ModelId,
    Origin,
    parse_id,
)

__all__ = [
    "BundleRef",
    "Catalogue",
    "Order",
    "Plan",
    "PreviousRelease",
    "Reason",
    "plan",
    "read_catalogue",
]


@dataclass(frozen=True, slots=True)
class Order:
    """What a fit is asked for.

    Attributes:
        id: Identity of the model.
        class_key: Key of its class.
        bundles: The bundles behind it.
        input_digest: SHA-256 of everything that decides its bytes.
    """

    id: ModelId
    class_key: str
    bundles: tuple[Origin, ...]
    input_digest: str


@dataclass(frozen=True, slots=True)
class Reason:
    """Why models of one class are fitted or dropped, in words for people."""

    class_key: str
    models: tuple[str, ...]
    why: str


@dataclass(frozen=True, slots=True)
class Plan:
    """What to do for the next release.

    Attributes:
        fit: Models to fit, sorted by id.
        reuse: Models that the earlier release has with the same inputs.
        drop: Ids of models of the earlier release that nothing supports any more.
        reasons: Why, one for each class and cause, the generic class first.
        classes: Class key of each dataset.
    """

    fit: tuple[Order, ...]
    reuse: tuple[Order, ...]
    drop: tuple[str, ...]
    reasons: tuple[Reason, ...]
    classes: Mapping[str, str]


def plan(catalogue: Catalogue, previous: PreviousRelease | None = None) -> Plan:
    """Compare what the bundles allow with what an earlier release holds.

    Args:
        catalogue: All bundles.
        previous: The earlier release, if there is one.
    """
    orders = sorted(_orders(catalogue), key=lambda order: order.id)
    known = previous.models if previous is not None else {}
    fit = [o for o in orders if known.get(str(o.id)) != o.input_digest]
    reuse = [o for o in orders if known.get(str(o.id)) == o.input_digest]
    drop = sorted(set(known) - {str(order.id) for order in orders})
    reasons: dict[tuple[str, str], list[str]] = {}
    rows = {ref.dataset: ref.rows for ref in catalogue.bundles}
    for order in fit:
        cause = (order.class_key, _why(order, previous, rows))
        reasons.setdefault(cause, []).append(str(order.id))
    earlier = previous.classes.values() if previous is not None else ()
    keys = {node_type(key): key for key in (GENERIC, *earlier)}
    for name in drop:
        number = parse_id(name).node_type
        cause = (keys.get(number, str(number)), "no bundle supports it any more")
        reasons.setdefault(cause, []).append(name)
    return Plan(
        fit=tuple(fit),
        reuse=tuple(reuse),
        drop=tuple(drop),
        reasons=tuple(
            Reason(key, tuple(reasons[key, why]), why)
            for key, why in sorted(
                reasons, key=lambda cause: (cause[0] != GENERIC, cause)
            )
        ),
        classes={ref.dataset: ref.class_key for ref in catalogue.bundles},
    )


def _orders(catalogue: Catalogue) -> Iterator[Order]:
    """Say which models the bundles allow, class by class."""
    refs = {ref.dataset: ref for ref in catalogue.bundles}
    fit = fit_digest(catalogue.class_rule)
    by_class = members((ref.dataset, ref.class_key) for ref in catalogue.bundles)
    for key, datasets in by_class.items():
        node = node_type(key)
        offers: dict[tuple[str, str], list[BundleRef]] = {}
        for dataset in datasets:
            ref = refs[dataset]
            for source in ref.sources:
                for group in ref.groups:
                    offers.setdefault((source, group), []).append(ref)
        for (source, group), used in offers.items():
            digests = [ref.manifest_sha256 for ref in used]
            bundles = tuple(
                Origin(ref.dataset, ref.manifest_sha256, ref.rows) for ref in used
            )
            for output, trainer in _forms(group):
                model = ModelId(source, output, group, trainer, node)
                digest = input_digest(model, key, digests, fit)
                yield Order(model, key, bundles, digest)


def _forms(group: str) -> Iterator[tuple[str, str]]:
    for output in OUTPUTS:
        for trainer in (LINEAR, TREES):
            yield output, trainer
    if group == "BPFOnly":
        yield OUTPUTS[0], CURVE


def _why(
    order: Order, previous: PreviousRelease | None, rows: Mapping[str, int]
) -> str:
    if previous is None:
        return "there is no earlier release"
    name = str(order.id)
    if name not in previous.models:
        return f"new: first served by {_listed([b.dataset for b in order.bundles])}"
    if name not in previous.bundles:
        return "its bundles, the code of the fits or a library changed"
    before = previous.bundles[name]
    now = {b.dataset: b.manifest_sha256 for b in order.bundles}
    gained = [f"{n} ({rows[n]} rows)" for n in sorted(set(now) - set(before))]
    lost = sorted(set(before) - set(now))
    changed = sorted(n for n in set(now) & set(before) if now[n] != before[n])
    causes = []
    if gained:
        causes.append(f"gains {_listed(gained)}")
    if lost:
        causes.append(f"loses {_listed(lost)}")
    if changed:
        causes.append(f"has a new version of {_listed(changed)}")
    if not causes:
        causes.append("same bundles, but the code of the fits, a library or the class")
        causes[-1] += " rule changed"
    return f"class {order.class_key} {' and '.join(causes)}"


def _listed(names: list[str], most: int = 5) -> str:
    if len(names) > most:
        return f"bundles {', '.join(names[:most])} and {len(names) - most} more"
    return f"bundle{'s' if len(names) > 1 else ''} {', '.join(names)}"
