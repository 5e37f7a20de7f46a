"""Threads for calls that block, as many as are in flight and no more.

They are daemons, unlike those of `concurrent.futures`: after an interruption, an answer
that never comes does not hold up the end of the program.
"""

from __future__ import annotations

import asyncio
import queue
import threading
from collections.abc import Callable
from contextlib import suppress
from typing import Any, TypeAlias

from tools.load.targets.answers import Answer, told

__all__ = ["Workers"]

_Task: TypeAlias = tuple[asyncio.AbstractEventLoop, "asyncio.Future[Answer]", str]


class Workers:
    """A target that calls a function which blocks, in threads of its own."""

    def __init__(
        self,
        ask: Callable[[str], str | None],
        most: int,
        now_ns: Callable[[], int],
        close: Callable[[], None] = lambda: None,
    ) -> None:
        """Keep a function; threads start when they are needed.

        Args:
            ask: asks for an item and returns what went wrong, or None.
            most: how many calls run at once at most; more wait for a free thread.
            now_ns: the clock of the run.
            close: ends what still runs.
        """
        self._ask = ask
        self._most = most
        self._now_ns = now_ns
        self._close = close
        self._tasks: queue.SimpleQueue[_Task | None] = queue.SimpleQueue()
        self._idle = threading.Semaphore(0)
        self._threads = 0

    async def answer(self, item: str) -> Answer:
        """Call the function in a free thread; times are taken there."""
        loop = asyncio.get_running_loop()
        future: asyncio.Future[Answer] = loop.create_future()
        self._tasks.put((loop, future, item))
        if not self._idle.acquire(blocking=False) and self._threads < self._most:
            self._threads += 1
            name = f"load-{self._threads}"
            threading.Thread(target=self._work, name=name, daemon=True).start()
        return await future

    def close(self) -> None:
        """End what still runs, and the threads after it."""
        for _ in range(self._threads):
            self._tasks.put(None)
        self._close()

    def _work(self) -> None:
        while (task := self._tasks.get()) is not None:
            loop, future, item = task
            started = self._now_ns()
            try:
                error = self._ask(item)
            except BaseException as raised:  # noqa: BLE001 - even SystemExit is an answer
                error = told(raised)
            answer = Answer(error, started, self._now_ns())
            with suppress(RuntimeError):  # the loop is over: nobody waits any more
                loop.call_soon_threadsafe(_settle, future, answer)
            self._idle.release()


def _settle(future: Any, answer: Answer) -> None:
    if not future.done():
        future.set_result(answer)
