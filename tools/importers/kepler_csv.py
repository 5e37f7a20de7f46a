"""Turns kepler-model-server's preprocessed tables into a derived timeseries bundle.

Such a table has a row a scrape: unix time, activity per second summed over all
containers, and watts. Several tables of one recording are joined by their times. They
are rates that someone else computed, so the bundle says ``derived: rates``.
"""

from __future__ import annotations

import io
import re
from typing import TYPE_CHECKING, Final

import numpy as np
import polars as pl

from registry.documents import limits
from registry.documents.columns import catalogue
from registry.documents.findings import RegistryError, Severity, code, finding, shown
from tools.importers.kepler_query import NO_POWER, Imported, days_of
from tools.importers.prometheus import NOT_READ
from tools.importers.run_plan import Recording, one_run, plan_runs

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from registry.documents.spec import HardwareSpec

__all__ = ["import_tables"]

PACKAGES = code(
    "L025",
    Severity.ERROR,
    "A table adds up all processor packages, and the machine has several.",
    "Import the raw dump with `powerkit import kepler-query`, which keeps packages"
    " apart.",
    "S12",
)
ISOLATED = code(
    "L026",
    Severity.ERROR,
    "A table holds power of which an estimated background was taken away.",
    "Give the tables of absolute power (preprocess_abs_…): the floor is needed.",
    "B13",
)
UNIT = code(
    "L027",
    Severity.ERROR,
    "CPU time in milliseconds is more than the machine's processors have.",
    "Check cores and threads_per_core of the spec, and that the table is of kepler-"
    "model-server, whose bpf_cpu_time_us holds milliseconds.",
    "S12",
)
DISAGREE = code(
    "L028",
    Severity.ERROR,
    "Two tables give different values for the same column and time.",
    "Give tables of one recording only.",
    "B13",
)
METER = code(
    "L029",
    Severity.ERROR,
    "Nothing says which meter measured the platform's power.",
    "Name it with `--platform`; the names of such files have it after _default_.",
)

_TIME: Final = "timestamp"
_BURST, _STATE = "run", "state"
_IGNORED: Final = frozenset(("node_type", "packge_ratio_package", "block5"))
"""Columns of kepler-model-server's own bookkeeping."""
_UNUSABLE: Final = re.compile(r"(?:kubelet|cgroupfs)_[a-z_]+")
_CPU_TIME: Final = ("bpf_cpu_time_us", "bpf_cpu_time_ms")
_ZONES: Final = ("package", "core", "uncore", "dram")
_PLATFORM: Final = ("acpi", "redfish")
_METER_OF_NAME: Final = re.compile(r"(?:^|_)(acpi|redfish)_")
_CPU_SLACK: Final = 1.05
_TABLES: Final = 32


def import_tables(
    tables: Mapping[str, bytes],
    spec: HardwareSpec,
    *,
    platform: str | None = None,
    plan: tuple[bytes, str] | None = None,
) -> Imported:
    """Join tables of one recording.

    Args:
        tables: Bytes of each table by its name.
        spec: The machine, against which units are checked.
        platform: Which meter ``platform_power`` is of; by default the names say it.
        plan: Bytes and name of a plan of runs; without one there is one run, "other".

    Raises:
        RegistryError: L020, L022, L023, L025 to L029.

    """
    if not 0 < len(tables) <= _TABLES:
        what = f"{len(tables)} tables, 1 to {_TABLES} can be joined"
        raise RegistryError(finding(NOT_READ, "-", what))
    frames = {path: _read(data, path) for path, data in tables.items()}
    joined = _joined(frames)
    notes: list[str] = []
    left: list[str] = []
    columns: dict[str, NDArray[np.float64]] = {}
    meters = _meters(frames, platform)
    for name in joined.columns:
        if name in (_TIME, _BURST, _STATE) or name in _IGNORED:
            continue
        values = joined[name].to_numpy()
        path = next(path for path, frame in frames.items() if name in frame.columns)
        target = None
        if _UNUSABLE.fullmatch(name):
            left.append(name)
        else:
            target = _target(name, values, spec, meters, path, notes)
        if target is not None:
            columns[target[0]] = np.round(target[1], 9)
    if left:
        notes.append(
            "left out, since gauges were differenced as if they were counters: "
            + ", ".join(left)
        )
    if not any(name.endswith("_watts") for name in columns):
        what = "no column of power is left"
        raise RegistryError(finding(NO_POWER, next(iter(tables)), what))
    unix = joined[_TIME].to_numpy()
    recording = Recording(
        np.round(unix - unix[0], 3),
        float(unix[0]),
        _whole(joined, _BURST),
        _whole(joined, _STATE),
    )
    runs, labels = plan_runs(*plan, recording) if plan else one_run(recording)
    samples = pl.DataFrame(
        [
            pl.Series("time_seconds", recording.times),
            labels,
            *(pl.Series(k, v).fill_nan(None) for k, v in sorted(columns.items())),
        ]
    )
    first, last = days_of(unix)
    return Imported({"samples": samples, "runs": runs}, first, last, tuple(notes))


