"""A live /sys/class/powercap: zones whose counters grow with a clock of the test.

tree = FakePowercap(tmp_path / "sys", TWO_SOCKETS)
tree.at(1.5)

Files are replaced whole, so that a reader never sees half a number. The scenarios and
their truth are those of the trap table of RAPL readers in measuring.md.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

__all__ = [
    "DISTINCT_DIES",
    "FROZEN",
    "MIRRORED_DIES",
    "PSYS_AND_MMIO",
    "PSYS_FIRST",
    "RANGE",
    "TWO_SOCKETS",
    "WRAPPING",
    "FakePowercap",
    "FakeZone",
]

RANGE = 262_143_328_850
"""max_energy_range_uj of a package of Intel and AMD."""
_DRAM_RANGE = 65_712_999_613


@dataclass(frozen=True)
class FakeZone:
    """One zone: where it is, what it is called and what it draws.

    Attributes:
        path: its folder below its control type; a slash parts it from its parent.
        name: the text of its file name.
        watts: what it draws.
        start: its counter at 0 seconds, in microjoules.
        range: its max_energy_range_uj; None if there is no such file.
        limit: its constraint_0_max_power_uw in watts; None if there is none.

    """

    path: str
    name: str
    watts: float
    start: int = 10**9
    range: int | None = RANGE
    limit: float | None = None


TWO_SOCKETS = (
    FakeZone("intel-rapl:0", "package-0", 100, limit=150),
    FakeZone("intel-rapl:0/intel-rapl:0:0", "core", 60),
    FakeZone("intel-rapl:0/intel-rapl:0:1", "dram", 10, range=_DRAM_RANGE),
    FakeZone("intel-rapl:1", "package-1", 50, limit=150),
    FakeZone("intel-rapl:1/intel-rapl:1:0", "core", 30),
    FakeZone("intel-rapl:1/intel-rapl:1:1", "dram", 10, range=_DRAM_RANGE),
)
PSYS_AND_MMIO = (
    FakeZone("intel-rapl:0", "package-0", 100),
    FakeZone("intel-rapl:0/intel-rapl:0:0", "core", 60),
    FakeZone("intel-rapl:0/intel-rapl:0:1", "uncore", 5),
    FakeZone("intel-rapl:1", "psys", 160),
    FakeZone("intel-rapl-mmio:0", "package-0", 100),
)
PSYS_FIRST = (
    FakeZone("intel-rapl:0", "psys", 300),
    FakeZone("intel-rapl:1", "package-0", 100),
    FakeZone("intel-rapl:1/intel-rapl:1:0", "dram", 10),
    FakeZone("intel-rapl:2", "package-1", 50),
    FakeZone("intel-rapl:2/intel-rapl:2:0", "dram", 10),
)
MIRRORED_DIES = (
    FakeZone("intel-rapl:0", "package-0-die-0", 68),
    FakeZone("intel-rapl:1", "package-0-die-1", 68),
)
DISTINCT_DIES = (
    FakeZone("intel-rapl:0", "package-0-die-0", 100),
    FakeZone("intel-rapl:0/intel-rapl:0:0", "dram", 10),
    FakeZone("intel-rapl:1", "package-0-die-1", 50),
    FakeZone("intel-rapl:1/intel-rapl:1:0", "dram", 10),
)
WRAPPING = (
    FakeZone("intel-rapl:0", "package-0", 100, start=RANGE - 150 * 10**6),
    FakeZone("intel-rapl:0/intel-rapl:0:0", "dram", 10),
)
FROZEN = (FakeZone("intel-rapl:0", "package-0", 0),)


class FakePowercap:
    """A tree below a new folder, laid out as the kernel does."""

    def __init__(self, root: Path, zones: Sequence[FakeZone]) -> None:
        """Make it, at 0 seconds."""
        self.root = root
        self.zones = tuple(zones)
        self._class = root / "class/powercap"
        self._class.mkdir(parents=True)
        for zone in self.zones:
            folder = self.folder(zone)
            folder.mkdir(parents=True)
            _write(folder / "name", zone.name)
            _write(folder / "enabled", "1")
            if zone.range is not None:
                _write(folder / "max_energy_range_uj", str(zone.range))
            if zone.limit is not None:
                limit = str(round(zone.limit * 1e6))
                _write(folder / "constraint_0_max_power_uw", limit)
            link = self._class / folder.name
            link.symlink_to(os.path.relpath(folder, self._class))
        self.at(0)

    def folder(self, zone: FakeZone) -> Path:
        """Where the files of a zone are."""
        control = zone.path.partition(":")[0]
        return self.root / "devices/virtual/powercap" / control / zone.path

    def at(self, seconds: float) -> None:
        """Let the counters be those of an instant."""
        for zone in self.zones:
            energy = zone.start + round(zone.watts * seconds * 1e6)
            _write(self.folder(zone) / "energy_uj", str(energy % (zone.range or RANGE)))


def _write(path: Path, text: str) -> None:
    part = path.with_name(f".{path.name}.part")
    part.write_text(f"{text}\n", "ascii")
    part.replace(path)
