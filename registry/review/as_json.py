"""A packet as JSON for programs, and its first lines for a terminal."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from registry.documents.findings import shown
from registry.publish.escape import json_text
from registry.review.page import Listing, plain

if TYPE_CHECKING:
    from registry.review.page import Packet

__all__ = ["as_json", "glance_lines"]


def as_json(packet: Packet) -> str:
    """Write a packet as JSON of the schema review/1."""
    value = {
        "schema": "review/1",
        "title": plain(packet.title),
        "kind": packet.kind,
        "base": packet.base,
        "head": packet.head,
        "notes": [plain(note) for one in packet.sections for note in one.notes],
        "sections": {one.id: dict(one.facts) for one in packet.sections},
    }
    return json_text(_sound(value))


def _sound(value: Any) -> Any:
    """Give what any reader of JSON takes: finite numbers, and texts that are Unicode.

    A name of a file may hold bytes that are no text; it appears escaped.
    """
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, str):
        odd = any("\ud800" <= char <= "\udfff" for char in value)
        return shown(value, 1_000) if odd else value
    if isinstance(value, Mapping):
        return {_sound(key): _sound(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_sound(item) for item in value]
    return value


def glance_lines(packet: Packet) -> list[str]:
    """Give the title and what matters most as lines for a terminal or a log.

    None begins with a foreign text, which a runner could take for a command.
    """
    lines = [shown(plain(packet.title), 300)]
    for block in packet.sections[0].blocks:
        if isinstance(block, Listing):
            lines += [f"  {shown(plain(point), 300)}" for point in block.points]
    return lines
