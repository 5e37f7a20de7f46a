"""A machine's /sys and /proc of a test's own, quiet unless told otherwise."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

__all__ = ["QUIET", "tree"]

_POLICY = "sys/devices/system/cpu/cpufreq/policy"
_ZONE = "sys/class/powercap/intel-rapl:0"
_CLOCK = "sys/devices/system/clocksource/clocksource0"

QUIET: Mapping[str, str] = {
    f"{_POLICY}0/scaling_governor": "performance",
    f"{_POLICY}1/scaling_governor": "performance",
    f"{_POLICY}0/scaling_driver": "acpi-cpufreq",
    f"{_POLICY}1/scaling_driver": "acpi-cpufreq",
    "sys/devices/system/cpu/cpufreq/boost": "0",
    "sys/devices/system/cpu/smt/control": "off",
    "sys/devices/system/cpu/cpu0/thermal_throttle/package_throttle_count": "0",
    "sys/devices/system/cpu/cpu0/thermal_throttle/core_throttle_count": "0",
    "sys/kernel/mm/transparent_hugepage/enabled": "always [madvise] never",
    f"{_CLOCK}/current_clocksource": "tsc",
    f"{_CLOCK}/available_clocksource": "tsc hpet acpi_pm",
    f"{_ZONE}/name": "package-0",
    f"{_ZONE}/energy_uj": "12345",
    f"{_ZONE}/max_energy_range_uj": "262143328850",
    "sys/block/sda/queue/write_cache": "write through",
    "sys/block/loop0/queue/write_cache": "write back",
    "sys/block/dm-0/queue/write_cache": "write back",
    "proc/sys/kernel/randomize_va_space": "0",
    "proc/sys/kernel/perf_event_paranoid": "-1",
    "proc/meminfo": "MemTotal:  9 kB\nSwapTotal:  2048 kB\nSwapFree:  2048 kB",
    "proc/cpuinfo": "processor\t: 0\nflags\t\t: fpu tsc ht\n",
    "proc/loadavg": "0.10 4.65 6.15 3/110 17059",
    "proc/pressure/cpu": "some avg10=0.00 avg60=1.00 avg300=1.00 total=9",
    "proc/pressure/memory": "some avg10=0.00 avg60=0.00 avg300=0.00 total=9",
    "proc/pressure/io": "some avg10=0.99 avg60=0.00 avg300=0.00 total=9",
    "proc/stat": "cpu  100 1 50 9000 30 3 4 0 6 1\ncpu0 1 1 1 1 1 1 1 0 1 1",
}
"""A machine on which nothing disturbs, by the paths of its files."""


def tree(root: Path, changes: Mapping[str, str | None] | None = None) -> Path:
    """Write the files of a machine; those that are None are not there."""
    for path, text in {**QUIET, **(changes or {})}.items():
        if text is not None:
            file = root / path
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(f"{text}\n")
    for name in ("sys", "proc"):
        (root / name).mkdir(exist_ok=True)
    return root
