"""The settings that the repository on GitHub needs: ``settings.yaml``, ``api.yaml``."""

from __future__ import annotations

import functools
from dataclasses import dataclass
from importlib import resources
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final

from registry.documents.strict_yaml import read_yaml
from registry.upkeep.answers import Want, want

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["Reading", "Setting", "Way", "Wishes", "wishes"]

_SETTINGS: Final = "settings.yaml"
_API: Final = "api.yaml"
_TRUE: Final = "true"


@dataclass(frozen=True, slots=True)
class Reading:
    """One thing to read from GitHub.

    Attributes:
        id: Its name in ``api.yaml``.
        path: The API path; ``{name}`` stands for ``OWNER/NAME``.
        needs: The permission that a fine-grained token needs for it.
        anyone: Whether all who see the repository may read it, so that "not found"
            means that it does not exist.
        hides: Whether GitHub leaves out fields that the token may not read.
        flag: Whether the status of the answer says it all: found is on.
    """

    id: str
    path: str
    needs: str
    anyone: bool
    hides: bool
    flag: bool


@dataclass(frozen=True, slots=True)
class Way:
    """How to set something.

    Attributes:
        page: The way through GitHub's pages.
        command: A command of GitHub's ``gh``, for a checkout of the repository.
    """

    page: str
    command: str


@dataclass(frozen=True, slots=True)
class Setting:
    """One wanted setting.

    Attributes:
        id: Its name, which never changes its meaning.
        area: The heading that it stands under.
        reading: Where its value is read.
        wants: Conditions, of which one must hold.
        why: What it protects.
        way: How to set it.
    """

    id: str
    area: str
    reading: Reading
    wants: tuple[Want, ...]
    why: str
    way: Way


@dataclass(frozen=True, slots=True)
class Wishes:
    """Everything in both files."""

    readings: Mapping[str, Reading]
    ways: Mapping[str, Way]
    settings: tuple[Setting, ...]


@functools.cache
def wishes() -> Wishes:
    """Read the package's own files; a mistake in them is a KeyError or ValueError."""
    api = _document(_API)
    readings = {name: _reading(name, item) for name, item in api["readings"].items()}
    ways = {name: Way(**item) for name, item in api["ways"].items()}
    settings = tuple(
        Setting(
            id=name,
            area=area,
            reading=readings[item["reading"]],
            wants=tuple(map(want, item["want"])),
            why=item["why"],
            way=ways[item["way"]],
        )
        for area, items in _document(_SETTINGS).items()
        for name, item in items.items()
    )
    return Wishes(MappingProxyType(readings), MappingProxyType(ways), settings)


def _document(name: str) -> dict[str, Any]:
    data = resources.files("registry.upkeep").joinpath(name).read_bytes()
    return read_yaml(data, name, comments=True).value


def _reading(name: str, item: Mapping[str, str]) -> Reading:
    return Reading(
        id=name,
        path=item["path"],
        needs=item["needs"],
        anyone=item.get("anyone") == _TRUE,
        hides=item.get("hides") == _TRUE,
        flag=item.get("flag") == _TRUE,
    )
