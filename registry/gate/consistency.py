"""Spec against data: what was measured must be possible on the machine described."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

import polars as pl

from registry.documents.columns import column
from registry.documents.findings import Severity, code, finding
from registry.gate.rates import fastest, highest, lowest

if TYPE_CHECKING:
    from collections.abc import Iterator

    from registry.documents.bundle import Bundle
    from registry.documents.findings import Code, Finding

__all__ = ["check_spec_and_data"]

CPU_TIME = code(
    "X001",
    Severity.ERROR,
    "More CPU time passed than the machine has logical CPUs.",
    "Check cores and threads_per_core of the spec, and that seconds are seconds.",
    "S12",
    "P6",
)
FREQUENCY = code(
    "X002",
    Severity.ERROR,
    "A frequency is beyond what the spec's processor can do.",
    "Check the unit (hertz) and cpu.frequency of the spec.",
    "S12",
    "P6",
)
SOCKET = code(
    "X003",
    Severity.ERROR,
    "A column is of a socket that the spec does not have.",
    "Name one column a populated socket, counted from 0; add the dies of one socket.",
    "S12",
    "P6",
)
GPU = code(
    "X004",
    Severity.ERROR,
    "A column is of a GPU that the spec does not have.",
    "Describe all GPUs in the spec, and count columns from 0.",
    "S12",
    "P6",
)
MEMORY = code(
    "X005",
    Severity.ERROR,
    "More memory was in use than the machine has.",
    "Check memory.bytes of the spec, and that the column is in bytes.",
    "S12",
    "P6",
)
SHARED_POWER = code(
    "X006",
    Severity.ERROR,
    "Columns of power and the number of nodes contradict each other.",
    "Use chassis_watts if one meter feeds several nodes (nodes.shared_power), and the"
    " node's own columns if it feeds one.",
    "S12",
)
HOST_POWER = code(
    "X007",
    Severity.ERROR,
    "A virtual machine or container carries power of its host.",
    "Measure on the host, or leave the power columns out.",
    "S12",
)
THREADS = code(
    "X008",
    Severity.WARNING,
    "A workload had more threads than the machine has logical CPUs.",
    "Check threads_per_core of the spec; more threads than CPUs measure the scheduler.",
    "S12",
)
WORKLOADS = code(
    "X009",
    Severity.ERROR,
    "The manifest and runs.csv name different workloads.",
    "Write the manifest with `powerkit pack`.",
    "B7",
)
DEVICE = code(
    "X010",
    Severity.ERROR,
    "A column is of a drive or power supply that the spec does not have.",
    "Describe all drives and supplies in the spec, and count columns from 0.",
    "S12",
)
CYCLES = code(
    "X011",
    Severity.ERROR,
    "More cycles passed than the machine's cores can do.",
    "Check cores and max_hertz of the spec, and that the counter is of one machine.",
    "S12",
    "P6",
)
VENDOR = code(
    "X012",
    Severity.ERROR,
    "A column is of another vendor's processors.",
    "Check cpu.vendor of the spec and the source of the column.",
    "S12",
)

_CPU_SLACK: Final = 1.05
"""CPU time is counted in ticks of 10 ms and read a little after the clock."""
_TURBO_SLACK: Final = 1.05
"""Achieved frequencies come from two counters that are not read at once."""
_MOST_TURBO: Final = 2.5
"""Turbo over nominal frequency, where the spec gives no highest one."""
_SLOW: Final = 0.9
"""Below this share of the lowest frequency a processor was throttled."""
_RUN_FREQUENCIES: Final = ("frequency_set_hertz", "frequency_achieved_hertz")
_CPU_TIMES: Final = ("cpu_seconds", "bpf_cpu_seconds", "cgroup_cpu_seconds")
_MEMORY: Final = ("memory_used_bytes", "memory_cached_bytes", "cgroup_memory_bytes")
_PER_SOCKET: Final = re.compile(
    r"(?:rapl_(?:package|dram|core|uncore)|amd_socket|hsmp_socket|imc|uncore)_(\d+)_"
)
_PER_GPU: Final = re.compile(r"gpu_(\d+)_")
_PER_DRIVE: Final = re.compile(r"(?:nvme|storage)_(\d+)_")
_PER_SUPPLY: Final = re.compile(r"psu_(\d+)_")
_SAFE_IN_GUESTS: Final = frozenset({"gpu"})
"""Zones whose power a guest may really measure: a device passed through to it."""


def check_spec_and_data(bundle: Bundle) -> list[Finding]:
    """Check that the tables of a bundle are possible on the machine of its spec."""
    return [
        *_times(bundle),
        *_frequencies(bundle),
        *_indices(bundle),
        *_memory(bundle),
        *_power(bundle),
        *_runs(bundle),
    ]


def _measured(bundle: Bundle) -> Iterator[tuple[str, str, pl.DataFrame]]:
    for table in ("samples", "levels"):
        frame = bundle.table(table)
        if frame is not None:
            yield table, f"{bundle.path}/{table}.csv", frame


def _times(bundle: Bundle) -> Iterator[Finding]:
    spec = bundle.spec
    cpus, hertz = spec.logical_cpus, spec.cpu.frequency.max_hertz
    limits: list[tuple[str, float, Code, str]] = [
        (stem, cpus * _CPU_SLACK, CPU_TIME, f"{cpus} logical CPUs")
        for stem in _CPU_TIMES
    ]
    if hertz is not None:
        most = cpus * hertz * _TURBO_SLACK
        what = f"{cpus} logical CPUs at {hertz / 1e9:g} GHz"
        limits.append(("cpu_cycles", most, CYCLES, what))
    for _, path, frame in _measured(bundle):
        for stem, most, kind, machine in limits:
            rate = fastest(frame, stem)
            if rate is not None and rate > most:
                what = f"{stem}: {rate:.6g} a second, the spec has {machine}"
                yield finding(kind, path, what)


def _frequencies(bundle: Bundle) -> Iterator[Finding]:
    frequency = bundle.spec.cpu.frequency
    top = frequency.max_hertz
    if top is None and frequency.base_hertz is not None:
        top = round(frequency.base_hertz * _MOST_TURBO)
    runs = bundle.table("runs")
    columns = [
        (path, frame, "cpu_frequency_hertz") for _, path, frame in _measured(bundle)
    ]
    if runs is not None:
        columns += [
            (f"{bundle.path}/runs.csv", runs, name) for name in _RUN_FREQUENCIES
        ]
    for path, frame, name in columns:
        most, least = highest(frame, name), lowest(frame, name)
        if top is not None and most is not None and most > top * _TURBO_SLACK:
            what = f"{name} reaches {most / 1e9:.4g} GHz, the spec {top / 1e9:.4g} GHz"
            yield finding(FREQUENCY, path, what)
        bottom = frequency.min_hertz
        if bottom is not None and least is not None and least < bottom * _SLOW:
            low, stated = least / 1e9, bottom / 1e9
            what = f"{name} falls to {low:.4g} GHz, the spec's lowest is {stated:.4g}"
            yield finding(FREQUENCY, path, what, severity=Severity.WARNING)


def _indices(bundle: Bundle) -> Iterator[Finding]:
    spec = bundle.spec
    drives = None if spec.storage is None else sum(d.count for d in spec.storage)
    supplies = (
        None
        if spec.power_supplies is None
        else sum(s.count for s in spec.power_supplies)
    )
    kinds: tuple[tuple[re.Pattern[str], int | None, Code, str], ...] = (
        (_PER_SOCKET, spec.cpu.sockets.populated, SOCKET, "populated sockets"),
        (_PER_GPU, spec.gpu_count, GPU, "GPUs"),
        (_PER_DRIVE, drives, DEVICE, "drives"),
        (_PER_SUPPLY, supplies, DEVICE, "power supplies"),
    )
    for table, path, frame in _measured(bundle):
        for name in frame.columns:
            for pattern, count, kind, what in kinds:
                match = pattern.match(name)
                if match and count is not None and int(match.group(1)) >= count:
                    yield finding(kind, path, f"{name}: the spec has {count} {what}")
            entry = column(name, table)
            amd = entry is not None and entry.power in ("amd-energy", "amd-hsmp")
            if amd and spec.cpu.vendor not in ("amd", "hygon"):
                what = f"{name}: the spec's processor is by {spec.cpu.vendor}"
                yield finding(VENDOR, path, what)


def _memory(bundle: Bundle) -> Iterator[Finding]:
    total = bundle.spec.memory.bytes
    for _, path, frame in _measured(bundle):
        for name in _MEMORY:
            most = highest(frame, name)
            if most is not None and most > total:
                what = (
                    f"{name} reaches {most / 2**30:.4g} GiB of {total / 2**30:.4g} GiB"
                )
                yield finding(MEMORY, path, what)


def _power(bundle: Bundle) -> Iterator[Finding]:
    nodes, virtual = bundle.spec.nodes, bundle.spec.virtualisation.kind
    for table, path, frame in _measured(bundle):
        entries = [column(name, table) for name in frame.columns]
        powers = [e for e in entries if e is not None and e.power]
        zones = {entry.zone for entry in powers}
        if nodes.shared_power and "platform" in zones:
            what = f"one meter feeds {nodes.count} nodes, but a column is of one node"
            yield finding(SHARED_POWER, path, what)
        if not nodes.shared_power and "chassis" in zones:
            what = (
                "a column is of all nodes of a chassis, but the node has its own meter"
            )
            yield finding(SHARED_POWER, path, what)
        if virtual != "bare":
            hosts = [e.name for e in powers if e.zone not in _SAFE_IN_GUESTS]
            if hosts:
                what = f"the machine is a {virtual}, and has {', '.join(hosts[:4])}"
                yield finding(HOST_POWER, path, what)


def _runs(bundle: Bundle) -> Iterator[Finding]:
    runs = bundle.table("runs")
    if runs is None:
        return
    path = f"{bundle.path}/runs.csv"
    threads, cpus = highest(runs, "threads"), bundle.spec.logical_cpus
    if threads is not None and threads > cpus:
        what = f"up to {threads:.0f} threads, the spec has {cpus} logical CPUs"
        yield finding(THREADS, path, what)
    labels = tuple(sorted(runs["workload"].drop_nulls().unique().to_list()))
    stated = bundle.manifest.workloads
    if labels != stated:
        odd = sorted(set(labels) ^ set(stated))
        what = f"only one of the two names {', '.join(odd[:6])}"
        yield finding(WORKLOADS, path, what)
