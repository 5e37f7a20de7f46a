"""A server under test while it runs: started, ready, and ended whole on any exit.

with Service(spec, log=folder / "server.log") as service:
    measure()
    service.check()
record = service.info()
"""

from __future__ import annotations

import os
import subprocess
import time
import uuid
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import Any, Final, Self

from registry.documents.findings import (
    Code,
    Finding,
    RegistryError,
    Severity,
    code,
    finding,
)
from registry.documents.instants import precise_instant
from tools.processes.child import Child, Ended
from tools.processes.orders import orders_held
from tools.processes.output import Output
from tools.services.readiness import Always, LineProbe
from tools.services.specification import ServiceSpec
from tools.settings.resolved import setting

__all__ = ["Service", "ending"]

_SHORTEST_SECONDS: Final = 0.01
_SHOWN_LINES: Final = 8
_SHOWN_CHARACTERS: Final = 200

F014 = code(
    "F014",
    Severity.ERROR,
    "A server ended before it was ready.",
    "Read the last lines of its output, here and in its log; run its command alone.",
)
F015 = code(
    "F015",
    Severity.ERROR,
    "A server is not ready in time.",
    "Give more --ready-timeout, or mend the probe: the finding says what it lacks.",
)
F016 = code(
    "F016",
    Severity.ERROR,
    "Something else answers where the server should.",
    "End it, or give the server a port of its own: results would not be the server's.",
)
F021 = code(
    "F021",
    Severity.ERROR,
    "A server ended while it was needed.",
    "Read the last lines of its output, here and in its log.",
)


