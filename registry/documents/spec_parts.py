"""The parts of a hardware spec and their vocabularies: bounded, without prose."""

from __future__ import annotations

import re
from typing import Annotated, Final, Literal

from pydantic import BeforeValidator, Field, StrictBool, StrictInt

from registry.documents import decimals
from registry.documents.names import NAME_PATTERN
from registry.documents.validation import Document

__all__ = [
    "Bmc",
    "Cpu",
    "Firmware",
    "Frequency",
    "Gpu",
    "MachineName",
    "Memory",
    "Nodes",
    "OperatingSystem",
    "PowerSupply",
    "ProductName",
    "RaplZone",
    "Sockets",
    "Storage",
    "System",
    "Virtualisation",
]

_INTEGER: Final = re.compile(r"0|[1-9][0-9]{0,15}")
_TRUTH: Final = {"true": True, "false": False}


def _integer(value: object) -> object:
    if isinstance(value, str) and _INTEGER.fullmatch(value):
        return int(value)
    return value


def _truth(value: object) -> object:
    return _TRUTH.get(value, value) if isinstance(value, str) else value


def _decimal(value: object) -> object:
    return decimals.read(value) if isinstance(value, str) else value


# A validator of texts stands last: constraints behind it would be lost to JSON Schema.
Whole: Final = BeforeValidator(_integer)
Truth = Annotated[StrictBool, BeforeValidator(_truth)]
Joules = Annotated[float, Field(gt=0, le=1e12), BeforeValidator(_decimal)]

MachineName = Annotated[str, Field(pattern=NAME_PATTERN)]
ProductName = Annotated[
    str,
    Field(
        min_length=1,
        max_length=80,
        pattern=(
            r"^[A-Za-z0-9][A-Za-z0-9.,_+/()-]*"
            r"(?:(?: @)? [A-Za-z0-9(][A-Za-z0-9.,_+/()-]*)*$"
        ),
    ),
]
"""The name of a product: words of ASCII letters, digits and ``. , _ + / ( ) -``."""
Slug = Annotated[str, Field(pattern=r"^[a-z0-9][a-z0-9_.-]{0,39}$")]
Version = Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9.()_-]{0,31}$")]
Hertz = Annotated[StrictInt, Field(ge=10_000_000, le=20_000_000_000), Whole]
Bytes = Annotated[StrictInt, Field(ge=1, le=2**53 - 1), Whole]
Watts = Annotated[StrictInt, Field(ge=1, le=100_000), Whole]


class System(Document):
    """The server as its vendor sells it."""

    vendor: ProductName
    model: ProductName
    form_factor: Literal[
        "rack-1u",
        "rack-2u",
        "rack-3u",
        "rack-4u",
        "rack-5u-or-more",
        "rack",
        "blade",
        "multi-node",
        "tower",
        "desktop",
        "workstation",
        "laptop",
        "mini-pc",
        "single-board",
        "edge",
        "unknown",
    ]


class Sockets(Document):
    """Processors that are plugged in, and places for them."""

    populated: Annotated[StrictInt, Field(ge=1, le=64), Whole]
    total: Annotated[StrictInt, Field(ge=1, le=64), Whole] | None = None


class Frequency(Document):
    """The frequencies of a core, in hertz: lowest, nominal and highest (turbo)."""

    min_hertz: Hertz | None = None
    base_hertz: Hertz | None = None
    max_hertz: Hertz | None = None


class Cpu(Document):
    """The processors of one node.

    Attributes:
        vendor: Who designed the processor.
        model: The model name as the processor or its vendor gives it.
        architecture: The instruction set, as ``uname -m`` prints it.
        microarchitecture: A name of archspec's vocabulary.
        family: CPUID family (or ARM implementer).
        model_number: CPUID model (or ARM part number).
        stepping: CPUID stepping (or ARM revision).
        microcode: The microcode's revision, hexadecimal.
        sockets: Populated and total.
        cores: Physical cores of all populated sockets together.
        threads_per_core: Threads a core that are enabled, not those that could be.
        smt: What ``/sys/devices/system/cpu/smt/control`` says.
        frequency: Lowest, nominal and highest.
        tdp_watts: The vendor's thermal design power of one processor.

    """

    vendor: Literal[
        "intel",
        "amd",
        "arm",
        "ampere",
        "apple",
        "aws",
        "broadcom",
        "cavium",
        "fujitsu",
        "google",
        "huawei",
        "hygon",
        "ibm",
        "loongson",
        "marvell",
        "microsoft",
        "nvidia",
        "phytium",
        "qualcomm",
        "sifive",
        "sophgo",
        "zhaoxin",
        "other",
    ]
    model: ProductName
    architecture: Literal[
        "x86_64", "aarch64", "ppc64le", "s390x", "riscv64", "loongarch64", "i686"
    ]
    microarchitecture: Slug | None = None
    family: Annotated[StrictInt, Field(le=65535), Whole] | None = None
    model_number: Annotated[StrictInt, Field(le=65535), Whole] | None = None
    stepping: Annotated[StrictInt, Field(le=65535), Whole] | None = None
    microcode: Annotated[str, Field(pattern=r"^0x[0-9a-f]{1,16}$")] | None = None
    sockets: Sockets
    cores: Annotated[StrictInt, Field(ge=1, le=8192), Whole]
    threads_per_core: Annotated[StrictInt, Field(ge=1, le=8), Whole]
    smt: Literal["on", "off", "forceoff", "notsupported"] | None = None
    frequency: Frequency = Frequency()
    tdp_watts: Watts | None = None