def _read(data: bytes, path: str) -> pl.DataFrame:
    """Read the numbers of one table, sorted by time."""
    if len(data) > limits.FILE_BYTES:
        what = f"{len(data)} bytes, at most {limits.FILE_BYTES} are read"
        raise RegistryError(finding(NOT_READ, path, what))
    try:
        texts = pl.read_csv(io.BytesIO(data), infer_schema=False)
    except (pl.exceptions.PolarsError, UnicodeDecodeError) as error:
        raise RegistryError(finding(NOT_READ, path, str(error))) from None
    if "id" in texts.columns or "_dyn_" in path:
        raise RegistryError(finding(ISOLATED, path, "a table of dynamic power"))
    if _TIME not in texts.columns or texts.height < 2:
        what = f"there are no two rows with a column {_TIME}"
        raise RegistryError(finding(NOT_READ, path, what))
    numbers = []
    for name in texts.columns:
        values = texts[name].cast(pl.Float64, strict=False)
        bad = (
            texts[name].is_not_null() & ~values.is_finite().fill_null(value=False)
        ) | (values.is_null() & (name == _TIME))
        if bad.any():
            line = int(bad.arg_true()[0]) + 2
            what = f"{shown(name)} holds a value that is no number"
            raise RegistryError(finding(NOT_READ, path, what, line=line))
        numbers.append(values)
    frame = pl.DataFrame(numbers).sort(_TIME)
    times = frame[_TIME]
    if times.is_duplicated().any() or float(frame[_TIME][0]) < 0:
        what = "two rows have the same time, or one is below 0"
        raise RegistryError(finding(NOT_READ, path, what))
    if float(times[-1]) > 1e11:
        raise RegistryError(finding(NOT_READ, path, "times are not in seconds"))
    return frame


def _joined(frames: Mapping[str, pl.DataFrame]) -> pl.DataFrame:
    """Join tables on all their times; where two have a column they must agree."""
    (first, joined), *rest = frames.items()
    for path, frame in rest:
        merged = joined.join(
            frame, on=_TIME, how="full", coalesce=True, suffix="\x00"
        ).sort(_TIME)
        for name in set(joined.columns) & set(frame.columns) - {_TIME}:
            one, other = merged[name], merged[f"{name}\x00"]
            apart = (one - other).abs() > 1e-6 * one.abs() + 1e-6
            if apart.any():
                what = f"{name} differs from {shown(first, 100)}"
                raise RegistryError(finding(DISAGREE, path, what))
            merged = merged.with_columns(pl.coalesce(one, other).alias(name))
        joined = merged.select([n for n in merged.columns if not n.endswith("\x00")])
    return joined


def _meters(frames: Mapping[str, pl.DataFrame], platform: str | None) -> set[str]:
    """Name the meters of which the tables with platform power are."""
    if platform is not None:
        return {platform}
    return {
        match.group(1)
        for path, frame in frames.items()
        if "platform_power" in frame.columns
        for match in [_METER_OF_NAME.search(path.rpartition("/")[2])]
        if match
    }


def _target(
    name: str,
    values: NDArray[np.float64],
    spec: HardwareSpec,
    meters: set[str],
    path: str,
    notes: list[str],
) -> tuple[str, NDArray[np.float64]] | None:
    """Give the catalogue's column and its values, or say why there is none."""
    zone = name.removesuffix("_power")
    if name == "platform_power":
        if len(meters) != 1 or not meters <= set(_PLATFORM):
            what = f"platform_power is of {' or '.join(sorted(meters)) or 'no meter'}"
            raise RegistryError(finding(METER, path, what))
        return f"{next(iter(meters))}_watts", values
    if name != zone and zone in _ZONES:
        return _zone(zone, values, spec, path, notes)
    if name in _CPU_TIME:
        return _cpu_time(name, values, spec, path, notes)
    entry = _rates().get(name)
    if entry is None:
        notes.append(f"{shown(name)} is not known and left out")
        return None
    column, scale = entry
    return column, values / scale


def _zone(
    zone: str,
    values: NDArray[np.float64],
    spec: HardwareSpec,
    path: str,
    notes: list[str],
) -> tuple[str, NDArray[np.float64]] | None:
    if not np.nan_to_num(values).any():
        notes.append(f"{zone}_power is 0 throughout: the machine does not measure it")
        return None
    sockets = spec.cpu.sockets.populated
    if sockets > 1:
        what = f"{zone}_power is of all packages, the spec has {sockets} sockets"
        raise RegistryError(finding(PACKAGES, path, what))
    return f"rapl_{zone}_0_watts", values


def _cpu_time(
    name: str,
    values: NDArray[np.float64],
    spec: HardwareSpec,
    path: str,
    notes: list[str],
) -> tuple[str, NDArray[np.float64]]:
    """Read milliseconds a second; the name says microseconds before Kepler 0.7."""
    seconds = values / 1000
    most = float(np.nanmax(seconds))
    if most > spec.logical_cpus * _CPU_SLACK:
        what = (
            f"{name} reaches {most:.6g} s a second, the spec has"
            f" {spec.logical_cpus} logical CPUs"
        )
        raise RegistryError(finding(UNIT, path, what))
    if name.endswith("_us"):
        notes.append(f"{name} holds milliseconds a second, whatever its name says")
    return "bpf_cpu_seconds_per_second", seconds


def _rates() -> dict[str, tuple[str, float]]:
    """Return the rate's column and Kepler's scale by Kepler's name of a feature."""
    return {
        entry.feature: (
            entry.name.removesuffix("_total") + "_per_second",
            entry.scale,
        )
        for entry in catalogue()
        if entry.feature and entry.kind == "counter" and "kepler_v0_7" in entry.aliases
    }


def _whole(frame: pl.DataFrame, name: str) -> NDArray[np.int64] | None:
    if name not in frame.columns:
        return None
    return frame[name].fill_null(-1).cast(pl.Int64).to_numpy()
