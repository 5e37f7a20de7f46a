"""All manifests of a folder together with the lock beside them, and choices of them."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from difflib import get_close_matches
from pathlib import Path
from typing import Final

from registry.documents import limits
from registry.documents.findings import (
    Finding,
    RegistryError,
    Severity,
    code,
    finding,
    shown,
)
from registry.documents.patterns import Expression
from tools.assets.locks import LOCK_NAME, Locked, read_lock
from tools.assets.manifests import Asset, AssetFile, read_manifest
from tools.assets.trims_manifests import is_trims, read_trims_manifest

__all__ = ["Choice", "Library", "lock_key", "open_library"]

A026 = code(
    "A026",
    Severity.ERROR,
    "There are no manifests where they are looked for.",
    "Give --manifests PATH, or the setting assets_manifests: a manifest or a folder.",
)
A027 = code(
    "A027",
    Severity.ERROR,
    "Two manifests are of things with one name.",
    "Give one of them another name or version.",
)
A028 = code(
    "A028",
    Severity.ERROR,
    "No manifest has a name that was asked for.",
    "`powerkit assets list --large --hidden` lists the names.",
)

MANIFESTS: Final = 5000
"""The most manifests of a folder."""
_ENDINGS: Final = frozenset((".yaml", ".yml"))
_COMMA: Final = re.compile(r",(?![^{\[(]*[}\])])")


@dataclass(frozen=True, slots=True)
class Choice:
    """Which assets are meant.

    Attributes:
        names: names or canonical names; whatever they name is meant, large or not.
        models: names or regular expressions, searched in canonical names.
        large: whether large ones are meant too.
        hidden: whether hidden ones are meant too.

    """

    names: tuple[str, ...] = ()
    models: tuple[str, ...] = ()
    large: bool = False
    hidden: bool = False

    @classmethod
    def of(
        cls, names: Sequence[str], models: Sequence[str], *, large: bool, hidden: bool
    ) -> Choice:
        """Take what a command line says; a comma outside brackets separates models.

        Raises:
            ValueError: one of the models is no regular expression.

        """
        items = [item.strip() for text in models for item in _COMMA.split(text)]
        for item in items:
            try:
                Expression(item)
            except ValueError as error:
                raise ValueError(f"{item}: {error}") from None
        return cls(tuple(names), tuple(filter(None, items)), large, hidden)


@dataclass(frozen=True, slots=True)
class Library:
    """Assets by canonical name, and the lock beside their manifests."""

    assets: tuple[Asset, ...]
    lock: Path
    locked: dict[str, Locked]

    def chosen(self, choice: Choice) -> tuple[Asset, ...]:
        """Give the assets that are meant, by canonical name.

        Raises:
            RegistryError: A028, for each name and model that matches nothing.

        """
        problems: list[Finding] = []
        found: set[str] = set()
        for name in choice.names:
            named = {one.canonical for one in self.assets if name in _names(one)}
            found |= named
            if not named:
                problems.append(self._unknown(name))
        visible = [one for one in self.assets if _visible(one, choice)]
        for model in choice.models:
            exact = {one.canonical for one in visible if model in _names(one)}
            fits = Expression(model).found_in
            matched = exact or {one.canonical for one in visible if fits(one.canonical)}
            found |= matched
            if not matched:
                problems.append(self._unknown(model))
        if problems:
            raise RegistryError(problems)
        if not choice.names and not choice.models:
            return tuple(visible)
        return tuple(one for one in self.assets if one.canonical in found)

    def _unknown(self, name: str) -> Finding:
        known = {text: one.canonical for one in self.assets for text in _names(one)}
        close = get_close_matches(name[:80], known, n=1)
        meant = f"; did you mean {close[0]}?" if close else ""
        what = f"nothing has the name {shown(name)}{meant}"
        return finding(A028, os.fspath(self.lock.parent), what)


def lock_key(asset: Asset, file: AssetFile) -> str:
    """The name of a file in a lock."""
    return f"{asset.canonical}/{file.path}"


def open_library(path: Path) -> Library:
    """Read a manifest or all manifests of a folder, ours and TRIMS's.

    Raises:
        RegistryError: A020 to A027, Y001 to Y008 and J001 to J007, all at once.

    """
    problems: list[Finding] = []
    assets: dict[str, Asset] = {}
    lock = (path if path.is_dir() else path.parent) / LOCK_NAME
    locked: dict[str, Locked] = {}
    try:
        locked = read_lock(lock)
    except RegistryError as error:
        problems.extend(error.findings)
    for file in _manifests(path):
        try:
            asset = _read(file)
        except RegistryError as error:
            problems.extend(error.findings)
            continue
        if (other := assets.get(asset.canonical)) is not None:
            what = f"{asset.canonical} is also that of {other.manifest.name}"
            problems.append(finding(A027, os.fspath(file), what))
        assets[asset.canonical] = _completed(asset, locked)
    if problems:
        raise RegistryError(problems)
    return Library(tuple(assets[name] for name in sorted(assets)), lock, locked)


def _manifests(path: Path) -> list[Path]:
    if not path.is_dir():
        if not path.is_file():
            raise RegistryError(finding(A026, os.fspath(path), "there is no such file"))
        return [path]
    found = sorted(
        file
        for file in path.iterdir()
        if file.suffix.lower() in _ENDINGS and not file.name.startswith(".")
    )
    what = None
    if not found:
        what = "no file in it ends with .yaml or .yml"
    elif len(found) > MANIFESTS:
        what = f"more than {MANIFESTS} manifests are in it"
    if what is not None:
        raise RegistryError(finding(A026, os.fspath(path), what))
    return found


def _read(path: Path) -> Asset:
    try:
        with path.open("rb") as file:
            data = file.read(limits.YAML_BYTES + 1)
    except OSError as error:
        what = error.strerror or "it cannot be read"
        raise RegistryError(finding(A026, os.fspath(path), what)) from None
    read = read_trims_manifest if is_trims(data) else read_manifest
    return read(data, path)


def _completed(asset: Asset, locked: dict[str, Locked]) -> Asset:
    """Add digests of the lock where the manifest has none."""
    files = []
    for file in asset.files:
        seen = locked.get(lock_key(asset, file))
        if file.sha256 is None and seen is not None:
            file = replace(file, sha256=seen.sha256, bytes=seen.bytes)  # noqa: PLW2901
        files.append(file)
    return replace(asset, files=tuple(files))


def _names(asset: Asset) -> tuple[str, str]:
    return asset.canonical, asset.name


def _visible(asset: Asset, choice: Choice) -> bool:
    return (choice.large or not asset.large) and (choice.hidden or not asset.hidden)
