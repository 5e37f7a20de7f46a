"""Hardware specs: what is accepted, each refusal, and the published schema."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import yaml
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from registry.documents.findings import RegistryError
from registry.documents.spec import (
    HardwareSpec,
    microarchitectures,
    read_spec,
    spec_schema,
    spec_warnings,
    write_spec,
)

PATH = "specs/r740-6248r.yaml"


def changed(value: dict[str, Any], place: str, new: object) -> dict[str, Any]:
    """Set (or with None remove) a field given as ``cpu.cores`` in a deep copy."""
    copy: dict[str, Any] = json.loads(json.dumps(value))
    *parents, last = place.split(".")
    inner: Any = copy
    for key in parents:
        inner = inner[int(key)] if key.isdigit() else inner[key]
    if new is None:
        del inner[last]
    else:
        inner[last] = new
    return copy


def as_yaml(value: dict[str, Any]) -> bytes:
    return yaml.safe_dump(value, sort_keys=False).encode()


def findings_of(value: dict[str, Any], path: str = PATH) -> list[tuple[str, str]]:
    with pytest.raises(RegistryError) as caught:
        read_spec(as_yaml(value), path)
    assert all(found.line for found in caught.value.findings)
    return [(found.code, found.what) for found in caught.value.findings]


def test_a_full_spec_survives_writing_and_reading(spec_value: dict[str, Any]) -> None:
    spec = HardwareSpec.model_validate(spec_value)
    data = write_spec(spec)
    assert read_spec(data, PATH) == spec
    assert write_spec(read_spec(data, PATH)) == data
    assert read_spec(as_yaml(spec_value), PATH) == spec
    assert spec.logical_cpus == 96
    assert spec.gpu_count == 2
    assert spec.supply_watts == 2200
    assert spec.rapl_modulus("package_1") == 262143.32885
    assert spec.rapl_modulus("psys") is None


def test_optional_means_absent(spec_value: dict[str, Any]) -> None:
    for name in ("storage", "gpus", "power_supplies", "bmc", "os", "rapl_zones"):
        del spec_value[name]
    spec_value["firmware"] = {}
    spec_value["cpu"] = {
        key: spec_value["cpu"][key]
        for key in (
            "vendor",
            "model",
            "architecture",
            "sockets",
            "cores",
            "threads_per_core",
        )
    }
    spec = HardwareSpec.model_validate(spec_value)
    data = write_spec(spec)
    assert b"frequency" not in data
    assert b"firmware" not in data
    assert b"null" not in data
    assert spec.gpu_count == 0
    assert spec.supply_watts is None


@pytest.mark.parametrize(
    ("place", "new", "code", "what"),
    [
        ("schema", None, "H002", "schema: the field is missing"),
        ("schema", "hardware-spec/2", "H003", "hardware-spec/1"),
        ("cpu.cores", None, "H002", "cpu.cores: the field is missing"),
        ("cpu.cores", 0, "H003", "greater than or equal to 1"),
        ("cpu.cores", "many", "H003", '"many"'),
        ("cpu.cores", 47, "H004", "47 cores of a node do not divide by 2 sockets"),
        ("cpu.coers", 48, "H001", "cpu.coers: no such field"),
        ("serial", "X123", "H001", "serial: no such field"),
        ("cpu.sockets.populated", 4, "H004", "4 of 2 sockets are populated"),
        ("cpu.smt", "off", "H004", "smt is off, but 2 threads"),
        ("cpu.threads_per_core", 1, "H004", "smt is on, but one thread"),
        ("cpu.frequency.min_hertz", 3_500_000_000, "H004", "above base_hertz"),
        ("cpu.frequency.base_hertz", 3000, "H003", "base_hertz"),
        ("cpu.architecture", "aarch64", "H004", "intel makes no server processor"),
        ("cpu.vendor", "Intel", "H003", "cpu.vendor"),
        ("cpu.microcode", "5003604", "H003", "cpu.microcode"),
        ("cpu.model", "<script>", "H003", "cpu.model"),
        ("cpu.model", "=cmd()", "H003", "cpu.model"),
        ("cpu.model", "a|b", "H003", "cpu.model"),
        ("cpu.model", "me@example.org", "H003", "cpu.model"),
        ("system.model", "é", "H003", "system.model"),
        ("system.model", "x" * 81, "H003", "system.model"),
        ("memory.bytes", "1e9", "H003", "memory.bytes"),
        ("memory.channels", 24, "H004", "24 memory channels"),
        ("storage.0.power_state", "ps32", "H003", "storage[0].power_state"),
        ("virtualisation.hypervisor", "kvm", "H004", "bare machine"),
        ("virtualisation.kind", "vm", "H004", "cannot read the host's energy"),
        ("nodes.shared_power", True, "H004", "one node shares"),
        ("nodes.shared_power", "yes", "H003", "nodes.shared_power"),
        ("bmc.kind", "none", "H004", "no management controller"),
        ("rapl_zones.1.zone", "package_0", "H004", "package_0 is named twice"),
        ("rapl_zones.1.max_joules", "-1", "H003", "max_joules"),
        ("firmware.bios_date", "yesterday", "H003", "bios_date"),
        ("os.kernel", "6.1.0-private-build", "H003", "os.kernel"),
        ("machine", "other", "H005", 'the machine is "other"'),
    ],
)
def test_what_is_wrong_is_named(
    spec_value: dict[str, Any], place: str, new: object, code: str, what: str
) -> None:
    ((found, sentence),) = findings_of(changed(spec_value, place, new))
    assert found == code
    assert what in sentence


def test_all_contradictions_are_found_at_once(spec_value: dict[str, Any]) -> None:
    value = changed(spec_value, "cpu.cores", 47)
    value = changed(value, "nodes.shared_power", new=True)
    assert [code for code, _ in findings_of(value)] == ["H004", "H004"]


def test_a_missing_version_hides_nothing_else(spec_value: dict[str, Any]) -> None:
    value = changed(changed(spec_value, "schema", None), "cpu.cores", 0)
    assert [code for code, _ in findings_of(value)] == ["H002", "H003"]


def test_a_contradiction_has_the_line_of_its_field(spec_value: dict[str, Any]) -> None:
    data = as_yaml(changed(spec_value, "cpu.cores", 47))
    with pytest.raises(RegistryError) as caught:
        read_spec(data, PATH)
    line = data.decode().splitlines().index("  cores: 47") + 1
    assert caught.value.findings[0].line == line


def test_an_unknown_microarchitecture_is_a_warning(spec_value: dict[str, Any]) -> None:
    assert "cascadelake" in microarchitectures()
    spec = HardwareSpec.model_validate(spec_value)
    assert spec_warnings(spec, PATH) == ()
    value = changed(spec_value, "cpu.microarchitecture", "graniterapids")
    (found,) = spec_warnings(HardwareSpec.model_validate(value), PATH)
    assert (found.code, found.severity) == ("H006", "warning")
    value = changed(spec_value, "cpu.microarchitecture", None)
    assert spec_warnings(HardwareSpec.model_validate(value), PATH) == ()


def test_the_committed_schema_has_not_drifted(repository: Path) -> None:
    committed = (repository / "specs" / "schema.json").read_text("utf-8")
    wanted = json.dumps(spec_schema(), indent=2, sort_keys=True) + "\n"
    assert committed == wanted, "run `registry schema > specs/schema.json`"
    jsonschema.Draft202012Validator.check_schema(json.loads(committed))


VALIDATOR = jsonschema.Draft202012Validator(spec_schema())
OPTIONAL = (
    *("storage", "gpus", "power_supplies", "bmc", "firmware", "os", "rapl_zones"),
    *("cpu.microarchitecture", "cpu.family", "cpu.smt", "cpu.frequency"),
    *("cpu.tdp_watts", "memory.speed_mts", "memory.channels", "gpus.0.architecture"),
    *("storage.0.power_state", "bmc.firmware"),
)


@settings(deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    dropped=st.sets(st.sampled_from(OPTIONAL)),
    populated=st.integers(1, 8),
    each=st.integers(1, 128),
    model=st.from_regex(r"[A-Za-z0-9 ().@/-]{1,20}", fullmatch=True),
)
def test_what_is_accepted_fits_the_schema(
    spec_value: dict[str, Any],
    dropped: set[str],
    populated: int,
    each: int,
    model: str,
) -> None:
    value = changed(spec_value, "cpu.sockets", {"populated": populated})
    value = changed(value, "cpu.cores", populated * each)
    value = changed(value, "cpu.model", model)
    for place in sorted(dropped, reverse=True):
        if place.split(".")[0] not in dropped or "." not in place:
            value = changed(value, place, None)
    try:
        spec = read_spec(as_yaml(value), PATH)
    except RegistryError:
        return
    written = yaml.safe_load(write_spec(spec))
    VALIDATOR.validate(written)
    VALIDATOR.validate(spec.model_dump(mode="json", by_alias=True, exclude_none=True))


def test_the_schema_refuses_what_the_reader_refuses(spec_value: dict[str, Any]) -> None:
    VALIDATOR.validate(spec_value)
    for place, new in (
        ("cpu.cores", 0),
        ("cpu.model", "<script>"),
        ("serial", "X"),
        ("schema", None),
        ("memory.bytes", None),
    ):
        with pytest.raises(jsonschema.ValidationError):
            VALIDATOR.validate(changed(spec_value, place, new))


def test_what_a_value_should_be_is_said_in_plain_words(
    spec_value: dict[str, Any],
) -> None:
    spec_value["machine"] = "My Server"
    spec_value["cpu"]["sockets"] = 2
    spec_value["cpu"]["vendor"] = "Intel"
    spec_value["memory"]["bytes"] = "much"
    spec_value["nodes"]["shared_power"] = "maybe"
    spec_value["storage"] = "ssd"
    said = {tuple(what.split(": ", 1)) for _, what in findings_of(spec_value, "x.yaml")}
    assert {
        ("cpu.sockets", 'it must be a block of fields, but it is "2"'),
        ("memory.bytes", 'it must be a whole number, but it is "much"'),
        ("nodes.shared_power", 'it must be true or false, but it is "maybe"'),
        ("storage", 'it must be a list, but it is "ssd"'),
    } <= said
    assert not any("Input" in one[1] or "String" in one[1] for one in said)
