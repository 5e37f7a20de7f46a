"""What monitors see of a run: opened before it starts, summed up when it has ended."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import Any, Final, Self

from registry.documents.findings import Finding, Severity
from tools.recording.monitor import Monitor, Opened, open_sources

__all__ = ["EVERYTHING", "Sampling", "absent_sources"]

EVERYTHING: Final = "all"
"""Stands for every source that the machine has."""


def absent_sources(names: Sequence[str], devices: str) -> tuple[Finding, ...]:
    """Return what was asked for by name and is not here, before anything runs.

    Raises:
        RegistryError: O003, O004: there is no such source or GPU.
    """
    if not names or EVERYTHING in names:
        return ()
    with open_sources(names, devices=devices or "none") as opened:
        return tuple(one for one in opened.findings() if one.severity is Severity.ERROR)


class Sampling:
    """Monitors of one run; a `with` block closes what it opened."""

    def __init__(self, names: Sequence[str], interval_ms: int, devices: str) -> None:
        """Open sources; nothing is read yet.

        Args:
            names: which; none if empty, all that are here for ``all``.
            interval_ms: from one sample to the next.
            devices: GPUs: indices joined by commas, ``all``, or empty for none.

        Raises:
            RegistryError: O003, O004: there is no such source or GPU.
        """
        self.problems: list[str] = []
        self._interval_ns = interval_ms * 1_000_000
        self._opened: Opened | None = None
        self._monitor: Monitor | None = None
        if names:
            wanted = None if EVERYTHING in names else names
            self._opened = open_sources(wanted, devices=devices or "none")

    def __enter__(self) -> Self:
        """Give itself."""
        return self

    def __exit__(self, *_: object) -> None:
        """Let go of all interfaces."""
        if self._opened is not None:
            self._opened.close()

    @contextmanager
    def of(self, pid: int) -> Iterator[None]:
        """Sample until the block ends, with a first and a last sample at its ends."""
        if self._opened is None:
            yield
            return
        self._opened.follow(pid)
        self._monitor = Monitor(self._opened, self._interval_ns)
        with self._monitor:
            yield

    def finish(self, path: Path) -> dict[str, Any]:
        """Write the samples, and return their summary for the record."""
        if self._monitor is None:
            return {}
        recording = self._monitor.recording
        try:
            recording.write_csv(path)
        except OSError as error:
            self.problems.append(f"{path.name} cannot be written: {error.strerror}")
        missing = [asdict(one) for one in recording.missing]
        document = {**recording.summary().document(), "missing": missing}
        # As a reader of the record finds it: lists, and nothing that JSON lacks.
        said = json.dumps(document)
        plain: dict[str, Any] = json.loads(said, parse_constant=lambda _: None)
        return plain
