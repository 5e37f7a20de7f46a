"""The catalogue of columns as a page for people."""

from __future__ import annotations

from registry.documents import decimals
from registry.documents.columns import TABLES, Column, catalogue
from registry.documents.workloads import OTHER, WORKLOADS

__all__ = ["columns_page"]

_HEAD = """# Columns

Counters are raw and end in `_total`. Where a bundle says that it is derived, and in
levels.csv, a counter `X_total` may stand as its mean rate `X_per_second`, and
`X_joules_total` as `X_watts`. `{n}` is an index from 0. Missing values are empty,
never 0.
"""


def columns_page() -> str:
    """Return the catalogue as a Markdown document, one table for each CSV file."""
    return "\n".join([_HEAD, *(_table(name) for name in TABLES), _workloads()])


def _table(table: str) -> str:
    rows = [_row(entry, table) for entry in catalogue() if table in entry.tables]
    return "\n".join(
        [
            f"## {table}.csv",
            "",
            "| column | kind | unit | values | meaning | read from | Kepler | guests |",
            "|---|---|---|---|---|---|---|---|",
            *rows,
            "",
        ]
    )


def _workloads() -> str:
    rows = [
        f"| `{entry.id}` | {entry.meaning} | {'yes' if entry.target else 'no'} |"
        for entry in WORKLOADS.values()
    ]
    return "\n".join(
        [
            "## Workloads",
            "",
            f"Any other workload is `{OTHER}`, or a pseudonym that you draw at random:",
            "`w_` and 12 of the characters a-z and 2-7.",
            "",
            "| workload | what runs | profile timeseries asks for it |",
            "|---|---|---|",
            *rows,
            "",
        ]
    )


def _row(entry: Column, table: str) -> str:
    needed = " (required)" if table in entry.required else ""
    kepler = entry.feature or (entry.power and f"{entry.power}:{entry.zone}")
    cells = (
        f"`{entry.name}`{needed}",
        entry.kind,
        entry.unit,
        _extent(entry),
        entry.meaning,
        entry.source,
        kepler,
        "yes" if entry.vm_visible else "no",
    )
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"


def _extent(entry: Column) -> str:
    if entry.kind == "text":
        return ", ".join(entry.values) or "see Workloads"
    return f"{decimals.plain(entry.minimum)} … {decimals.plain(entry.maximum)}"
