"""Ending a service from another terminal, whoever cares for it or no longer does."""

from __future__ import annotations

import signal
import time
from collections.abc import Callable
from pathlib import Path
from typing import Final

from registry.documents.findings import RegistryError, Severity, code, finding
from tools.services.state import end_orphan, find

__all__ = ["stop_service"]

_GRACE_SECONDS: Final = 5.0
_GRACE_MOST_SECONDS: Final = 3600.0
_MORE_SECONDS: Final = 10.0

F020 = code(
    "F020",
    Severity.ERROR,
    "No service runs under a state file.",
    "See `powerkit service status`; name the file with --state if it is another.",
)
F025 = code(
    "F025",
    Severity.ERROR,
    "A service does not end.",
    "Give it more --timeout, or end the process that the finding names.",
)


def stop_service(
    path: Path,
    timeout: float | None = None,
    *,
    clock: Callable[[], float] = time.monotonic,
    pause: Callable[[float], object] = time.sleep,
) -> str:
    """End the service of a state file and wait for it.

    Args:
        path: the state file.
        timeout: seconds; the service's grace and ten more if None.
        clock: seconds, monotonic.
        pause: waits so many seconds.

    Returns:
        A line that says what was ended.

    Raises:
        RegistryError: F019 the file is no state, F020 nothing runs, F025 it does not
            end.
    """
    found = find(path)
    grace = _grace(found.facts.get("grace_seconds"))
    if found.phase == "none":
        raise RegistryError([finding(F020, str(path), "there is no such file")])
    if not found.running:
        left = end_orphan(path, grace, clock=clock, pause=pause)
        if left.phase == "orphaned" and left.server is not None:
            return f"ended process {left.server.pid}, which its supervisor had left"
        return "removed the state of a supervisor that was killed; nothing ran"
    supervisor = found.supervisor
    if supervisor is None or not supervisor.send(signal.SIGTERM):
        what = "its supervisor holds the lock, but has not said yet who it is"
        raise RegistryError([finding(F025, str(path), what)])
    limit = clock() + (grace + _MORE_SECONDS if timeout is None else timeout)
    while supervisor.alive:
        if clock() >= limit:
            what = f"its supervisor, process {supervisor.pid}, runs still"
            raise RegistryError([finding(F025, str(path), what)])
        pause(0.02)
    return f"stopped the service of supervisor {supervisor.pid}"


def _grace(told: object) -> float:
    if not isinstance(told, int | float):
        return _GRACE_SECONDS
    return min(max(float(told), 0.0), _GRACE_MOST_SECONDS)
