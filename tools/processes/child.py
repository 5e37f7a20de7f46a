"""One program under our care: started in a session of its own, timed, and ended whole.

    with Child(["sleep", "1"]) as child:
        ended = child.wait(5)

A child never outlives its `with` block, and neither does what it started in its process
group: workloads that go on in the background would disturb the next measurement. What
leaves the group by setsid(2), as daemons do, is out of reach, and so is everything
where SIGKILL ends us.
"""

from __future__ import annotations

import math
import os
import resource
import select
import signal
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Final, Self

from registry.documents.findings import RegistryError, Severity, code, finding
from tools.processes.orders import OrderedEndError, orders_held

__all__ = ["Child", "Ended", "first_ended"]

GRACE_SECONDS: Final = 5.0
_POLL_SECONDS: Final = 86_400.0
"""How long is polled at once, since the system takes no more than 24 days."""

F001 = code(
    "F001",
    Severity.ERROR,
    "A program cannot be started.",
    "Check its name, its permissions and the folder that it is started in.",
)


@dataclass(frozen=True, slots=True)
class Ended:
    """How a program ended.

    Attributes:
        returncode: its exit code, or minus the number of the signal that ended it.
        timed_out: whether we ended it since its time was over.
        started_ns: CLOCK_MONOTONIC in nanoseconds just before it was started.
        started_epoch_ns: the same instant on CLOCK_REALTIME.
        wall_ns: nanoseconds until its end was seen.
        user_seconds: processor time in user mode, with the children it waited for.
        system_seconds: the same in the kernel.
        max_rss_bytes: the most memory that it held at once, or one that it waited for;
            None if that was less than ours, below which the number says nothing: Linux
            begins to count with what the process had before exec, our own memory.

    """

    returncode: int
    timed_out: bool
    started_ns: int
    started_epoch_ns: int
    wall_ns: int
    user_seconds: float
    system_seconds: float
    max_rss_bytes: int | None

    @property
    def ok(self) -> bool:
        """Whether it ended by itself with exit code 0."""
        return self.returncode == 0 and not self.timed_out


