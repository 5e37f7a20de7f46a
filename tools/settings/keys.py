"""Every setting of the kit: its name, its type, what it is for and what it is unset."""

from __future__ import annotations

import json
import math
import os
import re
import shlex
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Final, Literal, TypeAlias

__all__ = [
    "KEYS",
    "Flag",
    "Key",
    "Kind",
    "Number",
    "OptionalPath",
    "OptionalText",
    "Text",
    "Value",
    "Whole",
    "WholePath",
    "read_value",
    "written",
]

Value: TypeAlias = "str | bool | int | float | Path | None"
"""What a setting can be; None is a setting that is unset."""

WholePath: TypeAlias = Literal[
    "profile_output_directory",
    "source_directory",
    "client_directory",
    "server_directory",
    "service_state_file",
    "assets_directory",
]
OptionalPath: TypeAlias = Literal["assets_manifests"]
Text: TypeAlias = Literal[
    "experiment_description",
    "visible_devices",
    "client_build_command",
    "client_run_command",
    "server_build_command",
    "server_run_command",
    "publish_prefix",
]
OptionalText: TypeAlias = Literal["profile_output", "publish_url"]
Flag: TypeAlias = Literal["profile_output_overwrite"]
Whole: TypeAlias = Literal["monitor_interval_ms", "polling_interval_ms"]
Number: TypeAlias = Literal["run_timeout_seconds", "build_timeout_seconds"]


class Kind(StrEnum):
    """The type of a setting; the value says what must stand there."""

    PATH = "a path"
    TEXT = "a text"
    URL = "a URL or a path"
    COMMAND = "a command, quoted as for a shell"
    FLAG = "true or false"
    WHOLE = "a whole number of milliseconds, at least 1"
    NUMBER = "a number of seconds above 0"


@dataclass(frozen=True, slots=True)
class Key:
    """A setting that may stand in a file or in the environment.

    Attributes:
        name: its key in a file.
        kind: its type.
        default: what it is where nobody says anything; `~` is not expanded yet.
        about: a line for people.
        trims: the keys of TRIMS's `micro18:` section that say the same.

    """

    name: str
    kind: Kind
    default: str | bool | float | None
    about: str
    trims: tuple[str, ...] = ()

    @property
    def variable(self) -> str:
        """Its name in the environment."""
        return f"POWERKIT_{self.name.upper()}"


_ALL: Final = (
    Key(
        "profile_output_directory",
        Kind.PATH,
        "~/powerkit_profiles",
        "Where experiments keep their runs.",
        ("profile_output_directory",),
    ),
    Key(
        "profile_output",
        Kind.TEXT,
        None,
        "The experiment's folder in it; unset, it is named by the hour.",
    ),
    Key(
        "profile_output_overwrite",
        Kind.FLAG,
        default=False,
        about="Whether a named folder is emptied first.",
    ),
    Key(
        "experiment_description",
        Kind.TEXT,
        "",
        "A text that goes into every run and trace.",
    ),
    Key(
        "visible_devices",
        Kind.TEXT,
        "all",
        "The GPUs that are used and watched, as CUDA_VISIBLE_DEVICES has them.",
        ("visible_devices",),
    ),
    Key(
        "monitor_interval_ms", Kind.WHOLE, 50, "Milliseconds between samples of power."
    ),
    Key(
        "run_timeout_seconds",
        Kind.NUMBER,
        60.0,
        "Seconds after which a run is ended.",
    ),
    Key(
        "build_timeout_seconds",
        Kind.NUMBER,
        600.0,
        "Seconds after which a build is ended.",
        ("build_timeout",),
    ),
    Key(
        "polling_interval_ms",
        Kind.WHOLE,
        250,
        "Milliseconds between looks at a service that starts.",
        ("polling_interval",),
    ),
    Key(
        "source_directory",
        Kind.PATH,
        ".",
        "The sources that are built and watched.",
        ("src_path",),
    ),
    Key(
        "client_directory",
        Kind.PATH,
        ".",
        "Where the client is built and run.",
        ("client_relative_path",),
    ),
    Key(
        "client_build_command",
        Kind.COMMAND,
        "",
        "What builds the client.",
        ("client_build_cmd",),
    ),
    Key(
        "client_run_command",
        Kind.COMMAND,
        "",
        "What runs the client.",
        ("client_run_cmd",),
    ),
    Key(
        "server_directory",
        Kind.PATH,
        ".",
        "Where the server under test is built and run.",
        ("server_relative_path",),
    ),
    Key(
        "server_build_command",
        Kind.COMMAND,
        "make",
        "What builds the server.",
        ("server_build_cmd",),
    ),
    Key(
        "server_run_command",
        Kind.COMMAND,
        "",
        "What runs the server.",
        ("server_run_cmd",),
    ),
    Key(
        "service_state_file",
        Kind.PATH,
        "~/.local/state/powerkit/service.json",
        "What is known of the service that runs.",
        ("server_info_path",),
    ),
    Key(
        "assets_directory",
        Kind.PATH,
        "~/.cache/powerkit/assets",
        "Where fetched models and data are kept.",
        ("base_path",),
    ),
    Key(
        "assets_manifests",
        Kind.PATH,
        None,
        "The manifest, or the folder of manifests, of models and data.",
    ),
    Key(
        "publish_url",
        Kind.URL,
        None,
        "Where results are published.",
        ("base_bucket_url",),
    ),
    Key(
        "publish_prefix",
        Kind.TEXT,
        "",
        "The folder below publish_url.",
        ("upload_bucket_name",),
    ),
)
KEYS: Final = {key.name: key for key in _ALL}
"""The settings by their names, in the order in which they are shown."""

