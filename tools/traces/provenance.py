"""What a combined trace tells of the files that it is made of."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final, Literal

from registry.documents.findings import shown
from tools.traces.combination import Combination, Part
from tools.traces.surveying import Survey

__all__ = ["about_run", "display_time_unit", "provenance"]

_RUN: Final = ("model_name", "hostname", "upr_enabled", "iteration")


def display_time_unit(parts: Sequence[Part]) -> Literal["ns", "ms"]:
    """The unit that viewers show: that of all files if they agree, else ns."""
    units = {part.found.metadata.get("displayTimeUnit", "ms") for part in parts}
    return "ms" if units == {"ms"} else "ns"


def about_run(metadata: Mapping[str, Any]) -> list[str]:
    """What TRIMS says of a process: its model, host and iteration, if a file tells."""
    told: dict[str, Any] = {}
    for place in (metadata, metadata.get("otherData")):
        if isinstance(place, dict):
            told |= {key: place[key] for key in _RUN if key in place}
    return [
        f"{key}={shown(told[key])}"
        for key in _RUN
        if isinstance(told.get(key), (str, int, float))
    ]


def provenance(
    parts: Sequence[Part], surveys: Sequence[Survey], how: Combination
) -> dict[str, Any]:
    """The other keys of the result: what it is made of, and all that they told."""
    sources = []
    frames: dict[str, Any] = {}
    for number, (part, seen) in enumerate(zip(parts, surveys, strict=True)):
        others = dict(part.found.metadata)
        stack = others.get("stackFrames")
        if isinstance(stack, dict):
            del others["stackFrames"]
            frames |= _frames(stack, f"{number}/")
        source = {
            "label": part.label,
            "file": part.path.name,
            "offset_ns": part.offset_ns,
            "taken_out_ns": part.taken_out_ns,
            "events": part.found.events,
            "written": part.written,
            "bad_events": part.found.bad_events,
            "metadata": others,
        }
        if seen.wall_ns is not None:
            source["wall_ns"] = seen.wall_ns
        sources.append(source)
    told: dict[str, Any] = {
        "otherData": {"align": how.align.value, "zero": how.zero, "sources": sources}
    }
    if frames:
        told["stackFrames"] = frames
    return told


def _frames(stack: Mapping[str, Any], prefix: str) -> dict[str, Any]:
    """Stack frames with ids of their own."""
    return {
        f"{prefix}{key}": frame | {"parent": f"{prefix}{frame['parent']}"}
        if isinstance(frame, dict) and frame.get("parent") is not None
        else frame
        for key, frame in stack.items()
    }
