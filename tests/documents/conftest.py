"""Documents that are right, for tests that make them wrong in one place."""

from __future__ import annotations

from typing import Any

import pytest

SHA = "ab" * 32


@pytest.fixture
def spec_value() -> dict[str, Any]:
    """A hardware spec with every optional field."""
    return {
        "schema": "hardware-spec/1",
        "machine": "r740-6248r",
        "system": {
            "vendor": "Dell Inc.",
            "model": "PowerEdge R740",
            "form_factor": "rack-2u",
        },
        "cpu": {
            "vendor": "intel",
            "model": "Intel(R) Xeon(R) Gold 6248R CPU @ 3.00GHz",
            "architecture": "x86_64",
            "microarchitecture": "cascadelake",
            "family": 6,
            "model_number": 85,
            "stepping": 7,
            "microcode": "0x5003604",
            "sockets": {"populated": 2, "total": 2},
            "cores": 48,
            "threads_per_core": 2,
            "smt": "on",
            "frequency": {
                "min_hertz": 1_000_000_000,
                "base_hertz": 3_000_000_000,
                "max_hertz": 4_000_000_000,
            },
            "tdp_watts": 205,
        },
        "memory": {
            "bytes": 384 * 2**30,
            "speed_mts": 2933,
            "type": "ddr4",
            "dimms": 12,
            "channels": 12,
            "ranks": 2,
        },
        "storage": [
            {"type": "nvme", "count": 2, "bytes": 10**12, "power_state": "ps0"}
        ],
        "gpus": [
            {
                "count": 2,
                "vendor": "nvidia",
                "architecture": "ampere",
                "model": "NVIDIA A100 80GB PCIe",
                "memory_bytes": 80 * 2**30,
                "power_limit_watts": 300,
            }
        ],
        "power_supplies": [
            {"count": 2, "watts": 1100, "efficiency": "platinum", "redundancy": "1+1"}
        ],
        "bmc": {
            "kind": "idrac",
            "firmware": "6.10.30.00",
            "power_interfaces": ["ipmi-dcmi", "redfish"],
        },
        "firmware": {"bios_version": "2.17.1", "bios_date": "2022-11-15"},
        "os": {
            "family": "linux",
            "distribution": "debian",
            "version": "12",
            "kernel": "6.1.0",
        },
        "virtualisation": {"kind": "bare"},
        "nodes": {"count": 1, "shared_power": False},
        "rapl_zones": [
            {"zone": "package_0", "max_joules": 262143.32885},
            {"zone": "package_1", "max_joules": 262143.32885},
        ],
    }


@pytest.fixture
def manifest_value() -> dict[str, Any]:
    """A manifest of a timeseries bundle."""
    return {
        "schema": "bundle/1",
        "registry": "power-dataset-registry",
        "dataset": "r740-6248r-2026",
        "version": 1,
        "previous": None,
        "contributor": 4242,
        "spec": {"path": "specs/r740-6248r.yaml", "sha256": SHA},
        "profile": "timeseries",
        "files": [
            {
                "path": "runs.csv",
                "bytes": 100,
                "sha256": SHA,
                "rows": 2,
                "columns": ["run", "workload", "accepted"],
                "sketch": [],
            },
            {
                "path": "samples.csv",
                "bytes": 100,
                "sha256": SHA,
                "rows": 2,
                "columns": ["time_seconds", "run", "acpi_watts"],
                "sketch": ["0" * 16, "1" * 16],
            },
        ],
        "objects": [],
        "licence": "CDLA-Permissive-2.0",
        "measured": {"from": "2026-01-01", "to": "2026-01-02"},
        "workloads": ["idle", "int"],
        "privacy": {"own_workloads": "none"},
        "derived": None,
        "tool": {"name": "powerkit", "version": "0.1.0"},
        "source": None,
    }
