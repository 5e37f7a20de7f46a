"""One issue for each failing check: opened once, continued, closed when it passes.

An issue is known by the label ``watch`` and the marker in its first line. A write whose
answer was lost is looked for before it is repeated, and if two runs opened an issue for
the same check, the younger one is closed.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Literal, TypeAlias

import github

from registry.documents.findings import RegistryError, Severity, code, finding
from registry.gate.github.connection import asking
from registry.gate.github.writing import settle
from registry.upkeep import issue_text
from registry.upkeep.outcomes import CHECKS, Outcome

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from github.Issue import Issue

    from registry.documents.findings import Finding
    from registry.gate.github.connection import Connection
    from registry.upkeep.outcomes import CheckId, Outcomes

__all__ = ["LABEL", "Action", "Told", "report"]

NO_LABEL = code(
    "N047",
    Severity.ERROR,
    "The token may open issues but not label them, so no issue could be found again.",
    "Give the job `issues: write` in this very repository.",
    "W8",
)

LABEL: Final = "watch"
_COLOUR: Final = "b60205"
_ABOUT: Final = "Opened and closed by the nightly watch"

Action: TypeAlias = Literal["opened", "commented", "unchanged", "closed", "duplicate"]


@dataclass(frozen=True, slots=True)
class Told:
    """What was done about a check's issue.

    Attributes:
        check: The check.
        action: What was done.
        number: The issue's number.
    """

    check: CheckId
    action: Action
    number: int


def report(
    connection: Connection, outcomes: Outcomes | RegistryError, run: str | None = None
) -> tuple[Told, ...]:
    """Bring the issues in line with the outcomes; no write where nothing is to say.

    Args:
        connection: The repository.
        outcomes: What the checks found, or why that cannot be read: then only the
            issue about the watch itself is touched.
        run: The address of the run that found it.

    Raises:
        RegistryError: N001 to N005 or N047, after everything else was done.
    """
    done: list[Told] = []
    problems: list[Finding] = []
    with asking("list issues"):
        known = _open_issues(connection)
    for outcome in _with_the_watch_itself(outcomes):
        try:
            done += _one(connection, outcome, known.get(outcome.id, []), run)
        except RegistryError as error:
            problems += error.findings
    if problems:
        raise RegistryError(problems)
    return tuple(done)


def _with_the_watch_itself(outcomes: Outcomes | RegistryError) -> Iterator[Outcome]:
    if isinstance(outcomes, RegistryError):
        yield Outcome.of("watch", "failed", "", outcomes.findings)
        return
    yield from outcomes.checks
    yield Outcome.of("watch", "ok")


def _one(
    connection: Connection, outcome: Outcome, known: list[Issue], run: str | None
) -> Iterator[Told]:
    if outcome.status == "skipped":
        return
    issue = known[0] if known else None
    for twin in known[1:]:
        _close(connection, twin, issue_text.twin(outcome.id, known[0].number))
        yield Told(outcome.id, "duplicate", twin.number)
    if outcome.status == "ok":
        if issue is not None:
            _close(connection, issue, issue_text.passed(outcome.id, run))
            yield Told(outcome.id, "closed", issue.number)
    elif issue is None:
        issue = _open(connection, outcome, run)
        yield Told(outcome.id, "opened", issue.number)
    else:
        said = _say(connection, issue, issue_text.comment(outcome, run))
        yield Told(outcome.id, "commented" if said else "unchanged", issue.number)


def _open_issues(connection: Connection) -> Mapping[str, list[Issue]]:
    """Open issues of the watch by check, the oldest first."""
    found: dict[str, list[Issue]] = {}
    listed = connection.repository.get_issues(state="open", labels=[LABEL])
    for issue in listed:
        marker = issue_text.marked(issue.body)
        if marker is not None and marker[0] in CHECKS and issue.pull_request is None:
            found.setdefault(marker[0], []).append(issue)
    for issues in found.values():
        issues.sort(key=lambda one: one.number)
    return found


def _open(connection: Connection, outcome: Outcome, run: str | None) -> Issue:
    _ensure_label(connection)

    def look() -> Issue | None:
        return next(iter(_open_issues(connection).get(outcome.id, ())), None)

    def write() -> Issue:
        made = connection.repository.create_issue(
            title=issue_text.title(outcome.id),
            body=issue_text.body(outcome, run),
            labels=[LABEL],
        )
        if LABEL not in {label.name for label in made.labels}:
            what = f"issue {made.number} has no label {LABEL}"
            raise RegistryError(finding(NO_LABEL, "github/issues", what))
        return made

    what = f"open the issue about {outcome.id}"
    return settle(look, write, what=what, patience=connection.patience)


def _say(connection: Connection, issue: Issue, text: str) -> bool:
    """Comment, unless the newest state in the issue is the one of the text."""
    wrote = False

    def look() -> bool | None:
        return True if _newest_state(issue) == issue_text.marked(text) else None

    def write() -> None:
        nonlocal wrote
        wrote = True
        issue.create_comment(text)

    what = f"comment on issue {issue.number}"
    settle(look, write, what=what, patience=connection.patience)
    return wrote


def _close(connection: Connection, issue: Issue, text: str) -> None:
    _say(connection, issue, text)

    def look() -> bool | None:
        fresh = connection.repository.get_issue(issue.number)
        return True if fresh.state == "closed" else None

    def write() -> None:
        issue.edit(state="closed", state_reason="completed")

    what = f"close issue {issue.number}"
    settle(look, write, what=what, patience=connection.patience)


def _newest_state(issue: Issue) -> tuple[str, str] | None:
    """The last marker that the watch itself wrote; others may write what they like."""
    newest = issue_text.marked(issue.body)
    for comment in issue.get_comments():
        if comment.user is not None and comment.user.id == issue.user.id:
            newest = issue_text.marked(comment.body) or newest
    return newest


def _ensure_label(connection: Connection) -> None:
    repository = connection.repository

    def look() -> bool | None:
        try:
            repository.get_label(LABEL)
        except github.UnknownObjectException:
            return None
        return True

    def write() -> None:
        repository.create_label(LABEL, _COLOUR, _ABOUT)

    settle(look, write, what=f"make the label {LABEL}", patience=connection.patience)
