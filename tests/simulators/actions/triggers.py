"""Which workflows an event starts: `on:`, with branches, paths and types."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from tests.simulators.actions.expressions import Unreadable

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tests.simulators.actions.documents import Workflow

__all__ = ["Event", "starts"]

_USUAL: Final = {
    "pull_request": ("opened", "synchronize", "reopened"),
    "merge_group": ("checks_requested",),
}
_FILTERS: Final = {
    "pull_request": {"branches", "paths", "types"},
    "merge_group": {"branches", "types"},
    "push": {"branches", "paths"},
    "workflow_dispatch": set(),
}


@dataclass(frozen=True, slots=True)
class Event:
    """What happened.

    Attributes:
        name: as in `on:`.
        sha: the commit that the workflow and GITHUB_SHA are of.
        ref: GITHUB_REF.
        branch: the branch that a push changed or that a candidate is for.
        payload: the event as GitHub describes it.
        action: of a pull request or merge group.
        paths: what a push or pull request changed.
        actor: who caused it.
        foreign: whether it comes from a fork, whose token may only read.
    """

    name: str
    sha: str
    ref: str
    branch: str = "main"
    payload: dict[str, Any] = field(default_factory=dict)
    action: str = ""
    paths: tuple[str, ...] = ()
    actor: str = "somebody"
    foreign: bool = False


def starts(workflow: Workflow, event: Event) -> bool:
    """Whether an event starts a workflow.

    Raises:
        Unreadable: a filter is not known here.
    """
    if event.name not in workflow.on:
        return False
    if event.name == "schedule":
        return True
    filters = workflow.on[event.name]
    if odd := set(filters) - _FILTERS.get(event.name, set()):
        raise Unreadable(f"{event.name} is filtered by {', '.join(sorted(odd))}")
    types = filters.get("types", _USUAL.get(event.name, ()))
    if event.action and event.action not in types:
        return False
    if "branches" in filters and not _matched(filters["branches"], [event.branch]):
        return False
    return "paths" not in filters or _matched(filters["paths"], event.paths)


def _matched(patterns: Sequence[str], names: Sequence[str]) -> bool:
    return any(_pattern(one).fullmatch(name) for one in patterns for name in names)


def _pattern(glob: str) -> re.Pattern[str]:
    """GitHub's patterns: `*` stays within a folder, `**` does not."""
    if re.search(r"[!?+\[\]]", glob):
        raise Unreadable(f"a pattern is not understood: {glob}")
    parts = re.split(r"(\*\*|\*)", glob)
    made = {"**": ".*", "*": "[^/]*"}
    return re.compile("".join(made.get(part, re.escape(part)) for part in parts))
