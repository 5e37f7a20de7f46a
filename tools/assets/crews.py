"""Work for several threads, which nobody waits for after Ctrl-C.

The threads are daemons, unlike those of `concurrent.futures`: a download of hours must
not hold up the end of the program. What it leaves half done is taken up the next time.
"""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable, Sequence
from typing import TypeVar

__all__ = ["each"]

_Item = TypeVar("_Item")
_Result = TypeVar("_Result")


def each(
    work: Callable[[_Item], _Result], items: Sequence[_Item], jobs: int
) -> list[_Result]:
    """Do some work with every item, several at a time.

    Args:
        work: is called in one of the threads.
        items: what it is called with.
        jobs: how many threads there are at most.

    Returns:
        What it returned for each item, in their order.

    Raises:
        BaseException: whatever `work` raised first; no further item is begun then, nor
            after an interruption.

    """
    waiting: queue.SimpleQueue[int] = queue.SimpleQueue()
    done: queue.SimpleQueue[tuple[int, _Result] | BaseException] = queue.SimpleQueue()
    over = threading.Event()
    for number in range(len(items)):
        waiting.put(number)

    def serve() -> None:
        while not over.is_set():
            try:
                number = waiting.get_nowait()
            except queue.Empty:
                return
            try:
                done.put((number, work(items[number])))
            except BaseException as error:  # noqa: BLE001  told to whoever waits
                over.set()
                done.put(error)

    results: dict[int, _Result] = {}
    try:
        for number in range(min(max(1, jobs), len(items))):
            threading.Thread(target=serve, name=f"crew-{number}", daemon=True).start()
        while len(results) < len(items):
            one = done.get()
            if isinstance(one, BaseException):
                raise one
            results[one[0]] = one[1]
    finally:
        over.set()
    return [results[number] for number in range(len(items))]
