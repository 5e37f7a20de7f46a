"""What a workflow of this repository may not do. Each rule gives what breaks it.

The rules are functions of a file's text, so that tests show them bad samples too.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Final

from tests.simulators.actions.documents import read_workflow

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from tests.simulators.actions.documents import Job, Step, Workflow

__all__ = ["FOLDER", "broken", "texts", "workflows"]

FOLDER: Final = Path(__file__).resolve().parents[2] / ".github" / "workflows"
TRIGGERS: Final = {
    "pull_request",
    "merge_group",
    "push",
    "schedule",
    "workflow_dispatch",
}
_PIN: Final = re.compile(r"[a-z0-9-]+/[a-z0-9/-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+")
_WITHOUT_CODE: Final = {
    "actions/attest",
    "actions/deploy-pages",
    "actions/download-artifact",
    "actions/upload-pages-artifact",
}
_MEASURING: Final = {
    "actions/checkout",
    "github/codeql-action/upload-sarif",
    "ossf/scorecard-action",
}
"""What OpenSSF demands beside its action in the job that publishes scores."""
_TOOLS: Final = {"diff", "sha256sum", "grep", "if", "fi", "#"}
_CHECKOUT: Final = re.compile(r"\bgit\b.*\b(checkout|switch|worktree|restore|reset)\b")
_LINES: Final = re.compile(
    r"\bxargs\b|\bfor\s+\w+\s+in\s+\$\(|git\s+(diff|log|show|ls-files)\b"
)


def texts() -> dict[str, str]:
    """Our workflows' files by name."""
    files = sorted(FOLDER.glob("*.y*ml"))
    return {file.name: file.read_text("utf-8") for file in files}


def workflows() -> dict[str, Workflow]:
    """Our workflows by name."""
    return {name: read_workflow(text) for name, text in texts().items()}


def broken(row: str, text: str) -> list[str]:
    """What a workflow does against a row of the threat model."""
    return list(_RULES[row](text))


def _steps(workflow: Workflow) -> Iterator[tuple[Job, Step]]:
    for job in workflow.jobs.values():
        for step in job.steps:
            yield job, step


def _action(step: Step) -> str:
    return step.uses.partition("@")[0]


def _pwn_request(text: str) -> Iterator[str]:
    for trigger in set(read_workflow(text).on) - TRIGGERS:
        yield f"it is started by {trigger}"


def _candidate_runs(text: str) -> Iterator[str]:
    """In a gate, only main is checked out; the candidate is only fetched."""
    for _job, step in _steps(read_workflow(text)):
        if _action(step) == "actions/checkout" and step.inputs.get("ref") != "main":
            yield f"{step.name} checks out the candidate"
        if step.run and _CHECKOUT.search(step.run):
            yield f"{step.name} checks something out"
        if step.run and step.folder != "trusted":
            yield f"{step.name} does not run in the checkout of main"


def _injection(text: str) -> Iterator[str]:
    for _job, step in _steps(read_workflow(text)):
        if "${{" in step.run + step.shell + step.folder:
            yield f"{step.name} writes an expression into a shell"
        if "script" in step.inputs:
            yield f"{step.name} takes a script as input"


def _names_as_lines(text: str) -> Iterator[str]:
    for _job, step in _steps(read_workflow(text)):
        if _LINES.search(step.run):
            yield f"{step.name} lists names as lines"


def _caches(text: str) -> Iterator[str]:
    for _job, step in _steps(read_workflow(text)):
        if re.search(r"/cache(/|$)", _action(step)):
            yield f"{step.name} uses a cache"
        for name, value in step.inputs.items():
            if "cache" in name and value != "false":
                yield f"{step.name} sets {name}"


def _foreign_artifacts(text: str) -> Iterator[str]:
    for _job, step in _steps(read_workflow(text)):
        if "download-artifact" in step.uses or "gh run download" in step.run:
            odd = set(step.inputs) - {"name", "pattern", "path"}
            if odd or step.run:
                yield f"{step.name} reaches for another run: {', '.join(sorted(odd))}"
        if step.inputs.get("digest-mismatch", "error") != "error":
            yield f"{step.name} accepts changed artifacts"


def _tokens(text: str) -> Iterator[str]:
    workflow = read_workflow(text)
    if workflow.permissions:
        yield "the whole workflow has permissions"
    if re.search(r"\bsecrets\b(?!:)", re.sub("#.*", "", text)):
        yield "it reads secrets"
    foreign = "pull_request" in workflow.on or "merge_group" in workflow.on
    for job in workflow.jobs.values():
        levels = set(job.permissions.values())
        if not job.permissions or not levels <= {"read", "write"}:
            yield f"{job.id} does not say its permissions one by one"
        if foreign and levels != {"read"}:
            yield f"{job.id} may write for a pull request"
        if "id-token" in job.permissions:
            yield from _without_code(job)
    for _job, step in _steps(workflow):
        kept = step.inputs.get("persist-credentials", "true")
        if _action(step) == "actions/checkout" and kept != "false":
            yield f"{step.name} leaves the token in the checkout"


def _without_code(job: Job) -> Iterator[str]:
    """A job that holds the workflow's identity runs no code of this project."""
    actions = {_action(step) for step in job.steps if step.uses}
    allowed = _MEASURING if "ossf/scorecard-action" in actions else _WITHOUT_CODE
    if odd := actions - allowed:
        yield f"{job.id} holds an identity and uses {', '.join(sorted(odd))}"
    for step in job.steps:
        lines = [line.split() for line in step.run.splitlines() if line.strip()]
        if odd := {words[0] for words in lines} - _TOOLS:
            yield f"{job.id} holds an identity and runs {', '.join(sorted(odd))}"


def _pins(text: str) -> Iterator[str]:
    for line in re.findall(r"^\s*(?:- )?uses:\s*(.*)$", text, re.MULTILINE):
        if not _PIN.fullmatch(line.strip()):
            yield f"no commit with its version: {line}"
    for install in re.findall(r".*\b(?:pip3? install|npm|npx|curl|wget)\b.*", text):
        yield f"it takes what nobody pinned: {install.strip()}"


def _burning(text: str) -> Iterator[str]:
    workflow = read_workflow(text)
    if "group" not in workflow.concurrency:
        yield "runs pile up"
    for job in workflow.jobs.values():
        if not 1 <= job.minutes <= 120:
            yield f"{job.id} may run for {job.minutes} minutes"
    ends = workflow.concurrency.get("cancel-in-progress", "false")
    if "pull_request" in workflow.on and ends == "false":
        yield "a push does not end the run of the push before"
    if "pull_request" in workflow.on and workflow.on["pull_request"] == {}:
        yield "it runs for any branch"


_RULES: Final[dict[str, Callable[[str], Iterator[str]]]] = {
    "W1": _pwn_request,
    "W3": _candidate_runs,
    "W4": _injection,
    "W5": _names_as_lines,
    "W6": _caches,
    "W7": _foreign_artifacts,
    "W8": _tokens,
    "W9": _pins,
    "W13": _burning,
}
