"""Settings of TRIMS Tools, read from the `micro18:` section of its file, as ours.

Its keys are those of `pkg/config/config.go` of rai-project/trims-tools.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Final
from urllib.parse import urlsplit

from registry.documents import limits
from registry.documents.findings import (
    Finding,
    RegistryError,
    Severity,
    code,
    finding,
    shown,
)
from tools.settings.keys import KEYS, Value, read_value
from tools.settings.lenient_yaml import read_lenient_yaml

__all__ = ["BASE_VARIABLE", "Imported", "import_settings"]

BASE_VARIABLE: Final = "UPR_BASE_DIR"
"""What TRIMS reads `base_path` from where its file has none."""

Z006 = code(
    "Z006",
    Severity.ERROR,
    "A file is no configuration of TRIMS Tools.",
    "Give the YAML file that has the section `micro18:`.",
)
Z007 = code(
    "Z007",
    Severity.ERROR,
    "A key of TRIMS's configuration has a value that is of no use to us.",
    "Mend the value, or remove it from a copy of the file.",
)

_SECTION: Final = "micro18"
_OURS: Final = {theirs: key for key in KEYS.values() for theirs in key.trims}
_NO_MEANING: Final = {
    "server_path": "it follows from src_path and server_relative_path",
    "client_path": "it follows from src_path and client_relative_path",
    "serverinfopath": "TRIMS prints it, and reads server_info_path",
    "uprenabled": "whether the server is used is an option of `powerkit bench`",
}
_BELOW_SOURCE: Final = ("client_relative_path", "server_relative_path")


@dataclass(frozen=True, slots=True)
class Imported:
    """Settings that a file of TRIMS says.

    Attributes:
        settings: ours by name, in the order of our table.
        without_meaning: keys of the file that mean nothing to us, and why.

    """

    settings: dict[str, Value]
    without_meaning: dict[str, str]


def import_settings(path: Path, environment: Mapping[str, str]) -> Imported:
    """Read a file of TRIMS Tools.

    Args:
        path: the file.
        environment: where UPR_BASE_DIR may be.

    Raises:
        RegistryError: Z006, Z007, with lines, all at once; OSError is left as it is.

    """
    with path.open("rb") as file:
        data = file.read(limits.YAML_BYTES + 1)
    where = os.fspath(path)
    document = read_lenient_yaml(data, where, Z006)
    section, ignored = _section(document.value)
    if section is None:
        raise RegistryError(finding(Z006, where, f"it has no section {_SECTION}:"))
    problems: list[Finding] = []
    found: dict[str, Value] = {}
    for theirs, text in section.items():
        if theirs not in _OURS:
            ignored[f"{_SECTION}.{theirs}"] = _NO_MEANING.get(
                theirs.lower(), "TRIMS does not read it either"
            )
            continue
        key = _OURS[theirs]
        try:
            if not isinstance(text, str):
                raise ValueError(f"it must be {key.kind.value}")  # noqa: TRY301, TRY004
            if text:  # an empty one is the default of TRIMS, which is of its machine
                found[key.name] = read_value(key, _translated(theirs, text, section))
        except ValueError as error:
            place = document.line(_SECTION, theirs)
            problems.append(
                finding(Z007, where, f"{shown(theirs)}: {error}", line=place)
            )
    if problems:
        raise RegistryError(problems)
    base = environment.get(BASE_VARIABLE)
    if base and "assets_directory" not in found:
        found["assets_directory"] = Path(base)
    ordered = {name: found[name] for name in KEYS if name in found}
    return Imported(ordered, ignored)


def _section(
    value: Mapping[str, object],
) -> tuple[dict[str, object] | None, dict[str, str]]:
    """Find TRIMS's keys: nested, or flat as `info config` prints them."""
    section: dict[str, object] = {}
    ignored: dict[str, str] = {}
    there = False
    for name, below in value.items():
        if name == _SECTION and isinstance(below, dict):
            section |= below
            there = True
        elif name.startswith(f"{_SECTION}."):
            section[name.partition(".")[2]] = below
            there = True
        else:
            ignored[name] = _NO_MEANING.get(
                name.lower(), "it is of another program's section"
            )
    return (section if there else None), ignored


def _translated(theirs: str, text: str, section: Mapping[str, object]) -> str:
    """A value in our words."""
    if theirs in _BELOW_SOURCE:
        source = section.get("src_path")
        return str(PurePosixPath(source, text)) if isinstance(source, str) else text
    change = _CHANGES.get(theirs)
    return text if change is None else change(text)


def _bucket(url: str) -> str:
    """`http://s3.amazonaws.com/BUCKET` as `s3://BUCKET`."""
    parts = urlsplit(url)
    if parts.scheme in {"http", "https"} and parts.hostname == "s3.amazonaws.com":
        return f"s3://{parts.path.strip('/')}"
    return url


_CHANGES: Final[dict[str, Callable[[str], str]]] = {"base_bucket_url": _bucket}
