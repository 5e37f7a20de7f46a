"""A packet as data: sections of paragraphs, tables and figures, in no form yet.

Texts in it are as they came, foreign ones too: whoever writes a form of the packet
escapes every one of them (`as_markdown`, `as_html`, `as_json`).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

__all__ = [
    "Block",
    "Cell",
    "Code",
    "Figure",
    "Listing",
    "Packet",
    "Paragraph",
    "Section",
    "Table",
    "facts_table",
    "plain",
]


@dataclass(frozen=True, slots=True)
class Code:
    """A text in code font."""

    text: str


Cell = str | Code


@dataclass(frozen=True, slots=True)
class Paragraph:
    """Pieces of text that follow each other."""

    pieces: tuple[Cell, ...]

    @classmethod
    def of(cls, *pieces: Cell) -> Paragraph:
        """Make a paragraph of its pieces."""
        return cls(pieces)


@dataclass(frozen=True, slots=True)
class Listing:
    """Short points, one below the other."""

    points: tuple[tuple[Cell, ...], ...]


@dataclass(frozen=True, slots=True)
class Table:
    """A table; every row has as many cells as there are columns.

    Attributes:
        caption: what it shows.
        columns: headings; the first column names the row.
        rows: cells.
    """

    caption: str
    columns: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]


@dataclass(frozen=True, slots=True)
class Figure:
    """A drawing, and what tells the same where no drawing can be shown.

    Attributes:
        name: letters and hyphens, unique in the packet.
        caption: what it shows; also its text alternative.
        svg: the drawing, an ``<svg>`` element made by `drawing`.
        chart: the same as a Mermaid chart made by `sketches`, or empty.
        lines: the same as lines of plain characters.
    """

    name: str
    caption: str
    svg: str
    chart: str = ""
    lines: tuple[str, ...] = ()


Block = Paragraph | Listing | Table | Figure


@dataclass(frozen=True, slots=True)
class Section:
    """One subject of a packet.

    Attributes:
        id: letters and hyphens, unique in the packet.
        title: its heading.
        blocks: what it shows.
        facts: the same for programs.
        notes: what a maintainer should look at, for the top of the packet.
    """

    id: str
    title: str
    blocks: tuple[Block, ...]
    facts: Mapping[str, Any] = field(default_factory=dict)
    notes: tuple[tuple[Cell, ...], ...] = ()


@dataclass(frozen=True, slots=True)
class Packet:
    """All that a maintainer should see of one change.

    Attributes:
        title: what the change is.
        kind: ``bundle``, ``withdrawal``, ``trust`` or ``code``.
        base: the commit that it is to be merged into.
        head: the commit that is proposed.
        sections: the subjects, the most important first.
    """

    title: tuple[Cell, ...]
    kind: str
    base: str
    head: str
    sections: tuple[Section, ...]

    def section(self, name: str) -> Section | None:
        """Find a section by its id."""
        return next((one for one in self.sections if one.id == name), None)


def facts_table(caption: str, facts: Iterable[tuple[str, Cell]]) -> Table:
    """Make a table of names and values; empty values are left out."""
    rows = tuple((name, value) for name, value in facts if value not in ("", Code("")))
    return Table(caption, ("what", "value"), rows)


def plain(pieces: Iterable[Cell]) -> str:
    """Give pieces as one text without any font; it is not escaped."""
    return "".join(one.text if isinstance(one, Code) else one for one in pieces)
