"""What a change does to the models: fitted with it and without it, in memory.

Only models whose inputs differ are fitted, by the code that makes releases, and their
errors are those that a release would report.
"""

from __future__ import annotations

import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from registry.modelling.build import fit_models
from registry.modelling.plan import Plan, plan
from registry.publish.assembly import assemble
from registry.publish.changed import KINDS, changed
from registry.publish.difference import WORDS, error_of, improvement
from registry.publish.header import header
from registry.publish.staging import Staging
from registry.review.page import Code, Paragraph, Section, Table

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Mapping, Sequence

    from registry.modelling.model import Model
    from registry.modelling.plan import Order
    from registry.publish.changed import Changed, ModelChange
    from registry.publish.index import Index, ModelEntry
    from registry.review.page import Block, Cell
    from registry.review.proposal import State

    Progress = Callable[[str], None]

__all__ = ["Effects", "fit", "fit_effects", "models_section"]

MANY: Final = 3_000
"""Models of more bundles than this are named and not fitted: it would take too long."""
MODELS: Final = 200
"""As many models are fitted at most: a revocation may touch hundreds of classes."""
_LOUD: Final = 10.0
"""Per cent by which a published error must grow to be worth a note."""


@dataclass(frozen=True, slots=True)
class Effects:
    """Affected models before and after a change.

    Attributes:
        before: index of the affected models without the change.
        after: the same with it.
        models: the affected models without the change.
        skipped: ids of models that were not fitted.
    """

    before: Index
    after: Index
    models: tuple[Model, ...]
    skipped: tuple[str, ...]


def fit_effects(before: State, after: State, progress: Progress, jobs: int) -> Effects:
    """Fit the models whose inputs differ, both ways.

    Args:
        before: the registry as it is.
        after: the registry as it would be.
        progress: called with lines for people.
        jobs: processes that fit.

    Raises:
        RegistryError: a bundle does not pass.
    """
    old, new = plan(before.catalogue), plan(after.catalogue)
    digests = {str(one.id): one.input_digest for one in old.fit}
    later = {str(one.id): one.input_digest for one in new.fit}
    touched = {
        name
        for name in set(digests) | set(later)
        if digests.get(name) != later.get(name)
    }
    chosen = _chosen([*old.fit, *new.fit], touched)
    skipped = touched - chosen
    progress(f"fitting {len(chosen)} models as they are without the change")
    models = fit(before, old, chosen, progress, jobs)
    progress(f"fitting {len(chosen)} models as they would be")
    fresh = fit(after, new, chosen, progress, jobs)
    return Effects(
        _index(before, models),
        _index(after, fresh),
        tuple(models),
        tuple(sorted(skipped)),
    )


def _chosen(orders: Sequence[Order], touched: Collection[str]) -> set[str]:
    """Choose what can be fitted in minutes: the generic class and totals first."""
    ranked = sorted(
        (one for one in orders if str(one.id) in touched and len(one.bundles) <= MANY),
        key=lambda one: (one.id.node_type != 0, one.id.output != "AbsPower", one.id),
    )
    names = dict.fromkeys(str(one.id) for one in ranked)
    large = {str(one.id) for one in orders if len(one.bundles) > MANY}
    return {name for name in list(names)[:MODELS] if name not in large}


def fit(
    state: State,
    planned: Plan,
    wanted: Iterable[str],
    progress: Progress,
    jobs: int,
) -> list[Model]:
    """Fit some models of a plan.

    Args:
        state: the registry.
        planned: all its models.
        wanted: ids of those to fit; others are passed over.
        progress: called with lines for people.
        jobs: processes that fit.
    """
    names = set(wanted)
    orders: Sequence[Order] = [one for one in planned.fit if str(one.id) in names]
    if not orders:
        return []
    part = Plan(
        fit=tuple(orders), reuse=(), drop=(), reasons=(), classes=planned.classes
    )
    source = state.source
    return fit_models(
        source.tree,
        part,
        arrivals=source.arrivals,
        now=source.now,
        jobs=jobs,
        progress=progress,
    )


def _index(state: State, models: Sequence[Model]) -> Index:
    """Judge models as a release does: published, or withheld and why."""
    head = header(state.source, state.catalogue, None)
    if not models:
        return head
    nothing = Plan(fit=(), reuse=(), drop=(), reasons=(), classes={})
    with tempfile.TemporaryDirectory(prefix="registry-review-") as folder:
        staging = Staging(Path(folder) / "release")
        index, _ = assemble(staging, head, nothing, models, None)
    return index