_CHARACTERS: Final = 4096
_WHOLE: Final = re.compile(r"[0-9]{1,9}")
_NUMBER: Final = re.compile(r"[0-9]{1,9}(?:\.[0-9]{0,9})?")
_FLAGS: Final = {"true": True, "false": False}


def read_value(key: Key, text: str, folder: Path | None = None) -> Value:
    """Type the text of a setting.

    Args:
        key: whose text it is.
        text: what stands in a file or in the environment.
        folder: what a relative path is relative to; the working folder if None.

    Raises:
        ValueError: it is nothing of that type; the message is for people.

    """
    if len(text) > _CHARACTERS or "\0" in text or not _encodable(text):
        raise ValueError(f"it must be {key.kind.value} of at most 4096 characters")
    match key.kind:
        case Kind.TEXT | Kind.COMMAND:
            return _text(key.kind, text)
        case Kind.URL:
            return _placed_url(text, folder)
        case Kind.PATH:
            return _path(text, folder)
        case Kind.FLAG if text.lower() in _FLAGS:
            return _FLAGS[text.lower()]
        case Kind.WHOLE | Kind.NUMBER if (number := _number(key.kind, text)) > 0:
            return number
    raise ValueError(f"it must be {key.kind.value}")


def written(value: Value) -> str | None:
    """Give the text of a setting as a file has it, or None for one that is unset."""
    match value:
        case None:
            return None
        case bool():
            return "true" if value else "false"
        case int():
            return str(value)
        case float():
            return str(int(value)) if value == math.floor(value) else repr(value)
        case _:
            text = json.dumps(os.fspath(value), ensure_ascii=False)
            return "".join(map(_printable, text))


def _printable(character: str) -> str:
    """A character as it is, or escaped: YAML folds or refuses some that JSON has."""
    if character.isprintable():
        return character
    number = ord(character)
    return f"\\u{number:04x}" if number < 1 << 16 else f"\\U{number:08x}"


def _encodable(text: str) -> bool:
    """Whether a text can be the name of a file and be printed."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def _text(kind: Kind, text: str) -> str:
    """A text as it is; one of a command must be one that can be split."""
    if kind is Kind.COMMAND:
        try:
            shlex.split(text)
        except ValueError as error:
            raise ValueError(f"it must be {kind.value}: {error}") from None
    return text


def _number(kind: Kind, text: str) -> float:
    """The number of a text, or 0 if it is none of that kind."""
    if kind is Kind.WHOLE:
        return int(text) if _WHOLE.fullmatch(text) else 0
    return float(text) if _NUMBER.fullmatch(text) else 0


def _path(text: str, folder: Path | None) -> Path:
    if not text:
        raise ValueError("it must be a path")
    try:
        path = Path(text).expanduser()
    except RuntimeError:
        raise ValueError("it must be a path, in a home that there is") from None
    return path if folder is None else folder / path


def _placed_url(text: str, folder: Path | None) -> str:
    """A URL as it is; a path, which must not depend on who reads it, made whole."""
    if not text:
        raise ValueError("it must be a URL or a path")
    return text if "://" in text else os.fspath(_path(text, folder))