class Child:
    """A running program; leaving the `with` block ends it and its process group."""

    def __init__(
        self,
        command: Sequence[str],
        *,
        env: Mapping[str, str] | None = None,
        cwd: Path | None = None,
        stdin: IO[bytes] | int = subprocess.DEVNULL,
        stdout: IO[bytes] | int | None = None,
        stderr: IO[bytes] | int | None = None,
    ) -> None:
        """Start a program, without a shell.

        Args:
            command: the program and its arguments.
            env: its whole environment; ours if None.
            cwd: the folder that it is started in; ours if None.
            stdin: where it reads from; nothing by default.
            stdout: where its output goes; ours if None, `subprocess.PIPE` for a pipe.
            stderr: the same for its errors; `subprocess.STDOUT` joins the two.

        Raises:
            RegistryError: F001, it cannot be started.
        """
        self.command = tuple(command)
        self.started_epoch_ns = time.time_ns()
        self.started_ns = time.monotonic_ns()
        self._ended: Ended | None = None
        self._timed_out = False
        self._group_gone = False
        self._pidfd: int | None = None
        try:
            with orders_held():
                self.process = subprocess.Popen(
                    self.command,
                    env=None if env is None else dict(env),
                    cwd=cwd,
                    stdin=stdin,
                    stdout=stdout,
                    stderr=stderr,
                    start_new_session=True,
                )
                self._pidfd = _handle(self.process.pid)
        except (OSError, ValueError, IndexError) as error:
            shown = command[0] if command else "nothing"
            why = getattr(error, "strerror", None) or str(error)
            raise RegistryError(
                [finding(F001, str(cwd or "-"), f"{shown}: {why}")]
            ) from None
        except OrderedEndError:
            if hasattr(self, "process"):  # nobody else knows of it yet
                self.__exit__()
            raise

    def __enter__(self) -> Self:
        """Give the child itself."""
        return self

    def __exit__(self, *_: object) -> None:
        """End the program, if it still runs, and whatever is left of its group."""
        try:
            self.stop()
        finally:
            for stream in (
                self.process.stdin,
                self.process.stdout,
                self.process.stderr,
            ):
                if stream is not None:
                    stream.close()
            if self._pidfd is not None:
                os.close(self._pidfd)
                self._pidfd = None

    @property
    def pid(self) -> int:
        """The number of its process, which is also that of its process group."""
        return self.process.pid

    @property
    def ended(self) -> Ended | None:
        """How it ended, or None while it runs."""
        return self.wait(0)

    def wait(self, seconds: float | None = None) -> Ended | None:
        """Wait for its end.

        Args:
            seconds: how long at most; without end if None.

        Returns:
            How it ended, or None if it still runs.
        """
        if self._ended is None and self._over(seconds):
            _, status, used = os.wait4(self.pid, 0)
            returncode = os.waitstatus_to_exitcode(status)
            self.process.returncode = returncode  # Popen must not wait for it again
            self._ended = Ended(
                returncode,
                self._timed_out,
                self.started_ns,
                self.started_epoch_ns,
                time.monotonic_ns() - self.started_ns,
                used.ru_utime,
                used.ru_stime,
                _own_memory(used.ru_maxrss),
            )
            self._send(0)  # learn whether it left others behind
        return self._ended

    def stop(
        self, sign: int = signal.SIGTERM, *, grace: float = GRACE_SECONDS
    ) -> Ended:
        """End it: a signal to its group, and SIGKILL to what is left.

        Args:
            sign: the signal that asks it to end.
            grace: seconds that it is given.
        """
        try:
            if self._ended is None and not self._over(0):
                self._send(sign)
                self._over(grace)
        finally:
            # Before it is waited for: until then no other group can get its number.
            # And also when a second Ctrl-C ends our patience.
            self._send(signal.SIGKILL)
        ended = self.wait(None)
        assert ended is not None  # noqa: S101  waited for without end
        return ended

    def time_out(self, *, grace: float = GRACE_SECONDS) -> Ended:
        """End it since its time is over."""
        self._timed_out = self.wait(0) is None
        return self.stop(grace=grace)

    def _send(self, sign: int) -> None:
        if self._group_gone:
            return  # its number may be another group's by now
        try:
            os.killpg(self.pid, sign)
        except (ProcessLookupError, PermissionError):
            # Nothing is left of the group; macOS says EPERM for zombies.
            self._group_gone = self._ended is not None

    def _over(self, seconds: float | None) -> bool:
        """Whether it ended within so many seconds; it is not waited for here."""
        if self._pidfd is not None:
            return _readable([self._pidfd], seconds)
        limit = None if seconds is None else time.monotonic() + seconds
        while (
            os.waitid(os.P_PID, self.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is None
        ):
            if limit is not None and time.monotonic() >= limit:
                return False
            time.sleep(0.005)
        return True


def _own_memory(most: int) -> int | None:
    """The most memory of a child in bytes, if it is the child's own."""
    if sys.platform == "darwin":
        return most
    ours = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return most * 1024 if most > ours else None


def _handle(pid: int) -> int | None:
    """A handle that tells of the process's end, where there is such a thing."""
    with suppress(AttributeError, OSError):  # not on macOS; or no number is free
        return os.pidfd_open(pid)
    return None


def _readable(handles: Sequence[int], seconds: float | None) -> bool:
    """Wait until one of several handles tells something, however long that takes."""
    limit = math.inf if seconds is None else time.monotonic() + max(seconds, 0)
    poll = select.poll()
    for handle in handles:
        poll.register(handle, select.POLLIN)
    left = limit if seconds is None else max(seconds, 0)
    while not poll.poll(min(left, _POLL_SECONDS) * 1000):
        left = limit - time.monotonic()
        if left <= 0:
            return False
    return True


def first_ended(
    children: Sequence[Child], seconds: float | None = None
) -> Child | None:
    """Wait until one of several programs ended.

    Args:
        children: the programs.
        seconds: how long at most; without end if None.

    Returns:
        The first of them, in their order, that ended, or None if all run still.
    """
    limit = None if seconds is None else time.monotonic() + seconds
    while True:
        for child in children:
            if child.ended is not None:
                return child
        left = None if limit is None else limit - time.monotonic()
        if left is not None and left <= 0:
            return None
        _wait_for_any(children, left)


def _wait_for_any(children: Sequence[Child], seconds: float | None) -> None:
    """Sleep until one ended, or for a moment where that cannot be waited for."""
    known = [child._pidfd for child in children]  # noqa: SLF001  this module's own
    handles = [handle for handle in known if handle is not None]
    if len(handles) < len(known):
        time.sleep(0.005 if seconds is None else min(0.005, seconds))
        return
    _readable(handles, seconds)
