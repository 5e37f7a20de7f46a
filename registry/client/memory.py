"""What this client has seen, so that nobody can pass off an old release as the newest.

A small JSON file under XDG_STATE_HOME holds the highest serial for each origin.
"""

from __future__ import annotations

import contextlib
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from registry.documents.canonical import encode, sha256
from registry.documents.findings import RegistryError, Severity, code, finding
from registry.documents.names import REGISTRY
from registry.documents.strict_json import read_json

if TYPE_CHECKING:
    from registry.documents.findings import Finding
    from registry.publish.index import Index

__all__ = ["check_serial", "remember", "seen_serial", "state_file"]

ROLLBACK = code(
    "R042",
    Severity.ERROR,
    "An origin offers an older release than it did before.",
    "Somebody may hold back newer models. If the old release is really wanted, name "
    "its own folder instead of the channel, or on GitHub its tag.",
    "P2",
)
OTHER_CONTENT = code(
    "R043",
    Severity.ERROR,
    "An origin offers another release under a serial that was seen before.",
    "One commit has one release: compare both with `registry rebuild --compare`.",
    "P2",
    "P3",
)
UNREADABLE = code(
    "R044",
    Severity.WARNING,
    "The record of releases that were seen is unreadable.",
    "It is begun anew; if that happens again, look at who writes the file.",
    "P2",
)

_BYTES: Final = 1024 * 1024
_MOST: Final = 500
"""Origins that are remembered; test folders must not make the file grow for ever."""


def state_file() -> Path:
    """Give the file: REGISTRY_STATE, or below XDG_STATE_HOME, or ~/.local/state."""
    named = os.environ.get("REGISTRY_STATE")
    if named:
        return Path(named)
    home = os.environ.get("XDG_STATE_HOME") or Path.home() / ".local" / "state"
    return Path(home) / REGISTRY / "seen.json"


def check_serial(file: Path, origin: str, index: Index, data: bytes) -> list[Finding]:
    """Compare a release with what was seen at its origin before.

    Args:
        file: The record.
        origin: The origin's name.
        index: The index of the release; a serial of 0 (no commit) is not compared.
        data: The bytes of the index.

    """
    seen, findings = _read(file)
    last: Any = seen.get(origin)
    if not index.serial or last is None:
        return findings
    if index.serial < last["serial"]:
        what = f"serial {index.serial} after {last['serial']}"
        return [*findings, finding(ROLLBACK, "index.json", what)]
    if index.serial == last["serial"] and sha256(data) != last["index"]:
        what = f"serial {index.serial} had another index"
        return [*findings, finding(OTHER_CONTENT, "index.json", what)]
    return findings


def seen_serial(file: Path, origin: str) -> int:
    """Give the highest serial that was seen at an origin; 0 if none was."""
    last: Any = _read(file)[0].get(origin)
    return 0 if last is None else int(last["serial"])


def remember(file: Path, origin: str, index: Index, data: bytes) -> None:
    """Record a release that passed all checks; a record that cannot be kept is not."""
    seen, _ = _read(file)
    seen.pop(origin, None)
    seen[origin] = {"index": sha256(data), "serial": index.serial}
    entries = [[name, value] for name, value in seen.items()][-_MOST:]
    fresh = file.with_name(f".{file.name}.{os.getpid()}")
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        fresh.write_bytes(encode({"schema": "seen/1", "seen": entries}))
        fresh.replace(file)
    except OSError:
        with contextlib.suppress(OSError):
            fresh.unlink()


def _read(file: Path) -> tuple[dict[str, Any], list[Finding]]:
    try:
        data = file.read_bytes()
    except OSError:
        return {}, []
    try:
        value: Any = read_json(data, file.name, max_bytes=_BYTES)
        entries = value["seen"] if value["schema"] == "seen/1" else value["other"]
        seen = {
            str(name): {"index": str(item["index"]), "serial": int(item["serial"])}
            for name, item in entries
        }
    except (RegistryError, KeyError, TypeError, ValueError):
        return {}, [finding(UNREADABLE, file.name, "it is not of the form seen/1")]
    return seen, []
