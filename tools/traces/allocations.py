"""Events that allocate and free memory, as several tools write them into traces.

CUDA and HIP calls carry the size and the pointer in their arguments, under names that
differ from tool to tool; PyTorch's profiler writes instants named `[memory]`, whose
`Bytes` is negative for what is freed, with `Addr`, `Device Id` and `Total Allocated`
(torch/csrc/profiler).
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from tools.traces.naming import Places
from tools.traces.typed import Event, arguments, identity

__all__ = ["ALLOCATING", "FREEING", "TORCH", "Call", "Calls", "Reader"]

ALLOCATING: Final = (
    "cudaMalloc",
    "cudaMallocAsync",
    "cudaMallocManaged",
    "cudaMallocPitch",
    "cuMemAlloc",
    "cuMemAlloc_v2",
    "cuMemAllocAsync",
    "cuMemAllocManaged",
    "hipMalloc",
    "hipMallocAsync",
    "hipMallocManaged",
)
"""Calls that allocate memory of a device, unless others are named."""
FREEING: Final = (
    "cudaFree",
    "cudaFreeAsync",
    "cuMemFree",
    "cuMemFree_v2",
    "cuMemFreeAsync",
    "hipFree",
    "hipFreeAsync",
)
"""Calls that free it."""
TORCH: Final = "[memory]"
"""PyTorch's instants of both kinds."""
SIZES: Final = ("size", "bytes", "nbytes", "num_bytes", "bytesize")
ADDRESSES: Final = ("ptr", "addr", "address", "devptr", "dev_ptr", "dptr", "pointer")
DEVICES: Final = ("device id", "device", "device_id", "deviceid")
BEGINS: Final = frozenset("BXiIRPbn")
ENDS: Final = frozenset("Ee")
LARGEST: Final = 1 << 60
"""Sizes beyond this are none."""
CUDA: Final = 1
"""The `Device Type` of CUDA devices in PyTorch (c10/core/DeviceType.h); CPU is 0."""


@dataclass(frozen=True, slots=True)
class Call:
    """One allocation or freeing.

    Attributes:
        pid: its process.
        device: the device, as text; None if the event does not say.
        frees: whether it frees.
        size: bytes, never negative; None if the event does not say.
        address: where; None if the event does not say.
        negative: whether an allocation has a negative size, which makes it a freeing.
        reported: what is allocated by the allocator's own count, if it says.

    """

    pid: int | str
    device: str | None
    frees: bool
    size: int | None
    address: int | str | None
    negative: bool
    reported: int | None


@dataclass(frozen=True, slots=True)
class Calls:
    """Which events allocate, and which free.

    Attributes:
        allocating: names of events.
        freeing: names of events.
        category: the category that they must have; any if None.

    """

    allocating: frozenset[str] = frozenset({*ALLOCATING, TORCH})
    freeing: frozenset[str] = frozenset(FREEING)
    category: str | None = None

    def wanted(self, events: Iterable[Event]) -> list[Event]:
        """Those of some events that may allocate or free."""
        names = self.allocating | self.freeing
        found = [event for event in events if event.name in names]
        if self.category is None:
            return found
        return [one for one in found if self.category in (one.cat or "").split(",")]


class Reader:
    """Reads the calls of one file; a size may stand at a call's end only."""

    def __init__(self, calls: Calls) -> None:
        """Begin a file."""
        self._calls = calls
        self._places = Places()
        self._open: Counter[tuple[int, str | None]] = Counter()

    def read(self, events: Sequence[Event]) -> Iterator[tuple[Event, Call]]:
        """Read the calls among some events, which are in the order of the file."""
        for event in self._calls.wanted(events):
            place = self._places[event.pid, event.tid]
            call = self._call(event, self._places.places[place][0])
            known = call.size is not None or (call.frees and call.address is not None)
            if event.ph in BEGINS:
                if known or event.ph not in "Bb":
                    yield event, call
                else:
                    self._open[place, event.name] += 1
            elif event.ph in ENDS and self._open[place, event.name]:
                self._open[place, event.name] -= 1
                yield event, call

    def unknown(self) -> int:
        """How many calls began without a size or an address, and did not end."""
        return sum(self._open.values())

    def _call(self, event: Event, pid: int | str) -> Call:
        given = {key.lower(): value for key, value in arguments(event).items()}
        size = _first(given, SIZES)
        frees = event.name in self._calls.freeing
        negative = size is not None and size < 0
        return Call(
            pid,
            _device(given),
            frees or negative,
            None if size is None else abs(size),
            _address(given),
            negative and not frees and event.name != TORCH,
            _first(given, ("total allocated",)),
        )


def _first(given: Mapping[str, Any], keys: Iterable[str]) -> int | None:
    """The first of some arguments that is a whole number of bytes."""
    for key in keys:
        value = given.get(key)
        if isinstance(value, str):
            text = value.strip()[:40]
            sign = -1 if text.startswith("-") else 1
            value = identity(text.lstrip("+-"))
            value = value * sign if isinstance(value, int) else None
        if isinstance(value, float) and math.isfinite(value) and value.is_integer():
            value = int(value)
        if isinstance(value, int) and not isinstance(value, bool):
            return value if abs(value) <= LARGEST else None
    return None


def _address(given: Mapping[str, Any]) -> int | str | None:
    for key in ADDRESSES:
        value = given.get(key)
        if isinstance(value, str) and value:
            return identity(value[:100])
        if isinstance(value, int) and not isinstance(value, bool):
            return value
    return None


def _device(given: Mapping[str, Any]) -> str | None:
    device = next((given[key] for key in DEVICES if key in given), None)
    kind = given.get("device type")
    if kind is not None:
        return (
            f"cuda:{device}"
            if kind == CUDA
            else "cpu"
            if kind == 0
            else f"{kind}:{device}"
        )
    return None if device is None else str(device)[:100]
