"""Turns a SPECpower_ssj2008 result into a load-levels bundle.

SPEC publishes the mean of each load level. Those means are what the load-levels profile
asks for, so ``derived`` is null. Whatever counts nodes is described of one node, as in
the text page; the power of several nodes is one number, so it goes into
``chassis_watts`` and the spec says ``shared_power``.
"""

from __future__ import annotations

from decimal import Decimal
from typing import TYPE_CHECKING, Final

import polars as pl
from pydantic import ValidationError

from registry.documents.findings import RegistryError, Severity, code, finding
from registry.documents.manifest import Days, Source
from registry.documents.spec import CODES, HardwareSpec
from registry.documents.validation import validate
from tools.bundles.draft import Draft
from tools.importers import specpower_parts as parts
from tools.importers.cpu_names import read_cpu_name, turbo_hertz

if TYPE_CHECKING:
    from tools.importers.cpu_names import CpuName
    from tools.importers.disclosure import Disclosure, Level

__all__ = ["LICENCE", "draft_of", "spec_of", "tables_of"]

LICENCE: Final = "LicenseRef-published-facts"
IDLE, BUSY = "idle", "ssj2008"

NAMELESS = code(
    "L015",
    Severity.ERROR,
    "A result does not say clearly which processor or server it is of.",
    "Leave this result out: a class cannot be told.",
)


def draft_of(result: Disclosure, contributor: int) -> Draft:
    """Make the bundle of one result.

    Args:
        result: As SPEC discloses it.
        contributor: Who signs it; the founding bundles have 0.

    Raises:
        RegistryError: L015, H codes.

    """
    day = result.tested.isoformat()
    return Draft(
        dataset=_name(result),
        contributor=contributor,
        spec=spec_of(result),
        tables=tables_of(result),
        measured=Days.model_validate({"from": day, "to": day}),
        licence=LICENCE,
        source=Source(
            kind="spec-ssj2008",
            id=f"power_ssj2008-{result.id}",
            published=result.published.isoformat(),
        ),
    )


def spec_of(result: Disclosure) -> HardwareSpec:
    """Describe one node.

    Both vendors' processors that SPEC's pages name are of x86_64. Microarchitecture,
    stepping, turbo state and sockets in all are not on the page, so they are absent.

    Raises:
        RegistryError: L015, H codes.

    """
    cpu = read_cpu_name(result.cpu_name)
    if cpu is None:
        what = f'the processor is "{result.cpu_name}"'
        raise RegistryError(finding(NAMELESS, result.path, what))
    if not result.vendor or not result.model:
        what = f'the server is "{result.model}" of "{result.vendor}"'
        raise RegistryError(finding(NAMELESS, result.path, what))
    try:
        value = _value(result, cpu)
    except ValidationError as error:
        problem = error.errors(include_url=False)[0]
        what = f"{problem['loc'][-1]}: {problem['msg']}"
        raise RegistryError(finding(NAMELESS, result.path, what)) from None
    return validate(HardwareSpec, value, result.path, CODES)


def _value(result: Disclosure, cpu: CpuName) -> dict[str, object]:
    """Return the spec as its model takes it."""
    base = int(result.cpu_mhz * 10**6)
    turbo = turbo_hertz(result.cpu_name, result.cpu_characteristics)
    drives, supply = parts.storage(result.disk), parts.power_supply(result.supplies)
    return {
        "machine": _name(result),
        "system": parts.system(
            result.vendor, result.model, result.form_factor, result.nodes
        ),
        "cpu": {
            "vendor": cpu.vendor,
            "model": cpu.model,
            "architecture": "x86_64",
            "sockets": {"populated": result.chips},
            "cores": result.cores,
            "threads_per_core": result.threads_per_core,
            "frequency": {
                "base_hertz": base,
                "max_hertz": turbo if turbo is not None and turbo >= base else None,
            },
        },
        "memory": parts.memory(result.memory_gb, result.dimms, result.memory_details),
        "storage": None if drives is None else (drives,),
        "power_supplies": None if supply is None else (supply,),
        "os": parts.operating_system(result.os, result.os_version),
        "virtualisation": {"kind": "bare"},
        "nodes": {"count": result.nodes, "shared_power": result.nodes > 1},
    }


def tables_of(result: Disclosure) -> dict[str, pl.DataFrame]:
    """Return levels.csv and runs.csv: ten loads and active idle, numbered from 0.

    ``performance`` is ssj_ops of all nodes together, as SPEC reports it.
    """
    levels = result.levels
    watts = "wall_watts" if result.nodes == 1 else "chassis_watts"
    runs = list(range(len(levels)))
    return {
        "levels": pl.DataFrame(
            {"run": runs, watts: [float(level.watts) for level in levels]}
        ),
        "runs": pl.DataFrame(
            {
                "run": runs,
                "workload": [_workload(level) for level in levels],
                "load_target_ratio": [level.target_percent / 100 for level in levels],
                "load_achieved_ratio": [
                    float(level.actual_percent / Decimal(100)) for level in levels
                ],
                "accepted": [1] * len(levels),
                "performance": [level.ssj_ops for level in levels],
                "performance_unit": ["ssj_ops"] * len(levels),
            }
        ),
    }


def _workload(level: Level) -> str:
    return BUSY if level.target_percent else IDLE


def _name(result: Disclosure) -> str:
    return f"ssj2008-{result.id}"
