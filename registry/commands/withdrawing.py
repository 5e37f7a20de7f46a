"""`registry withdraw`: take a merged bundle out of all models, by one file."""

from __future__ import annotations

import datetime as dt
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from registry.commands.options import Json, Repository, Root
from registry.commands.proposing import (
    DryRun,
    Plan,
    carry_out,
    entry_of,
    merged_tree,
)

if TYPE_CHECKING:
    from registry.gate.tree import Tree

__all__ = ["withdraw"]


class Reason(StrEnum):
    """Why a bundle is withdrawn; one word, so that nobody is named."""

    DUPLICATE = "duplicate"
    KEY = "key-compromised"
    LICENCE = "licence"
    ERROR = "measurement-error"
    PRIVACY = "privacy"
    REQUEST = "request"


_BODY = """\
Withdraws `datasets/{dataset}`, reason `{reason}`.

- The bundle's files stay as they are; only `{path}` is added.
- The next build leaves the bundle out, and fits the affected models again.
- Nothing takes a withdrawal back: mended data comes as a new dataset.
"""
_STEPS = (
    "reviewers approve; if the bundle is not yours, the packet says so to them",
    "once it is merged, the next release leaves the bundle out of all models",
)


def withdraw(
    dataset: Annotated[str, typer.Argument(help="The dataset's id.")],
    reason: Annotated[Reason, typer.Option(help="Why.")],
    root: Root = Path(),
    repository: Repository = None,
    day: Annotated[
        str | None, typer.Option(help="Day of the decision, YYYY-MM-DD; else today.")
    ] = None,
    *,
    dry_run: DryRun = False,
    json_output: Json = False,
) -> None:
    """Open a pull request that withdraws one dataset."""
    from registry.gate.drafting import branch_for
    from registry.gate.withdrawing import withdrawn

    if day is not None and _is_future(day):
        raise typer.BadParameter("--day: it is in the future")
    decided = day or _today()

    def make(merged: Tree) -> dict[str, bytes]:
        return withdrawn(merged, dataset, reason.value, decided)

    files = make(merged_tree(root))
    (path,) = files
    entry = entry_of(root, repository)
    plan = Plan(
        files=files,
        again=make,
        branch=branch_for("withdraw", dataset),
        title=f"Withdraw {dataset}: {reason.value}",
        body=_BODY.format(dataset=dataset, reason=reason.value, path=path),
        steps=_STEPS,
        as_good=None if day else lambda _, there: _same(there.get(path), path, reason),
    )
    carry_out(plan, root, repository, entry, dry_run=dry_run, json_output=json_output)


def _today() -> str:
    return dt.datetime.now(dt.UTC).date().isoformat()


def _is_future(day: str) -> bool:
    """Whether a day is yet to come (UTC); what is no day is refused elsewhere."""
    try:
        return dt.date.fromisoformat(day).isoformat() > _today()
    except ValueError:
        return False


def _same(there: bytes | None, path: str, reason: Reason) -> bool:
    """Whether an earlier run gave the same reason, on whatever day."""
    from registry.documents.findings import RegistryError
    from registry.gate.withdrawal import read_withdrawal

    try:
        return read_withdrawal(there or b"", path).reason == reason.value
    except RegistryError:
        return False
