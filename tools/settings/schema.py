"""The JSON Schema of a file of settings, for editors and other programs."""

from __future__ import annotations

from typing import Any, Final

from tools.settings.keys import KEYS, Key, Kind
from tools.settings.settings_file import SCHEMA

__all__ = ["settings_schema"]

_TYPES: Final[dict[Kind, dict[str, Any]]] = {
    Kind.PATH: {"type": "string", "minLength": 1, "maxLength": 4096},
    Kind.URL: {"type": "string", "minLength": 1, "maxLength": 4096},
    Kind.TEXT: {"type": "string", "maxLength": 4096},
    Kind.COMMAND: {"type": "string", "maxLength": 4096},
    Kind.FLAG: {"type": "boolean"},
    Kind.WHOLE: {"type": "integer", "minimum": 1, "maximum": 999_999_999},
    Kind.NUMBER: {"type": "number", "exclusiveMinimum": 0, "maximum": 1e9},
}


def settings_schema() -> dict[str, Any]:
    """Return the JSON Schema (draft 2020-12) of a file of settings."""
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Settings of powerkit",
        "type": "object",
        "additionalProperties": False,
        "required": ["schema"],
        "properties": {"schema": {"const": SCHEMA}}
        | {key.name: _property(key) for key in KEYS.values()},
    }


def _property(key: Key) -> dict[str, Any]:
    about = f"{key.about} In the environment: {key.variable}."
    known = _TYPES[key.kind] | {"description": about}
    return known if key.default is None else known | {"default": key.default}
