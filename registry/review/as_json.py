"""A packet as JSON for programs, and its first lines for a terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING

from registry.documents.findings import shown
from registry.publish.escape import json_text
from registry.review.page import Listing, plain

if TYPE_CHECKING:
    from registry.review.page import Packet

__all__ = ["as_json", "glance_lines"]


def as_json(packet: Packet) -> str:
    """Write a packet as JSON of the schema review/1."""
    return json_text(
        {
            "schema": "review/1",
            "title": plain(packet.title),
            "kind": packet.kind,
            "base": packet.base,
            "head": packet.head,
            "notes": [plain(note) for one in packet.sections for note in one.notes],
            "sections": {one.id: dict(one.facts) for one in packet.sections},
        }
    )


def glance_lines(packet: Packet) -> list[str]:
    """Give the title and what matters most as lines for a terminal or a log.

    None begins with a foreign text, which a runner could take for a command.
    """
    lines = [shown(plain(packet.title), 300)]
    for block in packet.sections[0].blocks:
        if isinstance(block, Listing):
            lines += [f"  {shown(plain(point), 300)}" for point in block.points]
    return lines
