"""Parts of a server from a disclosure's free text: what is clear is taken, no more.

Each function returns None where the text is missing, in doubt or contradicts itself.
"""

from __future__ import annotations

import re
from decimal import Decimal
from typing import TYPE_CHECKING, Final, Literal, TypeAlias

from registry.documents.spec_parts import (
    Memory,
    OperatingSystem,
    PowerSupply,
    Storage,
    System,
)

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = ["memory", "operating_system", "power_supply", "storage", "system"]

Drive: TypeAlias = Literal["nvme", "sata-ssd", "sas-ssd", "hdd", "sas-hdd"]
Module: TypeAlias = Literal["ddr", "ddr2", "ddr3", "ddr4", "fb-dimm"]

_RACK_UNITS: Final = re.compile(r"([1-9][0-9]?)U")
_CPU_REMARK: Final = re.compile(
    r"\s*\((?=[^)]*(?:GHz|Intel|AMD|Xeon|Opteron|EPYC|processor)).*$", re.IGNORECASE
)
_NOT_IN_NAMES: Final = re.compile(r"[^A-Za-z0-9.,_+/() -]+")
_SUPPLY: Final = re.compile(r"([1-9][0-9]?) ?x ?([1-9][0-9]{1,4}) ?W?")
_MODULES: Final = re.compile(r"([0-9]{1,4}) ?x ?([0-9]{1,6}) ?(MB|GB)(?: PC\S+)?")
_RUNNING: Final = re.compile(r"running at ([0-9]{3,4})", re.IGNORECASE)
_MODULE: Final = re.compile(r"\bPC([2345])L?V?-([0-9]{4,5})([A-Z]?)", re.IGNORECASE)
_CHIP: Final = re.compile(r"\bDDR([2345]?)(?:-([0-9]{3,4}))?\b", re.IGNORECASE)
_BUFFERED: Final = re.compile(r"\bFB-?DIMM\b", re.IGNORECASE)
_RANKS: Final = re.compile(r"\b([1248])Rx[0-9]+\b", re.IGNORECASE)
# Modules of DDR2 and DDR3 are named after megabytes a second, of DDR4 after transfers.
_TRANSFERS: Final = {
    ("2", "3200"): 400,
    ("2", "4200"): 533,
    ("2", "5300"): 667,
    ("2", "6400"): 800,
    ("3", "8400"): 1066,
    ("3", "8500"): 1066,
    ("3", "10600"): 1333,
    ("3", "12800"): 1600,
    ("3", "14900"): 1866,
    ("4", "2133"): 2133,
    ("4", "2400"): 2400,
    ("4", "2666"): 2666,
    ("4", "2933"): 2933,
    ("4", "3200"): 3200,
}
_CHIP_SPEEDS: Final = frozenset(_TRANSFERS.values())
_DRIVES: Final = re.compile(r"\b([0-9]{1,4}) ?x\b", re.IGNORECASE)
_SIZES: Final = re.compile(r"\b([0-9]{1,5}(?:\.[0-9]{1,3})?) ?(GB|TB)\b")
_FLASH: Final = re.compile(r"SSD|M\.2|\bDOM\b|SATADOM|solid state", re.IGNORECASE)
_SPINNING: Final = re.compile(r"RPM|\bHDD\b", re.IGNORECASE)
_WINDOWS: Final = re.compile(r"Windows", re.IGNORECASE)
_LINUX: Final = (
    (re.compile(r"SUSE|SLES", re.IGNORECASE), "suse"),
    (re.compile(r"Red Hat", re.IGNORECASE), "red-hat"),
    (re.compile(r"CentOS", re.IGNORECASE), "centos"),
    (re.compile(r"Ubuntu", re.IGNORECASE), "ubuntu"),
)
_RELEASE: Final = re.compile(r" ([0-9]{1,2})(?:\.([0-9]{1,2}))?(?: SP([0-9]))?(?=\D|$)")
_KERNEL: Final = re.compile(r"\b([2-6]\.[0-9]{1,3}\.[0-9]{1,3})\b")


def system(vendor: str, model: str, form_factor: str, nodes: int) -> System:
    """Return what the vendor sells; remarks on the processor leave the model's name."""
    kind = "multi-node" if nodes > 1 else _form_factor(form_factor)
    return System.model_validate(
        {
            "vendor": _product(vendor),
            "model": _product(_CPU_REMARK.sub("", model)),
            "form_factor": kind,
        }
    )


def memory(gigabytes: Decimal, dimms: str, details: str) -> Memory:
    """Return the memory of a node.

    SPEC's rules have submitters disclose the speed if it is below the modules' own, so
    the modules' rating is taken unless a text says "running at".
    """
    size = int(gigabytes * 2**30)
    return Memory.model_validate(
        {
            "bytes": size,
            "speed_mts": _speed(details),
            "type": _module(details),
            "dimms": _modules(dimms, size),
            "ranks": _only(int(ranks) for ranks in _RANKS.findall(details)),
        }
    )


