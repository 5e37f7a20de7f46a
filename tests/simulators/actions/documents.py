"""A workflow file as data; a key that is not known here is refused."""

from __future__ import annotations

import itertools
from dataclasses import dataclass, field
from typing import Any, Final

import yaml

from tests.simulators.actions.expressions import Unreadable

__all__ = ["Job", "Step", "Workflow", "read_workflow"]

_WORKFLOW: Final = {
    "name",
    "on",
    "permissions",
    "concurrency",
    "defaults",
    "env",
    "jobs",
}
_JOB: Final = {
    "name",
    "needs",
    "if",
    "strategy",
    "runs-on",
    "timeout-minutes",
    "environment",
    "permissions",
    "env",
    "defaults",
    "steps",
}
_STEP: Final = {
    "name",
    "id",
    "if",
    "uses",
    "with",
    "run",
    "env",
    "shell",
    "working-directory",
    "timeout-minutes",
    "continue-on-error",
}


@dataclass(frozen=True, slots=True)
class Step:
    """A step: `uses` or `run` is empty; `minutes` is 0 for those of the job."""

    name: str
    id: str
    condition: str
    uses: str
    inputs: dict[str, str]
    run: str
    env: dict[str, str]
    shell: str
    folder: str
    minutes: int
    forgiven: bool


@dataclass(frozen=True, slots=True)
class Job:
    """A job; `matrix` has one dictionary for each instance."""

    id: str
    name: str
    needs: tuple[str, ...]
    condition: str
    matrix: tuple[dict[str, str], ...]
    fail_fast: bool
    runs_on: str
    minutes: int
    environment: str
    permissions: dict[str, str]
    env: dict[str, str]
    steps: tuple[Step, ...]


@dataclass(frozen=True, slots=True)
class Workflow:
    """A workflow; `on` has the filters of each trigger."""

    name: str
    on: dict[str, Any]
    permissions: dict[str, str]
    concurrency: dict[str, str] = field(default_factory=dict)
    env: dict[str, str] = field(default_factory=dict)
    jobs: dict[str, Job] = field(default_factory=dict)


def read_workflow(text: str) -> Workflow:
    """Read a workflow. All scalars stay texts, as expressions see them.

    Raises:
        Unreadable: it has what this simulator does not know.
    """
    try:
        document = yaml.load(text, Loader=yaml.BaseLoader)  # noqa: S506 - texts only
    except yaml.YAMLError as error:
        raise Unreadable(f"no YAML: {error}") from error
    top = _known(document, _WORKFLOW, "the workflow")
    if "permissions" not in top:
        raise Unreadable("the workflow leaves its permissions to a setting")
    shell, folder = _defaults(top)
    jobs = {
        key: _job(key, value, _table(top, "permissions"), shell, folder)
        for key, value in _known(top.get("jobs"), None, "jobs").items()
    }
    for job in jobs.values():
        if not set(job.needs) <= set(jobs):
            raise Unreadable(f"{job.id} needs a job that is not there")
    return Workflow(
        name=top.get("name", ""),
        on=_triggers(top.get("on")),
        permissions=_table(top, "permissions"),
        concurrency=_table(top, "concurrency"),
        env=_table(top, "env"),
        jobs=jobs,
    )


def _triggers(value: Any) -> dict[str, Any]:
    if isinstance(value, str):
        return {value: {}}
    if isinstance(value, list):
        return {key: {} for key in value}
    return {key: filters or {} for key, filters in _known(value, None, "on").items()}


def _job(
    key: str, value: Any, permissions: dict[str, str], shell: str, folder: str
) -> Job:
    job = _known(value, _JOB, key)
    steps = job.get("steps")
    if not isinstance(steps, list) or not steps:
        raise Unreadable(f"{key} has no steps")
    own_shell, own_folder = _defaults(job)
    needs = job.get("needs", [])
    strategy = _known(job.get("strategy", {}), {"matrix", "fail-fast"}, "strategy")
    defaults = own_shell or shell, own_folder or folder
    read = tuple(_step(step, *defaults) for step in steps)
    named = [step.id for step in read if step.id]
    if len(named) != len(set(named)):
        raise Unreadable(f"{key} has two steps of one id")
    return Job(
        id=key,
        name=job.get("name", key),
        needs=(needs,) if isinstance(needs, str) else tuple(needs),
        condition=job.get("if", ""),
        matrix=_matrix(strategy.get("matrix", {})),
        fail_fast=strategy.get("fail-fast", "true") != "false",
        runs_on=_text(job, "runs-on"),
        minutes=int(job.get("timeout-minutes", "360")),
        environment=job.get("environment", ""),
        permissions=_table(job, "permissions") if "permissions" in job else permissions,
        env=_table(job, "env"),
        steps=read,
    )


def _step(value: Any, shell: str, folder: str) -> Step:
    step = _known(value, _STEP, "a step")
    if ("uses" in step) == ("run" in step):
        raise Unreadable("a step has either uses or run")
    return Step(
        name=step.get("name", step.get("uses", "run")),
        id=step.get("id", ""),
        condition=step.get("if", ""),
        uses=step.get("uses", ""),
        inputs=_table(step, "with"),
        run=step.get("run", ""),
        env=_table(step, "env"),
        shell=step.get("shell", shell),
        folder=step.get("working-directory", folder),
        minutes=int(step.get("timeout-minutes", "0")),
        forgiven=step.get("continue-on-error", "false") == "true",
    )


def _defaults(value: dict[str, Any]) -> tuple[str, str]:
    run = _known(value.get("defaults", {}), {"run"}, "defaults").get("run", {})
    known = _known(run, {"shell", "working-directory"}, "defaults.run")
    return known.get("shell", ""), known.get("working-directory", "")


def _matrix(value: Any) -> tuple[dict[str, str], ...]:
    axes = _known(value, None, "a matrix")
    if not all(isinstance(axis, list) for axis in axes.values()):
        raise Unreadable("a matrix is made of lists")
    chosen = itertools.product(*axes.values())
    return tuple(dict(zip(axes, one, strict=True)) for one in chosen)


def _table(value: dict[str, Any], key: str) -> dict[str, str]:
    table = value.get(key) or {}
    if not isinstance(table, dict) or not all(
        isinstance(one, str) for one in table.values()
    ):
        raise Unreadable(f"{key} is no table of texts")
    return table


def _text(value: dict[str, Any], key: str) -> str:
    if not isinstance(value.get(key), str):
        raise Unreadable(f"{key} is no text")
    return str(value[key])


def _known(value: Any, keys: set[str] | None, what: str) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise Unreadable(f"{what} is no table")
    if keys is not None and (odd := set(value) - keys):
        raise Unreadable(f"{what} has {', '.join(sorted(odd))}")
    return value
