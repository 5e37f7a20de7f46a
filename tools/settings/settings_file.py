"""Files of settings: where they are, and what one says.

schema: powerkit-settings/1
monitor_interval_ms: 20
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
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
from tools.settings.keys import KEYS, Key, Value, read_value

__all__ = [
    "SCHEMA",
    "Place",
    "Said",
    "State",
    "chosen_file",
    "places",
    "read_settings",
]

SCHEMA: Final = "powerkit-settings/1"
"""What the key `schema` of such a file says."""

Z001 = code(
    "Z001",
    Severity.ERROR,
    "The file of settings that was named cannot be read.",
    "Name another with --config FILE or POWERKIT_CONFIG, or make it readable.",
)
Z002 = code(
    "Z002",
    Severity.ERROR,
    "A file of settings has a key that is no setting.",
    "Remove it; `powerkit config schema` lists the settings.",
)
Z003 = code(
    "Z003",
    Severity.ERROR,
    "A setting has a value of another type.",
    "Mend the value; `powerkit config schema` says what each setting takes.",
)
Z004 = code(
    "Z004",
    Severity.ERROR,
    "A file of settings does not say that it is one.",
    f"Begin it with `schema: {SCHEMA}`.",
)


class State(StrEnum):
    """What became of a place where settings may be."""

    USED = "used"
    ABSENT = "absent"
    PASSED_OVER = "passed over"


@dataclass(frozen=True, slots=True)
class Place:
    """A place where a file of settings may be.

    Attributes:
        why: what makes it a place, for example "the working folder".
        path: the file, or None where the environment names none.
        state: whether it is the one that is used.

    """

    why: str
    path: Path | None
    state: State


@dataclass(frozen=True, slots=True)
class Said:
    """What a file says of a setting, and on which line."""

    value: Value
    line: int | None


def places(environment: Mapping[str, str]) -> tuple[Place, ...]:
    """List where settings are looked for; the first file that is there is used alone.

    A file that POWERKIT_CONFIG names is used even if it is not there: reading it then
    says so.
    """
    named = environment.get("POWERKIT_CONFIG")
    candidates = (
        ("--config or POWERKIT_CONFIG", _named(named) if named else None),
        ("the working folder", Path("powerkit.yaml")),
        ("the user's settings", _home(environment) / "powerkit" / "config.yaml"),
    )
    found: list[Place] = []
    used = False
    for why, path in candidates:
        there = path is not None and (
            bool(named and not found) or os.path.lexists(path)
        )
        state = State.ABSENT
        if there:
            state = State.PASSED_OVER if used else State.USED
        used = used or there
        found.append(Place(why, path, state))
    return tuple(found)


def chosen_file(environment: Mapping[str, str]) -> Path | None:
    """Give the file of settings that is used, or None if there is none."""
    for place in places(environment):
        if place.state is State.USED:
            return place.path
    return None


def read_settings(path: Path) -> dict[str, Said]:
    """Read a file of settings; an empty file says nothing.

    Raises:
        RegistryError: Z001 to Z004 and those of the strict YAML reader, all at once.

    """
    from registry.documents.strict_yaml import read_yaml  # noqa: PLC0415  most need none

    data = _bytes(path)
    if not data:
        return {}
    document = read_yaml(data, os.fspath(path), comments=True)
    problems: list[Finding] = []
    said: dict[str, Said] = {}
    found = dict(document.value)
    if (schema := found.pop("schema", None)) != SCHEMA:
        what = f'schema: it must be "{SCHEMA}", but it is {_quoted(schema)}'
        line = document.lines.get(("schema",))
        problems.append(finding(Z004, os.fspath(path), what, line=line))
    for name, value in found.items():
        line = document.lines.get((name,))
        key = KEYS.get(name)
        if key is None:
            what = f"{shown(name)}: no such setting{_meant(name)}"
            problems.append(finding(Z002, os.fspath(path), what, line=line))
            continue
        try:
            said[name] = Said(_typed(key, value, path), line)
        except ValueError as error:
            what = f"{name}: {error}, but it is {_quoted(value)}"
            problems.append(finding(Z003, os.fspath(path), what, line=line))
    if problems:
        raise RegistryError(_bounded(problems, path))
    return said


def _named(text: str) -> Path:
    try:
        return Path(text).expanduser()
    except RuntimeError:  # nobody's home: reading it says that it is not there
        return Path(text)


def _home(environment: Mapping[str, str]) -> Path:
    """The folder of users' settings, as the XDG base directory specification has it."""
    said = environment.get("XDG_CONFIG_HOME", "")
    return Path(said) if said.startswith("/") else _named("~/.config")


def _bytes(path: Path) -> bytes:
    if "\0" in os.fspath(path):
        raise RegistryError(finding(Z001, os.fspath(path), "it is no name of a file"))
    try:
        with path.open("rb") as file:
            return file.read(limits.YAML_BYTES + 1)
    except OSError as error:
        what = error.strerror or "it cannot be read"
        raise RegistryError(finding(Z001, os.fspath(path), what)) from None


def _typed(key: Key, value: object, path: Path) -> Value:
    if not isinstance(value, str):
        raise ValueError(f"it must be {key.kind.value}")  # noqa: TRY004  one error
    return read_value(key, value, path.parent)


def _quoted(value: object) -> str:
    match value:
        case None:
            return "missing"
        case str():
            return f'"{shown(value)}"'
        case list():
            return "a list"
    return "a block of keys"


def _meant(name: str) -> str:
    """Name the setting that a misspelt one comes close to."""
    from difflib import get_close_matches  # noqa: PLC0415  only a mistake needs it

    close = get_close_matches(name[:80], KEYS, n=1)
    return f"; did you mean {close[0]}?" if close else ""


def _bounded(problems: list[Finding], path: Path) -> list[Finding]:
    most = limits.SHOWN_PER_DOCUMENT
    if len(problems) <= most:
        return problems
    what = f"{len(problems) - most} more problems are not shown"
    return [*problems[:most], finding(Z003, os.fspath(path), what)]