def power_supply(text: str) -> PowerSupply | None:
    """Return the supplies of a node that "1 x 700" means; the rating is in watts."""
    match = _SUPPLY.fullmatch(text)
    if match is None:
        return None
    count, watts = map(int, match.groups())
    return PowerSupply(count=count, watts=watts)


def storage(text: str) -> Storage | None:
    """Return the drives of a node, if all are of one kind that is beyond doubt."""
    count = _only(int(n) for n in _DRIVES.findall(text)) if text else None
    kind = _drive(text)
    several = len(_DRIVES.findall(text)) != 1 or "dual" in text.lower()
    if not count or kind is None or several:
        return None
    scale = {"GB": 10**9, "TB": 10**12}
    sizes = (int(Decimal(n) * scale[unit]) for n, unit in _SIZES.findall(text))
    return Storage(type=kind, count=count, bytes=_only(sizes))


def operating_system(name: str, version: str) -> OperatingSystem | None:
    """Return the system software; its version where the text gives a plain number."""
    if _WINDOWS.search(name):
        server = "windows-server" if "server" in name.lower() else None
        return OperatingSystem.model_validate(
            {"family": "windows", "distribution": server}
        )
    for pattern, distribution in _LINUX:
        if pattern.search(name):
            kernel = _KERNEL.search(version)
            return OperatingSystem.model_validate(
                {
                    "family": "linux",
                    "distribution": distribution,
                    "version": _release(name),
                    "kernel": kernel.group(1) if kernel else None,
                }
            )
    return None


def _only(values: Iterable[int]) -> int | None:
    """Return the one value that all say, or None."""
    distinct = set(values)
    return distinct.pop() if len(distinct) == 1 else None


def _product(text: str) -> str:
    """Return a product's name in the characters that specs allow."""
    words = _NOT_IN_NAMES.sub(" ", text.replace("'", "")).split()
    return " ".join(word for word in words if re.match(r"[A-Za-z0-9(]", word))[:80]


def _form_factor(text: str) -> str:
    units = _RACK_UNITS.fullmatch(text)
    if units is not None:
        count = int(units.group(1))
        return f"rack-{count}u" if count <= 4 else "rack-5u-or-more"
    if "blade" in text.lower():
        return "blade"
    return "tower" if text.lower() == "tower" else "unknown"


def _modules(text: str, size: int) -> int | None:
    """Return the number of modules if they add up to the memory."""
    found = [_MODULES.fullmatch(part.strip()) for part in text.split(",")]
    scale = {"MB": 2**20, "GB": 2**30}
    parts = [
        (int(match[1]), int(match[2]) * scale[match[3]]) for match in found if match
    ]
    total = sum(count * each for count, each in parts)
    if len(parts) != len(found) or total != size:
        return None
    return sum(count for count, _ in parts)


def _speed(text: str) -> int | None:
    running = _only(int(speed) for speed in _RUNNING.findall(text))
    if running is not None:
        return running
    modules = [(generation, speed) for generation, speed, _ in _MODULE.findall(text)]
    if any(module not in _TRANSFERS for module in modules):
        return None
    rated = [_TRANSFERS[module] for module in modules]
    # "DDR3-1333" names transfers, "DDR3-10600" the module's bytes.
    chips = (int(speed) for _, speed in _CHIP.findall(text) if speed)
    return _only([*rated, *(speed for speed in chips if speed in _CHIP_SPEEDS)])


def _module(text: str) -> Module | None:
    generations = {generation for generation, _, _ in _MODULE.findall(text)}
    generations |= {generation for generation, _ in _CHIP.findall(text)}
    letters = {letter.upper() for _, _, letter in _MODULE.findall(text)}
    buffered = _BUFFERED.search(text) is not None or "F" in letters
    if buffered:
        return "fb-dimm" if generations <= {"2"} else None
    kinds: dict[str, Module] = {"2": "ddr2", "3": "ddr3", "4": "ddr4"}
    return kinds.get(generations.pop()) if len(generations) == 1 else None


def _drive(text: str) -> Drive | None:
    flash, spinning = _FLASH.search(text), _SPINNING.search(text)
    sata, sas = "sata" in text.lower(), re.search(r"\bSAS|SCSI\b", text) is not None
    if bool(flash) == bool(spinning) or sata == sas:
        return None
    if flash:
        return "sata-ssd" if sata else "sas-ssd"
    return "hdd" if sata else "sas-hdd"


def _release(name: str) -> str | None:
    match = _RELEASE.search(name)
    if match is None:
        return None
    major, minor, pack = match.groups()
    small = minor if minor is not None else pack
    return major if small is None else f"{major}.{small}"
