"""A page about runs, in Markdown or HTML: what ran, how long, and what failed."""

from __future__ import annotations

import html
import statistics
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from tools.experiments.metrics import joules
from tools.experiments.record import Run
from tools.experiments.series import HeatMap, heat_map

__all__ = ["Heat", "Section", "as_html", "as_markdown", "sections"]

_FAILED: Final = 100
"""How many runs that do not count are listed one by one."""


@dataclass(frozen=True, slots=True)
class Heat:
    """What a heat map of a report shows: two conditions and a metric."""

    x: str
    y: str
    value: str


@dataclass(frozen=True, slots=True)
class Section:
    """A part of a report.

    Attributes:
        title: Its heading.
        lines: Sentences before its table.
        header: Names of the columns; empty if there is no table.
        rows: The cells.
        shades: For each cell of a heat map how far it is from the least (0) to the
            greatest (1); None for cells without a colour.
    """

    title: str
    lines: tuple[str, ...] = ()
    header: tuple[str, ...] = ()
    rows: tuple[tuple[str, ...], ...] = ()
    shades: tuple[tuple[float | None, ...], ...] = ()


def sections(runs: Sequence[Run], heat: Heat | None = None) -> list[Section]:
    """Return the parts of a report.

    Args:
        runs: at least one run.
        heat: the heat map that is wanted.

    Raises:
        RegistryError: B041, B070: the heat map has no such metric or condition.
    """
    parts = [_overview(runs), _workloads(runs)]
    if heat is not None:
        parts.append(_heat_section(heat_map(runs, heat.x, heat.y, heat.value), heat))
    failed = [run for run in runs if not run.accepted]
    return [*parts, _failed(failed)] if failed else parts


def _overview(runs: Sequence[Run]) -> Section:
    names = dict.fromkeys(run.experiment for run in runs)
    descriptions = dict.fromkeys(run.description for run in runs if run.description)
    hosts = dict.fromkeys(f"{run.host.cpu}, {run.host.cores} cores" for run in runs)
    failed = sum(not run.accepted for run in runs)
    first, last = (end(run.started for run in runs) for end in (min, max))
    counts = f"{len(runs)} runs, {failed} of which do not count"
    return Section(
        f"Runs of {_few(names)}",
        (
            *([f"{_few(descriptions)}."] if descriptions else []),
            f"{counts}, from {first} to {last}.",
            f"On {_few(hosts)}.",
        ),
    )


def _few(texts: Iterable[str]) -> str:
    listed = list(texts)
    more = f" and {len(listed) - 5} more" if len(listed) > 5 else ""
    return "; ".join(listed[:5]) + more


def _workloads(runs: Sequence[Run]) -> Section:
    grouped: dict[tuple[str, str], list[Run]] = {}
    for run in runs:
        if not run.warm_up:
            grouped.setdefault((run.label, run.variant), []).append(run)
    numbers: tuple[Callable[[Run], float | None], ...] = (
        lambda run: run.wall_seconds,
        lambda run: run.user_seconds + run.system_seconds,
        lambda run: run.performance,
        joules,
    )
    rows = []
    for (label, variant), own in sorted(grouped.items()):
        good = [run for run in own if run.accepted]
        cells = (_median(number(run) for run in good) for number in numbers)
        rows.append((label, variant, str(len(own)), str(len(own) - len(good)), *cells))
    header = ("workload", "variant", "runs", "failed", "wall s", "CPU s")
    lines = ("Medians of the runs that count, warm-ups left out.",)
    return Section(
        "Workloads", lines, (*header, "performance", "energy J"), tuple(rows)
    )


def _median(values: Iterable[float | None]) -> str:
    known = [value for value in values if value is not None]
    return f"{statistics.median(known):.4g}" if known else ""


def _heat_section(drawn: HeatMap, heat: Heat) -> Section:
    known = [value for row in drawn.values for value in row if value is not None]
    low, span = min(known), max(known) - min(known)
    return Section(
        f"{heat.value} by {heat.y} and {heat.x}",
        ("Medians; cells are empty where nothing ran.",),
        (f"{heat.y} \\ {heat.x}", *map(_key, drawn.columns)),
        tuple(
            (_key(name), *("" if v is None else f"{v:.4g}" for v in values))
            for name, values in zip(drawn.rows, drawn.values, strict=True)
        ),
        tuple(
            (None, *(None if v is None else (v - low) / (span or 1) for v in values))
            for values in drawn.values
        ),
    )


def _key(key: str | float) -> str:
    return f"{key:g}" if isinstance(key, float) else key


def _failed(failed: Sequence[Run]) -> Section:
    rows = tuple(
        (
            run.run_id,
            run.label,
            run.variant,
            "; ".join(run.problems) or f"code {run.returncode}",
        )
        for run in failed[:_FAILED]
    )
    more = len(failed) - len(rows)
    lines = (f"{more} more are not listed.",) if more else ()
    return Section(
        "Runs that do not count", lines, ("run", "workload", "variant", "why"), rows
    )


def as_markdown(parts: Iterable[Section]) -> str:
    """Write sections as Markdown."""
    out: list[str] = []
    for number, part in enumerate(parts):
        out.append(f"{'##' if number else '#'} {_plain(part.title)}")
        out += [_plain(line) for line in part.lines]
        if part.header:
            rows = [part.header, ("---",) * len(part.header), *part.rows]
            lines = (f"| {' | '.join(map(_plain, row))} |" for row in rows)
            out.append("\n".join(lines))
    return "\n\n".join(out) + "\n"


def _plain(text: str) -> str:
    """A text that means nothing to Markdown, on one line."""
    if text == "---":
        return text
    for mark in "\\`*_[]<>|#":
        text = text.replace(
            mark, f"\\{mark}" if mark not in "<>" else f"&#{ord(mark)};"
        )
    return " ".join(text.split())


def as_html(parts: Iterable[Section]) -> str:
    """Write sections as one HTML page, which loads nothing from elsewhere."""
    body: list[str] = []
    title = ""
    for number, part in enumerate(parts):
        title = title or html.escape(part.title)
        level = 2 if number else 1
        body.append(f"<h{level}>{html.escape(part.title)}</h{level}>")
        body += [f"<p>{html.escape(line)}</p>" for line in part.lines]
        if part.header:
            body.append(_html_table(part))
    style = (
        "body{font-family:sans-serif;margin:2em}table{border-collapse:collapse}"
        "td,th{border:1px solid #ccc;padding:.3em .6em;text-align:right}"
        "td:first-child,th{text-align:left}"
    )
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        f"<title>{title}</title><style>{style}</style></head>\n<body>\n"
        + "\n".join(body)
        + "\n</body></html>\n"
    )


def _html_table(part: Section) -> str:
    head = "".join(f"<th>{html.escape(name)}</th>" for name in part.header)
    rows = []
    for number, row in enumerate(part.rows):
        shades = part.shades[number] if part.shades else (None,) * len(row)
        cells = (
            f"<td{_colour(shade)}>{html.escape(cell)}</td>"
            for cell, shade in zip(row, shades, strict=True)
        )
        rows.append(f"<tr>{''.join(cells)}</tr>")
    return f"<table><tr>{head}</tr>\n" + "\n".join(rows) + "</table>"


def _colour(shade: float | None) -> str:
    """From white to orange, light enough for black text."""
    if shade is None:
        return ""
    return f' style="background:hsl(30,90%,{97 - round(37 * shade)}%)"'