def models_section(effects: Effects) -> Section:
    """Show which models change, and their held-out errors before and after."""
    title = "Models"
    found = changed(effects.before, effects.after)
    unseen = _never_offered(effects, found)
    blocks: list[Block] = [Paragraph.of(_summary(found, len(unseen)))]
    if effects.skipped:
        text = (
            f"{len(effects.skipped)} more models change too. They were not fitted here,"
            f" since at most {MODELS} are, and none of more than {MANY} bundles."
        )
        blocks.append(Paragraph.of(text))
    if found.models:
        columns = ("class", "model", "what", "error before", "error after", "change")
        rows = tuple(_row(one) for one in found.models)
        blocks.append(Table("Models that users find otherwise", columns, rows))
    if unseen:
        heads = ("class", "model", "error before", "error after", "why")
        blocks.append(Table("Models withheld before and after", heads, unseen))
    return Section("models", title, tuple(blocks), _facts(found), _notes(found))


def _summary(found: Changed, withheld: int) -> str:
    parts = []
    for kind in KINDS:
        count = sum(one.kind == kind for one in found.models)
        if count:
            parts.append(f"{count} {WORDS[kind]}")
    if found.same:
        parts.append(f"{found.same} fitted again to the same bytes")
    if withheld:
        parts.append(f"{withheld} withheld before and after")
    if not parts:
        return "No model changes."
    return (
        f"Models: {', '.join(parts)}. Errors are held out, mean absolute in watts with"
        " their 95 % interval and in per cent; all other models stay as they are."
    )


def _row(one: ModelChange) -> tuple[Cell, ...]:
    name = one.id.rpartition("_")[0]
    return (
        Code(one.class_key),
        Code(name),
        WORDS[one.kind],
        error_of(one.before),
        error_of(one.after),
        improvement(one) or "–",
    )


def _never_offered(effects: Effects, found: Changed) -> tuple[tuple[Cell, ...], ...]:
    """List models that are fitted but that nobody would get, with the reason."""
    told = {one.id for one in found.models}
    before = {one.id: one for one in effects.before.models}
    after = {one.id: one for one in effects.after.models}
    rows = []
    for name in sorted(set(before) | set(after)):
        was, now = before.get(name), after.get(name)
        entry = now or was
        if name in told or entry is None or entry.status == "published":
            continue
        rows.append(
            (
                Code(entry.class_key),
                Code(name.rpartition("_")[0]),
                error_of(was),
                error_of(now),
                _why(entry),
            )
        )
    return tuple(rows)


def _why(entry: ModelEntry) -> str:
    compared = entry.comparison
    if compared is not None and compared.generic_mae < compared.mae:
        return (
            f"off by {compared.mae:.1f} W where the generic model is off by"
            f" {compared.generic_mae:.1f} W"
        )
    return entry.why


def _facts(found: Changed) -> Mapping[str, Any]:
    def figures(entry: ModelEntry | None) -> dict[str, Any] | None:
        if entry is None:
            return None
        error = entry.error
        return {
            "status": entry.status,
            "mae": error.mae,
            "mae_low": error.mae_low,
            "mae_high": error.mae_high,
            "mape": error.mape,
        }

    return {
        "changed": [
            {
                "id": one.id,
                "class": one.class_key,
                "number": one.number,
                "kind": one.kind,
                "before": figures(one.before),
                "after": figures(one.after),
            }
            for one in found.models
        ],
        "same": found.same,
    }


def _notes(found: Changed) -> tuple[tuple[Cell, ...], ...]:
    notes: list[tuple[Cell, ...]] = []
    for one in found.models:
        before, after = one.before, one.after
        if one.kind in ("gone", "withheld"):
            text = f" of class {one.class_key} is {WORDS[one.kind]}."
            notes.append(("The model ", Code(one.id), text))
        elif (
            one.kind == "changed"
            and before is not None
            and after is not None
            and before.error.mae > 0
            and after.error.mae > (1 + _LOUD / 100) * before.error.mae
        ):
            text = f" gets worse: {error_of(before)} before, {error_of(after)} after."
            notes.append(("The model ", Code(one.id), text))
    if len(notes) > 4:
        rest = len(notes) - 4
        models = "model is" if rest == 1 else "models are"
        more = (f"{rest} more {models} gone, withheld or worse.",)
        return (*notes[:4], more)
    return tuple(notes)
