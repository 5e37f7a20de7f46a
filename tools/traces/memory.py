"""Live memory over the time of a trace: totals, peaks, and what was never freed.

use = read_memory(path, Calls())
print(use.rows[0].peak_bytes, use.rows[0].leaked_bytes)
"""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import numpy as np

from registry.documents.findings import RegistryError, Severity, code, finding
from tools.traces.allocations import Call, Calls, Reader
from tools.traces.naming import label
from tools.traces.reading import Found, decoded
from tools.traces.runs import runs_of
from tools.traces.times import nanoseconds
from tools.traces.typed import Event, arguments, decode, identity

__all__ = ["Change", "MemoryRow", "MemoryUse", "read_memory"]

CALLS: Final = 5_000_000
"""The most calls of a trace; each takes 40 bytes until they are in order."""
NOTHING: Final = -1

V031 = code(
    "V031",
    Severity.ERROR,
    "A trace has more allocations than can be followed.",
    "Filter it first: `powerkit trace filter` takes processes, names and times.",
)


@dataclass(slots=True)
class MemoryRow:
    """The memory of one device, as one process used it.

    Attributes:
        process: the process, by name and number.
        device: the device; empty if the events do not say.
        allocations: how many there were.
        total_bytes: all of them together, freed or not: the sum that TRIMS prints.
        peak_bytes: the most that was live at once.
        peak_ns: when that was first so, in the time of the trace; None if never.
        leaked_bytes: what was live at the end.
        leaked_allocations: how many allocations that is.
        frees: how many there were.
        unmatched_frees: how many of them had nothing to free; they change nothing.
        double_allocations: allocations where one was live already, which they replace.
        negative_sizes: allocations of negative size, which count as frees.
        without_size: allocations of unknown size, left out.
        reported_peak_bytes: the most by the allocator's own count; None if it has none.

    """

    process: str
    device: str
    allocations: int = 0
    total_bytes: int = 0
    peak_bytes: int = 0
    peak_ns: int | None = None
    leaked_bytes: int = 0
    leaked_allocations: int = 0
    frees: int = 0
    unmatched_frees: int = 0
    double_allocations: int = 0
    negative_sizes: int = 0
    without_size: int = 0
    reported_peak_bytes: int | None = None


@dataclass(frozen=True, slots=True)
class Change:
    """Live memory from one instant on.

    Attributes:
        ns: the instant.
        pid: the process.
        device: the device.
        live: bytes.

    """

    ns: int
    pid: int | str
    device: str
    live: int


@dataclass(slots=True)
class MemoryUse:
    """The memory of one trace.

    Attributes:
        path: the file.
        found: its form, and what could not be read.
        model: the model that its metadata name, if they name one.
        rows: one for each process and device.
        without_time: calls without a usable time, left out.
        without_end: calls that never end, and say no size before it; left out.

    """

    path: Path
    found: Found
    model: str | None = None
    rows: list[MemoryRow] = field(default_factory=list)
    without_time: int = 0
    without_end: int = 0


def read_memory(
    path: Path,
    calls: Calls,
    *,
    changed: Callable[[Change], None] = lambda _: None,
    report: Callable[[Found], None] = lambda _: None,
) -> MemoryUse:
    """Follow the allocations of a trace.

    Args:
        path: the trace.
        calls: which events allocate and free.
        changed: is told of every change of live memory, in the order of time.
        report: is told now and then how far the reading is.

    Raises:
        RegistryError: it is no trace, or has too many allocations (V031).
        OSError: it cannot be read.
    """
    found = Found()
    reader = Reader(calls)
    names: dict[int | str, str] = {}
    gathered = _Gathered()
    for events in decoded(path, found, decode):
        for event, call in reader.read(events):
            gathered.add(event.ts, call)
        if len(gathered) > CALLS:
            raise RegistryError(finding(V031, str(path), f"more than {CALLS:,}"))
        names.update(_process_names(events))
        report(found)
    use = MemoryUse(path, found, _model(found.metadata))
    use.without_end = reader.unknown()
    live = _Live(names, changed)
    for ns, call in gathered.in_order():
        live.take(ns, call)
    use.without_time = gathered.without_time
    use.rows = list(live.rows.values())
    return use


