"""Memory of GPUs and their sampled metrics, of Nsight Systems' tables, as counters."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Final

from tools.traces.imports.imported import Event
from tools.traces.imports.nsys_objects import process_of
from tools.traces.imports.profiles import Profile

__all__ = ["COUNTERS", "counters"]

_MEMORY: Final = "CUDA_GPU_MEMORY_USAGE_EVENTS"
_METRICS: Final = "GPU_METRICS"
_METRIC_NAMES: Final = "TARGET_INFO_GPU_METRICS"
_GPUS: Final = "TARGET_INFO_GPU"
COUNTERS: Final = (_MEMORY, _METRICS)
"""Tables of counters."""
_LARGEST: Final = 1 << 62
_FREED: Final = 1
"""ENUM_CUDA_DEV_MEM_EVENT_OPER: 0 is an allocation."""
_GPU_BITS: Final = 0xFF
"""Of a type's number; the rest tells of the machine and the source."""


def counters(profile: Profile) -> Iterator[Event]:
    """Events of both tables."""
    yield from _memory(profile)
    yield from _metrics(profile)


def _memory(profile: Profile) -> Iterator[Event]:
    """Each allocation and release as an instant, and what is held then as a counter."""
    held: Counter[tuple[int, int]] = Counter()
    columns = ("start", "deviceId", "bytes", "memoryOperationType", "address")
    names = (*columns, "globalPid", "streamId")
    rows = profile.database.rows(_MEMORY, names, order="start")
    for time, device, size, operation, address, identity, stream in rows:
        if not all(isinstance(one, int) for one in (time, device, size)):
            profile.account.untimed[_MEMORY] += 1
            continue
        pid = process_of(identity)
        freed = operation == _FREED
        args = {"size": size, "address": address, "device": device, "stream": stream}
        name = "cudaFree" if freed else "cudaMalloc"
        track = profile.tracks.thread(profile.tracks.device(device), 0, "memory")
        event = profile.instant(_MEMORY, track, name, "memory", time, args)
        if event is None:
            continue
        yield event
        now = held[device, pid] + (-size if freed else size)
        held[device, pid] = max(-_LARGEST, min(now, _LARGEST))
        counter = f"memory of process {pid}" if pid else "memory"
        yield {
            "name": counter,
            "ph": "C",
            "ts": event["ts"],
            "pid": track[0],
            "args": {"bytes": held[device, pid]},
        }


def _metrics(profile: Profile) -> Iterator[Event]:
    named = {
        (kind, number): name
        for kind, number, name in profile.database.rows(
            _METRIC_NAMES, ("typeId", "metricId", "metricName")
        )
        if isinstance(name, str)
    }
    devices = dict(profile.database.rows(_GPUS, ("pwGpuId", "cuDevice")))
    columns = ("timestamp", "typeId", "metricId", "value")
    for time, kind, number, value in profile.database.rows(_METRICS, columns):
        usable = isinstance(time, int) and isinstance(value, int | float)
        if not usable or not isinstance(kind, int | None):
            profile.account.untimed[_METRICS] += 1
            continue
        gpu = (kind or 0) & _GPU_BITS
        device = devices.get(gpu)
        name = named.get((kind, number)) or named.get((None, number))
        profile.account.read[_METRICS] += 1
        yield {
            "name": name or f"metric {number}",
            "ph": "C",
            "ts": profile.clock.at(time),
            "pid": profile.tracks.device(device if isinstance(device, int) else gpu),
            "args": {"value": value},
        }
