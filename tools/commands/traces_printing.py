"""What `powerkit trace summarize` prints: tables for people, documents for programs."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final, TextIO

from registry.documents.findings import shown
from registry.gate.report import as_documents
from tools.commands.tables import as_csv, as_markdown
from tools.commands.traces_output import (
    CELL_CHARACTERS,
    milliseconds,
    opened,
    print_rows,
)
from tools.commands.traces_reading import Done, Summarised
from tools.traces.choices import Form, Sort
from tools.traces.records import RECORD_FIELDS
from tools.traces.summary_documents import SCHEMA, as_document

__all__ = ["print_summaries"]

SHOWN: Final = 40
"""How many rows of a table are shown, unless another number is asked for."""
INDENT: Final = 40
"""How far calls are indented at most."""

_Row = Mapping[str, Any]


def print_summaries(
    done: Done, form: Form, sort: Sort, top: int | None, output: Path | None
) -> None:
    """Print summaries.

    Args:
        done: the summaries; they are used up by this.
        form: how.
        sort: how to order statistics.
        top: how many of them to print.
        output: a file to print to; standard output if None.
    """
    with opened(output) as out:
        if form is Form.JSON:
            _print_json(done, sort, top, out)
            return
        for number, one in enumerate(done.summaries):
            document = as_document(one.summary, sort, None if form is Form.CSV else top)
            if form is Form.CSV:
                _print_csv(one, document, top, out, head=number == 0)
                continue
            for title, rows in _sections(one, document, top or SHOWN):
                if form is Form.MD:
                    text = as_markdown([_printable(row) for row in rows])
                    out.write(f"\n## {shown(title, 300)}\n\n{text}")
                else:
                    out.write(f"{shown(title, 300)}\n")
                    print_rows(rows, out, left=LEFT)
            out.write("\n")


LEFT: Final = ("name", "category", "process", "thread", "counter", "series", "what")


def _print_json(done: Done, sort: Sort, top: int | None, out: TextIO) -> None:
    """Print one document; records are copied into it one by one, however many."""
    out.write(f'{{"schema": "{SCHEMA}", "summaries": [')
    for number, one in enumerate(done.summaries):
        document = as_document(one.summary, sort, top)
        document["derived_left_out"] = [str(path) for path in one.derived]
        document["refused"] = as_documents(one.refused)
        text = json.dumps(document, indent=1, sort_keys=True, allow_nan=False)
        out.write(",\n" if number else "\n")
        if one.records is None:
            out.write(text)
            continue
        out.write(text.removesuffix("\n}") + ',\n "events": [')
        out.writelines(
            (",\n  " if place else "\n  ") + line.decode()
            for place, line in enumerate(one.records.lines())
        )
        out.write("\n ]\n}")
    out.write("\n]}\n")


def _print_csv(
    one: Summarised, document: _Row, top: int | None, out: TextIO, *, head: bool
) -> None:
    """Print the statistics as one table, or all records if they were wanted."""
    rows: Iterator[_Row]
    if one.records is not None:
        paths = [str(each.path) for each in one.summary.inputs]
        rows = (
            {"summary": one.title} | record | {"input": paths[record["input"]]}
            for record in one.records
        )
        columns = ["summary", *RECORD_FIELDS]
    else:
        rows = (
            {"summary": one.title, "asynchronous": asynchronous} | row
            for asynchronous, key in ((False, "statistics"), (True, "asynchronous"))
            for row in document[key][:top]
        )
        columns = ["summary", "asynchronous", "name"]
    for row in rows:
        lines = as_csv([row])
        out.write(lines if head else lines.partition("\n")[2])
        head = False
    if head:
        out.write(",".join(columns) + "\n")


def _sections(
    one: Summarised, document: _Row, top: int
) -> Iterator[tuple[str, Sequence[_Row]]]:
    """The tables of a summary, each with its title."""
    events = sum(each["events"] for each in document["inputs"])
    title = f"{one.title}: {events:,} events"
    for key, about in (("statistics", ""), ("asynchronous", "asynchronous: ")):
        rows = document[key]
        if rows or key == "statistics":
            left = document[f"{key}_left_out"] + max(0, len(rows) - top)
            more = f" ({left:,} more: --top)" if left else ""
            yield f"{about or title}{more}", [_statistic(row) for row in rows[:top]]
    if document["calls"]:
        calls = document["calls"]
        more = f" ({len(calls) - top:,} more: --top)" if len(calls) > top else ""
        yield f"calls{more}", [_call(node) for node in calls[:top]]
    if one.records is not None:
        rest = one.records.count - min(top, one.records.count)
        note = f" ({rest:,} more: --format json or csv)" if rest else ""
        records = zip(one.records, range(top), strict=False)
        yield f"slices{note}", [_record(record) for record, _ in records]
    if document["counters"]:
        yield "counters", document["counters"][:top]
    if document["instants"]:
        yield "instants", document["instants"][:top]
    runs = document["runs"]
    if runs:
        yield (
            "runs",
            [{"what": f"run {n}: {_listed(run)}"} for n, run in enumerate(runs)],
        )
    notes = list(_notes(one, document))
    if notes:
        yield "to note", [{"what": note} for note in notes]


def _notes(one: Summarised, document: _Row) -> Iterator[str]:
    """What was odd, and what was left out."""
    for each in document["inputs"]:
        odd = {key: value for key, value in each["odd"].items() if value}
        odd |= {key: value for key, value in each["damage"].items() if value}
        if each["unterminated"]:
            odd["unterminated"] = True
        flows = {key: value for key, value in each["flows"].items() if value}
        for what, values in (("odd", odd), ("flows", flows)):
            if values:
                yield f"{each['path']}: {what}: {_listed(values)}"
    if one.derived:
        yield f"{len(one.derived)} files passed over, made of other traces"
    if document["names_folded"]:
        yield f"{document['names_folded']:,} slices have names too many to tell apart"


def _printable(row: _Row) -> _Row:
    return {
        key: shown(value, CELL_CHARACTERS) if isinstance(value, str) else value
        for key, value in row.items()
    }


def _listed(values: _Row) -> str:
    return ", ".join(
        f"{key}={value}" for key, value in values.items() if key != "input"
    )


def _statistic(row: _Row) -> _Row:
    times = ("total", "self", "min", "mean", "median", "p95", "p99", "max")
    shape = {f"{key} ms": milliseconds(row[f"{key}_ns"]) for key in times}
    return {"name": row["name"] or "(no name)", "count": row["count"]} | shape


def _call(node: _Row) -> _Row:
    indent = "  " * min(node["depth"], INDENT)
    return {
        "name": f"{indent}{node['name'] or '(no name)'}",
        "count": node["count"],
        "total ms": milliseconds(node["total_ns"]),
        "self ms": milliseconds(node["self_ns"]),
    }


def _record(record: _Row) -> _Row:
    return {
        "name": record["name"] or "(no name)",
        "category": record["category"],
        "start ms": milliseconds(record["start_ns"]),
        "duration ms": milliseconds(record["duration_ns"]),
        "self ms": milliseconds(record["self_ns"]),
        "process": record["process"],
        "thread": record["thread"],
        "incomplete": "yes" if record["incomplete"] else "",
    }
