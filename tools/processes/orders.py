"""Signals that end a command in an orderly way: everything it holds is put down.

    with orders_unwind(), ExitStack() as stack:
        with orders_held():
            child = stack.enter_context(Child(command))

A signal that comes while a program is being started would leave it without anybody who
knows of it. So such an order is held back until the program is in somebody's care.
"""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

__all__ = ["OrderedEndError", "orders_held", "orders_unwind"]

_SIGNALS: Final = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


class OrderedEndError(SystemExit):
    """Somebody asked this command to end: it leaves with 128 plus the signal's number.

    It is no error, so nothing else catches it; event loops let it through.

    Attributes:
        sign: the number of the signal.

    """

    def __init__(self, sign: int) -> None:
        """Take the signal's number."""
        super().__init__(128 + sign)
        self.sign = sign


class _Held:
    """How many blocks hold orders back, and the first order that came meanwhile.

    A handler that is swapped for a block cannot be: a signal would come between.
    """

    def __init__(self) -> None:
        self.blocks = 0
        self.order: int | None = None

    def take(self, sign: int, _: object) -> None:
        if not self.blocks:
            raise OrderedEndError(sign)
        self.order = self.order or sign


_held: Final = _Held()


@contextmanager
def orders_unwind() -> Iterator[None]:
    """For a block, raise `OrderedEndError` at Ctrl-C, SIGTERM and a closed terminal.

    A signal that was ignored before, as under nohup, stays so.
    """
    kept = {one: signal.getsignal(one) for one in _SIGNALS}
    for one, handler in kept.items():
        if handler is not signal.SIG_IGN:
            signal.signal(one, _held.take)
    try:
        yield
    finally:
        for one, handler in kept.items():
            signal.signal(one, handler)


@contextmanager
def orders_held() -> Iterator[None]:
    """Hold orders back for a block, which must be short; they count at its end.

    Only orders that `orders_unwind` would raise are held.

    Raises:
        OrderedEndError: one came meanwhile.
    """
    _held.blocks += 1
    try:
        yield
    finally:
        _held.blocks -= 1
        if not _held.blocks and _held.order is not None:
            order, _held.order = _held.order, None
            raise OrderedEndError(order)
