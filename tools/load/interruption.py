"""Signals that end a run, caught for as long as it can end in order."""

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
    """Call a function on Ctrl-C, SIGTERM and a closed terminal.

    All are given back as they were; one that is ignored, as under nohup, stays so.
    """
    before = {}
    try:
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            was = signal.getsignal(number)
            if was is signal.SIG_IGN:
                continue
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
