"""What else goes on: load, pressure, stolen time, and heat that slowed the machine."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final

from registry.documents.findings import Severity, code
from tools.machine.checks import Check, Level, absent, checked, content
from tools.readings.kernel_files import Unreadable, read_number

__all__ = ["look_at_activity"]

LOAD: Final = code(
    "O058",
    Severity.WARNING,
    "Something else runs, so that time and power are not the workload's alone.",
    "Find it with `ps -eo pcpu,pid,comm --sort=-pcpu`, end it, and wait a minute.",
)
PRESSURE: Final = code(
    "O059",
    Severity.WARNING,
    "Tasks wait for a processor, memory or a disk already now.",
    "Find who asks for it, and end it before measuring.",
)
THROTTLED: Final = code(
    "O060",
    Severity.WARNING,
    "Heat has slowed the processors since the machine was started.",
    "Cool it, or lower the power limit; compare the counts before and after a run.",
)
STEAL: Final = code(
    "O063",
    Severity.WARNING,
    "The hypervisor gave this guest's time to others.",
    "Measure on the machine itself, or give the guest processors of its own.",
)

_LOAD: Final = re.compile(r"([0-9]{1,9}\.[0-9]{2}) ")
_SOME: Final = re.compile(r"^some avg10=([0-9]{1,3}\.[0-9]{2}) ", re.MULTILINE)
_STAT: Final = re.compile(r"^cpu +([0-9 ]+)$", re.MULTILINE)
_STEAL: Final = 7  # its place on the line "cpu" of proc(5)
_TIMES: Final = 8  # guest time is within user time
# We ourselves are a tenth of a processor for a moment; half of one is something else.
_QUIET, _BUSY = 0.2, 0.5
_CALM, _PRESSED = 1.0, 10.0  # percent of the last ten seconds
_STOLEN: Final = 0.01
_CPUS: Final = 4096
_COUNTS: Final = ("package_throttle_count", "core_throttle_count")


def look_at_activity(sysroot: Path, procroot: Path) -> list[Check]:
    """Look at what else the machine does."""
    pressures = [_pressure(procroot, one) for one in ("cpu", "memory", "io")]
    return [_load(procroot), *pressures, _steal(procroot), _throttled(sysroot)]


def _load(procroot: Path) -> Check:
    try:
        found = _LOAD.match(content(procroot / "loadavg"))
    except Unreadable as error:
        return absent("load average", LOAD, error.why)
    if found is None:
        return absent("load average", LOAD, "it cannot be understood")
    load = float(found[1])
    state = f"{load:.2f} tasks over the last minute"
    return checked("load average", LOAD, _graded(load, _QUIET, _BUSY), state)


def _pressure(procroot: Path, resource: str) -> Check:
    about = f"pressure on {resource}"
    try:
        found = _SOME.search(content(procroot / "pressure" / resource))
    except Unreadable as error:
        return absent(about, PRESSURE, error.why)
    if found is None:
        return absent(about, PRESSURE, "it cannot be understood")
    share = float(found[1])
    state = f"some task waited in {share:.2f} % of the last ten seconds"
    return checked(about, PRESSURE, _graded(share, _CALM, _PRESSED), state)


def _graded(value: float, fine: float, bad: float) -> Level:
    if value >= bad:
        return Level.UNFIT
    return Level.OK if value < fine else Level.NOTICE


def _steal(procroot: Path) -> Check:
    try:
        found = _STAT.search(content(procroot / "stat"))
    except Unreadable as error:
        return absent("steal time", STEAL, error.why)
    times = [] if found is None else [int(one) for one in found[1].split()[:_TIMES]]
    if len(times) <= _STEAL or not sum(times):
        return absent("steal time", STEAL, "stat does not tell of it")
    stolen = times[_STEAL] / sum(times)
    level = Level.NOTICE if times[_STEAL] else Level.OK
    state = f"{100 * stolen:.2f} % of all time since the start"
    if stolen >= _STOLEN:
        level = Level.UNFIT
    return checked("steal time", STEAL, level, state)


def _throttled(sysroot: Path) -> Check:
    folders = sorted((sysroot / "devices/system/cpu").glob("cpu[0-9]*"))[:_CPUS]
    counts: dict[str, list[int]] = {name: [] for name in _COUNTS}
    for folder in folders:
        for name, found in counts.items():
            try:
                found.append(read_number(folder / "thermal_throttle" / name))
            except Unreadable:
                continue
    # All processors of a package show its one count, so that a sum would say too much.
    parts = [
        f"{name.partition('_')[0]} at most {max(found)} times"
        for name, found in counts.items()
        if found
    ]
    if not parts:
        return absent("thermal throttling", THROTTLED, "no processor counts it")
    level = Level.NOTICE if any(map(any, counts.values())) else Level.OK
    state = f"{', '.join(parts)} since the start"
    return checked("thermal throttling", THROTTLED, level, state)
