"""The time of a run: a clock, instants on it, and a loop that wakes up on time."""

from __future__ import annotations

import asyncio
import selectors
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

__all__ = ["Clock", "Window", "precise_loop"]


@dataclass(frozen=True, slots=True)
class Clock:
    """Where a run has its time from.

    Attributes:
        now_ns: nanoseconds that never go back, on which answers are timed too.
        epoch_ns: nanoseconds since 1970.
        sleep: waits for seconds.

    """

    now_ns: Callable[[], int] = time.monotonic_ns
    epoch_ns: Callable[[], int] = time.time_ns
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep


@dataclass(frozen=True, slots=True)
class Window:
    """An instant on both clocks, for cutting a monitor's samples."""

    monotonic_ns: int
    epoch_ns: int


def precise_loop() -> asyncio.AbstractEventLoop:
    """An event loop that wakes up on time.

    epoll waits for whole milliseconds, and half of one is half of many a service time;
    select waits for microseconds, and this loop watches one descriptor only.
    """
    return asyncio.SelectorEventLoop(selectors.SelectSelector())
