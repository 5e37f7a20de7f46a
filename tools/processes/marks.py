"""Telling a process from another that got its number later.

A number names a process only until it ends. Together with the instant of its start it
names one process for as long as the machine runs, so nobody else is ever signalled.
"""

from __future__ import annotations

import os
import signal
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Self

import psutil

__all__ = ["Mark"]


@dataclass(frozen=True, slots=True)
class Mark:
    """One process of this machine.

    Attributes:
        pid: its number.
        started: the boot that it was started in and its start in clock ticks since, or
            seconds since 1970 where there is no /proc.

    """

    pid: int
    started: str

    @classmethod
    def of(cls, pid: int) -> Self | None:
        """The process with that number now, or None if there is none."""
        started = _started(pid)
        return None if started is None else cls(pid, started)

    @property
    def alive(self) -> bool:
        """Whether this very process runs still."""
        return _started(self.pid) == self.started

    def send(self, sign: signal.Signals, *, group: bool = False) -> bool:
        """Send it a signal, if it runs still.

        Args:
            sign: the signal.
            group: whether its whole process group gets it, which it must lead.

        Returns:
            Whether it was there to get it.
        """
        if not self.alive:
            return False
        with suppress(ProcessLookupError, PermissionError):
            if group:
                if os.getpgid(self.pid) != self.pid:
                    return False
                os.killpg(self.pid, sign)
            elif not hasattr(os, "pidfd_open"):
                os.kill(self.pid, sign)
            else:
                return self._send_exactly(sign)
            return True
        return False

    def _send_exactly(self, sign: signal.Signals) -> bool:
        """Hold the process while it is compared, so that it stays the same one."""
        handle = os.pidfd_open(self.pid)
        try:
            if self.alive:
                signal.pidfd_send_signal(handle, sign)
                return True
            return False
        finally:
            os.close(handle)


def _started(pid: int) -> str | None:
    """The start of a process that runs; one that waits to be collected does not."""
    if pid <= 0:
        return None
    try:
        fields = Path(f"/proc/{pid}/stat").read_text("ascii", "replace")
        boot = Path("/proc/sys/kernel/random/boot_id").read_text("ascii").strip()
    except (FileNotFoundError, ProcessLookupError):
        if Path("/proc/self/stat").exists():
            return None
        return _started_elsewhere(pid)
    state, *rest = fields.rpartition(")")[2].split()
    return None if state in "ZX" else f"{boot}:{rest[18]}"


def _started_elsewhere(pid: int) -> str | None:
    try:
        process = psutil.Process(pid)
        if process.status() == psutil.STATUS_ZOMBIE:
            return None
        return f"{process.create_time():.2f}"
    except (psutil.Error, ValueError, OverflowError):
        return None
