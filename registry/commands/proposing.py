"""What commands that propose a change share: the pull request, or how to by hand."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Annotated

import typer

from registry import printing
from registry.gate import terminal

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from registry.gate.github.candidate import Files
    from registry.gate.github.entering import Entry
    from registry.gate.tree import Tree

__all__ = ["DryRun", "Plan", "carry_out", "entry_of", "merged_tree"]

DryRun = Annotated[
    bool,
    typer.Option("--dry-run", help="Show what would be proposed; change nothing."),
]


@dataclass(frozen=True, slots=True)
class Plan:
    """A change that a command proposes.

    Attributes:
        files: content by path, for the main branch as the checkout knows it.
        again: the same for the main branch as GitHub has it.
        branch: its branch, always the same for the same change.
        title: of the commit and of the pull request.
        body: of the pull request, as Markdown.
        steps: what happens next, one sentence each.
        as_good: whether our files and those of an earlier run say the same.
    """

    files: Mapping[str, bytes]
    again: Callable[[Tree], Mapping[str, bytes]]
    branch: str
    title: str
    body: str
    steps: tuple[str, ...]
    as_good: Callable[[Files, Files], bool] | None = None


def merged_tree(root: Path) -> Tree:
    """The merged registry as the checkout knows it; without git, as it lies there.

    Raises:
        RegistryError: T004, the folder is neither.
    """
    from registry.gate.directory_tree import registry_folder
    from registry.gate.drafting import base_of, is_checkout
    from registry.gate.git_tree import git_tree

    return git_tree(root, base_of(root)) if is_checkout(root) else registry_folder(root)


def entry_of(root: Path, repository: str | None) -> Entry | None:
    """The connection with a token, or None if there is no token.

    Raises:
        RegistryError: N006, there is a token, but no repository is named.
    """
    from registry.gate.github.entering import enter

    return enter(root, repository)


def carry_out(
    plan: Plan,
    root: Path,
    repository: str | None,
    entry: Entry | None,
    *,
    dry_run: bool,
    json_output: bool,
) -> None:
    """Open the pull request, or show how to do it by hand.

    Raises:
        RegistryError: it could not be opened.
        typer.Exit: with 1 if there is no token.
    """
    if entry is None or dry_run:
        _by_hand(
            plan, root, repository, entry, dry_run=dry_run, json_output=json_output
        )
        return
    from registry.gate.github.prechecking import Precheck
    from registry.gate.github.proposals import propose
    from registry.gate.report import print_findings

    check = Precheck(entry.connection)
    done = propose(
        entry.connection,
        root,
        plan.again,
        branch=plan.branch,
        title=plan.title,
        body=plan.body,
        message=plan.title,
        fork=None,
        check=check,
        as_good=plan.as_good,
    )
    document = {
        "schema": "proposal/1",
        "proposed": True,
        **asdict(done),
        "token": entry.source,
        "files": sorted(plan.files),
        "next": list(plan.steps),
    }
    who = f"by {done.by} (token from {entry.source})"
    lines = [
        *(f"file: {path}" for path in sorted(plan.files)),
        f"pull request {done.number} {who}: {done.state}",
        done.url,
        *(f"next: {step}" for step in plan.steps),
    ]
    if check.found and not json_output:
        print_findings(check.found)
    printing.show(printing.Shown(document, lines), json_output=json_output)


def _by_hand(
    plan: Plan,
    root: Path,
    repository: str | None,
    entry: Entry | None,
    *,
    dry_run: bool,
    json_output: bool,
) -> None:
    from registry.gate.drafting import start_of
    from registry.gate.github import by_hand
    from registry.gate.github.proposals import no_token
    from registry.gate.report import print_findings

    if entry is None:
        server, name = by_hand.place_of(root, repository)
    else:
        server, name = entry.connection.server, entry.connection.name
    switch, *rest = by_hand.commands(
        sorted(plan.files),
        branch=plan.branch,
        base=start_of(root),
        title=plan.title,
    )
    commands = [switch, *by_hand.heredocs(plan.files), *rest]
    text = {"branch": plan.branch, "title": plan.title, "body": plan.body}
    url = by_hand.compare_url(server, name, **text)
    document = {
        "schema": "proposal/1",
        "proposed": False,
        "number": None,
        "url": url,
        "files": {path: data.decode("utf-8") for path, data in plan.files.items()},
        "commands": commands,
        "next": list(plan.steps),
    }
    lines = [
        "nothing was proposed; this is the change:",
        *commands,
        f"then open {url}",
        *(f"next: {step}" for step in plan.steps),
    ]
    printing.show(printing.Shown(document, lines), json_output=json_output)
    if dry_run:
        return
    if not json_output:
        print_findings([no_token()])
    raise typer.Exit(terminal.EXIT_FINDINGS)
