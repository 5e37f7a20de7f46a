"""What GitHub's `gh api` would send, for commands that the project tells people."""

from __future__ import annotations

import json
import re
import shlex
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pathlib import Path

    from registry.gate.github.connection import Connection

__all__ = ["gh"]


def gh(connection: Connection, command: str, root: Path, **values: str) -> Any:
    """Run `gh api -X METHOD PATH [-f|-F NAME=VALUE]… [--input FILE]`.

    Args:
        connection: as whom, and where.
        command: the command as a page shows it.
        root: the checkout in which it is run.
        values: what stands in place of a word of the command, such as ``ID``.
    """
    words = [values.get(word, word) for word in shlex.split(command)]
    if words[:3] != ["gh", "api", "-X"]:
        raise ValueError(command)
    method, path, options = words[3], words[4], words[5:]
    body: Any = {}
    for option, text in zip(options[::2], options[1::2], strict=True):
        if option == "--input":
            body = json.loads((root / text).read_text("utf-8"))
            continue
        name, _, value = text.partition("=")
        typed: Any = values.get(value, value)
        if option == "-F" and re.fullmatch(r"true|false|\d+", typed):
            typed = json.loads(typed)
        _put(body, re.findall(r"[^\[\]]+|\[\]", name), typed)
    path = path.replace("{owner}/{repo}", connection.name)
    requester = connection.api.requester
    return requester.requestJsonAndCheck(method, f"/{path}", input=body or None)[1]


def _put(body: Any, names: list[str], value: Any) -> None:
    name, *rest = names
    if not rest:
        body[name] = value
        return
    if rest[0] != "[]":
        _put(body.setdefault(name, {}), rest, value)
        return
    items = body.setdefault(name, [])
    if len(rest) == 1:
        items.append(value)
        return
    if not items or rest[1] in items[-1]:
        items.append({})
    _put(items[-1], rest[1:], value)
