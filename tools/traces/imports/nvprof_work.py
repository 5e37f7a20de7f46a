"""Kernels, copies and other work on a GPU, of nvprof's tables."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final

from tools.traces.imports.cupti import COPIES, MEMORY
from tools.traces.imports.imported import Event
from tools.traces.imports.profiles import Profile

__all__ = ["WORK", "copy_args", "kernel_args", "work"]

Row = Mapping[str, Any]

KERNEL_COLUMNS: Final = (
    *(f"{what}{axis}" for what in ("grid", "block") for axis in "XYZ"),
    "registersPerThread",
    "staticSharedMemory",
    "dynamicSharedMemory",
    "localMemoryPerThread",
    "localMemoryTotal",
)
COPY_COLUMNS: Final = (
    "bytes",
    "copyKind",
    "srcKind",
    "dstKind",
    "srcDeviceId",
    "dstDeviceId",
)
_PLACE: Final = ("start", "end", "deviceId", "contextId", "streamId", "correlationId")
_ASYNCHRONOUS: Final = 1
"""CUPTI_ACTIVITY_FLAG_MEMCPY_ASYNC."""


def kernel_args(row: Row) -> dict[str, object]:
    """What is known of a kernel, in the words that torch's profiler uses."""
    return {
        "grid": [row[f"grid{axis}"] for axis in "XYZ"],
        "block": [row[f"block{axis}"] for axis in "XYZ"],
        "registers per thread": row["registersPerThread"],
        "shared memory static": row["staticSharedMemory"],
        "shared memory dynamic": row["dynamicSharedMemory"],
        "local memory per thread": row["localMemoryPerThread"],
        "local memory total": row["localMemoryTotal"],
    }


def copy_args(row: Row, kinds: Mapping[Any, str], took: object) -> dict[str, object]:
    """What is known of a copy.

    Args:
        row: its row.
        kinds: names of kinds of memory.
        took: nanoseconds that it took, if they are a number.
    """
    size = row["bytes"]
    rate = None
    if isinstance(size, int) and isinstance(took, int) and took > 0:
        rate = round(size / took, 3)  # bytes a nanosecond are GB a second
    return {
        "bytes": size,
        "memory bandwidth (GB/s)": rate,
        "from": kinds.get(row["srcKind"]),
        "to": kinds.get(row["dstKind"]),
        "from device": row["srcDeviceId"],
        "to device": row["dstDeviceId"],
    }


def _kernel(profile: Profile, row: Row) -> tuple[str, dict[str, object]]:
    return profile.name(row["name"], "kernel"), kernel_args(row)


def _copy(_: Profile, row: Row) -> tuple[str, dict[str, object]]:
    kind = COPIES.get(row["copyKind"], f"kind {row['copyKind']}")
    how = "async" if row["flags"] == _ASYNCHRONOUS else "sync"
    return f"Memcpy {kind}", copy_args(row, MEMORY, row["took"]) | {"how": how}


def _setting(_: Profile, row: Row) -> tuple[str, dict[str, object]]:
    kind = MEMORY.get(row["memoryKind"])
    args = {"bytes": row["bytes"], "value": row["value"], "to": kind}
    return "Memset", args


_Described = Callable[[Profile, Row], tuple[str, dict[str, object]]]
_KERNEL: Final = (("name", *KERNEL_COLUMNS), "kernel", _kernel)
_COPY: Final = ((*COPY_COLUMNS, "flags"), "gpu_memcpy", _copy)
_PREFIX: Final = "CUPTI_ACTIVITY_KIND_"
WORK: Final[dict[str, tuple[tuple[str, ...], str, _Described]]] = {
    f"{_PREFIX}KERNEL": _KERNEL,
    f"{_PREFIX}CONCURRENT_KERNEL": _KERNEL,
    f"{_PREFIX}CDP_KERNEL": _KERNEL,
    f"{_PREFIX}MEMCPY": _COPY,
    f"{_PREFIX}MEMCPY2": _COPY,
    f"{_PREFIX}MEMSET": (("bytes", "value", "memoryKind"), "gpu_memset", _setting),
}
"""Tables of work, each with its columns, its category and what describes a row."""
_BESIDE: Final = {f"{_PREFIX}CDP_KERNEL": "launched by kernels"}
"""What overlaps other work of its stream, so that it needs a track of its own."""


def work(profile: Profile) -> Iterator[Event]:
    """Events of all work, with the arrows that arrive there."""
    for table, (columns, category, describe) in WORK.items():
        names = (*_PLACE, *columns)
        for values in profile.database.rows(table, names):
            row = dict(zip(names, values, strict=True))
            times = (row["start"] or None, row["end"])
            row["took"] = _took(*times)
            name, args = describe(profile, row)
            args |= {"correlation": row["correlationId"]}
            track = _stream(profile, row, _BESIDE.get(table))
            event = profile.span(table, track, name, category, times, args)
            if event is not None:
                yield event
                yield from profile.links.end(event, row["correlationId"])


def _took(start: object, end: object) -> int | None:
    whole = isinstance(start, int) and isinstance(end, int)
    return end - start if whole else None  # type: ignore[operator]


def _stream(profile: Profile, row: Row, beside: str | None) -> tuple[int, int]:
    device, context, stream = (
        one if isinstance(one, int) else 0
        for one in (row["deviceId"], row["contextId"], row["streamId"])
    )
    name = f"stream {stream}" + (f", context {context}" if context > 1 else "")
    if beside:
        name += f": {beside}"
    return profile.tracks.stream(device, (context, stream, beside), stream, name)
