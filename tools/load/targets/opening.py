"""Open the system under test that a text names."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

from registry.documents.findings import RegistryError, finding, shown
from tools.load.targets.answers import Target
from tools.load.targets.codes import Q011
from tools.load.targets.functions import Coroutine, load_function
from tools.load.targets.programs import Program
from tools.load.targets.web import web_service
from tools.load.targets.workers import Workers

__all__ = ["open_target"]


def open_target(
    text: str,
    *,
    most: int,
    seconds: float = 30.0,
    body: str | None = None,
    kind: str = "application/json",
) -> Target:
    """Open a target.

    Args:
        text: ``cmd:…``, ``http://…``, ``https://…`` or ``python:MODULE:FUNCTION``.
        most: how many requests run at once at most.
        seconds: how long one may take; a Python function cannot be stopped, but is
            given up a little later.
        body: what is sent to a web service with POST.
        kind: its media type.

    Raises:
        RegistryError: Q011 or Q012.
    """
    scheme, colon, rest = text.strip().partition(":")
    scheme = scheme.lower()
    clock = time.monotonic_ns
    if body is not None and scheme not in {"http", "https"}:
        what = "only a web service can be sent a body"
        raise RegistryError(finding(Q011, "--body", what))
    if colon and scheme == "cmd":
        program = Program(rest, seconds)
        return Workers(program.ask, most, clock, program.close)
    if colon and scheme in {"http", "https"}:
        service = web_service(text.strip(), seconds, most, body, kind)
        return Workers(service.ask, most, clock, service.close)
    if colon and scheme == "python":
        function, awaited = load_function(rest)
        if awaited:
            return Coroutine(function, seconds)
        return Workers(_silent(function), most, clock)
    raise RegistryError(finding(Q011, "--sut", f"not understood: {shown(text)}"))


def _silent(function: Callable[[str], Any]) -> Callable[[str], None]:
    """Call a function for its time alone."""

    def ask(item: str) -> None:
        function(item)

    return ask
