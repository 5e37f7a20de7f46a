"""Care for a server from its start to its end, with its state in a file for others."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import IO, Any

from registry.documents.findings import (
    Finding,
    RegistryError,
    Severity,
    code,
    finding,
)
from tools.processes.child import Child, Ended, first_ended
from tools.processes.marks import Mark
from tools.services.running import Service, ending
from tools.services.specification import ServiceSpec
from tools.services.state import StateFile

__all__ = ["Supervised", "Supervisor"]

F022 = code(
    "F022",
    Severity.ERROR,
    "A server ended in failure.",
    "Read the last lines of its output, here and in its log.",
)
F024 = code(
    "F024",
    Severity.ERROR,
    "A client did not end in time.",
    "Give it more --client-timeout, or less work.",
)


@dataclass(frozen=True, slots=True)
class Supervised:
    """What came of it.

    Attributes:
        service: the last start of the server, as `Service.info` tells it.
        restarts: how often it was started anew.
        client: how the client ended, or None without one.
        problems: what went wrong beside the server.

    """

    service: dict[str, Any]
    restarts: int
    client: Ended | None
    problems: tuple[Finding, ...]


class Supervisor:
    """Runs a server, as often as its spec says, and tells the state file."""

    def __init__(
        self,
        spec: ServiceSpec,
        state: StateFile,
        *,
        say: Callable[[str], object],
        on_line: Callable[[str], object] | None = None,
        client_output: IO[bytes] | int | None = None,
        pause: Callable[[float], object] = time.sleep,
    ) -> None:
        """Describe the work.

        Args:
            spec: the server.
            state: the state file, whose lock is held.
            say: told what happens, a line each.
            on_line: called with every line that the server prints, from a thread.
            client_output: where the client prints to; our standard output if None.
            pause: waits so many seconds before the server is started anew.
        """
        self.spec = spec
        self.restarts = 0
        self._state = state
        self._say = say
        self._on_line = on_line
        self._client_output = client_output
        self._pause = pause
        self._service: Service | None = None

    @property
    def supervised(self) -> Supervised:
        """What came of it so far; for an ordered stop, when `run` did not return."""
        return self._told(None)

    def run(
        self, client: Sequence[str] | None = None, time_limit: float | None = None
    ) -> Supervised:
        """Run the server to its end, or to its client's.

        A server that has a client is not started anew: what the client measured would
        be of two servers.

        Args:
            client: a command that is run once the server is ready.
            time_limit: seconds that the client may take; no limit if None.

        Raises:
            RegistryError: F014 to F016 it does not become ready, F021 it ended before
                its client, F022 it ended in failure, F024 the client took too long.
        """
        while True:
            try:
                ended = None
                with self._new() as service:
                    self._tell_ready(service)
                    if client is None:
                        self._wait(service)
                    else:
                        ended = self._client(service, client, time_limit)
                return self._told(ended)
            except RegistryError as error:
                self._start_anew_or(error)

    def _new(self) -> Service:
        self._service = Service(
            self.spec, on_line=self._on_line, on_start=self._tell_started
        )
        return self._service

    def _client(
        self, service: Service, command: Sequence[str], time_limit: float | None
    ) -> Ended:
        told = dict(os.environ)
        told["POWERKIT_SERVICE_ID"] = service.id
        told["POWERKIT_SERVICE_STATE_FILE"] = str(self._state.path.absolute())
        with Child(command, env=told, stdout=self._client_output) as client:
            over = first_ended([client, service.child], time_limit)
            if over is None:
                ended = client.time_out()
                what = f"it ran for {ended.wall_ns / 1e9:.1f} s"
                raise RegistryError([finding(F024, command[0], what)])
            if over is not client:
                service.check()
            ended = client.stop()
        self._say(f"client: {ending(ended)} after {ended.wall_ns / 1e9:.2f} s")
        return ended

    def _wait(self, service: Service) -> None:
        ended = service.wait()
        if not ended.ok:
            where = str(self.spec.log or self.spec.command[0])
            what = ending(ended) + service.last()
            raise RegistryError([finding(F022, where, what)])
        self._say(ending(ended))

    def _start_anew_or(self, error: RegistryError) -> None:
        """Wait for the next start, or raise the error if there is none."""
        restart, service = self.spec.restart, self._service
        failed = {one.code for one in error.findings} <= {"F014", "F022"}
        over = restart.policy == "never" or self.restarts >= restart.limit
        if not failed or over:
            raise error
        self.restarts += 1
        self._say(f"{error.findings[0].what}; start {self.restarts + 1} follows")
        self._state.write("restarting", server=None, restarts=self.restarts)
        assert service is not None  # noqa: S101  it failed
        self._pause(restart.delay_seconds)

    def _tell_started(self, service: Service) -> None:
        mark = Mark.of(service.child.pid)
        server = None if mark is None else {"pid": mark.pid, "started": mark.started}
        told = {"restarts": self.restarts, "grace_seconds": self.spec.grace_seconds}
        self._state.write("starting", server=server, service=service.info(), **told)
        self._say(f"process {service.child.pid} started: {self.spec.command[0]}")

    def _tell_ready(self, service: Service) -> None:
        self._state.write("ready", service=service.info())
        self._say(f"ready after {service.ready_seconds or 0:.2f} s")

    def _told(self, client: Ended | None) -> Supervised:
        service = self._service
        if service is None or not service.started:
            return Supervised({}, self.restarts, client, ())
        return Supervised(service.info(), self.restarts, client, service.problems)
