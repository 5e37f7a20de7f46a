"""Machines as Kepler's model server describes and matches them: ``node_type_index``.

Every number is an integer: Kepler Go refuses a whole file over a 4.0.
"""

from __future__ import annotations

import re
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Final

from registry.documents.canonical import encode

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from registry.documents.canonical import Json
    from registry.documents.spec import HardwareSpec

__all__ = ["Machine", "format_processor", "index_bytes", "machine_of", "machine_spec"]

_GIB: Final = 1024**3
_STEP: Final = 100
_MATCHED: Final = ("processor", "cores", "chips", "memory", "frequency")


@dataclass(frozen=True, slots=True)
class Machine:
    """The attributes of a machine in the model server's words.

    Attributes:
        vendor: First word of the vendor, lower case.
        processor: Normalised name, for example ``intel_xeon_gold_6248r``.
        cores: Logical processors.
        chips: Populated sockets.
        memory: GiB, rounded down.
        frequency: Highest known MHz, rounded to 100; 0 if unknown.
        threads_per_core: Enabled threads of a core.
    """

    vendor: str
    processor: str
    cores: int
    chips: int
    memory: int
    frequency: int
    threads_per_core: int


def machine_of(spec: HardwareSpec) -> Machine:
    """Describe one node of a hardware spec as the model server would discover it."""
    frequency = spec.cpu.frequency
    hertz = frequency.max_hertz or frequency.base_hertz or 0
    words = spec.system.vendor.split()
    return Machine(
        vendor=re.sub(r"[,']", "", words[0]).replace("-", "_").lower(),
        processor=format_processor(_brand(spec)),
        cores=spec.logical_cpus,
        chips=spec.cpu.sockets.populated,
        memory=spec.memory.bytes // _GIB,
        frequency=(hertz + _STEP * 500_000) // (_STEP * 1_000_000) * _STEP,
        threads_per_core=spec.cpu.threads_per_core,
    )


def format_processor(brand: str) -> str:
    """Normalise a processor's brand string by the model server's rules.

    ``Intel(R) Xeon(R) CPU E5-2686 v4 @ 2.30GHz`` becomes ``intel_xeon_e5_2686v4``.
    """
    name = re.sub(r"\((?:R|r)\)|CPU|[Pp]rocessor|\d+-Bit Multi-Core", "", brand)
    name = name.split("(")[0].split("[")[0]
    name = re.sub(r"[@®,]", "", name)
    name = re.sub(r"\d+(?:\.\d+)?\s?[GMgm][Hh]z", "", name)
    joined = "_".join(name.split()).replace("-", "_")
    return joined.lower().replace("_v", "v")


def machine_spec(machine: Machine) -> dict[str, Json]:
    """Give the ``machine_spec`` of a weight file: strings and integers only."""
    return asdict(machine)


def index_bytes(types: Mapping[int, tuple[Machine, Iterable[str]]]) -> bytes:
    """Write ``node_type_index.json``.

    Type 0, the generic class, is always listed, so that the server finds every number
    that a model's name holds. Its attributes are empty text and zeros: the server
    compares them without failing, they equal no real machine, and their similarity to
    one is 0, so that the type wins only where nothing else is known.

    Args:
        types: Node type number to its machine and the names of its members; 0 is added.

    """
    everyone = sorted({name for _, members in types.values() for name in members})
    attributes: dict[str, object] = dict.fromkeys(_MATCHED, 0) | {"processor": ""}
    document = {"0": {"attrs": attributes, "members": everyone or ["generic"]}}
    for number, (machine, members) in types.items():
        attributes = {name: getattr(machine, name) for name in _MATCHED}
        document[str(number)] = {"attrs": attributes, "members": sorted(members)}
    return encode(document)


def _brand(spec: HardwareSpec) -> str:
    """Complete the model name to the brand string that the processor reports."""
    cpu = spec.cpu
    brand = cpu.model
    vendor = {"intel": "Intel", "amd": "AMD"}.get(cpu.vendor)
    if vendor and vendor.lower() not in brand.lower():
        brand = f"{vendor} {brand}"
    if cpu.vendor == "amd" and "epyc" in brand.lower() and "-Core" not in brand:
        brand = f"{brand} {cpu.cores // cpu.sockets.populated}-Core"
    return brand
