"""Row B14 of the threat model: no document has room for free text."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from registry.documents.findings import RegistryError
from registry.documents.manifest import read_manifest
from registry.documents.spec import read_spec
from registry.documents.strict_csv import read_table

HEADER = b"time_seconds,run,acpi_watts\n"


def refused(read: Callable[..., object], *args: object) -> set[str]:
    """Return the codes with which a document is refused."""
    with pytest.raises(RegistryError) as caught:
        read(*args)
    return {found.code for found in caught.value.findings}


PLANTED = [
    *("10.1.2.3", "node17.corp.example.com", "00:1a:2b:3c:4d:5e", "me@example.org"),
    *("3f2504e0-4f89-11d3-9a0c-0305e82c3301", "my-pod-7d4b9c", "/home/alice/run.sh"),
    *("SN12345678", "alice", "kube-system", "w_ALICE", "a" * 12),
]


@pytest.mark.parametrize("text", PLANTED)
def test_b14_no_table_has_room_for_free_text(text: str) -> None:
    cell = text.encode()
    samples = HEADER + b"0,0," + cell + b"\n"
    assert refused(read_table, samples, "p", "samples") <= {"C003", "C010"}
    runs = b"run,workload,accepted\n0," + cell + b",1\n"
    assert refused(read_table, runs, "p", "runs") <= {"C003", "C012"}
    header = b"time_seconds,run," + cell + b"\n0,0,1\n"
    assert refused(read_table, header, "p", "samples") <= {"C003", "C005"}


@pytest.mark.parametrize("text", PLANTED)
def test_b14_no_manifest_has_room_for_free_text(
    text: str, manifest_of: Callable[..., bytes]
) -> None:
    for key in ("licence", "profile", "derived", "registry", "schema", "comment"):
        data = manifest_of(**{key: text})
        assert refused(read_manifest, data, "m") <= {"M001", "M003"}
    for key in ("workloads", "objects"):
        assert refused(read_manifest, manifest_of(**{key: [text]}), "m") == {"M003"}
    when = {"from": "2026-01-01T12:30:00", "to": "2026-01-01"}
    assert refused(read_manifest, manifest_of(measured=when), "m") == {"M003"}


@pytest.mark.parametrize(
    "line",
    [
        "# measured by alice on node17",
        "serial: SN12345678",
        "uuid: 3f2504e0-4f89-11d3-9a0c-0305e82c3301",
        "hostname: node17",
        "notes: our second rack",
    ],
)
def test_b14_no_spec_has_room_for_free_text(line: str) -> None:
    assert refused(read_spec, SPEC + line.encode() + b"\n", "specs/a.yaml") <= {
        "H001",
        "Y007",
    }


@pytest.mark.parametrize(
    "text",
    [
        "00:1a:2b:3c:4d:5e",
        "me@example.org",
        "/home/alice",
        "<script>alert(1)</script>",
        "=cmd()",
        "a|b",
        "](javascript:x)",
        "`id`",
        "@all",
        "a\\nb",
        "a  b",
        "é",
    ],
)
def test_b14_names_of_products_are_words(text: str) -> None:
    data = SPEC.replace(b"model: M1", f'model: "{text}"'.encode())
    assert refused(read_spec, data, "specs/a.yaml") == {"H003"}


SPEC = b"""\
schema: hardware-spec/1
machine: a
system:
  vendor: Vendor
  model: M1
  form_factor: tower
cpu:
  vendor: amd
  model: AMD EPYC 7763 64-Core Processor
  architecture: x86_64
  sockets:
    populated: 1
  cores: 64
  threads_per_core: 2
memory:
  bytes: 68719476736
virtualisation:
  kind: bare
nodes:
  count: 1
  shared_power: false
"""


def test_b14_the_unchanged_spec_is_read() -> None:
    assert read_spec(SPEC, "specs/a.yaml").logical_cpus == 128
