"""Tables for people that can be read at any width.

A terminal that is too narrow for a table gets it in parts, each with the first column
again: a folded number cannot be read, and a column that is left out is not missed. Only
texts are folded. In a log and in a file nothing is parted, so that a row stays a line.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from typing import Final, TextIO

__all__ = ["WIDTH", "print_columns"]

WIDTH: Final = 200
"""Beyond so many columns texts are folded where there is no terminal."""
_FOLDED: Final = 32
"""A table is parted before a text is folded to less than so many columns."""
_GAP: Final = 2


def print_columns(
    heads: Sequence[str],
    rows: Sequence[Sequence[str]],
    out: TextIO,
    *,
    numbers: Collection[int] = (),
) -> None:
    """Print rows under their heads.

    Args:
        heads: the name of each column.
        rows: a text for each column.
        out: where to; how wide it is decides how the table is laid out.
        numbers: the columns that are aligned to the right and never folded.
    """
    from rich.cells import cell_len
    from rich.console import Console

    columns = list(zip(heads, *rows, strict=True))
    natural = [max(map(cell_len, column)) for column in columns]
    least = [
        width if at in numbers else min(width, _FOLDED)
        for at, width in enumerate(natural)
    ]
    terminal = out.isatty()
    console = Console(file=out, width=None if terminal else WIDTH)
    width = console.width
    parts = _parts(least, width) if terminal else [list(range(len(least)))]
    for number, part in enumerate(parts):
        if number:
            out.write("\n")
        # Wider than wide, a line is broken by the terminal: better than cut off.
        console.width = max(width, _total([least[at] for at in part]))
        with console.capture() as shown:
            console.print(_table([columns[at] for at in part], part, numbers, least))
        # Rich fills lines up to the width of the last column.
        lines = shown.get().splitlines()
        out.writelines(f"{line.rstrip()}\n" for line in lines)


def _total(widths: Sequence[int]) -> int:
    return sum(widths) + _GAP * (len(widths) - 1)


def _parts(least: Sequence[int], width: int) -> Iterator[list[int]]:
    """Columns that fit beside each other, the first one always among them."""
    part = [0]
    for at in range(1, len(least)):
        if len(part) > 1 and _total([least[one] for one in [*part, at]]) > width:
            yield part
            part = [0]
        part.append(at)
    yield part


def _table(
    columns: Sequence[Sequence[str]],
    part: Sequence[int],
    numbers: Collection[int],
    least: Sequence[int],
) -> object:
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, pad_edge=False)
    for at, column in zip(part, columns, strict=True):
        if at in numbers:
            table.add_column(Text(column[0]), justify="right", no_wrap=True)
        else:
            table.add_column(Text(column[0]), overflow="fold", min_width=least[at])
    for row in zip(*(column[1:] for column in columns), strict=True):
        table.add_row(*map(Text, row))
    return table
