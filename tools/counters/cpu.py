"""Reads processor time, scheduling and frequency from /proc/stat and cpufreq."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from tools.counters.pressure import Pressure
from tools.readings.kernel_files import Unreadable, read_bytes, read_number
from tools.readings.series import Gaps, Kind, Missing, Series

__all__ = ["CpuSource", "open_cpu"]

_BYTES: Final = 4 * 1024 * 1024  # the line of interrupts grows with the machine
_LINES: Final = re.compile(
    rb"^(cpu|intr|ctxt|processes|procs_running|procs_blocked) +(\d+[\d ]*)$",
    re.MULTILINE,
)
_FREQUENCY_NS: Final = 200_000_000
"""A frequency costs some microseconds a processor, and sometimes an interrupt there, so
that no more than five readings a second are taken."""
_POLICIES: Final = 4096

# Fields of the line "cpu" of proc(5). User time has guest time within. Stolen time is
# waiting for a processor, so it is no time "of all processors".
_USER, _NICE, _SYSTEM, _IDLE, _IOWAIT, _IRQ, _SOFTIRQ, _STEAL, _GUEST, _GUEST_NICE = (
    range(10)
)
_TIMES: Final[tuple[tuple[str, tuple[int, ...]], ...]] = (
    ("cpu", (_USER, _NICE, _SYSTEM, _IRQ, _SOFTIRQ)),
    ("cpu_user", (_USER, _NICE)),
    ("cpu_system", (_SYSTEM,)),
    ("cpu_irq", (_IRQ,)),
    ("cpu_softirq", (_SOFTIRQ,)),
    ("cpu_steal", (_STEAL,)),
    ("cpu_guest", (_GUEST, _GUEST_NICE)),
    ("cpu_iowait", (_IOWAIT,)),
    ("cpu_idle", (_IDLE,)),
)
_EVENTS: Final = (
    ("context_switches_total", b"ctxt", Kind.COUNTER, "events"),
    ("forks_total", b"processes", Kind.COUNTER, "events"),
    ("interrupts_total", b"intr", Kind.COUNTER, "events"),
    ("procs_running", b"procs_running", Kind.INSTANT, "processes"),
    ("procs_blocked", b"procs_blocked", Kind.INSTANT, "processes"),
)
_FREQUENCIES: Final = ("", "_lowest", "_highest")


class CpuSource:
    """All processors of the machine together.

    Attributes:
        name: ``cpu``.
        series: times of /proc/stat in ticks of a hundredth of a second, events, running
            and blocked processes, frequencies, time in which tasks waited.
        gaps: readings that failed.

    """

    name = "cpu"

    def __init__(
        self, procroot: Path, policies: Sequence[tuple[Path, int]], pressure: Pressure
    ) -> None:
        """Prepare for reading.

        Args:
            procroot: where procfs is.
            policies: for each cpufreq policy, the file with its frequency in kHz and
                how many processors it rules.
            pressure: lines of /proc/pressure.
        """
        self._stat = procroot / "stat"
        self._policies = tuple(policies)
        self._pressure = pressure
        self._hertz = os.sysconf("SC_CLK_TCK")
        self._frequency_due_ns = 0
        self.gaps = Gaps()
        self.series: tuple[Series, ...] = (
            *(_time(stem) for stem, _ in _TIMES),
            *(_event(name, unit, kind) for name, _, kind, unit in _EVENTS),
            *(_frequency(which) for which in _FREQUENCIES if self._policies),
            *pressure.series,
        )

    def read(self, now_ns: int) -> Sequence[int | None]:
        """Read all series; frequencies only every fifth of a second."""
        return [
            *self._counters(),
            *self._frequencies(now_ns),
            *self._pressure.read(self.gaps),
        ]

    def close(self) -> None:
        """Nothing is held open."""

    def _counters(self) -> list[int | None]:
        try:
            found = _stat(self._stat)
        except Unreadable as error:
            for one in self.series[: len(_TIMES) + len(_EVENTS)]:
                self.gaps.note(one.name, error.why)
            return [None] * (len(_TIMES) + len(_EVENTS))
        times = found.get(b"cpu", [])
        values = [
            sum(times[place] for place in places) * 100 // self._hertz
            if max(places) < len(times)
            else None
            for _, places in _TIMES
        ]
        values += [found[key][0] if key in found else None for _, key, _, _ in _EVENTS]
        for one, value in zip(self.series, values, strict=False):
            if value is None:
                self.gaps.note(one.name, "not in stat")
        return values

    def _frequencies(self, now_ns: int) -> list[int | None]:
        if not self._policies:
            return []
        nothing: list[int | None] = [None] * len(_FREQUENCIES)
        if now_ns < self._frequency_due_ns:
            return nothing
        self._frequency_due_ns = now_ns + _FREQUENCY_NS
        hertz: list[int] = []
        for path, processors in self._policies:
            try:
                hertz += [read_number(path) * 1000] * processors
            except Unreadable as error:
                self.gaps.note("cpu_frequency_hertz", error.why)
        if not hertz:
            return nothing
        return [round(sum(hertz) / len(hertz)), min(hertz), max(hertz)]


def open_cpu(
    sysroot: Path, procroot: Path
) -> tuple[CpuSource | None, tuple[Missing, ...]]:
    """Open the processors' counters below ``procroot`` and ``sysroot``."""
    try:
        found = _stat(procroot / "stat")
        if b"cpu" not in found:
            raise Unreadable("there is no line of all processors")  # noqa: TRY301
    except Unreadable as error:
        return None, (Missing("cpu", "", f"{procroot / 'stat'}: {error.why}"),)
    policies = _policies(sysroot)
    missing: tuple[Missing, ...] = ()
    if not policies:
        why = "no cpufreq policy: the kernel or hypervisor hides frequencies"
        missing = (Missing("cpu", "cpu_frequency_hertz", why),)
    wanted = (("cpu", "some"), ("io", "some"), ("io", "full"))
    pressure, lacking = Pressure.opened("cpu", procroot, wanted)
    return CpuSource(procroot, policies, pressure), missing + lacking


