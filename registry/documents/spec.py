"""The hardware spec of a machine: what it is, in fields that cannot hold free text.

``specs/<machine>.yaml`` describes one node. Absent means unknown; nothing is guessed.
"""

from __future__ import annotations

import functools
import json
from importlib import resources
from typing import TYPE_CHECKING, Annotated, Any, Final, Literal, Self

from pydantic import Field, model_validator

from registry.documents import strict_yaml
from registry.documents.findings import RegistryError, Severity, code, finding
from registry.documents.spec_agreement import disagreements
from registry.documents.spec_parts import (
    Bmc,
    Cpu,
    Firmware,
    Gpu,
    MachineName,
    Memory,
    Nodes,
    OperatingSystem,
    PowerSupply,
    RaplZone,
    Storage,
    System,
    Virtualisation,
)
from registry.documents.validation import (
    Document,
    DocumentCodes,
    contradictions,
    validate,
)
from registry.documents.yaml_writer import write_yaml

if TYPE_CHECKING:
    from registry.documents.findings import Finding

__all__ = [
    "RAPL_RANGE_JOULES",
    "HardwareSpec",
    "microarchitectures",
    "read_spec",
    "spec_schema",
    "spec_warnings",
    "write_spec",
]

RAPL_RANGE_JOULES: Final = 262_143.328850
"""Joules at which a RAPL counter starts again, where the spec does not say otherwise
(`max_energy_range_uj` of the package zone of most Intel and AMD processors)."""

CODES = DocumentCodes(
    unknown=code(
        "H001",
        Severity.ERROR,
        "A hardware spec holds a field that no spec has.",
        "Remove the field; `registry schema` prints all fields.",
        "B14",
    ),
    missing=code(
        "H002",
        Severity.ERROR,
        "A hardware spec lacks a field.",
        "Add the field; `registry schema` prints all fields.",
    ),
    value=code(
        "H003",
        Severity.ERROR,
        "A value in a hardware spec is not allowed.",
        "Use the unit, range or vocabulary that `registry schema` prints.",
        "B10",
        "B14",
        "P5",
    ),
    contradiction=code(
        "H004",
        Severity.ERROR,
        "Values of a hardware spec contradict each other.",
        "Describe one node, and mend the value that is wrong.",
        "P6",
        "S12",
    ),
)
WRONG_NAME = code(
    "H005",
    Severity.ERROR,
    "A hardware spec does not name the machine that its file is named after.",
    "Name the file specs/<machine>.yaml.",
    "S12",
)
UNKNOWN_MICROARCHITECTURE = code(
    "H006",
    Severity.WARNING,
    "A microarchitecture is not in archspec's vocabulary.",
    "Use archspec's name if there is one; new processors may have none yet.",
)


class HardwareSpec(Document):
    """One node of a machine.

    Attributes:
        schema_id: The version of this format; ``schema`` in the document.
        machine: The machine's name, which is also the file's.
        system: The server as its vendor sells it.
        cpu: Processors.
        memory: DRAM.
        storage: Drives; an empty list says that there are none, absence says nothing.
        gpus: Accelerators, likewise.
        power_supplies: Supplies, likewise.
        bmc: The management controller.
        firmware: BIOS version and day.
        os: System software.
        virtualisation: Bare metal, virtual machine or container.
        nodes: How many such nodes the measured system has.
        rapl_zones: Where energy counters wrap.

    """

    schema_id: Literal["hardware-spec/1"] = Field(
        default="hardware-spec/1", alias="schema"
    )
    machine: MachineName
    system: System
    cpu: Cpu
    memory: Memory
    storage: Annotated[tuple[Storage, ...], Field(max_length=64)] | None = None
    gpus: Annotated[tuple[Gpu, ...], Field(max_length=16)] | None = None
    power_supplies: Annotated[tuple[PowerSupply, ...], Field(max_length=16)] | None = (
        None
    )
    bmc: Bmc | None = None
    firmware: Firmware | None = None
    os: OperatingSystem | None = None
    virtualisation: Virtualisation
    nodes: Nodes
    rapl_zones: Annotated[tuple[RaplZone, ...], Field(max_length=256)] | None = None

    @model_validator(mode="after")
    def _agrees(self) -> Self:
        problems = list(disagreements(self))
        if problems:
            raise contradictions(problems)
        return self

    @property
    def logical_cpus(self) -> int:
        """Logical processors of one node: cores times threads that are enabled."""
        return self.cpu.cores * self.cpu.threads_per_core

    @property
    def gpu_count(self) -> int:
        """GPUs of one node; 0 if the spec names none."""
        return sum(gpu.count for gpu in self.gpus or ())

    @property
    def supply_watts(self) -> int | None:
        """The rated power of all supplies of one node, or None if unknown."""
        if not self.power_supplies:
            return None
        return sum(supply.count * supply.watts for supply in self.power_supplies)

    def rapl_modulus(self, zone: str) -> float | None:
        """Return the joules at which a zone's counter wraps, if the spec says so."""
        return next(
            (z.max_joules for z in self.rapl_zones or () if z.zone == zone), None
        )


