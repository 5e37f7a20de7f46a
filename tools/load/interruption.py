"""SIGINT and SIGTERM, caught for as long as a run can end in order."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager

__all__ = ["caught_signals"]


@contextmanager
def caught_signals(
    loop: asyncio.AbstractEventLoop, interrupted: Callable[[], None]
) -> Iterator[None]:
    """Call a function on SIGINT and SIGTERM, and give both back as they were."""
    before = {}
    try:
        for number in (signal.SIGINT, signal.SIGTERM):
            was = signal.getsignal(number)
            loop.add_signal_handler(number, interrupted)
            before[number] = was
    except (NotImplementedError, RuntimeError, ValueError):
        pass  # not in the main thread, or a loop that has no signals: nothing to catch
    try:
        yield
    finally:
        for number, was in before.items():
            loop.remove_signal_handler(number)
            signal.signal(number, was)