class Memory(Document):
    """The DRAM of one node.

    Attributes:
        bytes: The sum of the modules, not what the kernel leaves of it.
        speed_mts: The configured speed in mega-transfers a second.
        type: The kind of module.
        dimms: Modules that are plugged in.
        channels: Memory channels in use, over all sockets.
        ranks: Ranks of a module.

    """

    bytes: Bytes
    speed_mts: Annotated[StrictInt, Field(ge=100, le=20_000), Whole] | None = None
    type: (
        Literal[
            "ddr",
            "ddr2",
            "ddr3",
            "ddr4",
            "ddr5",
            "fb-dimm",
            "lpddr3",
            "lpddr4",
            "lpddr5",
            "hbm2",
            "hbm2e",
            "hbm3",
        ]
        | None
    ) = None
    dimms: Annotated[StrictInt, Field(ge=1, le=1024), Whole] | None = None
    channels: Annotated[StrictInt, Field(ge=1, le=512), Whole] | None = None
    ranks: Annotated[StrictInt, Field(ge=1, le=16), Whole] | None = None


class Storage(Document):
    """Drives of one kind.

    Attributes:
        type: What kind of drive; a virtual one hides what it is.
        count: How many.
        bytes: The size of one.
        power_state: The state in which they were left: NVMe ``ps0`` to ``ps31``, SATA
            link power management, or ATA standby states.

    """

    type: Literal[
        "nvme", "sata-ssd", "sas-ssd", "hdd", "sas-hdd", "virtio", "emmc", "sd", "usb"
    ]
    count: Annotated[StrictInt, Field(ge=1, le=1024), Whole]
    bytes: Bytes | None = None
    power_state: (
        Annotated[
            str,
            Field(
                pattern=(
                    r"^(?:ps(?:[0-9]|[12][0-9]|3[01])|autonomous|max_performance"
                    r"|medium_power|med_power_with_dipm|min_power_with_partial"
                    r"|min_power|active|idle|standby|sleeping)$"
                )
            ),
        ]
        | None
    ) = None


class Gpu(Document):
    """GPUs or other accelerators of one kind."""

    count: Annotated[StrictInt, Field(ge=1, le=256), Whole]
    vendor: Literal["nvidia", "amd", "intel", "google", "qualcomm", "habana", "other"]
    architecture: Slug | None = None
    model: ProductName
    memory_bytes: Bytes | None = None
    power_limit_watts: Watts | None = None


class PowerSupply(Document):
    """Power supplies of one kind that feed this node."""

    count: Annotated[StrictInt, Field(ge=1, le=64), Whole]
    watts: Watts
    efficiency: (
        Literal[
            "80plus", "bronze", "silver", "gold", "platinum", "titanium", "ruby", "none"
        ]
        | None
    ) = None
    redundancy: Literal["none", "n+1", "1+1", "2n"] | None = None


class Bmc(Document):
    """The board's management controller."""

    kind: Literal[
        "idrac",
        "ilo",
        "xclarity",
        "imm",
        "irmc",
        "ibmc",
        "cimc",
        "openbmc",
        "supermicro",
        "megarac",
        "asmb",
        "none",
        "other",
    ]
    firmware: Version | None = None
    power_interfaces: (
        Annotated[
            tuple[Literal["ipmi-dcmi", "ipmi-sdr", "redfish"], ...],
            Field(min_length=1, max_length=3),
        ]
        | None
    ) = None


class Virtualisation(Document):
    """Whether the measured system sees the machine itself."""

    kind: Literal["bare", "vm", "container"]
    hypervisor: (
        Literal[
            "kvm",
            "xen",
            "vmware",
            "hyper-v",
            "firecracker",
            "bhyve",
            "powervm",
            "other",
        ]
        | None
    ) = None


class Nodes(Document):
    """How many such nodes one enclosure holds.

    Attributes:
        count: Nodes of the measured system; everything else in the spec is of one.
        shared_power: Whether one meter or set of supplies feeds all of them, so that
            its readings are for ``count`` nodes.

    """

    count: Annotated[StrictInt, Field(ge=1, le=1024), Whole]
    shared_power: Truth


class RaplZone(Document):
    """An energy counter of the processor and where it wraps around."""

    zone: Annotated[
        str, Field(pattern=r"^(?:(?:package|dram|core|uncore)_[0-9]{1,3}|psys)$")
    ]
    max_joules: Joules


class Firmware(Document):
    """The BIOS, by its vendor's version number and day."""

    bios_version: Version | None = None
    bios_date: Annotated[str | None, Field(pattern=r"^[0-9]{4}-[0-9]{2}-[0-9]{2}$")] = (
        None
    )


class OperatingSystem(Document):
    """The system software, without build names that could be private."""

    family: Literal["linux", "windows", "freebsd", "aix", "solaris", "other"]
    distribution: (
        Literal[
            "alma",
            "alpine",
            "amazon",
            "arch",
            "centos",
            "coreos",
            "debian",
            "fedora",
            "flatcar",
            "gentoo",
            "nixos",
            "opensuse",
            "oracle",
            "red-hat",
            "rocky",
            "suse",
            "talos",
            "ubuntu",
            "windows-server",
            "other",
        ]
        | None
    ) = None
    version: (
        Annotated[str, Field(pattern=r"^[0-9]{1,4}(?:\.[0-9]{1,3}){0,2}$")] | None
    ) = None
    kernel: (
        Annotated[str, Field(pattern=r"^[0-9]{1,2}(?:\.[0-9]{1,3}){1,2}$")] | None
    ) = None
