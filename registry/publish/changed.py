"""What differs between two releases: models, their errors, classes, bundles, code."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Literal

from registry.documents.classkey import GENERIC

if TYPE_CHECKING:
    from collections.abc import Mapping

    from registry.publish.index import (
        BundleEntry,
        ClassEntry,
        Index,
        ModelEntry,
        Withdrawal,
    )

    Kind = Literal["new", "published", "changed", "withheld", "gone"]

__all__ = ["KINDS", "Changed", "ModelChange", "changed"]

KINDS: Final = ("new", "published", "changed", "withheld", "gone")
"""What may become of a model, in the order in which people want to know it."""


@dataclass(frozen=True, slots=True)
class ModelChange:
    """A model that users find otherwise than before.

    Attributes:
        id: Its id.
        class_key: Its class.
        number: Kepler's node type of the class.
        kind: ``new``; ``published``, it was withheld before; ``changed``, its files
            have other bytes; ``withheld``, it was published before; ``gone``.
        before: Its entry in the earlier release, published or withheld, or None.
        after: Its entry in the later one.
    """

    id: str
    class_key: str
    number: int
    kind: Kind
    before: ModelEntry | None
    after: ModelEntry | None


@dataclass(frozen=True, slots=True)
class Changed:
    """All that differs; everything is sorted.

    Attributes:
        models: Models that are offered otherwise, the generic class first.
        same: How many published models are the same, byte by byte.
        new_classes: Classes that were not there.
        gone_classes: Classes that are no more.
        added: Bundles that were not there.
        updated: Bundles with another version or spec: before and after.
        gone: Bundles that are no longer used, withdrawn or not.
        withdrawn: Withdrawals that are new.
        causes: What else changed that decides the bytes of models: words for people.
    """

    models: tuple[ModelChange, ...]
    same: int
    new_classes: tuple[ClassEntry, ...]
    gone_classes: tuple[ClassEntry, ...]
    added: tuple[BundleEntry, ...]
    updated: tuple[tuple[BundleEntry, BundleEntry], ...]
    gone: tuple[BundleEntry, ...]
    withdrawn: tuple[Withdrawal, ...]
    causes: tuple[str, ...]

    def classes(self) -> dict[tuple[str, int], list[ModelChange]]:
        """Group the models by class key and number, the generic class first."""
        found: dict[tuple[str, int], list[ModelChange]] = {}
        for one in self.models:
            found.setdefault((one.class_key, one.number), []).append(one)
        return found


def changed(previous: Index | None, index: Index) -> Changed:
    """Compare a release with the one before.

    Args:
        previous: The index of the earlier release; None if there was none.
        index: The index of the later one.
    """
    models, same = _models(previous, index)
    earlier = {} if previous is None else {b.dataset: b for b in previous.bundles}
    bundles = {b.dataset: b for b in index.bundles}
    known = () if previous is None else previous.classes
    told = () if previous is None else previous.withdrawn
    keys, known_keys = {c.key for c in index.classes}, {c.key for c in known}
    return Changed(
        models=models,
        same=same,
        new_classes=tuple(c for c in index.classes if c.key not in known_keys),
        gone_classes=tuple(c for c in known if c.key not in keys),
        added=tuple(bundles[name] for name in sorted(set(bundles) - set(earlier))),
        updated=tuple(
            (earlier[name], bundles[name])
            for name in sorted(set(bundles) & set(earlier))
            if _identity(earlier[name]) != _identity(bundles[name])
        ),
        gone=tuple(earlier[name] for name in sorted(set(earlier) - set(bundles))),
        withdrawn=tuple(w for w in index.withdrawn if w not in told),
        causes=() if previous is None else tuple(_causes(previous, index)),
    )


def _models(
    previous: Index | None, index: Index
) -> tuple[tuple[ModelChange, ...], int]:
    before = {} if previous is None else {model.id: model for model in previous.models}
    after = {model.id: model for model in index.models}
    old = {} if previous is None else _digests(previous)
    new = _digests(index)
    numbers = {} if previous is None else {c.key: c.number for c in previous.classes}
    numbers |= {c.key: c.number for c in index.classes}
    found, same = [], 0
    for name in set(before) | set(after):
        was, now = before.get(name), after.get(name)
        entry = now or was
        kind = _kind(was, now, old, new)
        if kind is not None and entry is not None:
            key = entry.class_key
            found.append(ModelChange(name, key, numbers[key], kind, was, now))
        elif now is not None and now.status == "published":
            same += 1
    found.sort(key=lambda one: (one.class_key != GENERIC, one.class_key, one.id))
    return tuple(found), same


def _kind(
    was: ModelEntry | None,
    now: ModelEntry | None,
    old: Mapping[str, str],
    new: Mapping[str, str],
) -> Kind | None:
    """Say what became of a model; None if users find it as it was."""
    offered = was is not None and was.status == "published"
    if now is None or now.status != "published":
        if not offered:
            return None
        return "gone" if now is None else "withheld"
    if was is None or not offered:
        return "new" if was is None else "published"
    same = {path: old.get(path) for path in was.files} == {
        path: new.get(path) for path in now.files
    }
    return None if same else "changed"


def _digests(index: Index) -> dict[str, str]:
    return {asset.path: asset.sha256 for asset in index.assets}


def _identity(bundle: BundleEntry) -> tuple[int, str, str, str]:
    return (
        bundle.version,
        bundle.manifest_sha256,
        bundle.spec_sha256,
        bundle.class_key,
    )


def _causes(previous: Index, index: Index) -> list[str]:
    found = []
    if previous.code.get("fits") != index.code.get("fits"):
        found.append("the code that fits models")
    if previous.code.get("artifacts") != index.code.get("artifacts"):
        found.append("the code that writes model files")
    if previous.class_rule != index.class_rule:
        found.append(
            f"the rule of classes: {previous.class_rule} before, {index.class_rule} now"
        )
    for name in sorted(set(previous.libraries) | set(index.libraries)):
        was = previous.libraries.get(name, "absent")
        now = index.libraries.get(name, "absent")
        if was != now:
            found.append(f"the library {name}: {was} before, {now} now")
    return found