class _Gathered:
    """Calls as columns of numbers, until they can be put in order."""

    def __init__(self) -> None:
        self.without_time = 0
        self.times = array("d")
        self.kinds = array("i")  # process, device and flags, by their place in a list
        self.sizes = array("q")
        self.addresses = array("Q")
        self.reported = array("q")
        self.known: dict[tuple[int | str, str | None, bool, bool, type], int] = {}
        self.texts: dict[str, int] = {}

    def __len__(self) -> int:
        return len(self.times)

    def add(self, ts: float, call: Call) -> None:
        address = call.address
        kind = call.pid, call.device, call.frees, call.negative, type(address)
        if isinstance(address, str):
            address = self.texts.setdefault(address, len(self.texts))
        self.times.append(ts)
        self.kinds.append(self.known.setdefault(kind, len(self.known)))
        self.sizes.append(NOTHING if call.size is None else call.size)
        self.addresses.append((address or 0) % (1 << 64))
        self.reported.append(NOTHING if call.reported is None else call.reported)

    def in_order(self) -> Iterator[tuple[int, Call]]:
        """Calls by time; in the order of the file where it is the same."""
        times, good = nanoseconds(self.times)
        self.without_time = int((~good).sum())
        kinds, texts = list(self.known), list(self.texts)
        for row in np.argsort(times, kind="stable").tolist():
            if not good[row]:
                continue
            pid, device, frees, negative, of = kinds[self.kinds[row]]
            address: int | str | None = self.addresses[row]
            if of is not int:
                address = texts[self.addresses[row]] if of is str else None
            size, reported = self.sizes[row], self.reported[row]
            yield (
                int(times[row]),
                Call(
                    pid,
                    device,
                    frees,
                    None if size == NOTHING else size,
                    address,
                    negative,
                    None if reported == NOTHING else reported,
                ),
            )


class _Live:
    """What is live now, by process, device and address."""

    def __init__(
        self, names: dict[int | str, str], changed: Callable[[Change], None]
    ) -> None:
        self.names = names
        self.changed = changed
        self.rows: dict[tuple[int | str, str], MemoryRow] = {}
        # Process and address: the size, and the device that it is on.
        self.held: dict[tuple[int | str, Any], dict[str, int]] = {}
        # Process, device and size: how many there are whose address is not known.
        self.nowhere: Counter[tuple[int | str, str, int]] = Counter()

    def take(self, ns: int, call: Call) -> None:
        """Follow one call."""
        row = self.row(call.pid, call.device or "")
        if call.reported is not None:
            row.reported_peak_bytes = max(call.reported, row.reported_peak_bytes or 0)
        row.negative_sizes += call.negative
        if call.frees:
            self.free(ns, call)
        elif call.size is None:
            row.without_size += 1
        else:
            self.allocate(ns, call, call.size, row)

    def allocate(self, ns: int, call: Call, size: int, row: MemoryRow) -> None:
        device = call.device or ""
        row.allocations += 1
        row.total_bytes += size
        if call.address is None:
            self.nowhere[call.pid, device, size] += 1
        else:
            held = self.held.setdefault((call.pid, call.address), {})
            if device in held:
                row.double_allocations += 1
                row.leaked_bytes -= held[device]
                row.leaked_allocations -= 1
            held[device] = size
        row.leaked_allocations += 1
        self.change(ns, call.pid, device, size)

    def free(self, ns: int, call: Call) -> None:
        device = call.device
        if call.address is not None:
            held = self.held.get((call.pid, call.address), {})
            if device is None and len(held) == 1:
                device = next(iter(held))
            size = held.pop(device or "", None)
            if not held:
                self.held.pop((call.pid, call.address), None)
        else:
            size = self.anonymous(call)
        row = self.row(call.pid, device or "")
        row.frees += 1
        if size is None:
            row.unmatched_frees += 1
            return
        row.leaked_allocations -= 1
        self.change(ns, call.pid, device or "", -size)

    def anonymous(self, call: Call) -> int | None:
        """Free an allocation without an address by its size."""
        key = call.pid, call.device or "", call.size or 0
        if call.size is None or not self.nowhere[key]:
            return None
        self.nowhere[key] -= 1
        return call.size

    def change(self, ns: int, pid: int | str, device: str, by: int) -> None:
        row = self.row(pid, device)
        row.leaked_bytes += by
        if row.leaked_bytes > row.peak_bytes:
            row.peak_bytes, row.peak_ns = row.leaked_bytes, ns
        self.changed(Change(ns, pid, device, row.leaked_bytes))

    def row(self, pid: int | str, device: str) -> MemoryRow:
        row = self.rows.get((pid, device))
        if row is None:
            process = label(self.names, pid, pid)
            row = self.rows[pid, device] = MemoryRow(process, device)
        return row


def _process_names(events: list[Event]) -> Iterator[tuple[int | str, str]]:
    for event in events:
        if event.name == "process_name" and event.ph == "M":
            pid = identity(event.pid)
            yield (
                0 if pid is None else pid,
                str(arguments(event).get("name") or "")[:200],
            )


def _model(metadata: dict[str, Any]) -> str | None:
    models = {run.get("model_name") for run in runs_of(metadata)} - {None}
    return str(models.pop()) if len(models) == 1 else None
