"""Imports a recording of another tool as a Chrome trace.

account = import_trace(Path("nvprof.sqlite"), Path("trace.json.gz"))
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from registry.documents.findings import RegistryError, finding
from tools.traces.forms import Source
from tools.traces.imports.chrome import read_chrome
from tools.traces.imports.databases import NOT_READ, Database
from tools.traces.imports.detection import detected, is_detail_log, of_tables
from tools.traces.imports.imported import Account, Event
from tools.traces.imports.loadgen import read_detail_log
from tools.traces.imports.nsys import read_nsys
from tools.traces.imports.nvprof import read_nvprof
from tools.traces.overwriting import not_over, read_twice
from tools.traces.writing import TraceWriter

__all__ = ["import_trace"]

_STEP = 20_000
_DATABASES = {Source.NVPROF: read_nvprof, Source.NSYS: read_nsys}


def import_trace(
    path: Path,
    out: Path,
    source: Source = Source.AUTO,
    *,
    progress: Callable[[str], None] = lambda _: None,
) -> Account:
    """Write the events of a recording as a trace, whole or not at all.

    Args:
        path: the recording.
        out: the trace; gzip if its name ends in `.gz`.
        source: the tool that recorded; by default it is told by the content.
        progress: is given a line now and then.

    Returns:
        What was read and what was left out.

    Raises:
        RegistryError: V001 to V004, V050 to V054 or V059: nothing was written.
        OSError: a file cannot be read or written.
    """
    read_twice(path)
    not_over(out, [path])
    tool = detected(path) if source is Source.AUTO else source
    account = Account(tool.value)
    with TraceWriter(out) as trace:
        trace.write(_told(_events(path, tool, account), progress))
        if not account.read:
            what = f"nothing in it is an event of {tool.value}"
            raise RegistryError([finding(NOT_READ, str(path), what)])
        account.events = trace.events
        trace.metadata |= account.metadata
        trace.metadata["imported"] = _described(account)
    return account


def _events(path: Path, tool: Source, account: Account) -> Iterator[Event]:
    if (read := _DATABASES.get(tool)) is not None:
        with Database(path) as database:
            # both have tables of CUPTI's names, but not of the same columns
            if (other := of_tables(database)) is not tool:
                what = f"its tables are those of {other.value}"
                raise RegistryError([finding(NOT_READ, str(path), what)])
            yield from read(database, account)
    elif tool is Source.LOADGEN and is_detail_log(path):
        yield from read_detail_log(path, account)
    else:
        yield from read_chrome(path, account)


def _told(events: Iterator[Event], progress: Callable[[str], None]) -> Iterator[Event]:
    for count, event in enumerate(events, 1):
        if count % _STEP == 0:
            progress(f"{count:,} events")
        yield event


def _described(account: Account) -> dict[str, Any]:
    """What the trace says of its own origin."""
    described = {
        "from": account.source,
        "read": dict(sorted(account.read.items())),
        "left out": dict(sorted(account.untimed.items())),
        "unmatched": account.unmatched,
        "notes": account.notes,
    }
    return {key: value for key, value in described.items() if value}
