"""What Kepler measures of a node: which counters, how they add up, where they break."""

from __future__ import annotations

import itertools
import re
from collections import defaultdict
from typing import TYPE_CHECKING, Final

import numpy as np

from registry.documents.findings import RegistryError, Severity, code, finding

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from tools.importers.prometheus import Series

__all__ = ["fresh_rows", "moving", "node_groups", "stretch", "summed"]

TWICE = code(
    "L024",
    Severity.ERROR,
    "A dump holds the same counter twice at the same time.",
    "Query one exporter only, or leave the second scrape job out.",
)

_ZONES: Final = ("package", "core", "uncore", "dram")
_RAPL: Final = ("rapl-sysfs", "rapl-msr")
_PLATFORM: Final = ("acpi", "redfish")
_MODES: Final = ("dynamic", "idle")


def node_groups(
    dump: Mapping[str, Sequence[Series]], notes: list[str]
) -> dict[str, list[Series]]:
    """Series of the node's energy by the column that they add up to."""
    accounts: dict[str, dict[str, list[Series]]] = defaultdict(dict)
    for name, many in dump.items():
        if not (name.startswith("kepler_node_") and name.endswith("_joules_total")):
            continue
        part = name.removeprefix("kepler_node_").removesuffix("_joules_total")
        strange: set[str] = set()
        for one in many:
            target, source = _column(part, one.labels), one.labels.get("source", "")
            if target is None:
                strange.add(source or "no source")
            elif one.times.size:
                accounts[target].setdefault(source, []).append(one)
        if strange:
            notes.append(f"{name} of {', '.join(sorted(strange))} is no measured zone")
    groups: dict[str, list[Series]] = {}
    for target, sources in sorted(accounts.items()):
        # Two ways to read one counter must never be added up.
        taken = _RAPL[0] if _RAPL[0] in sources else min(sources)
        groups[target] = sources[taken]
        if len(sources) > 1:
            notes.append(f"{target} is taken from {taken} only")
    return groups


def _column(part: str, labels: Mapping[str, str]) -> str | None:
    """Name the catalogue's column of one series of a node, or None."""
    source = labels.get("source", "")
    if labels.get("mode", "dynamic") not in _MODES:
        return None
    if part == "dram" and source == "rapl-msr":
        return None  # Kepler reads it in the package's energy unit, which is another
    if part in _ZONES and source in _RAPL:
        package = labels.get("package", "")
        return f"rapl_{part}_{package}_joules_total" if _index(package) else None
    if part == "platform" and source in _PLATFORM:
        return f"{source}_joules_total"
    if part == "gpu" and source != "trained_power_model":
        index = labels.get("index", "")
        return f"gpu_{index}_joules_total" if _index(index) else None
    return None


def _index(text: str) -> bool:
    return re.fullmatch(r"0|[1-9][0-9]{0,2}", text) is not None


def summed(
    many: Sequence[Series], grid: NDArray[np.float64], name: str, path: str
) -> NDArray[np.float64]:
    """Add the modes of a counter; empty (NaN) where one of them has no sample.

    Raises:
        RegistryError: L024, two series of one mode have a sample at the same time.

    """
    modes: dict[str, NDArray[np.float64]] = {}
    for one in many:
        values = modes.setdefault(
            one.labels.get("mode", "dynamic"), np.full(len(grid), np.nan)
        )
        at = np.searchsorted(grid, one.times)
        if not np.isnan(values[at]).all():
            raise RegistryError(finding(TWICE, path, name))
        values[at] = one.values
    total = np.zeros(len(grid))
    for values in modes.values():
        total += values  # NaN and anything is NaN
    return total


def stretch(
    grid: NDArray[np.float64],
    node: Mapping[str, NDArray[np.float64]],
    groups: Mapping[str, Sequence[Series]],
    notes: list[str],
) -> tuple[NDArray[np.float64], dict[str, NDArray[np.float64]]]:
    """Cut where a counter fell, and keep the longest stretch."""
    falls = {float(t) for many in groups.values() for one in many for t in _falls(one)}
    falls |= {float(t) for values in node.values() for t in _fallen(grid, values)}
    cuts = [0, *(int(np.searchsorted(grid, t)) for t in sorted(falls)), len(grid)]
    spans = [(b - a, -a, a, b) for a, b in itertools.pairwise(cuts)]
    _, _, first, last = max(spans)
    if falls:
        notes.append(
            f"Kepler was restarted (times: {len(falls)}); the longest stretch between"
            f" restarts is kept, {last - first} of {len(grid)} scrapes"
        )
    return grid[first:last], {k: v[first:last] for k, v in node.items()}


def _falls(one: Series) -> NDArray[np.float64]:
    return one.times[1:][np.diff(one.values) < 0]


def _fallen(
    grid: NDArray[np.float64], values: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Times at which a column falls, also between two series of the same counter."""
    known = np.flatnonzero(~np.isnan(values))
    return grid[known[1:]][np.diff(values[known]) < 0]


def moving(
    node: Mapping[str, NDArray[np.float64]], notes: list[str]
) -> Iterator[tuple[str, NDArray[np.float64]]]:
    """Yield the columns that move; one that stands still is of no meter."""
    for name, values in node.items():
        known = values[~np.isnan(values)]
        if known.size and known.max() > known.min():
            yield name, values
        else:
            notes.append(f"{name} never moves: the machine does not measure it")


def fresh_rows(
    node: Mapping[str, NDArray[np.float64]], notes: list[str]
) -> NDArray[np.bool_]:
    """Mark scrapes; a row at which no counter of the node moved is the one before."""
    rows = np.stack(list(node.values()), axis=1)
    same = (rows[1:] == rows[:-1]) | (np.isnan(rows[1:]) & np.isnan(rows[:-1]))
    fresh = np.concatenate(([True], ~same.all(axis=1)))
    if not fresh.all():
        notes.append(f"repetitions of the scrape before, left out: {(~fresh).sum()}")
    return fresh
