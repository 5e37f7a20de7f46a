"""Kernels, copies, graphs and other work on a GPU, of Nsight Systems' tables.

Its kinds of memory are numbered otherwise than CUPTI's; the database itself has their
names in tables of enumerations.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final

from tools.traces.imports.cupti import COPIES
from tools.traces.imports.databases import Database
from tools.traces.imports.imported import Event
from tools.traces.imports.nsys_objects import launch, process_of
from tools.traces.imports.nvprof_work import (
    COPY_COLUMNS,
    KERNEL_COLUMNS,
    copy_args,
    kernel_args,
)
from tools.traces.imports.profiles import Profile

__all__ = ["WORK", "labels", "work"]

Row = Mapping[str, Any]
_KERNEL_NAMES: Final = ("demangledName", "shortName", "nameId", "mangledName")
_PLACE: Final = (
    "start",
    "end",
    "deviceId",
    "contextId",
    "streamId",
    "correlationId",
    "globalPid",
)
_DIRECTIONS: Final = COPIES | {11: "UVM HtoD", 12: "UVM DtoH", 13: "UVM DtoD"}
_Words = Mapping[str, Mapping[int, str]]
_WORDS: Final = ("ENUM_CUDA_MEM_KIND", "ENUM_CUPTI_SYNC_TYPE")


def labels(database: Database, table: str) -> dict[int, str]:
    """What a table of an enumeration calls its numbers."""
    rows = database.rows(table, ("id", "label", "name"))
    return {
        number: (label or name).lower()
        for number, label, name in rows
        if isinstance(number, int) and isinstance(label or name, str)
    }


def _kernel(profile: Profile, row: Row, _: _Words) -> tuple[str, dict[str, object]]:
    found = (profile.names(row[column]) for column in _KERNEL_NAMES)
    name = next((one for one in found if one), "kernel")
    return name, kernel_args(row) | {"graph node": row["graphNodeId"]}


def _copy(_: Profile, row: Row, words: _Words) -> tuple[str, dict[str, object]]:
    kind = _DIRECTIONS.get(row["copyKind"], f"kind {row['copyKind']}")
    return f"Memcpy {kind}", copy_args(row, words["ENUM_CUDA_MEM_KIND"], row["took"])


def _setting(_: Profile, row: Row, words: _Words) -> tuple[str, dict[str, object]]:
    kind = words["ENUM_CUDA_MEM_KIND"].get(row["memKind"])
    return "Memset", {"bytes": row["bytes"], "value": row["value"], "to": kind}


def _wait(_: Profile, row: Row, words: _Words) -> tuple[str, dict[str, object]]:
    return words["ENUM_CUPTI_SYNC_TYPE"].get(row["syncType"], "synchronization"), {}


def _graph(_: Profile, row: Row, __: _Words) -> tuple[str, dict[str, object]]:
    return f"CUDA graph {row['graphId']}", {}


_Described = Callable[[Profile, Row, _Words], tuple[str, dict[str, object]]]
_PREFIX: Final = "CUPTI_ACTIVITY_KIND_"
WORK: Final[dict[str, tuple[tuple[str, ...], str, _Described]]] = {
    f"{_PREFIX}KERNEL": (
        (*_KERNEL_NAMES, *KERNEL_COLUMNS, "graphNodeId"),
        "kernel",
        _kernel,
    ),
    f"{_PREFIX}MEMCPY": (COPY_COLUMNS, "gpu_memcpy", _copy),
    f"{_PREFIX}MEMSET": (("bytes", "value", "memKind"), "gpu_memset", _setting),
    f"{_PREFIX}SYNCHRONIZATION": (("syncType",), "cuda_sync", _wait),
    f"{_PREFIX}GRAPH_TRACE": (("graphId",), "cuda_graph", _graph),
}
"""Tables of work, each with its columns, its category and what describes a row."""
_BESIDE: Final = {
    f"{_PREFIX}SYNCHRONIZATION": "synchronization",
    f"{_PREFIX}GRAPH_TRACE": "graphs",
}
"""What overlaps other work of its stream, so that it needs a track of its own."""


def work(profile: Profile) -> Iterator[Event]:
    """Events of all work, with the arrows that arrive there."""
    words = {table: labels(profile.database, table) for table in _WORDS}
    for table, (columns, category, describe) in WORK.items():
        names = (*_PLACE, *columns)
        for values in profile.database.rows(table, names):
            row = dict(zip(names, values, strict=True))
            start, end = times = row["start"], row["end"]
            whole = isinstance(start, int) and isinstance(end, int)
            row["took"] = end - start if whole else None
            name, args = describe(profile, row, words)
            args |= {"correlation": row["correlationId"]}
            track = _stream(profile, row, _BESIDE.get(table))
            event = profile.span(table, track, name, category, times, args)
            if event is not None:
                yield event
                key = launch(process_of(row["globalPid"]), row["correlationId"])
                yield from profile.links.end(event, key)


def _stream(profile: Profile, row: Row, beside: str | None) -> tuple[int, int]:
    """The track of a stream; processes that share a GPU have streams of their own."""
    device, context, stream = (
        one if isinstance(one, int) else 0
        for one in (row["deviceId"], row["contextId"], row["streamId"])
    )
    pid = process_of(row["globalPid"])
    name = f"stream {stream}" + (f", context {context}" if context > 1 else "")
    name += f", process {pid}" if pid else ""
    if beside:
        name += f": {beside}"
    return profile.tracks.stream(device, (pid, context, stream, beside), stream, name)
