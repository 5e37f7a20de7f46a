"""Whatever the bytes, a reader returns a document or raises its findings."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from typing import Any

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from registry.documents import canonical
from registry.documents.findings import RegistryError
from registry.documents.manifest import read_manifest
from registry.documents.spec import read_spec
from registry.documents.strict_csv import read_table
from registry.documents.strict_json import read_json
from registry.documents.strict_yaml import read_yaml
from registry.documents.trust import read_trust

Reader = Callable[[bytes], object]

READERS: dict[str, Reader] = {
    "json": lambda data: read_json(data, "p"),
    "numbers": lambda data: read_json(data, "p", floats=True),
    "yaml": lambda data: read_yaml(data, "p"),
    "commented": lambda data: read_yaml(data, "p", comments=True),
    "manifest": lambda data: read_manifest(data, "datasets/a/manifest.json"),
    "spec": lambda data: read_spec(data, "specs/a.yaml"),
    "trust": lambda data: read_trust(data, "registry/trust/1.yaml"),
    "samples": lambda data: read_table(data, "samples.csv", "samples"),
    "levels": lambda data: read_table(data, "levels.csv", "levels"),
    "runs": lambda data: read_table(data, "runs.csv", "runs"),
}

pieces = st.sampled_from(
    [
        *"{}[]:,-'\"|>&*!%#@?.\n\r\t\\ 0123456789eE+-",
        *("a", "---", "...", "<<", "!!str ", "&a ", "*a", "null", "NaN", "Infinity"),
        *("\ufeff", "\x00", "\x1b", "é", "\u2028", "\U0001f600", "\\ud800", "1e400"),
        *("time_seconds", "run", ",", "acpi_watts", "9" * 20, "digest: ", "machine: a"),
    ]
)
soups = st.lists(pieces, max_size=60).map(lambda parts: "".join(parts).encode())
inputs = st.binary(max_size=200) | soups | st.text(max_size=100).map(str.encode)


@pytest.mark.parametrize("name", READERS)
@settings(max_examples=150, deadline=None)
@given(data=inputs)
def test_a_reader_raises_findings_only(name: str, data: bytes) -> None:
    with contextlib.suppress(RegistryError):
        READERS[name](data)


@settings(max_examples=300, deadline=None)
@given(cuts=st.lists(st.tuples(st.integers(0, 10**4), inputs), min_size=1, max_size=3))
def test_damaged_documents_raise_findings_only(
    cuts: list[tuple[int, bytes]],
) -> None:
    for name, sample in SAMPLES.items():
        data = sample
        for place, piece in cuts:
            at = place % (len(data) + 1)
            data = data[:at] + piece[:5] + data[at + len(piece) % 4 :]
        with contextlib.suppress(RegistryError):
            READERS[name](data)


leaves = st.none() | st.booleans() | st.integers() | st.text(max_size=5)
shapes = st.recursive(
    leaves,
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner)
    ),
    max_leaves=8,
)


@settings(max_examples=300, deadline=None)
@given(place=st.integers(0, 10**4), shape=shapes)
def test_values_of_another_shape_raise_findings_only(place: int, shape: object) -> None:
    for name, value in VALUES.items():
        changed = {**value, sorted(value)[place % len(value)]: shape}
        with contextlib.suppress(RegistryError):
            if name == "manifest":
                with contextlib.suppress(ValueError):
                    READERS[name](canonical.encode(changed))
            else:
                READERS[name](yaml.safe_dump(changed).encode())


VALUES: dict[str, dict[str, Any]] = {
    "spec": {
        "schema": "hardware-spec/1",
        "machine": "a",
        "system": {"vendor": "V", "model": "M", "form_factor": "tower"},
        "cpu": {
            "vendor": "amd",
            "model": "EPYC 7763",
            "architecture": "x86_64",
            "sockets": {"populated": 1},
            "cores": 64,
            "threads_per_core": 2,
        },
        "memory": {"bytes": 2**36},
        "virtualisation": {"kind": "bare"},
        "nodes": {"count": 1, "shared_power": "false"},
    },
    "manifest": {
        "schema": "bundle/1",
        "registry": "power-dataset-registry",
        "dataset": "a",
        "version": 1,
        "previous": None,
        "contributor": 1,
        "spec": {"path": "specs/a.yaml", "sha256": "0" * 64},
        "profile": "load-levels",
        "files": [
            {
                "path": path,
                "bytes": 1,
                "sha256": "0" * 64,
                "rows": 1,
                "columns": ["run"],
                "sketch": sketch,
            }
            for path, sketch in (("levels.csv", ["0" * 16]), ("runs.csv", []))
        ],
        "objects": [],
        "licence": "CC0-1.0",
        "measured": {"from": "2026-01-01", "to": "2026-01-01"},
        "workloads": ["idle"],
        "privacy": {"own_workloads": "none"},
        "derived": None,
        "tool": {"name": "t", "version": "1"},
        "source": None,
    },
}
SAMPLES = {
    "spec": yaml.safe_dump(VALUES["spec"]).replace("'false'", "false").encode(),
    "manifest": canonical.encode(VALUES["manifest"]),
    "samples": b"time_seconds,run,acpi_watts\n0,,1\n1,0,2.5\n",
    "runs": b"run,workload,accepted\n0,idle,1\n",
}


def test_the_samples_are_right() -> None:
    for name, data in SAMPLES.items():
        READERS[name](data)
