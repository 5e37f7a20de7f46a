"""An event loop whose time passes at once: minutes of load in milliseconds.

time = VirtualTime()
run_plan(plan, Server(seconds=0.03), settings, clock=time.clock, loop_factory=time.loop)
"""

from __future__ import annotations

import asyncio
import math
import selectors
from typing import TYPE_CHECKING, Any

from tools.load.clock import Clock
from tools.load.targets.answers import Answer

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["Server", "VirtualTime"]

EPOCH_NS = 1_800_000_000 * 10**9


class VirtualTime:
    """Nanoseconds that pass only while nothing can happen."""

    def __init__(self) -> None:
        """Begin some time after the machine's start."""
        self.now_ns = 5 * 10**9
        self.clock = Clock(lambda: self.now_ns, lambda: EPOCH_NS + self.now_ns)

    def loop(self) -> asyncio.AbstractEventLoop:
        """Make a loop that lives in this time."""
        return _VirtualLoop(self)


class _VirtualSelector(selectors.SelectSelector):
    def __init__(self, time: VirtualTime) -> None:
        super().__init__()
        self.virtual = time

    def select(self, timeout: float | None = None) -> Any:
        ready = super().select(0)
        if ready:
            return ready
        assert timeout is not None, "nothing is due any more: the run hangs"
        self.virtual.now_ns += math.ceil(timeout * 1e9)
        return []


class _VirtualLoop(asyncio.SelectorEventLoop):
    def __init__(self, time: VirtualTime) -> None:
        self.virtual = time
        super().__init__(_VirtualSelector(time))

    def time(self) -> float:
        return self.virtual.now_ns / 1e9


class Server:
    """A system under test with so many places and a service time.

    Attributes:
        asked: the items in the order in which they were asked for.
        closed: whether the run closed it.

    """

    def __init__(
        self,
        seconds: float | Callable[[str], float],
        places: int = 1,
        error: Callable[[int], str | None] = lambda _: None,
    ) -> None:
        """Open the places; `error` tells what goes wrong with which request."""
        self.seconds = seconds
        self.places = places
        self.free: asyncio.Semaphore | None = None
        self.error = error
        self.asked: list[str] = []
        self.closed = False

    async def answer(self, item: str) -> Answer:
        """Wait for a place, in the order of arrival, and be served."""
        if self.free is None:
            self.free = asyncio.Semaphore(self.places)
        number = len(self.asked)
        self.asked.append(item)
        async with self.free:
            wait = self.seconds
            await asyncio.sleep(wait if isinstance(wait, float) else wait(item))
        return Answer(self.error(number))

    def close(self) -> None:
        """Take note."""
        self.closed = True
