"""Signals that end a command in an orderly way: everything it holds is put down."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final, NoReturn

__all__ = ["OrderedEndError", "orders_unwind"]

_SIGNALS: Final = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


class OrderedEndError(BaseException):
    """Somebody asked this command to end; no error, so nothing else catches it.

    Attributes:
        sign: the number of the signal.

    """

    def __init__(self, sign: int) -> None:
        """Take the signal's number."""
        super().__init__(sign)
        self.sign = sign


@contextmanager
def orders_unwind() -> Iterator[None]:
    """For a block, raise `OrderedEndError` at Ctrl-C, SIGTERM and a closed terminal.

    A signal that was ignored before, as under nohup, stays so.
    """
    kept = {one: signal.getsignal(one) for one in _SIGNALS}
    for one, handler in kept.items():
        if handler is not signal.SIG_IGN:
            signal.signal(one, _raise)
    try:
        yield
    finally:
        for one, handler in kept.items():
            signal.signal(one, handler)


def _raise(sign: int, _: object) -> NoReturn:
    raise OrderedEndError(sign)