def _stat(path: Path) -> dict[bytes, list[int]]:
    # Of interrupts only the first number is wanted, which is their sum.
    return {
        key: [int(number) for number in numbers.split(b" ", 10)[:10] if number]
        for key, numbers in _LINES.findall(read_bytes(path, _BYTES))
    }


def _policies(sysroot: Path) -> list[tuple[Path, int]]:
    """The file with the frequency of each policy, and how many processors it rules."""
    found: list[tuple[Path, int]] = []
    folders = sorted((sysroot / "devices/system/cpu/cpufreq").glob("policy[0-9]*"))
    for folder in folders[:_POLICIES]:
        for name in ("scaling_cur_freq", "cpuinfo_avg_freq", "cpuinfo_cur_freq"):
            try:
                read_number(folder / name)
            except Unreadable:
                continue
            found.append((folder / name, _ruled(folder)))
            break
    return found


def _ruled(policy: Path) -> int:
    try:
        return max(len(read_bytes(policy / "affected_cpus", 64 * 1024).split()), 1)
    except Unreadable:
        return 1


def _time(stem: str) -> Series:
    quantity = "cpu" if stem == "cpu" else stem
    return Series(
        f"{stem}_seconds_total",
        "seconds",
        2,
        Kind.COUNTER,
        "cpu",
        "machine",
        quantity,
        "machine",
        "stat",
        update_seconds=0.01,
    )


def _event(name: str, unit: str, kind: Kind) -> Series:
    quantity = name.removesuffix("_total")
    return Series(name, unit, 0, kind, "cpu", "machine", quantity, "machine", "stat")


def _frequency(which: str) -> Series:
    return Series(
        f"cpu_frequency{which}_hertz",
        "hertz",
        0,
        Kind.INSTANT,
        "cpu",
        "machine",
        f"frequency{which}",
        "machine",
        "cpufreq",
    )
