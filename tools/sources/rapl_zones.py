"""Finds the zones of RAPL below /sys/class/powercap, and says what each one measures.

A zone is known by its control type, path and name, not by its number: psys may stand
before the packages, packages may have dies, and the same package may appear twice, by
registers (``intel-rapl``, also on AMD) and by memory (``intel-rapl-mmio``).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from tools.readings.kernel_files import Unreadable, read_number, read_word
from tools.readings.series import Kind, Missing, Series

__all__ = ["ZONES", "Zone", "find_zones", "series_of"]

ZONES: Final = 1024
"""The most zones that are looked at."""

_FOLDER: Final = re.compile(
    r"(?P<type>intel-rapl(?:-[a-z]+)?):[0-9a-f]{1,4}(?P<child>:[0-9a-f]{1,4})?"
)
_PACKAGE: Final = re.compile(r"package-(?P<n>[0-9]{1,4})(?:-die-(?P<die>[0-9]{1,4}))?")
_PARTS: Final = ("core", "uncore", "dram")
_MMIO: Final = "intel-rapl-mmio"


@dataclass(frozen=True, slots=True)
class Zone:
    """One zone, as it stands in sysfs.

    Attributes:
        control: its control type: ``intel-rapl`` or ``intel-rapl-mmio``.
        folder: where its files are.
        name: the text of its file ``name``.
        parent: the name of the zone that it is part of; empty if of none.
        modulus: at how many microjoules it begins again at 0; None if unknown.
        power_maximum: the most watts that it is allowed, of its constraints; None if
            unknown.

    """

    control: str
    folder: Path
    name: str
    parent: str
    modulus: int | None
    power_maximum: float | None

    @property
    def identity(self) -> str:
        """Control type, path and name, for people."""
        return f"{self.folder.name} {self.name}"


def find_zones(sysroot: Path) -> tuple[tuple[Zone, ...], tuple[Missing, ...]]:
    """Find all zones below ``sysroot``, and say which views are left out.

    A zone that is shown by memory too is taken by registers.
    """
    powercap = sysroot / "class/powercap"
    try:
        folders = sorted(powercap.iterdir(), key=_order)
    except OSError:
        return (), ()
    zones: list[Zone] = []
    missing: list[Missing] = []
    names: dict[str, str] = {}
    for folder in folders[:ZONES]:
        matched = _FOLDER.fullmatch(folder.name)
        if matched is None:
            continue
        try:
            name = read_word(folder / "name")
        except Unreadable as error:
            missing.append(Missing("rapl", folder.name, f"its name: {error.why}"))
            continue
        names[folder.name] = name
        parent = names.get(folder.name.rpartition(":")[0], "")
        zones.append(_zone(matched["type"], folder, name, parent))
    kept, twice = _once(zones)
    return kept, (*missing, *twice)


def series_of(zone: Zone) -> Series | None:
    """What a zone measures; None if its name is none that we know."""
    place = _PACKAGE.fullmatch(zone.name)
    part = "package"
    if zone.name in _PARTS:
        part, place = zone.name, _PACKAGE.fullmatch(zone.parent)
    if zone.name == "psys":
        return _series(zone, "rapl_psys_joules_total", "psys", "psys")
    if place is None:
        return None
    number, die = int(place["n"]), place["die"]
    index, device = f"{number}", f"{part} {number}"
    if die is not None:
        index, device = f"{number}_die_{int(die)}", f"{device} die {int(die)}"
    return _series(zone, f"rapl_{part}_{index}_joules_total", device, part)


def _series(zone: Zone, name: str, device: str, coverage: str) -> Series:
    return Series(
        name=name,
        unit="joules",
        decimals=6,
        kind=Kind.COUNTER,
        source="rapl",
        device=device,
        quantity="energy",
        coverage=coverage,
        origin=zone.identity,
        wraps=True,
        modulus=zone.modulus,
        update_seconds=0.001,  # Intel SDM; whole intervals of 10 ms are usable
        rate_maximum=zone.power_maximum,
    )


def _zone(control: str, folder: Path, name: str, parent: str) -> Zone:
    try:
        modulus: int | None = read_number(folder / "max_energy_range_uj") or None
    except Unreadable:
        modulus = None
    limits: list[int] = []
    for number in range(3):
        try:
            limits.append(read_number(folder / f"constraint_{number}_max_power_uw"))
        except Unreadable:
            continue
    watts = max(limits, default=0) / 1e6
    return Zone(control, folder, name, parent, modulus, watts or None)


def _once(zones: Sequence[Zone]) -> tuple[tuple[Zone, ...], tuple[Missing, ...]]:
    """Leave out the view by memory of what registers show as well."""
    by_register = {(zone.name, zone.parent) for zone in zones if zone.control != _MMIO}
    kept: list[Zone] = []
    missing: list[Missing] = []
    for zone in zones:
        if zone.control == _MMIO and (zone.name, zone.parent) in by_register:
            why = "the same counter is read as intel-rapl"
            missing.append(Missing("rapl", zone.identity, why, expected=True))
        else:
            kept.append(zone)
    return tuple(kept), tuple(missing)


def _order(folder: Path) -> tuple[str, Iterable[int]]:
    # Parents stand before their parts, and 10 (in hex, a) after 9.
    control, *numbers = folder.name.split(":")
    try:
        return control, [int(number, 16) for number in numbers]
    except ValueError:
        return folder.name, []
