"""A packet as Markdown, for a file and for the step summary of a workflow.

GitHub shows no inline SVG there, but Mermaid charts; other readers see lines of plain
characters.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from registry.publish.escape import code_span, fenced, markdown
from registry.review.page import Code, Figure, Listing, Paragraph

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from registry.review.page import Block, Cell, Packet, Table

__all__ = ["SUMMARY_BYTES", "as_markdown"]

SUMMARY_BYTES: Final = 900_000
"""GitHub refuses a step summary of more than 1 MiB."""

_ROWS: Final = (1_000, 300, 100, 30, 10, 3, 0)


def as_markdown(packet: Packet, limit: int = SUMMARY_BYTES) -> str:
    """Write a packet as Markdown; every text in it is escaped here.

    Args:
        packet: the packet.
        limit: the most bytes; tables lose their last rows until all fits.
    """
    text = ""
    for most in _ROWS:
        text = "\n".join(_page(packet, most)) + "\n"
        if len(text.encode("utf-8")) <= limit:
            return text
    return text.encode("utf-8")[: max(limit, 0)].decode("utf-8", "ignore")


def _page(packet: Packet, most: int) -> Iterator[str]:
    yield f"# {_line(packet.title)}"
    yield ""
    for section in packet.sections:
        yield f"## {markdown(section.title)}"
        yield ""
        for block in section.blocks:
            yield from _block(block, most)
            yield ""
    yield f"Base {code_span(packet.base)}, head {code_span(packet.head)}."


def _block(block: Block, most: int) -> Iterator[str]:
    if isinstance(block, Paragraph):
        yield _line(block.pieces)
    elif isinstance(block, Listing):
        yield from (f"- {_line(point)}" for point in block.points)
    elif isinstance(block, Figure):
        yield from _figure(block)
    else:
        yield from _table(block, most)


def _figure(block: Figure) -> Iterator[str]:
    yield f"**{markdown(block.caption)}**"
    yield ""
    if block.chart:
        yield "```mermaid"
        yield from (fenced(line) for line in block.chart.splitlines())
        yield "```"
        yield ""
    if block.lines:
        yield "```text"
        yield from (fenced(line) for line in block.lines)
        yield "```"


def _table(block: Table, most: int) -> Iterator[str]:
    yield f"**{markdown(block.caption)}**"
    yield ""
    yield _row(block.columns)
    yield "|" + "---|" * len(block.columns)
    yield from (_row(row) for row in block.rows[:most])
    if len(block.rows) > most:
        yield ""
        yield f"{len(block.rows) - most} more rows are in the packet's other forms."


def _row(cells: Sequence[Cell]) -> str:
    return f"| {' | '.join(_cell(cell, start=False) for cell in cells)} |"


def _line(pieces: Iterable[Cell]) -> str:
    return "".join(_cell(piece) for piece in pieces)


def _cell(cell: Cell, *, start: bool = True) -> str:
    if isinstance(cell, Code):
        return code_span(cell.text)
    return markdown(cell, 600, start=start)
