"""Settings as they apply now: option, environment, file, default, in this order.

interval = setting("monitor_interval_ms", interval_option)
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, overload

from registry.documents.findings import (
    Finding,
    RegistryError,
    Severity,
    code,
    finding,
    shown,
)
from tools.settings.keys import (
    KEYS,
    Flag,
    Key,
    Number,
    OptionalPath,
    OptionalText,
    Text,
    Value,
    Whole,
    WholePath,
    read_value,
)
from tools.settings.redaction import redacted
from tools.settings.settings_file import Said, chosen_file, read_settings

__all__ = ["Setting", "all_settings", "resolved", "setting"]

Z005 = code(
    "Z005",
    Severity.ERROR,
    "A variable of the environment has a value of another type.",
    "Set it to such a value, or unset it.",
)


@dataclass(frozen=True, slots=True)
class Setting:
    """A setting as it applies, and who said so.

    Attributes:
        key: which setting.
        value: what it is; None if it is unset.
        origin: "default", "FILE:LINE", "environment NAME" or "option".

    """

    key: Key
    value: Value
    origin: str


@overload
def setting(key: WholePath, option: Path | None) -> Path: ...
@overload
def setting(key: OptionalPath, option: Path | None) -> Path | None: ...
@overload
def setting(key: Text, option: str | None) -> str: ...
@overload
def setting(key: OptionalText, option: str | None) -> str | None: ...
@overload
def setting(key: Flag, option: bool | None) -> bool: ...
@overload
def setting(key: Whole, option: int | None) -> int: ...
@overload
def setting(key: Number, option: float | None) -> float: ...
def setting(key: str, option: Any | None) -> Any:
    """Give a setting: the option, else what the environment, a file or we say.

    Args:
        key: its name; `powerkit config show` lists them.
        option: what the command line says; None if it says nothing.

    Raises:
        RegistryError: Z005, the variable has another type; Z001 to Z004 and Y001 to
            Y008, the file cannot be used, whichever setting of it is wrong.

    """
    return option if option is not None else resolved(key).value


def resolved(key: str, environment: Mapping[str, str] | None = None) -> Setting:
    """Give a setting that no option sets, and its origin.

    Args:
        key: its name.
        environment: what is used in place of the process's own.

    Raises:
        RegistryError: as `setting` does.

    """
    known = os.environ if environment is None else environment
    one = KEYS[key]
    if (text := known.get(one.variable)) is not None:
        return _of_environment(one, text)
    file = chosen_file(known)
    return _of_file(one, file, {} if file is None else read_settings(file))


def all_settings(
    environment: Mapping[str, str] | None = None,
) -> tuple[Setting, ...]:
    """Give every setting, in the order of the table.

    Args:
        environment: what is used in place of the process's own.

    Raises:
        RegistryError: as `setting` does, for all variables and the file at once.

    """
    known = os.environ if environment is None else environment
    problems: list[Finding] = []
    said: dict[str, Said] = {}
    file = chosen_file(known)
    if file is not None:
        try:
            said = read_settings(file)
        except RegistryError as error:
            problems.extend(error.findings)
    found: list[Setting] = []
    for key in KEYS.values():
        text = known.get(key.variable)
        try:
            if text is None:
                found.append(_of_file(key, file, said))
            else:
                found.append(_of_environment(key, text))
        except RegistryError as error:
            problems.extend(error.findings)
    if problems:
        raise RegistryError(problems)
    return tuple(found)


def _of_environment(key: Key, text: str) -> Setting:
    origin = f"environment {key.variable}"
    try:
        # An empty variable is how a shell takes back what a file says.
        value = None if not text and key.default is None else read_value(key, text)
    except ValueError as error:
        what = f'{error}, but it is "{shown(redacted(text))}"'
        raise RegistryError(finding(Z005, key.variable, what)) from None
    return Setting(key, value, origin)


def _of_file(key: Key, file: Path | None, said: Mapping[str, Said]) -> Setting:
    if (one := said.get(key.name)) is not None:
        return Setting(key, one.value, f"{file}:{one.line}")
    if not isinstance(key.default, str):
        return Setting(key, key.default, "default")
    return Setting(key, read_value(key, key.default), "default")
