"""Looks up columns: what each means, its unit, range and Kepler's name for it.

``column("rapl_package_0_joules_total", "samples").zone`` is ``"package"``.
"""

from __future__ import annotations

import functools
import re
from dataclasses import replace
from typing import Final

from registry.documents import limits
from registry.documents.column_catalogue import (
    RATE_MAXIMUM,
    Column,
    Kind,
    catalogue,
)

__all__ = [
    "FEATURE_GROUPS",
    "TABLES",
    "Column",
    "Kind",
    "catalogue",
    "column",
    "required",
    "resembling",
]

TABLES: Final = ("samples", "levels", "runs")
"""The tables of bundles, by the name of their file without ``.csv``."""

_COUNTERS: Final = ("cache_miss", "cpu_cycles", "cpu_instructions")
_BPF: Final = ("bpf_cpu_time_ms", "bpf_page_cache_hit")
_IRQ: Final = ("bpf_block_irq", "bpf_net_rx_irq", "bpf_net_tx_irq")
_ACCELERATOR: Final = ("accelerator_intel_qat",)
_SYSTEM: Final = ("cpu_scaling_frequency_hertz", "node_info")
_WORKLOAD: Final = (*_COUNTERS, *_BPF, *_IRQ, *_ACCELERATOR)

FEATURE_GROUPS: Final[dict[str, tuple[str, ...]]] = {
    name: tuple(sorted(features))
    for name, features in {
        "BPFOnly": _BPF,
        "CounterOnly": _COUNTERS,
        "Basic": (*_COUNTERS, *_BPF),
        "BPFIRQ": (*_BPF, *_IRQ),
        "CounterIRQCombined": (*_COUNTERS, *_IRQ),
        "AcceleratorOnly": _ACCELERATOR,
        "WorkloadOnly": _WORKLOAD,
        "Full": (*_WORKLOAD, *_SYSTEM),
    }.items()
}
"""Kepler's feature groups; the features of each are sorted, as its clients expect."""

_INDEX: Final = r"(?:0|[1-9][0-9]{0,3})"
_RATES: Final = (("_watts", "_joules_total"), ("_per_second", "_total"))


@functools.lru_cache(maxsize=4096)
def column(name: str, table: str) -> Column | None:
    """Find a column of a table.

    Besides the catalogued names, the rate of a counter is known: ``X_per_second`` of
    ``X_total``, and ``X_watts`` of ``X_joules_total``.

    Args:
        name: The header's text, with indices filled in.
        table: ``samples``, ``levels`` or ``runs``.

    Returns:
        The entry under exactly this name, or None if the table has no such column.

    """
    entry = _named(name)
    if entry is None or table not in entry.tables:
        entry = _derived(name)
    return entry if entry is not None and table in entry.tables else None


def required(table: str) -> tuple[str, ...]:
    """Return the columns without which a table is refused."""
    return tuple(entry.name for entry in catalogue() if table in entry.required)


def resembling(name: str, table: str) -> str | None:
    """Return the column that a foreign name is an alias of, or one spelt similarly."""
    allowed = [entry for entry in catalogue() if table in entry.tables]
    for entry in allowed:
        if name in entry.aliases.values():
            return entry.name
    if len(name) > limits.NAME_CHARACTERS:
        return None
    import difflib  # noqa: PLC0415 - needed for refusals only

    names = [entry.name for entry in allowed]
    near = difflib.get_close_matches(name, names, n=1, cutoff=0.75)
    return near[0] if near else None


def _named(name: str) -> Column | None:
    exact, patterns = _by_name()
    found = exact.get(name)
    if found is not None:
        return found
    for pattern, entry in patterns:
        if pattern.fullmatch(name):
            return replace(entry, name=name)
    return None


def _derived(name: str) -> Column | None:
    for rate, total in _RATES:
        stem = name.removesuffix(rate)
        raw = _named(stem + total) if stem != name else None
        if raw is None or raw.kind != "counter":
            continue
        joules = raw.unit == "joules"
        if joules != (rate == "_watts"):
            return None
        return replace(
            raw,
            name=name,
            tables=("samples", "levels"),
            unit="watts" if joules else f"{raw.unit} per second",
            kind="gauge",
            maximum=RATE_MAXIMUM.get(raw.unit, raw.maximum),
            meaning=f"{raw.meaning}, as the mean rate of {raw.name}",
            derived_from=raw.name,
        )
    return None


@functools.cache
def _by_name() -> tuple[dict[str, Column], tuple[tuple[re.Pattern[str], Column], ...]]:
    exact = {entry.name: entry for entry in catalogue() if "{n}" not in entry.name}
    patterns = tuple(
        (re.compile(re.escape(entry.name).replace(r"\{n\}", _INDEX)), entry)
        for entry in catalogue()
        if "{n}" in entry.name
    )
    return exact, patterns
