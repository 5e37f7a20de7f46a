"""Build a program under test: a time limit, a full log, and errors with their lines."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Final

from registry.documents.findings import Finding, Severity, code, finding
from tools.processes.child import Child, Ended
from tools.processes.output import Output
from tools.services.diagnostics import Diagnostic, Diagnostics
from tools.services.running import ending

__all__ = ["Built", "build"]

_SHOWN_CHARACTERS: Final = 200
_LOG_BYTES: Final = 1 << 30

F030 = code(
    "F030",
    Severity.ERROR,
    "A build reports an error.",
    "Mend the named line; the build's log has the whole message.",
)
F031 = code(
    "F031",
    Severity.WARNING,
    "A build gives a warning.",
    "Look at the named line; the build's log has the whole message.",
)
F032 = code(
    "F032",
    Severity.ERROR,
    "A build failed.",
    "Read its log, or run its command alone.",
)
F033 = code(
    "F033",
    Severity.ERROR,
    "A build takes too long and was ended.",
    "Give it more --timeout, or set build_timeout_seconds.",
)


@dataclass(frozen=True, slots=True)
class Built:
    """What came of a build.

    Attributes:
        ended: how its command ended.
        findings: all that is to be told of it; one error at least if it failed.
        diagnostics: errors and warnings that its tools gave, the first thousand.

    """

    ended: Ended
    findings: tuple[Finding, ...]
    diagnostics: tuple[Diagnostic, ...]

    @property
    def ok(self) -> bool:
        """Whether it succeeded."""
        return self.ended.ok


def build(
    command: Sequence[str],
    *,
    cwd: Path,
    log: Path,
    time_limit: float,
    env: Mapping[str, str] | None = None,
    on_line: Callable[[str], object] | None = None,
) -> Built:
    """Run a build to its end.

    Messages are asked for in English, since their patterns are.

    Args:
        command: the program and its arguments.
        cwd: the folder that it is started in.
        log: the file of its whole output.
        time_limit: seconds after which it is ended.
        env: variables that are added to ours.
        on_line: called with every line that it prints, from a thread.

    Raises:
        RegistryError: F001, it cannot be started.
    """
    known = Diagnostics(PurePosixPath(cwd.resolve()))

    def take(line: str) -> None:
        known.take(line)
        if on_line is not None:
            on_line(line)

    told = dict(os.environ) | {"LC_ALL": "C.UTF-8"} | dict(env or {})
    pipe = subprocess.PIPE
    with Child(
        command, env=told, cwd=cwd, stdout=pipe, stderr=subprocess.STDOUT
    ) as run:
        stream = run.process.stdout
        with Output(stream, log=log, log_bytes=_LOG_BYTES, on_line=take) as output:
            ended = run.wait(time_limit) or run.time_out()
            run.stop()
    findings = _findings(ended, known, log, output.tail(8), time_limit)
    if output.problem is not None:
        findings.append(output.problem)
    return Built(ended, tuple(findings), tuple(known.all))


def _findings(
    ended: Ended, known: Diagnostics, log: Path, tail: list[str], limit: float
) -> list[Finding]:
    """The tools' own errors; if there are none, how the build ended."""
    told = [_finding(one, log, failed=not ended.ok) for one in known.all]
    if known.more:
        what = f"{known.more} more errors and warnings are in the log"
        told.append(finding(F031, str(log), what))
    if ended.timed_out:
        told.append(finding(F033, str(log), f"it was ended after {limit:g} s"))
    elif not ended.ok and not any(one.severity is Severity.ERROR for one in told):
        last = " | ".join(line.strip() for line in tail) or "nothing"
        cut = (
            last if len(last) <= _SHOWN_CHARACTERS else "…" + last[-_SHOWN_CHARACTERS:]
        )
        what = f"{ending(ended)}; its last output: {cut}"
        told.append(finding(F032, str(log), what))
    return told


def _finding(one: Diagnostic, log: Path, *, failed: bool) -> Finding:
    """An error of a build that succeeded all the same is worth a warning."""
    kind = F030 if one.weight == "error" and failed else F031
    return finding(kind, one.path or str(log), one.text, line=one.line)
