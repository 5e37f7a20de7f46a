"""Run a workflow's jobs and steps, and keep what GitHub would show of them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from tests.simulators.actions.commands import Printed
from tests.simulators.actions.expressions import fill, holds
from tests.simulators.actions.machine import (
    Machine,
    github_context,
    settings_context,
)
from tests.simulators.actions.stand_ins import ActionFailed, Shelf, perform

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Mapping
    from pathlib import Path

    from tests.simulators.actions.commands import Annotation
    from tests.simulators.actions.documents import Job, Step, Workflow

__all__ = ["JobRun", "Run", "StepRun", "Workplace", "run_workflow"]


@dataclass(slots=True)
class StepRun:
    """A step that ran, or was skipped."""

    name: str
    id: str
    conclusion: str = "skipped"
    log: str = ""
    annotations: list[Annotation] = field(default_factory=list)
    summary: str = ""
    outputs: dict[str, str] = field(default_factory=dict)
    masked: list[str] = field(default_factory=list)


@dataclass(slots=True)
class JobRun:
    """An instance of a job."""

    name: str
    conclusion: str = "skipped"
    steps: list[StepRun] = field(default_factory=list)
    permissions: dict[str, str] = field(default_factory=dict)
    environment: str = ""

    def step(self, name: str) -> StepRun:
        """The step of a name."""
        return next(step for step in self.steps if step.name == name)


@dataclass(slots=True)
class Run:
    """A run of a workflow.

    Attributes:
        workflow: its name.
        jobs: by id; an instance of a matrix as `build (ubuntu-24.04)`.
        concurrency: its group, and whether a later run ends it.
        shelf: artifacts, attestations and the site.
    """

    workflow: str
    shelf: Shelf
    jobs: dict[str, JobRun] = field(default_factory=dict)
    concurrency: dict[str, str] = field(default_factory=dict)

    @property
    def conclusion(self) -> str:
        """What GitHub shows for the whole run."""
        ends = {job.conclusion for job in self.jobs.values()}
        for worst in ("failure", "cancelled", "success"):
            if worst in ends:
                return worst
        return "skipped"

    @property
    def steps(self) -> list[StepRun]:
        """All steps, in order."""
        return [step for job in self.jobs.values() for step in job.steps]

    @property
    def annotations(self) -> list[Annotation]:
        """All remarks, also those that GitHub's page leaves out."""
        return [one for step in self.steps for one in step.annotations]

    @property
    def summary(self) -> str:
        """The run's page."""
        return "".join(step.summary for step in self.steps)

    @property
    def log(self) -> str:
        """What all steps printed."""
        parts = (f"=== {one.name}: {one.conclusion}\n{one.log}" for one in self.steps)
        return "\n".join(parts)

    @property
    def artifacts(self) -> dict[str, Path]:
        """Artifacts by name."""
        return self.shelf.artifacts

    @property
    def attested(self) -> list[tuple[str, str]]:
        """Name and SHA-256 of each attested file."""
        return self.shelf.attested

    @property
    def pages(self) -> Path | None:
        """The site that was deployed."""
        return self.shelf.pages


@dataclass(frozen=True, slots=True)
class Workplace:
    """Where jobs run.

    Attributes:
        machine: makes a fresh machine for a job of these permissions.
        before_step: told the job and the step that comes next.
        after_job: told the job that ended and what the run keeps.
        leave_out: names of steps that are skipped.
    """

    machine: Callable[[str, dict[str, str]], Machine]
    before_step: Callable[[str, str], None]
    after_job: Callable[[str, Shelf], None]
    leave_out: Collection[str] = ()


def run_workflow(workflow: Workflow, place: Workplace, shelf: Shelf) -> Run:
    """Run all jobs, each after those that it needs.

    Raises:
        Unreadable: the workflow says what this simulator does not know.
    """
    run = Run(workflow.name, shelf)
    results: dict[str, str] = {}
    waiting = dict(workflow.jobs)
    while waiting:
        ready = [job for job in waiting.values() if not set(job.needs) & set(waiting)]
        for job in ready:
            del waiting[job.id]
            _run_job(workflow, job, place, run, results)
    return run


