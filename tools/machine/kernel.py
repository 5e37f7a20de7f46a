"""The kernel: siblings, layout of addresses, swap, huge pages, clock, hypervisor."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final

from registry.documents.findings import Severity, code
from tools.machine.checks import (
    KERNEL,
    Check,
    Level,
    absent,
    checked,
    chosen,
    content,
    word,
)
from tools.readings.kernel_files import Unreadable

__all__ = ["look_at_kernel"]

SMT: Final = code(
    "O054",
    Severity.INFO,
    "Two threads share a core, so that what one does slows the other, and its power is"
    " nobody's alone.",
    "Turn it off where single threads are compared, or say in runs.csv that it is on.",
)
ASLR: Final = code(
    "O055",
    Severity.INFO,
    "Each process has other addresses, which makes single runs faster or slower.",
    "Leave it on and repeat in many processes; turn it off only to compare two single"
    " runs.",
)
SWAP: Final = code(
    "O056",
    Severity.WARNING,
    "Memory was moved to a disk, from where a run may have to wait for it.",
    "Free memory, then empty the swap.",
)
THP: Final = code(
    "O057",
    Severity.INFO,
    "The kernel joins pages to huge ones while something runs, at times of its own.",
    "Let programs ask for huge pages, or say that they did not.",
)
VIRTUAL: Final = code(
    "O064",
    Severity.WARNING,
    "It runs in a guest: neighbours disturb it, and it sees no power of its own.",
    "Measure on the machine itself, or as a guest with the host's readings.",
)
CLOCK: Final = code(
    "O065",
    Severity.WARNING,
    "Reading the clock takes microseconds and a trip to the hardware each time.",
    "See in the kernel's log why it gave up the processor's own counter.",
)

_CLOCK: Final = "devices/system/clocksource/clocksource0"
_GOOD_CLOCKS: Final = frozenset(
    ("tsc", "kvm-clock", "hyperv_clocksource_tsc_page", "arch_sys_counter", "timebase")
)
_SLOW_CLOCKS: Final = frozenset(
    ("hpet", "acpi_pm", "jiffies", "refined-jiffies", "pit")
)
_SWAP: Final = re.compile(r"^Swap(Total|Free): +([0-9]{1,18}) kB$", re.MULTILINE)
_FLAGS: Final = re.compile(r"^(?:flags|Features)\s*:(.*)$", re.MULTILINE)
_X86: Final = re.compile(r"^flags\s*:", re.MULTILINE)


def look_at_kernel(sysroot: Path, procroot: Path) -> list[Check]:
    """Look at settings of the kernel."""
    return [
        _smt(sysroot),
        _aslr(procroot),
        _swap(procroot),
        _thp(sysroot),
        _virtual(sysroot, procroot),
        _clock(sysroot),
    ]


def _smt(sysroot: Path) -> Check:
    try:
        state = word(sysroot / "devices/system/cpu/smt/control")
    except Unreadable as error:
        return absent("SMT", SMT, error.why)
    if state == "on":
        command = f"echo off | sudo tee {KERNEL}/smt/control"
        return checked("SMT", SMT, Level.NOTICE, state, command)
    known = state in ("off", "forceoff", "notsupported", "notimplemented")
    return checked("SMT", SMT, Level.OK if known else Level.UNKNOWN, state)


def _aslr(procroot: Path) -> Check:
    try:
        state = word(procroot / "sys/kernel/randomize_va_space")
    except Unreadable as error:
        return absent("ASLR", ASLR, error.why)
    if state == "0":
        return checked("ASLR", ASLR, Level.OK, "off (0)")
    if state not in ("1", "2"):
        return absent("ASLR", ASLR, state)
    command = "sudo sysctl kernel.randomize_va_space=0"
    return checked("ASLR", ASLR, Level.NOTICE, f"on ({state})", command)


def _swap(procroot: Path) -> Check:
    try:
        found = dict(_SWAP.findall(content(procroot / "meminfo")))
        used = int(found["Total"]) - int(found["Free"])
    except Unreadable as error:
        return absent("swap", SWAP, error.why)
    except KeyError:
        return absent("swap", SWAP, "meminfo does not tell of it")
    state = f"{used / 1024:.0f} MiB of {int(found['Total']) / 1024:.0f} MiB in use"
    if used <= 0:
        return checked("swap", SWAP, Level.OK, state)
    command = "sudo swapoff -a && sudo swapon -a"
    return checked("swap", SWAP, Level.NOTICE, state, command)


def _thp(sysroot: Path) -> Check:
    file = "kernel/mm/transparent_hugepage/enabled"
    try:
        state = chosen(content(sysroot / file))
    except Unreadable as error:
        return absent("huge pages", THP, error.why)
    if state == "always":
        command = f"echo madvise | sudo tee /sys/{file}"
        return checked("huge pages", THP, Level.NOTICE, state, command)
    known = state in ("madvise", "never")
    return checked("huge pages", THP, Level.OK if known else Level.UNKNOWN, state)


def _virtual(sysroot: Path, procroot: Path) -> Check:
    about = "virtualisation"
    try:
        kind = word(sysroot / "hypervisor/type")
    except Unreadable:
        kind = ""
    if kind:
        return checked(about, VIRTUAL, Level.NOTICE, f"a guest of {kind}")
    try:
        text = content(procroot / "cpuinfo")
    except Unreadable as error:
        return absent(about, VIRTUAL, error.why)
    flags = {flag for line in _FLAGS.findall(text) for flag in line.split()}
    if "hypervisor" in flags:
        return checked(about, VIRTUAL, Level.NOTICE, "a guest of a hypervisor")
    if not _X86.search(text):
        return absent(about, VIRTUAL, "such processors have no flag of it")
    return checked(about, VIRTUAL, Level.OK, "none that the processor tells of")


def _clock(sysroot: Path) -> Check:
    try:
        state = word(sysroot / _CLOCK / "current_clocksource")
    except Unreadable as error:
        return absent("clock source", CLOCK, error.why)
    if state in _GOOD_CLOCKS:
        return checked("clock source", CLOCK, Level.OK, state)
    if state not in _SLOW_CLOCKS:
        return absent("clock source", CLOCK, state)
    command = ""
    try:
        others = content(sysroot / _CLOCK / "available_clocksource").split()
    except Unreadable:
        others = []
    better = next((one for one in others if one in _GOOD_CLOCKS), None)
    if better is not None:
        command = f"echo {better} | sudo tee /sys/{_CLOCK}/current_clocksource"
    return checked("clock source", CLOCK, Level.UNFIT, state, command)
