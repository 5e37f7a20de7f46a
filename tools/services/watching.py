"""Build and start anew when files change: an edit is a burst, a burst is one start.

The old program runs until its successor is built, and goes on if that fails. What a
build writes itself is learned: a file that changes during two builds in a row starts
no third one, but does when it changes at another time.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Literal, TypeAlias

from registry.documents.findings import Finding, RegistryError
from tools.processes.marks import Mark
from tools.services.building import build
from tools.services.changes import Bursts
from tools.services.running import Service, ending
from tools.services.specification import ServiceSpec
from tools.services.state import StateFile

__all__ = ["Event", "Phase", "Watch"]

Phase: TypeAlias = Literal[
    "building", "built", "starting", "running", "ok", "failed", "changed", "stopped"
]
_LOOK_SECONDS: Final = 0.25


@dataclass(frozen=True, slots=True)
class Event:
    """Something that happened.

    Attributes:
        phase: what the program or its build does from now on.
        text: a line for people.
        findings: what went wrong.
        pid: the program's process, if there is one.

    """

    phase: Phase
    text: str
    findings: tuple[Finding, ...] = ()
    pid: int | None = None


class Watch:
    """Keeps a program built and running while its files change."""

    def __init__(
        self,
        spec: ServiceSpec,
        bursts: Bursts,
        *,
        state: StateFile,
        build_log: Path,
        build_seconds: float,
        on_event: Callable[[Event], object],
        on_line: Callable[[str], object] | None = None,
        settle: float = 0.3,
    ) -> None:
        """Describe the work.

        Args:
            spec: the program, and its build if it has one.
            bursts: where changes come from.
            state: the state file, whose lock is held.
            build_log: the file of a build's output.
            build_seconds: when a build is ended.
            on_event: told what happens.
            on_line: called with every line of build and program, from a thread.
            settle: seconds after a build in which its last changes are awaited.
        """
        self.spec = spec
        self._bursts = bursts
        self._state = state
        self._build_log = build_log
        self._build_seconds = build_seconds
        self._on_event = on_event
        self._on_line = on_line
        self._settle = settle
        self._service: Service | None = None
        self._during: frozenset[Path] = frozenset()
        self._written: frozenset[Path] = frozenset()

    def run(self, rounds: int | None = None) -> None:
        """Build, start, and do so again after every burst, until a signal unwinds it.

        Args:
            rounds: how many bursts to wait for; without end if None.
        """
        with ExitStack() as ending_all:
            ending_all.callback(self._stop)
            while True:
                again = self._turn()
                if again:
                    continue
                if rounds is not None:
                    if rounds == 0:
                        return
                    rounds -= 1
                self._await_change()

    def _turn(self) -> bool:
        """Build and start once; true if something changed under the build."""
        if self.spec.build is not None:
            built, again = self._build(self.spec.build)
            if again:
                return True
            if not built:
                return False
        self._start()
        return False

    def _build(self, command: Sequence[str]) -> tuple[bool, bool]:
        """Build; whether it succeeded, and whether to build at once anew."""
        self._tell("building", " ".join(command))
        begun = time.monotonic()
        try:
            done = build(
                command,
                cwd=self.spec.cwd,
                log=self._build_log,
                time_limit=self._build_seconds,
                env=self.spec.env,
                on_line=self._on_line,
            )
        except RegistryError as error:
            self._tell("failed", "the build cannot be started", error.findings)
            return False, False
        passed = time.monotonic() - begun
        if done.ok:
            self._tell("built", f"after {passed:.1f} s", done.findings)
        else:
            self._tell("failed", f"the build, after {passed:.1f} s", done.findings)
        return done.ok, self._changed_meanwhile()

    def _changed_meanwhile(self) -> bool:
        """Whether files changed during the build that it does not write itself."""
        during: frozenset[Path] = frozenset()
        while (burst := self._bursts.next(self._settle)) is not None:
            during |= burst
        self._written |= during & self._during
        self._during = during
        left = during - self._written
        if left:
            self._tell("changed", f"{_named(left)}, during the build")
        return bool(left)

    def _start(self) -> None:
        self._stop()
        self._tell("starting", " ".join(self.spec.command))
        service = Service(self.spec, on_line=self._on_line, on_start=self._started)
        self._service = service
        try:
            service.__enter__()
        except RegistryError as error:
            self._service = None
            self._tell("failed", "it does not become ready", error.findings)
            return
        pid = service.child.pid
        ready = f"process {pid}, ready after {service.ready_seconds or 0:.2f} s"
        self._tell("running", ready, pid=pid)
        self._state.write("ready", service=service.info())

    def _started(self, service: Service) -> None:
        mark = Mark.of(service.child.pid)
        server = None if mark is None else {"pid": mark.pid, "started": mark.started}
        told: dict[str, Any] = {"grace_seconds": self.spec.grace_seconds}
        self._state.write("starting", server=server, service=service.info(), **told)

    def _stop(self) -> None:
        if self._service is not None:
            service, self._service = self._service, None
            service.__exit__(None, None, None)
            if service.started:
                self._tell("stopped", f"process {service.child.pid}")

    def _await_change(self) -> None:
        """Wait for a burst, and tell if the program ends by itself in between."""
        while (burst := self._bursts.next(_LOOK_SECONDS)) is None:
            self._look()
        self._look()
        self._tell("changed", _named(burst))

    def _look(self) -> None:
        service = self._service
        if service is None or service.child.ended is None:
            return
        self._service = None
        ended = service.wait()
        phase: Phase = "ok" if ended.ok else "failed"
        self._tell(phase, ending(ended) + service.last())

    def _tell(
        self,
        phase: Phase,
        text: str,
        findings: tuple[Finding, ...] = (),
        pid: int | None = None,
    ) -> None:
        self._on_event(Event(phase, text, findings, pid))


def _named(paths: frozenset[Path]) -> str:
    first = min(paths).name
    return first if len(paths) == 1 else f"{first} and {len(paths) - 1} more"
