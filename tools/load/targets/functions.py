"""A Python function as a target, named by the user on the user's own command line."""

from __future__ import annotations

import asyncio
import importlib
import inspect
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from registry.documents.findings import RegistryError, finding, shown
from tools.load.targets.answers import Answer, told
from tools.load.targets.codes import Q011, Q012

__all__ = ["Coroutine", "load_function"]


class Coroutine:
    """A target that awaits a function; it runs in the loop that issues requests."""

    def __init__(self, function: Callable[[str], Any], seconds: float) -> None:
        """Keep a function that returns an awaitable, and how long one may take."""
        self._function = function
        self._seconds = seconds

    async def answer(self, item: str) -> Answer:
        """Await the function."""
        try:
            async with asyncio.timeout(self._seconds) as limit:
                await self._function(item)
        except TimeoutError as error:
            return Answer("timeout" if limit.expired() else told(error))
        except Exception as error:  # noqa: BLE001 - whatever it is, it is an answer
            return Answer(told(error))
        return Answer()

    def close(self) -> None:
        """Nothing is left behind: the loop cancels what waits."""


def load_function(text: str) -> tuple[Callable[[str], Any], bool]:
    """Import ``MODULE:FUNCTION``, also from the current folder.

    Returns:
        The function, and whether it must be awaited.

    Raises:
        RegistryError: Q011 or Q012.
    """
    module, colon, name = text.strip().partition(":")
    parts = name.split(".")
    if not colon or not all(
        part.isidentifier() for part in [*module.split("."), *parts]
    ):
        what = f"no MODULE:FUNCTION: {shown(text)}"
        raise RegistryError(finding(Q011, "--sut", what))
    folder = str(Path.cwd())
    if folder not in sys.path and "" not in sys.path:
        sys.path.insert(0, folder)
    try:
        found: Any = importlib.import_module(module)
        for part in parts:
            found = getattr(found, part)
    except (Exception, SystemExit) as error:  # noqa: BLE001 - the user's own code
        raise RegistryError(finding(Q012, module, told(error))) from None
    if not callable(found):
        raise RegistryError(finding(Q012, module, f"{shown(name)} cannot be called"))
    return found, inspect.iscoroutinefunction(found)
