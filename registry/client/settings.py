"""Kepler's own words: the lines of MODEL_CONFIG that make it use a model, or none."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from registry.documents.findings import RegistryError, Severity, code, finding, shown
from registry.publish.kepler.vocabulary import (
    BAKED_IN,
    BAKED_IN_FOLDER,
    CONFIG_PREFIX,
)

if TYPE_CHECKING:
    from pathlib import Path

    from registry.modelling.model import ModelId

__all__ = ["Settings", "baked_in_name", "checked_url", "for_file", "for_url"]

BAD_URL = code(
    "R053",
    Severity.ERROR,
    "Kepler would drop or cut a setting with this URL, without a word.",
    "Serve the release under an address of plain letters, digits and `/.:_~%+-`, or "
    "use `--out DIR` and mount the file.",
)

_KEEPS: Final = (
    "The estimator keeps a model that it once downloaded: empty its download folder "
    "to change models."
)
_SAME_PATH: Final = "Mount the file at this very path where the estimator runs."
_UNCHECKED: Final = (
    "Kepler checks neither the status nor a digest of what it downloads; with "
    "`--out DIR` it reads the verified file instead."
)
_PLAIN: Final = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://[A-Za-z0-9/.:_~%+@,-]+")


@dataclass(frozen=True, slots=True)
class Settings:
    """What to configure.

    Attributes:
        lines: Lines of MODEL_CONFIG, each ``KEY=VALUE``.
        steps: What else to do, in sentences.
    """

    lines: tuple[str, ...]
    steps: tuple[str, ...] = ()


def checked_url(url: str) -> str:
    """Return a URL that every Kepler reads as it stands.

    Kepler Go splits MODEL_CONFIG at blanks, drops an item with two equal signs and
    decides by the last path segment; the estimator cuts at ``#`` and a second ``=``.

    Raises:
        RegistryError: R053.

    """
    if _PLAIN.fullmatch(url) is None:
        raise RegistryError(finding(BAD_URL, "--from", f"the URL is {shown(url, 200)}"))
    return url


def for_url(
    model: ModelId, url: str, *, estimator: bool, latest: str | None = None
) -> Settings:
    """Give the settings that make Kepler load a model from a URL at start.

    Args:
        model: The model.
        url: Address of its weight file, or of its zip for the estimator.
        estimator: Whether the Python estimator evaluates it.
        latest: Address of the same file in whatever release is the newest.

    Raises:
        RegistryError: R053.

    """
    prefix = CONFIG_PREFIX[model.source, model.output]
    use = "ESTIMATOR" if estimator else "LOCAL_REGRESSOR"
    lines = (f"{prefix}_{use}=true", f"{_url_key(model)}={checked_url(url)}")
    steps = [_KEEPS if estimator else _UNCHECKED]
    if estimator and url.startswith("file:"):
        steps.insert(0, _SAME_PATH)
    elif latest is not None:
        steps.append(
            f"This address stays with one release; {checked_url(latest)} is the same"
            " file of the newest one, if there still is one."
        )
    return Settings(lines, tuple(steps))


def for_file(model: ModelId, file: Path) -> Settings:
    """Give the settings that make Kepler Go read a weight file from its own folder.

    Args:
        model: The model.
        file: The verified file, under the name that Kepler reads.

    """
    name = baked_in_name(model)
    prefix = CONFIG_PREFIX[model.source, model.output]
    mount = (
        f"Mount {file} as {BAKED_IN_FOLDER}{name} (one file, not the folder: Kepler"
        " finds its other models there)."
    )
    unset = f"Set no {_url_key(model)}: Kepler reads the file only without one."
    return Settings((f"{prefix}_LOCAL_REGRESSOR=true",), (mount, unset))


def baked_in_name(model: ModelId) -> str:
    """Name the file that Kepler Go reads for such a model if no URL is set."""
    return BAKED_IN[model.source, model.output]


def _url_key(model: ModelId) -> str:
    return f"{CONFIG_PREFIX[model.source, model.output]}_INIT_URL"
