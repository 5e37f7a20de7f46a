"""Tables as subcommands print them: for people, as CSV, JSON or Markdown."""

from __future__ import annotations

import csv
import io
import json
import sys
from collections.abc import Mapping, Sequence
from typing import Any

from tools.commands.forms import Form

__all__ = ["Row", "as_csv", "as_markdown", "cell", "counted", "print_table"]

Row = Mapping[str, Any]


def print_table(
    rows: Sequence[Row],
    form: Form,
    document: Mapping[str, Any],
    *,
    title: str | None = None,
) -> None:
    """Print rows in the form that was asked for.

    Args:
        rows: columns by name; all rows have the same.
        form: how.
        document: what JSON says instead.
        title: a line above the table for people.
    """
    out = sys.stdout
    if form is Form.JSON:
        text = json.dumps(document, indent=2, sort_keys=True, allow_nan=False)
        out.write(f"{text}\n")
    elif form is Form.CSV:
        out.write(as_csv(rows))
    elif form is Form.MD:
        out.write(as_markdown(rows))
    else:
        _print_rich(rows, title)


def counted(number: int, noun: str) -> str:
    """Say how many: 1 run, 2 runs."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def cell(value: object) -> str:
    """Show a value in a table: floats to four digits, nothing for None."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    return f"{value:.4g}" if isinstance(value, float) else str(value)


def as_csv(rows: Sequence[Row]) -> str:
    """Rows as CSV, numbers in full; a text that a spreadsheet would run is quoted."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    if rows:
        writer.writerow(rows[0])
    for row in rows:
        writer.writerow(
            f"'{value}"
            if isinstance(value, str) and value[:1] in {"=", "+", "-", "@"}
            else ("" if value is None else value)
            for value in row.values()
        )
    return out.getvalue()


def as_markdown(rows: Sequence[Row]) -> str:
    """Rows as a Markdown table."""
    if not rows:
        return ""
    lines = [list(rows[0]), ["---"] * len(rows[0])]
    lines += [[_escaped(cell(value)) for value in row.values()] for row in rows]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def _escaped(text: str) -> str:
    plain = text.replace("\\", "\\\\").replace("|", "\\|").replace("\n", " ")
    return plain.replace("<", "&lt;").replace("`", "\\`")


def _print_rich(rows: Sequence[Row], title: str | None) -> None:
    if title:
        sys.stdout.write(f"{title}\n")
    if not rows:
        return
    from tools.commands.columns import print_columns  # only where a table is drawn

    print_columns(
        list(rows[0]),
        [[cell(value) for value in row.values()] for row in rows],
        sys.stdout,
        numbers=[at for at, name in enumerate(rows[0]) if _numeric(rows, name)],
    )


def _numeric(rows: Sequence[Row], name: str) -> bool:
    return all(isinstance(row[name], int | float | None) for row in rows)
