"""Publishes traces: checks that they are traces, and says what is in them.

What is published, and how, is `powerkit publish`'s; what is added here is the check,
and a description with the counts of what was found.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from registry.documents.findings import (
    Finding,
    RegistryError,
    Severity,
    code,
    finding,
    shown,
)
from tools.traces.overwriting import read_twice
from tools.traces.reading import Found, pieces
from tools.traces.runs import runs_of

__all__ = ["Described", "describe", "describe_all"]

DAMAGED = code(
    "V058",
    Severity.ERROR,
    "A trace that is to be published is damaged.",
    "Write it anew with `powerkit trace combine`, which says what it leaves out.",
)
_ID: Final = 100
_TEXT: Final = 1500


@dataclass(frozen=True, slots=True)
class Described:
    """A trace as it is published.

    Attributes:
        path: the file.
        id: the id of its run, or None: then it is called by its digest.
        description: what it is of, and what is in it.
        events: how many events it has.

    """

    path: Path
    id: str | None
    description: str
    events: int


def describe(path: Path, description: str = "") -> Described:
    """Check a trace and describe it.

    Args:
        path: the file.
        description: what it is of; what the trace says itself if empty.

    Raises:
        RegistryError: V001 to V004, V058 or V059: no trace, damaged, or a pipe.
        OSError: it cannot be read.
    """
    read_twice(path)  # here and where it is sent
    found = Found()
    for _ in pieces(path, found):
        pass
    if damage := _damage(found):
        raise RegistryError([finding(DAMAGED, str(path), damage)])
    run = next(iter(runs_of(found.metadata)), {})
    said = description or str(run.get("experiment_description", ""))
    counts = f"{found.events:,} events, {found.bytes_read:,} bytes unpacked"
    text = f"{shown(said, _TEXT)} ({counts})" if said else counts
    identity = run.get("run_id") or found.metadata.get("id")
    usable = isinstance(identity, str) and 0 < len(identity) <= _ID
    return Described(
        path,
        str(identity) if usable and str(identity).isprintable() else None,
        text,
        found.events,
    )


def describe_all(
    paths: Iterable[Path],
    description: str = "",
    *,
    progress: Callable[[str], None] = lambda _: None,
) -> list[Described]:
    """Describe several traces; all that cannot be published is told of at once.

    Raises:
        RegistryError: V001 to V004 and V058, of all of them.
        OSError: one cannot be read.
    """
    problems: list[Finding] = []
    described = []
    for path in paths:
        progress(f"reading {path.name}")
        try:
            described.append(describe(path, description))
        except RegistryError as error:
            problems.extend(error.findings)
    if problems:
        raise RegistryError(problems)
    return described


def _damage(found: Found) -> str:
    """What is wrong; that an array is not closed is allowed by the format."""
    parts = {
        f"{found.bad_events} events cannot be read": found.bad_events,
        f"{found.not_objects} elements are no events": found.not_objects,
        f"{found.bad_utf8} bytes are no UTF-8": found.bad_utf8,
        f"{found.not_numbers} events hold NaN or Infinity": found.not_numbers,
        "some of its keys are too large": found.metadata_left_out,
        f"corrupt at byte {found.corrupt_at[0] if found.corrupt_at else 0:,}": (
            found.corrupt
        ),
    }
    return "; ".join(what for what, there in parts.items() if there)
