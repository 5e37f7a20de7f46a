"""Counters: whether we may read energy and hardware events."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final

from registry.documents.findings import Severity, code
from tools.machine.checks import Check, Level, absent, checked, word
from tools.readings.kernel_files import Unreadable, read_number
from tools.sources.rapl_zones import find_zones

__all__ = ["look_at_counters"]

ENERGY: Final = code(
    "O061",
    Severity.WARNING,
    "The processors count their energy, and we may not read it.",
    "Let a group read it, by a udev rule if it is to last: since CVE-2020-8694 only"
    " root may.",
)
EVENTS: Final = code(
    "O062",
    Severity.INFO,
    "Hardware events of the whole machine are for root only.",
    "Allow them while measuring; -1 or 0 lets everybody count on all processors.",
)

_FILES: Final = "/sys/class/powercap/intel-rapl:*/energy_uj"
_LEVEL: Final = re.compile(r"-?[0-9]{1,4}")


def look_at_counters(sysroot: Path, procroot: Path) -> list[Check]:
    """Look at who may read what."""
    return [_energy(sysroot), _events(procroot)]


def _energy(sysroot: Path) -> Check:
    about = "energy counters"
    zones, _ = find_zones(sysroot)
    if not zones:
        return absent(about, ENERGY, "no zone of RAPL is seen")
    forbidden, broken = 0, ""
    for zone in zones:
        try:
            read_number(zone.folder / "energy_uj")
        except Unreadable as error:
            forbidden += error.forbidden
            broken = broken or ("" if error.forbidden else f"{zone.name}: {error.why}")
    if forbidden:
        state = f"{forbidden} of {len(zones)} zones are forbidden"
        command = f"sudo chgrp $(id -g) {_FILES} && sudo chmod g+r {_FILES}"
        return checked(about, ENERGY, Level.UNFIT, state, command)
    if broken:
        return absent(about, ENERGY, broken)
    return checked(about, ENERGY, Level.OK, f"{len(zones)} zones can be read")


def _events(procroot: Path) -> Check:
    about = "hardware events"
    try:
        state = word(procroot / "sys/kernel/perf_event_paranoid")
    except Unreadable as error:
        return absent(about, EVENTS, error.why)
    text = f"perf_event_paranoid {state}"
    if not _LEVEL.fullmatch(state):
        return absent(about, EVENTS, text)
    level = Level.OK if int(state) <= 0 else Level.NOTICE
    return checked(
        about, EVENTS, level, text, "sudo sysctl kernel.perf_event_paranoid=0"
    )
