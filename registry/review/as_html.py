"""A packet as one HTML file that loads nothing, runs nothing and needs no network."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from registry.publish.escape import html
from registry.review.page import Code, Figure, Listing, Paragraph, plain

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from registry.review.page import Block, Cell, Packet, Section, Table

__all__ = ["as_html"]

# Drawings carry their style in attributes; nothing but style is allowed at all.
_POLICY: Final = (
    "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'"
)
_STYLE: Final = """\
:root { color-scheme: light; }
body { font: 16px/1.5 system-ui, sans-serif; color: #1b1f24; background: #fff;
  margin: 0 auto; max-width: 62rem; padding: 1rem 1.25rem 4rem; }
h1 { font-size: 1.6rem; line-height: 1.25; margin: .5rem 0 1rem; }
h2 { font-size: 1.25rem; margin: 2.25rem 0 .5rem; padding-top: .5rem;
  border-top: 1px solid #d0d7de; }
nav ul { display: flex; flex-wrap: wrap; gap: .25rem 1rem; list-style: none;
  margin: 0; padding: 0; }
code { font: .9em ui-monospace, monospace; background: #f1f3f5; padding: .1em .3em;
  border-radius: 3px; overflow-wrap: break-word; }
table { border-collapse: collapse; font-size: .9rem; }
caption { text-align: left; font-weight: 600; padding: .5rem 0; }
th, td { border: 1px solid #d0d7de; padding: .25rem .5rem; text-align: left;
  vertical-align: top; }
thead th { background: #f6f8fa; }
tbody th { font-weight: 400; }
.wide { overflow-x: auto; margin: .75rem 0; }
@media (max-width: 40rem) { td { min-width: 4.5rem; }
  td:last-child:not(:nth-child(-n+2)) { min-width: 14rem; } }
figure { margin: 1rem 0; }
figure svg { max-width: 100%; height: auto; }
figcaption { font-size: .9rem; color: #434d58; }
footer { margin-top: 3rem; font-size: .85rem; color: #434d58; }
a { color: #0757ba; }
"""


def as_html(packet: Packet) -> str:
    """Write a packet as a page; every text in it is escaped here.

    Drawings are taken as they are: `drawing` made them and escaped their texts.
    """
    title = plain(packet.title)
    lines = [
        "<!DOCTYPE html>",
        '<html lang="en">',
        "<head>",
        '<meta charset="utf-8">',
        f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">',
        '<meta name="referrer" content="no-referrer">',
        '<meta name="viewport" content="width=device-width, initial-scale=1">',
        f"<title>{html(title)}</title>",
        f"<style>\n{_STYLE}</style>",
        "</head>",
        "<body>",
        "<header>",
        f"<h1>{_line(packet.title)}</h1>",
        '<nav aria-label="Sections">',
        "<ul>",
        *(
            f'<li><a href="#{html(one.id)}">{html(one.title)}</a></li>'
            for one in packet.sections
        ),
        "</ul>",
        "</nav>",
        "</header>",
        "<main>",
    ]
    for section in packet.sections:
        lines += _section(section)
    lines += [
        "</main>",
        "<footer>",
        f"<p>Base {_cell(Code(packet.base))}, head {_cell(Code(packet.head))}.</p>",
        "</footer>",
        "</body>",
        "</html>",
    ]
    return "\n".join(lines) + "\n"


def _section(section: Section) -> Iterator[str]:
    name = html(section.id)
    yield f'<section id="{name}" aria-labelledby="{name}-title">'
    yield f'<h2 id="{name}-title">{html(section.title)}</h2>'
    for block in section.blocks:
        yield from _block(block)
    yield "</section>"


def _block(block: Block) -> Iterator[str]:
    if isinstance(block, Paragraph):
        yield f"<p>{_line(block.pieces)}</p>"
    elif isinstance(block, Listing):
        yield "<ul>"
        yield from (f"<li>{_line(point)}</li>" for point in block.points)
        yield "</ul>"
    elif isinstance(block, Figure):
        yield "<figure>"
        yield block.svg
        yield f"<figcaption>{html(block.caption)}</figcaption>"
        yield "</figure>"
    else:
        yield from _table(block)


def _table(block: Table) -> Iterator[str]:
    # What may be scrolled must be reachable by the keyboard, and have a name.
    caption = html(block.caption)
    yield f'<div class="wide" role="region" aria-label="{caption}" tabindex="0">'
    yield "<table>"
    yield f"<caption>{caption}</caption>"
    heads = "".join(f'<th scope="col">{html(name)}</th>' for name in block.columns)
    yield f"<thead><tr>{heads}</tr></thead>"
    yield "<tbody>"
    for row in block.rows:
        cells = "".join(f"<td>{_cell(cell)}</td>" for cell in row[1:])
        yield f'<tr><th scope="row">{_cell(row[0])}</th>{cells}</tr>'
    yield "</tbody>"
    yield "</table>"
    yield "</div>"


def _line(pieces: Iterable[Cell]) -> str:
    return "".join(_cell(piece) for piece in pieces)


def _cell(cell: Cell) -> str:
    return f"<code>{html(cell.text)}</code>" if isinstance(cell, Code) else html(cell)
