"""One line that says what long work is doing, at a terminal; silence elsewhere."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from registry.documents.findings import shown
from registry.documents.limits import MESSAGE_CHARACTERS

__all__ = ["progress_line"]


def _silent(_: str) -> None:
    """Say nothing: nobody watches a log while it is written."""


@contextmanager
def progress_line(*, hidden: bool = False) -> Iterator[Callable[[str], None]]:
    """Give a function that shows its text as the line of progress.

    Names of files and what programs print may stand in it: they are shown escaped.

    Args:
        hidden: whether to stay silent even at a terminal.
    """
    if hidden or not sys.stderr.isatty():
        yield _silent
        return
    from rich.console import Console  # noqa: PLC0415 - slow import
    from rich.text import Text  # noqa: PLC0415

    with Console(stderr=True).status(Text("…")) as status:
        yield lambda line: status.update(Text(shown(line, MESSAGE_CHARACTERS)))
