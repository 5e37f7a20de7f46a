"""A program as a target: started once for every request, without a shell."""

from __future__ import annotations

import os
import shlex
import signal
import subprocess
import threading
from collections.abc import Sequence
from contextlib import suppress
from typing import Final

from registry.documents.findings import RegistryError, finding, shown
from tools.load.targets.answers import ERROR_CHARACTERS
from tools.load.targets.codes import Q011
from tools.processes.child import Child

__all__ = ["Program"]

_GRACE: Final = 1.0


class Program:
    """A command line with ``{item}`` in its arguments."""

    def __init__(self, command: str, seconds: float) -> None:
        """Split a command line as a shell would, and replace nothing.

        Args:
            command: the program and its arguments.
            seconds: how long one run may take.

        Raises:
            RegistryError: Q011, there is no program or a quote is open.
        """
        try:
            self.arguments = shlex.split(command)
        except ValueError as error:
            what = f"{error}: {shown(command)}"
            raise RegistryError(finding(Q011, "--sut", what)) from None
        if not self.arguments:
            raise RegistryError(finding(Q011, "--sut", "cmd: has no program"))
        self._seconds = seconds
        self._running: set[Child] = set()
        self._lock = threading.Condition()
        self._starting = 0
        self._closed = False

    def ask(self, item: str) -> str | None:
        """Run the program for an item; its output is not kept.

        Returns:
            What went wrong, or None.
        """
        command = [part.replace("{item}", item) for part in self.arguments]
        if "\0" in item:
            return "an item's name cannot be an argument"
        child = self._started(command)
        if isinstance(child, str):
            return child
        with child:
            ended = child.wait(self._seconds) or child.time_out(grace=_GRACE)
            with self._lock:
                self._running.discard(child)
        if ended.timed_out:
            return "timeout"
        if ended.returncode < 0:
            return f"ended by signal {-ended.returncode}"
        return f"exit code {ended.returncode}" if ended.returncode else None

    def _started(self, command: Sequence[str]) -> Child | str:
        """Start it where `close` finds it, or say what went wrong."""
        with self._lock:
            if self._closed:
                return "the load was over"
            self._starting += 1
        child = None
        try:
            null = subprocess.DEVNULL
            child = Child(command, stdout=null, stderr=null)
        except RegistryError as error:
            return shown(error.findings[0].what, ERROR_CHARACTERS)
        finally:
            with self._lock:
                self._starting -= 1
                if child is not None:
                    self._running.add(child)
                self._lock.notify_all()
        return child

    def close(self) -> None:
        """Kill what still runs, with all that it started, and start no more.

        Whoever starts one now is waited for, since it would outlive us.
        """
        with self._lock:
            self._closed = True
            self._lock.wait_for(lambda: not self._starting, _GRACE)
            for child in self._running:
                # Its own thread sees the end and collects it.
                if child.process.returncode is None:
                    with suppress(ProcessLookupError, PermissionError):
                        os.killpg(child.pid, signal.SIGKILL)