def _run_job(
    workflow: Workflow,
    job: Job,
    place: Workplace,
    run: Run,
    results: dict[str, str],
) -> None:
    ends: list[str] = []
    for chosen in job.matrix:
        key = f"{job.id} ({', '.join(chosen.values())})" if chosen else job.id
        made = JobRun(job.name, permissions=job.permissions)
        run.jobs[key] = made
        if "failure" in ends and job.fail_fast:
            made.conclusion = "cancelled"
        else:
            machine = place.machine(key, job.permissions)
            contexts = {
                "github": github_context(machine, workflow.name, job.id),
                "vars": settings_context(machine),
                "needs": {
                    one: {"result": results[one], "outputs": {}} for one in job.needs
                },
            }
            run.concurrency = {
                name: fill(text, {"github": contexts["github"]})
                for name, text in workflow.concurrency.items()
            }
            before = [results[one] for one in job.needs]
            if holds(job.condition, contexts, _status(before)):
                contexts["matrix"] = chosen
                made.name = fill(job.name, contexts)
                made.environment = fill(job.environment, contexts)
                fill(job.runs_on, contexts)
                _run_steps(workflow, job, made, place, contexts, machine, run.shelf)
                place.after_job(key, run.shelf)
        ends.append(made.conclusion)
    for worst in ("failure", "cancelled", "skipped", "success"):
        if worst in ends:
            results[job.id] = worst
            break


def _run_steps(
    workflow: Workflow,
    job: Job,
    made: JobRun,
    place: Workplace,
    contexts: dict[str, Any],
    machine: Machine,
    shelf: Shelf,
) -> None:
    machine.start()
    env = {
        name: fill(text, contexts) for name, text in (workflow.env | job.env).items()
    }
    steps: dict[str, Any] = {}
    made.conclusion = "success"
    for step in job.steps:
        here = contexts | {
            "env": env,
            "job": {"status": made.conclusion},
            "steps": steps,
            "runner": {"temp": str(machine.root / "temp"), "os": "Linux"},
        }
        done = StepRun(fill(step.name, here), step.id)
        made.steps.append(done)
        wanted = done.name not in place.leave_out
        if wanted and holds(step.condition, here, _status([made.conclusion])):
            place.before_step(job.id, done.name)
            minutes = step.minutes or job.minutes
            _run_step(step, done, here, env, machine, shelf, minutes)
            if done.conclusion == "failure" and not step.forgiven:
                made.conclusion = "failure"
        if step.id:
            forgiven = step.forgiven and done.conclusion == "failure"
            conclusion = "success" if forgiven else done.conclusion
            outcome = {"outcome": done.conclusion, "conclusion": conclusion}
            steps[step.id] = {"outputs": done.outputs, **outcome}


def _run_step(
    step: Step,
    done: StepRun,
    contexts: Mapping[str, Any],
    env: dict[str, str],
    machine: Machine,
    shelf: Shelf,
    minutes: int,
) -> None:
    variables = env | {name: fill(text, contexts) for name, text in step.env.items()}
    if step.uses:
        inputs = {name: fill(text, contexts) for name, text in step.inputs.items()}
        try:
            done.log = perform(step.uses, inputs, machine, shelf)
            done.conclusion = "success"
        except ActionFailed as error:
            done.log, done.conclusion = str(error), "failure"
        return
    printed = Printed(done.name)
    ok, done.outputs, done.summary = machine.run(
        fill(step.run, contexts),
        shell=step.shell,
        folder=fill(step.folder, contexts),
        env=variables,
        printed=printed,
        minutes=minutes,
    )
    done.conclusion = "success" if ok else "failure"
    done.annotations, done.log = printed.annotations, "\n".join(printed.lines)
    done.masked = printed.masked


def _status(before: Iterable[str]) -> dict[str, Callable[[], bool]]:
    ends = set(before)
    return {
        "always": lambda: True,
        "success": lambda: ends <= {"success"},
        "failure": lambda: "failure" in ends,
        "cancelled": lambda: False,
    }
