"""Frequency: governor, driver and turbo."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path
from typing import Final

from registry.documents.findings import Severity, code
from tools.machine.checks import KERNEL, Check, Level, absent, checked, word
from tools.readings.kernel_files import Unreadable

__all__ = ["look_at_frequency"]

GOVERNOR: Final = code(
    "O051",
    Severity.WARNING,
    "The governor moves the frequency while something runs, so that equal work takes"
    " other times and other power.",
    "Set one frequency for all processors, and say in runs.csv which.",
)
DRIVER: Final = code(
    "O052",
    Severity.INFO,
    "The processor itself chooses frequencies within limits: what is set is no order.",
    "Measure the frequency that was reached, or let the kernel choose.",
)
TURBO: Final = code(
    "O053",
    Severity.WARNING,
    "Frequencies above the nominal one depend on heat and on how many cores work.",
    "Turn turbo off where frequencies are compared, and say so in runs.csv.",
)

_FIXED: Final = frozenset(("performance", "userspace"))
_POLICIES: Final = 4096
_CPU: Final = re.compile(r"cpu[0-9]+")
_ITSELF: Final = {"intel_pstate": "intel_pstate", "amd-pstate-epp": "amd_pstate"}
_INTEL: Final = "intel_pstate/no_turbo"
_BOOST: Final = "cpufreq/boost"


def look_at_frequency(sysroot: Path, procroot: Path) -> list[Check]:
    """Look at cpufreq and at turbo."""
    del procroot
    cpu = sysroot / "devices/system/cpu"
    policies = _policies(cpu)
    return [_governor(policies), _driver(policies), _turbo(cpu)]


def _policies(cpu: Path) -> list[Path]:
    found = sorted((cpu / "cpufreq").glob("policy[0-9]*"))
    found = found or sorted(
        one / "cpufreq" for one in cpu.glob("cpu[0-9]*") if _CPU.fullmatch(one.name)
    )
    return found[:_POLICIES]


def _words(folders: Iterable[Path], name: str) -> list[str]:
    found = []
    for folder in folders:
        try:
            found.append(word(folder / name))
        except Unreadable:
            continue
    return found


def _governor(policies: list[Path]) -> Check:
    found = _words(policies, "scaling_governor")
    if not found:
        return absent("governor", GOVERNOR, "no cpufreq policy tells")
    kinds = sorted(set(found))
    state = ", ".join(f"{one} ({found.count(one)} policies)" for one in kinds)
    command = "sudo cpupower frequency-set -g performance"
    if len(found) < len(policies):
        state = f"{state}; {len(policies) - len(found)} do not tell"
    if len(kinds) > 1:
        return checked("governor", GOVERNOR, Level.UNFIT, state, command)
    if kinds[0] not in _FIXED:
        return checked("governor", GOVERNOR, Level.NOTICE, state, command)
    level = Level.OK if len(found) == len(policies) else Level.UNKNOWN
    return checked("governor", GOVERNOR, level, state)


def _driver(policies: list[Path]) -> Check:
    found = sorted(set(_words(policies, "scaling_driver")))
    if not found:
        return absent("frequency driver", DRIVER, "no cpufreq policy tells")
    own = next((one for one in found if one in _ITSELF), None)
    state = ", ".join(found)
    if own is None:
        return checked("frequency driver", DRIVER, Level.OK, state)
    command = f"echo passive | sudo tee {KERNEL}/{_ITSELF[own]}/status"
    return checked("frequency driver", DRIVER, Level.NOTICE, state, command)


def _turbo(cpu: Path) -> Check:
    for file, off in ((_INTEL, "1"), (_BOOST, "0")):
        try:
            state = word(cpu / file)
        except Unreadable:
            continue
        if state not in ("0", "1"):
            return absent("turbo", TURBO, f"{file} is {state}")
        if state == off:
            return checked("turbo", TURBO, Level.OK, f"off ({file} {state})")
        command = f"echo {off} | sudo tee {KERNEL}/{file}"
        return checked("turbo", TURBO, Level.NOTICE, f"on ({file} {state})", command)
    return absent("turbo", TURBO, f"neither {_INTEL} nor {_BOOST} is there")
