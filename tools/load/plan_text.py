"""A plan's statistics as text, tables and bars."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from registry.documents.findings import shown

__all__ = ["COLUMNS", "as_csv", "as_lines", "as_markdown"]

COLUMNS: Final = ("name", "weight", "count", "share")
_BAR: Final = 40
_ROWS: Final = 40
"""How many items are shown one by one."""


def as_lines(facts: Mapping[str, Any]) -> Iterator[str]:
    """Statistics for people: facts, then bars of items and of arrivals."""
    popularity, arrivals = _named(facts["popularity"]), _named(facts["arrivals"])
    yield f"popularity   {popularity}, weights by {facts['weights']}"
    yield f"arrivals     {arrivals}"
    yield f"requests     {facts['requests']} with seed {facts['seed']}"
    if facts["covered"]:
        yield f"cover        {facts['covered']} requests changed for items not drawn"
    if facts["skipped"]:
        yield f"skipped      {facts['skipped']} draws, as TRIMS does"
    asked = f"{facts['items_asked_for']} of {facts['items']}"
    yield f"items        {asked} asked for, the top one has {facts['top_share']:.2%}"
    yield (
        f"entropy      {facts['entropy_nats']:.4g} nats by weight,"
        f" {facts['realised_entropy_nats']:.4g} in the draws"
    )
    yield (
        f"effective    {facts['effective_items']:.4g} items by weight,"
        f" {facts['realised_effective_items']:.4g} in the draws"
    )
    yield ""
    yield from _item_bars(facts["counts"])
    if facts["schedule"] is not None:
        yield ""
        yield from _schedule(facts["schedule"])


def as_csv(facts: Mapping[str, Any]) -> str:
    """The items' counts as CSV."""
    text = io.StringIO()
    writer = csv.DictWriter(text, COLUMNS, lineterminator="\n")
    writer.writeheader()
    writer.writerows(facts["counts"])
    return text.getvalue()


def as_markdown(facts: Mapping[str, Any]) -> str:
    """The items' counts as a Markdown table."""
    lines = [f"| {' | '.join(COLUMNS)} |", "|---|---|---|---|"]
    for row in facts["counts"]:
        name = shown(row["name"]).replace("|", "\\|")
        lines.append(
            f"| {name} | {row['weight']:.6g} | {row['count']} | {row['share']:.6g} |"
        )
    return "\n".join(lines) + "\n"


def _named(entry: Mapping[str, Any]) -> str:
    values = ", ".join(
        f"{name}={value if isinstance(value, str) else format(value, 'g')}"
        for name, value in entry.items()
        if name != "kind"
    )
    return f"{entry['kind']}:{values}" if values else str(entry["kind"])


def _item_bars(counts: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    width = max(4, *(len(shown(row["name"])) for row in counts[:_ROWS]))
    most = max(1, *(row["count"] for row in counts))
    yield f"{'item':{width}}  {'weight':>9}  {'count':>9}"
    for row in counts[:_ROWS]:
        bar = "#" * round(_BAR * row["count"] / most)
        line = f"{shown(row['name']):{width}}  {row['weight']:9.3%}  {row['count']:9}"
        yield f"{line}  {bar}".rstrip()
    if len(counts) > _ROWS:
        rest = sum(row["count"] for row in counts[_ROWS:])
        yield f"and {len(counts) - _ROWS} more items with {rest} requests"


def _schedule(facts: Mapping[str, Any]) -> Iterator[str]:
    yield f"span         {facts['span_seconds']:.6g} s"
    if facts["realised_rate"] is not None:
        nominal = facts["nominal_rate"]
        asked = "" if nominal is None else f", {nominal:.6g} asked for"
        error = f"{facts['realised_rate']:.6g} ± {facts['realised_rate_error']:.2g}"
        yield f"rate         {error} a second{asked}"
    if facts["gap_mean_seconds"] is not None:
        cv = "none" if facts["gap_cv"] is None else f"{facts['gap_cv']:.3g}"
        yield f"gaps         {facts['gap_mean_seconds']:.6g} s on average, CV {cv}"
    most = max(1, *facts["histogram"])
    step = facts["span_seconds"] / len(facts["histogram"])
    for number, count in enumerate(facts["histogram"]):
        bar = "#" * round(_BAR * count / most)
        yield f"{number * step:10.4g} s  {count:9}  {bar}".rstrip()
