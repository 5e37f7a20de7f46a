"""A recording as a table: a row for the peak and the average of each device.

Columns are those of TRIMS's GPU monitor and a few more; devices are GPUs, packages of
processors and their parts, the machine and the process. Energy has rows of its own, one
for each way of measuring it.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from tools.readings.series import Kind
from tools.recording.recording import Recording
from tools.recording.summary import SeriesSummary, Summary

__all__ = ["COLUMNS", "Column", "Row", "human_bytes", "separated", "table_rows"]

Cell = str | float | int | None
Row = Mapping[str, Cell]


@dataclass(frozen=True, slots=True)
class Column:
    """One column of the table.

    Attributes:
        name: its name, with its unit.
        title: what stands above it at a terminal.
        quantities: what it shows of a device; the first that the device has.
        scale: by how much numbers are divided at a terminal.
        digits: how many decimals they have there.
        human: whether a second column says the bytes in a person's units.

    """

    name: str
    title: str
    quantities: tuple[str, ...]
    scale: float = 1.0
    digits: int = 0
    human: bool = False


COLUMNS: Final = (
    Column(
        "power_watts",
        "power W",
        ("power", "usage_power", "average_power", "energy"),
        digits=1,
    ),
    Column("temperature_celsius", "temp C", ("temperature",)),
    Column("utilisation_ratio", "use %", ("utilisation",), 0.01),
    Column("memory_utilisation_ratio", "mem use %", ("memory_utilisation",), 0.01),
    Column("encoder_utilisation_ratio", "enc %", ("encoder_utilisation",), 0.01),
    Column("decoder_utilisation_ratio", "dec %", ("decoder_utilisation",), 0.01),
    Column("cpu_busy", "CPUs busy", ("cpu",), digits=2),
    Column("memory_used_bytes", "memory", ("memory_used",), human=True),
    Column("memory_free_bytes", "free", ("memory_free",), human=True),
    Column("bar1_used_bytes", "BAR1", ("bar1_used",), human=True),
    Column("clock_core_hertz", "core MHz", ("sm_clock", "frequency"), 1e6),
    Column("clock_memory_hertz", "mem MHz", ("memory_clock",), 1e6),
    Column("pcie_receive_bytes_per_second", "rx MB/s", ("pcie_receive",), 1e6, 1),
    Column("pcie_transmit_bytes_per_second", "tx MB/s", ("pcie_transmit",), 1e6, 1),
    Column("fan_ratio", "fan %", ("fan",), 0.01),
    Column("threads", "threads", ("threads",), digits=1),
    Column("processes", "procs", ("processes", "procs_running"), digits=1),
)
"""The columns of numbers, in order."""

_UNITS: Final = ("B", "KiB", "MiB", "GiB", "TiB", "PiB")


def human_bytes(value: float) -> str:
    """Bytes in the unit that leaves the fewest digits: ``1.5 GiB``."""
    size = float(value)
    for unit in _UNITS[:-1]:
        if abs(size) < 1024:
            return f"{size:.0f} {unit}" if unit == "B" else f"{size:.1f} {unit}"
        size /= 1024
    return f"{size:.1f} {_UNITS[-1]}"


def table_rows(
    summary: Summary, recording: Recording | None = None
) -> Iterator[dict[str, Cell]]:
    """Give the rows of the table.

    Args:
        summary: what peaks and averages are of.
        recording: give a row of each sample before them.

    Yields:
        Rows with ``device``, ``statistic`` (sample, peak, average, energy),
        ``time_seconds`` of samples, `COLUMNS`, and ``energy_joules`` with ``method``.
        Numbers are in base units; what a device does not have is None.
    """
    by_device: dict[str, dict[str, SeriesSummary]] = {}
    for one in summary.series:
        by_device.setdefault(one.device, {})[one.quantity] = one
    for device, quantities in by_device.items():
        if not any(set(column.quantities) & quantities.keys() for column in COLUMNS):
            continue
        if recording is not None:
            yield from _samples(recording, device)
        for statistic in ("peak", "average"):
            cells = {
                column.name: _statistic(quantities, column, statistic)
                for column in COLUMNS
            }
            if statistic == "peak" or any(cell is not None for cell in cells.values()):
                yield _row(device, statistic, cells)
        for energy in summary.energies:
            if energy.device == device:
                yield _row(
                    device,
                    "energy",
                    {"power_watts": energy.watts},
                    energy=energy.joules,
                    method=f"{energy.method} {energy.series}",
                )


def separated(rows: Iterable[Row], separator: str) -> str:
    """The rows as CSV or TSV, with a header; None is empty."""
    text = io.StringIO()
    names = _names()
    writer = csv.DictWriter(text, names, delimiter=separator, lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return text.getvalue()


def _names() -> list[str]:
    names = ["device", "statistic", "time_seconds"]
    for column in COLUMNS:
        names.append(column.name)
        if column.human:
            names.append(f"human_{column.name.removesuffix('_bytes')}")
    return [*names, "energy_joules", "method"]


def _row(
    device: str,
    statistic: str,
    cells: Mapping[str, float | None],
    *,
    time_seconds: float | None = None,
    energy: float | None = None,
    method: str | None = None,
) -> dict[str, Cell]:
    row: dict[str, Cell] = dict.fromkeys(_names())
    row.update(
        device=device,
        statistic=statistic,
        time_seconds=time_seconds,
        energy_joules=energy,
        method=method,
    )
    row.update(cells)
    for column in COLUMNS:
        value = cells.get(column.name)
        if column.human and value is not None:
            row[f"human_{column.name.removesuffix('_bytes')}"] = human_bytes(value)
    return row


def _statistic(
    quantities: Mapping[str, SeriesSummary], column: Column, statistic: str
) -> float | None:
    for quantity in column.quantities:
        one = quantities.get(quantity)
        if one is not None:
            value = one.peak if statistic == "peak" else one.mean
            if value is not None:
                return value
    return None


def _samples(recording: Recording, device: str) -> Iterator[dict[str, Cell]]:
    """A row of each sample of a device; rates of counters are of two, so of none."""
    places: list[tuple[str, int]] = []
    for column in COLUMNS:
        places += _gauges(recording, device, column)
    if not places:
        return
    names = [recording.columns[place].name for _, place in places]
    readings = [recording.readings(name) for name in names]
    start = recording.times_ns[0] if len(recording) else 0
    for row, time_ns in enumerate(recording.times_ns):
        cells: dict[str, float | None] = {}
        for (column_name, place), values in zip(places, readings, strict=True):
            value = values[row]
            steps = recording.columns[place].steps
            cells[column_name] = None if value is None else value / steps
        yield _row(device, "sample", cells, time_seconds=(time_ns - start) / 1e9)


def _gauges(
    recording: Recording, device: str, column: Column
) -> Sequence[tuple[str, int]]:
    for quantity in column.quantities:
        for place, one in enumerate(recording.columns):
            here = one.device == device and one.quantity == quantity
            if here and one.kind is not Kind.COUNTER:
                return [(column.name, place)]
    return []