def read_spec(data: bytes, path: str) -> HardwareSpec:
    """Read a hardware spec.

    Args:
        data: The bytes of the file.
        path: The file's name in findings; below ``specs/`` it must fit the machine.

    Raises:
        RegistryError: Y codes of ``read_yaml``, H001 to H005.

    """
    document = strict_yaml.read_yaml(data, path)
    value: dict[str, Any] = document.value
    try:
        spec = validate(HardwareSpec, value, path, CODES, document.lines)
    except RegistryError as error:
        raise RegistryError((*_missing_schema(value, path), *error.findings)) from None
    if missing := _missing_schema(value, path):
        raise RegistryError(missing)
    if path.startswith("specs/") and path != f"specs/{spec.machine}.yaml":
        what = f'the machine is "{spec.machine}"'
        line = document.lines.get(("machine",))
        raise RegistryError(finding(WRONG_NAME, path, what, line=line))
    return spec


def _missing_schema(value: dict[str, Any], path: str) -> tuple[Finding, ...]:
    """Find a missing version, which only specs made by code may leave to the model."""
    if "schema" in value:
        return ()
    return (finding(CODES.missing, path, "schema: the field is missing", line=1),)


def write_spec(spec: HardwareSpec) -> bytes:
    """Return the canonical YAML of a spec, without fields that say nothing."""
    value = spec.model_dump(mode="json", by_alias=True, exclude_none=True)
    if not value["cpu"]["frequency"]:
        del value["cpu"]["frequency"]
    if value.get("firmware") == {}:
        del value["firmware"]
    return write_yaml(value)


def spec_warnings(spec: HardwareSpec, path: str) -> tuple[Finding, ...]:
    """Return what is odd but allowed: H006."""
    name = spec.cpu.microarchitecture
    if name is None or name in microarchitectures():
        return ()
    what = f'cpu.microarchitecture "{name}" is unknown to archspec'
    return (finding(UNKNOWN_MICROARCHITECTURE, path, what),)


def spec_schema() -> dict[str, Any]:
    """Return the JSON Schema of a spec, for editors and other tools."""
    schema = HardwareSpec.model_json_schema(by_alias=True)
    schema["required"] = sorted({*schema["required"], "schema"})
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Hardware spec of a server",
        **{key: value for key, value in schema.items() if key != "title"},
    }


@functools.cache
def microarchitectures() -> frozenset[str]:
    """Return archspec's vocabulary of CPU microarchitectures.

    Read from the package's data file: importing the package itself looks at the
    machine that it runs on.
    """
    packaged = resources.files("archspec").joinpath(
        "json", "cpu", "microarchitectures.json"
    )
    names = json.loads(packaged.read_text("utf-8"))["microarchitectures"]
    return frozenset(names)
