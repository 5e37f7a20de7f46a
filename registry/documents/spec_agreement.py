"""Fields of a hardware spec that cannot be true together."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from registry.documents.spec import HardwareSpec
    from registry.documents.spec_parts import Cpu
    from registry.documents.strict_yaml import Location

__all__ = ["disagreements"]


def disagreements(spec: HardwareSpec) -> Iterator[tuple[Location, str]]:
    """Yield the place and a sentence for every contradiction."""
    yield from _cpu(spec.cpu)
    memory = spec.memory
    if memory.channels and memory.dimms and memory.channels > memory.dimms:
        yield (
            ("memory", "channels"),
            f"{memory.channels} memory channels are in use with {memory.dimms} modules",
        )
    virtual = spec.virtualisation
    if virtual.kind == "bare" and virtual.hypervisor is not None:
        yield ("virtualisation", "hypervisor"), "a bare machine has no hypervisor"
    if spec.nodes.shared_power and spec.nodes.count == 1:
        yield ("nodes", "shared_power"), "one node shares its power with no other"
    bmc = spec.bmc
    if bmc and bmc.kind == "none" and (bmc.firmware or bmc.power_interfaces):
        yield ("bmc",), "there is no management controller, but it has properties"
    zones = [zone.zone for zone in spec.rapl_zones or ()]
    for number, zone in enumerate(zones):
        if zone in zones[:number]:
            yield ("rapl_zones", number, "zone"), f"the zone {zone} is named twice"
    if zones and virtual.kind == "vm":
        yield ("rapl_zones",), "a virtual machine cannot read the host's energy"


def _cpu(cpu: Cpu) -> Iterator[tuple[Location, str]]:
    sockets = cpu.sockets
    if sockets.total is not None and sockets.populated > sockets.total:
        yield (
            ("cpu", "sockets", "populated"),
            f"{sockets.populated} of {sockets.total} sockets are populated",
        )
    if cpu.cores % sockets.populated:
        yield (
            ("cpu", "cores"),
            f"{cpu.cores} cores of a node do not divide by {sockets.populated} sockets",
        )
    if cpu.threads_per_core > 1 and cpu.smt in ("off", "forceoff", "notsupported"):
        yield (
            ("cpu", "smt"),
            f"smt is {cpu.smt}, but {cpu.threads_per_core} threads a core are enabled",
        )
    if cpu.threads_per_core == 1 and cpu.smt == "on":
        yield ("cpu", "smt"), "smt is on, but one thread a core is enabled"
    known = [
        (name, value)
        for name in ("min_hertz", "base_hertz", "max_hertz")
        if (value := getattr(cpu.frequency, name)) is not None
    ]
    for (low_name, low), (high_name, high) in itertools.pairwise(known):
        if low > high:
            yield (
                ("cpu", "frequency", high_name),
                f"{low_name} is {low}, above {high_name} {high}",
            )
    x86 = cpu.architecture in ("x86_64", "i686")
    if x86 != (cpu.vendor in ("intel", "amd", "hygon", "zhaoxin")) and (
        cpu.vendor != "other"
    ):
        yield (
            ("cpu", "architecture"),
            f"{cpu.vendor} makes no server processor for {cpu.architecture}",
        )