class Service:
    """A running server; leaving the `with` block ends it and all that it started."""

    def __init__(
        self,
        spec: ServiceSpec,
        *,
        log: Path | None = None,
        trace: Path | None = None,
        environment: Mapping[str, str] | None = None,
        interval: float | None = None,
        on_line: Callable[[str], object] | None = None,
        on_start: Callable[[Service], object] | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """Describe what is started when the `with` block is entered.

        Args:
            spec: the server.
            log: the file of its output; what the spec says if None.
            trace: the file for its own trace; what the spec says if None.
            environment: variables that are added to ours and the spec's.
            interval: seconds between looks at it while it starts; the setting
                `polling_interval_ms` if None.
            on_line: called with every line that it prints, from a thread.
            on_start: called once it has a process, before it is ready.
            clock: seconds, monotonic.
        """
        self.spec = spec
        self.id = str(uuid.uuid4())
        self.log = log or spec.log
        self.trace = trace or spec.trace
        self.ended: Ended | None = None
        self.ready_seconds: float | None = None
        self._extra = dict(environment or {})
        self._interval = interval or setting("polling_interval_ms", None) / 1000
        self._on_line = on_line
        self._on_start = on_start
        self._clock = clock
        self._probe = spec.probe
        self._open = ExitStack()
        self._child: Child | None = None
        self._output: Output | None = None

    def __enter__(self) -> Self:
        """Start the server and wait until it is ready.

        Raises:
            RegistryError: F001 it cannot be started, F014 it ended, F015 it is late,
                F016 something else is in its place.
        """
        if (other := self._probe.before()) is not None:
            raise RegistryError([self._finding(F016, other)])
        with ExitStack() as opening:
            opening.push(self._close)
            with orders_held():
                self._start()
            if self._on_start is not None:
                self._on_start(self)
            self._wait_ready()
            opening.pop_all()
        return self

    def __exit__(self, *_: object) -> None:
        """End the server, its process group too, and read the rest of its output."""
        self._close()

    @property
    def child(self) -> Child:
        """The server's process.

        Raises:
            RuntimeError: it was not started.
        """
        if self._child is None:
            raise RuntimeError("the service was not entered")
        return self._child

    @property
    def started(self) -> bool:
        """Whether it was started."""
        return self._child is not None

    @property
    def problems(self) -> tuple[Finding, ...]:
        """What went wrong beside the server, for example with its log."""
        problem = None if self._output is None else self._output.problem
        return () if problem is None else (problem,)

    def tail(self, lines: int) -> list[str]:
        """The last lines that it printed."""
        return [] if self._output is None else self._output.tail(lines)

    def last(self) -> str:
        """The end of its output, short enough for a finding, to follow a sentence."""
        text = " | ".join(line.strip() for line in self.tail(_SHOWN_LINES))
        if not text:
            return "; it printed nothing"
        cut = (
            text if len(text) <= _SHOWN_CHARACTERS else "…" + text[-_SHOWN_CHARACTERS:]
        )
        return f"; its last output: {cut}"

    def check(self) -> None:
        """See that it still runs.

        Raises:
            RegistryError: F021, it ended.
        """
        ended = self.child.ended
        if ended is not None:
            self._close()
            raise RegistryError([self._finding(F021, ending(ended) + self.last())])

    def wait(self) -> Ended:
        """Wait until it ends by itself; what it left behind is ended then."""
        self.child.wait(None)
        self._close()
        assert self.ended is not None  # noqa: S101  closed
        return self.ended

    def stop(self) -> Ended:
        """End it as its spec says: its signal, its grace, then SIGKILL."""
        self.ended = self.child.stop(
            self.spec.stop_signal, grace=self.spec.grace_seconds
        )
        return self.ended

    def environment(self) -> dict[str, str]:
        """All variables of the server: ours, then the spec's, then the caller's."""
        told = dict(os.environ)
        told["POWERKIT_SERVICE_ID"] = told["UPR_RUN_ID"] = self.id
        store = self.spec.store
        if store is not None and self.trace is not None:
            store = store.model_copy(update={"write_profile": True})
        if store is not None:
            told["UPR_BASE_DIR"] = str(setting("assets_directory", None))
            told |= store.environment()
        if self.trace is not None:
            name = str(self.trace.absolute())
            told["POWERKIT_TRACE_FILE"] = told["UPR_PROFILE_TARGET"] = name
        devices = setting("visible_devices", None)
        if devices != "all":
            told["CUDA_VISIBLE_DEVICES"] = devices
        return told | self.spec.env | self._extra

    def info(self) -> dict[str, Any]:
        """What a record says of the server: values that JSON has."""
        child = self.child
        told: dict[str, Any] = {
            "service_id": self.id,
            "name": self.spec.name,
            "command": list(self.spec.command),
            "pid": child.pid,
            "started": precise_instant(child.started_epoch_ns, 3),
            "started_monotonic_ns": child.started_ns,
            "ready": self.spec.ready,
            "ready_seconds": self.ready_seconds,
            "log": None if self.log is None else str(self.log),
            "store": None,
            "ended": None,
        }
        if self.spec.store is not None:
            told["store"] = self.spec.store.model_dump(mode="json")
        if (ended := self.ended) is not None:
            told["ended"] = {
                "returncode": ended.returncode,
                "wall_seconds": ended.wall_ns / 1e9,
                "user_seconds": ended.user_seconds,
                "system_seconds": ended.system_seconds,
                "max_rss_bytes": ended.max_rss_bytes,
            }
        return told

    def _start(self) -> None:
        self._child = self._open.enter_context(
            Child(
                self.spec.command,
                env=self.environment(),
                cwd=self.spec.cwd,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
            )
        )
        probe = self._probe
        self._output = self._open.enter_context(
            Output(
                self._child.process.stdout,
                log=self.log,
                log_bytes=self.spec.log_bytes,
                seek=probe.pattern if isinstance(probe, LineProbe) else None,
                on_line=self._on_line,
            )
        )

    def _wait_ready(self) -> None:
        if isinstance(self._probe, Always):
            self.ready_seconds = 0.0
            return
        limit = self.spec.ready_timeout_seconds
        begun, pause = self._clock(), min(_SHORTEST_SECONDS, self._interval)
        while True:
            lacks = self._probe.lacks(self._seen)
            passed = self._clock() - begun
            self._refuse_end(passed)
            if lacks is None:
                self.ready_seconds = passed
                return
            if passed >= limit:
                what = f"after {passed:.1f} s {lacks}{self.last()}"
                raise RegistryError([self._finding(F015, what)])
            self.child.wait(min(pause, limit - passed))
            pause = min(2 * pause, self._interval)

    def _refuse_end(self, passed: float) -> None:
        ended = self.child.ended
        if ended is None:
            return
        # What it printed last arrives through the pipe after its end is known.
        self._close()
        what = f"after {passed:.1f} s {ending(ended)}{self.last()}"
        raise RegistryError([self._finding(F014, what)])

    @property
    def _seen(self) -> Any:
        assert self._output is not None  # noqa: S101  started before it is asked
        return self._output.seen

    def _close(self, *_: object) -> None:
        """End the server if it runs; harmless if it was done before."""
        try:
            if self._child is not None and self.ended is None:
                self.stop()
        finally:
            self._open.close()

    def _finding(self, kind: Code, what: str) -> Finding:
        where = self.log or self.spec.command[0]
        return finding(kind, str(where), what)


def ending(ended: Ended) -> str:
    """How a program ended, in words."""
    if ended.returncode < 0:
        return f"it was ended by signal {-ended.returncode}"
    return f"it ended with code {ended.returncode}"
