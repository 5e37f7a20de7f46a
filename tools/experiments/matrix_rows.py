"""One row of a matrix: conditions by name, and what they change in the experiment."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from registry.documents.findings import (
    Finding,
    RegistryError,
    Severity,
    code,
    finding,
    shown,
)
from tools.experiments.files import digest_of
from tools.experiments.folders import output_name
from tools.experiments.spec import Spec, changed

__all__ = ["ROWS", "Row", "applied", "column_problem", "row_digest", "row_of"]

ROWS: Final = 10_000
"""The most rows of a matrix."""

COLUMN = code(
    "B050",
    Severity.ERROR,
    "A matrix has a column or axis that changes nothing.",
    "Use outputfile, description, concurrent, iterations, distribution, P1 to P4,"
    " model_percentage, models, warm_up, init, seed, max_per_item, time_limit,"
    " visible_devices, pin, eviction, env.NAME or service_env.NAME.",
)
ROW = code(
    "B051",
    Severity.ERROR,
    "A row of a matrix cannot be used.",
    "Give every row a name of its own that can be a folder's, and values that fit.",
)

_PLAIN: Final = {
    "concurrent": "concurrency",
    "concurrency": "concurrency",
    "iterations": "iterations",
    "warm_up": "warm_up",
    "init": "init",
    "model_percentage": "models_percentage",
    "models_percentage": "models_percentage",
    "models": "models",
    "time_limit": "time_limit_seconds",
    "time_limit_seconds": "time_limit_seconds",
    "visible_devices": "visible_devices",
    "pin": "pin",
    "description": "description",
}
_LOAD: Final = {
    "distribution": "distribution",
    "distribution_params": "params",
    "seed": "seed",
    "max_per_item": "max_per_item",
    "model_iterations": "max_per_item",
    "trims_compatible": "trims_compatible",
}
_PARAMETERS: Final = ("P1", "P2", "P3", "P4")
_ONE_PARAMETER: Final = frozenset({"exp", "exponential", "poisson"})
_VARIABLE: Final = re.compile(r"(?:service_)?env\.[A-Za-z_][A-Za-z0-9_]{0,127}")
_EVICTION: Final = "UPRD_EVICTION_POLICY"
"""What TRIMS's server reads its policy from."""
_OWN: Final = frozenset({"outputfile", "eviction", *_PARAMETERS})


@dataclass(frozen=True, slots=True)
class Row:
    """A row of a matrix.

    Attributes:
        name: its folder's, below the matrix's.
        line: where it stands in its file; None if it was made of axes.
        values: its conditions by the names in the file.
        changes: what it changes of the experiment.
        load: what it changes of the experiment's load.
        env: variables for its runs.
        service_environment: variables for its service.
    """

    name: str
    line: int | None
    values: Mapping[str, str]
    changes: Mapping[str, Any]
    load: Mapping[str, Any]
    env: Mapping[str, str]
    service_environment: Mapping[str, str]


def column_problem(name: str) -> str | None:
    """Say what is wrong with the name of a column or axis, or None."""
    if name in _PLAIN or name in _LOAD or name in _OWN or _VARIABLE.fullmatch(name):
        return None
    return f'"{shown(name)}" is no condition of an experiment'


def row_of(values: Mapping[str, str], path: str, line: int | None) -> Row:
    """Read the conditions of a row.

    Args:
        values: conditions by name, ``outputfile`` among them; empty ones say nothing.
        path: the file, for findings.
        line: the row's line.

    Raises:
        RegistryError: B051, its name cannot be a folder's.
    """
    said = {name: value for name, value in values.items() if value != ""}
    name = said.get("outputfile", "")
    try:
        folder = output_name(name)
    except RegistryError:
        folder = Path()
    if len(folder.parts) != 1:
        what = f'"{shown(name)}" cannot be the name of a folder'
        raise RegistryError(finding(ROW, path, what, line=line))
    prefix = len("service_env.")
    service = {k[prefix:]: v for k, v in said.items() if k.startswith("service_env.")}
    if "eviction" in said:
        service[_EVICTION] = said["eviction"]
    return Row(
        name,
        line,
        said,
        {_PLAIN[key]: value for key, value in said.items() if key in _PLAIN},
        _load(said),
        {k[4:]: v for k, v in said.items() if k.startswith("env.")},
        service,
    )


def _load(said: Mapping[str, str]) -> dict[str, Any]:
    found: dict[str, Any] = {
        _LOAD[key]: value for key, value in said.items() if key in _LOAD
    }
    if isinstance(listed := found.get("params"), str):
        found["params"] = [part.strip() for part in listed.split(",") if part.strip()]
    parameters = [said[key] for key in _PARAMETERS if key in said]
    if found.get("distribution", "").lower() in _ONE_PARAMETER:
        parameters = parameters[:1]  # as TRIMS's run_experiments.py does
    if parameters and found.get("distribution", "none").lower() != "none":
        found["params"] = parameters
    return found


def applied(spec: Spec, row: Row, path: str) -> Spec:
    """Return the experiment of a row.

    Raises:
        RegistryError: B020 to B023 at the row's line, a value is not allowed; B051, it
            says something of a service that is not there.
    """
    changes: dict[str, Any] = dict(row.changes)
    if row.load:
        before = {} if spec.load is None else spec.load.model_dump(exclude_unset=True)
        changes["load"] = before | dict(row.load)
    if row.env:
        changes["env"] = spec.env | dict(row.env)
    try:
        done = changed(spec, path, changes)
    except RegistryError as error:
        raise RegistryError(_at(one, row) for one in error.findings) from None
    if row.service_environment and done.service is None:
        what = f"{row.name}: it has a condition for a service, but there is no service"
        raise RegistryError(finding(ROW, path, what, line=row.line))
    return done


def _at(one: Finding, row: Row) -> Finding:
    """Name the row in a finding of its experiment."""
    return Finding(
        one.path, row.line, one.code, one.severity, f"{row.name}: {one.what}", one.fix
    )


def row_digest(row: Row, spec: Spec) -> str:
    """Return what changes if anything changes that decides a row's results.

    Args:
        row: the row.
        spec: its experiment.
    """
    value = {
        "values": dict(row.values),
        "spec": spec.model_dump(mode="json", by_alias=True),
        "files": [digest_of(path) for path in _files(spec) if path.is_file()],
    }
    text = json.dumps(value, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()


def _files(spec: Spec) -> Iterator[Path]:
    if spec.service is not None:
        yield Path(spec.service)
    if spec.load is not None and spec.load.plan is not None:
        yield Path(spec.load.plan)


def unique(rows: Sequence[Row], path: str) -> Iterator[Finding]:
    """Find rows that would share a folder, also where case does not matter."""
    seen: dict[str, Row] = {}
    for row in rows:
        other = seen.setdefault(row.name.lower(), row)
        if other is not row:
            what = f'"{shown(row.name)}" is the name of another row, too'
            yield finding(ROW, path, what, line=row.line)
