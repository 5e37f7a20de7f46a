"""One line that says what long work is doing, at a terminal; silence elsewhere."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

__all__ = ["progress_line"]


def _silent(_: str) -> None:
    """Say nothing: nobody watches a log while it is written."""


@contextmanager
def progress_line(*, hidden: bool = False) -> Iterator[Callable[[str], None]]:
    """Give a function that shows its text as the line of progress.

    Args:
        hidden: whether to stay silent even at a terminal.
    """
    if hidden or not sys.stderr.isatty():
        yield _silent
        return
    from rich.console import Console  # noqa: PLC0415 - slow import
    from rich.text import Text  # noqa: PLC0415

    with Console(stderr=True).status(Text("…")) as status:
        yield lambda line: status.update(Text(line))
