"""`registry verify`: the whole registry, or what a change adds to it."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from registry import printing
from registry.commands.options import Json, Repository, Rev, Root
from registry.commands.trees import open_tree
from registry.gate.progress import progress_line

if TYPE_CHECKING:
    from collections.abc import Callable

    from registry.gate.github.connection import Connection
    from registry.gate.outcome import Report

__all__ = ["verify"]


def verify(
    root: Root = Path(),
    rev: Rev = None,
    base: Annotated[
        str | None, typer.Option(help="Check only what a change adds to this revision.")
    ] = None,
    head: Annotated[str, typer.Option(help="The change's revision.")] = "HEAD",
    author: Annotated[
        int | None, typer.Option(help="Numeric GitHub id of the change's author.")
    ] = None,
    published_keys: Annotated[
        Path | None,
        typer.Option(
            help="Signing keys that GitHub lists for the author, one a line, as `gh api"
            " users/LOGIN/ssh_signing_keys --jq '.[].key'` prints.",
            exists=True,
            dir_okay=False,
        ),
    ] = None,
    pull: Annotated[
        int | None,
        typer.Option(
            min=1, help="Ask GitHub who made this pull request, and for their keys."
        ),
    ] = None,
    queue_ref: Annotated[
        str | None,
        typer.Option(
            help="The same for the pull request of a merge queue's ref; approvals that"
            " a change of trust needs must be there."
        ),
    ] = None,
    since: Annotated[
        str | None,
        typer.Option(
            help="With --merged: the last commit that was found right, a release folder"
            " that was built from it, or the word founding; by default the commit of"
            " the latest release."
        ),
    ] = None,
    repository: Repository = None,
    results: Annotated[
        Path | None,
        typer.Option(help="Write the full expectation results here, as JSON."),
    ] = None,
    *,
    merged: Annotated[
        bool,
        typer.Option(
            "--merged",
            help="Ask GitHub also who proposed and who approved what came to the branch"
            " since the latest release.",
        ),
    ] = False,
    json_output: Json = False,
) -> None:
    """Check the whole registry, or only what a change adds (--base)."""
    number = _number(pull, queue_ref)
    by_hand = author is not None or published_keys is not None
    if base is not None and (rev is not None or merged):
        raise typer.BadParameter("--base excludes --rev and --merged")
    if base is None and (by_hand or number is not None):
        raise typer.BadParameter(
            "--author, --published-keys, --pull and --queue-ref need --base"
        )
    if by_hand and number is not None:
        raise typer.BadParameter(
            "--pull and --queue-ref ask GitHub for what --author and --published-keys"
            " say: give one or the other"
        )
    if since is not None and not merged:
        raise typer.BadParameter("--since needs --merged")
    if repository is not None and number is None and not merged:
        raise typer.BadParameter("--repository needs --pull, --queue-ref or --merged")
    with progress_line(hidden=json_output) as show:
        if base is None:
            rev = "HEAD" if merged and rev is None else rev  # a work tree has no merges
            report = _registry(root, rev, show)
            if merged:
                report = _with_merges(report, root, rev, since, repository, show)
        elif number is not None:
            show(f"verifying what {head} adds to {base}")
            queued = queue_ref is not None
            report = _pull(root, base, head, number, repository, queued=queued)
        else:
            show(f"verifying what {head} adds to {base}")
            report = _change(root, base, head, author, published_keys)
    if results is not None:
        printing.write(results, printing.text(report.expectation_results))
    printing.print_report(report, json_output=json_output)
    raise typer.Exit(printing.exit_code(report.findings))


def _number(pull: int | None, queue_ref: str | None) -> int | None:
    """The pull request that is meant, or None."""
    if queue_ref is None:
        return pull
    if pull is not None:
        raise typer.BadParameter("--pull and --queue-ref exclude each other")
    from registry.gate.github.verify_pull import queued_number

    number = queued_number(queue_ref)
    if number is None:
        raise typer.BadParameter(
            "--queue-ref is gh-readonly-queue/main/pr-NUMBER-COMMIT"
        )
    return number


def _registry(root: Path, rev: str | None, show: Callable[[str], None]) -> Report:
    from registry.gate.git_tree import arrivals
    from registry.gate.verify import verify_registry

    tree = open_tree(root, rev)
    return verify_registry(
        tree,
        arrivals=arrivals(root, rev or "HEAD", tree),
        now=int(time.time()),
        progress=lambda dataset: show(f"verifying {dataset}"),
    )


def _with_merges(
    report: Report,
    root: Path,
    rev: str | None,
    since: str | None,
    repository: str | None,
    show: Callable[[str], None],
) -> Report:
    """Add what GitHub's record of the merges has against them.

    Where GitHub cannot be asked, that is a finding beside the others.
    """
    from registry.documents.findings import RegistryError
    from registry.gate.github.connection import connect
    from registry.gate.github.merges import verify_merges
    from registry.gate.outcome import extended

    try:
        connection = connect(repository)
        since = _start(since, connection)
    except RegistryError as error:
        return extended(report, error.findings)
    merges = verify_merges(root, since, rev or "HEAD", connection, progress=show)
    return extended(report, merges.findings)


def _start(since: str | None, connection: Connection) -> str | None:
    """The commit after which merges are judged; None for the founding one."""
    if since is None:
        from registry.publish.channels import latest_commit

        return latest_commit(connection)
    if since == "founding":
        return None
    if not Path(since).is_dir():
        return since
    from registry.publish.integrity import open_folder

    index, _ = open_folder(Path(since))
    if index.commit is None:
        raise typer.BadParameter(f"--since: {since} was built from no commit")
    return index.commit


def _pull(
    root: Path,
    base: str,
    head: str,
    number: int,
    repository: str | None,
    *,
    queued: bool,
) -> Report:
    from registry.gate.github.connection import connect
    from registry.gate.github.verify_pull import verify_pull

    connection = connect(repository)
    now = int(time.time())
    return verify_pull(root, base, head, number, connection, now=now, queued=queued)


def _change(
    root: Path, base: str, head: str, author: int | None, published_keys: Path | None
) -> Report:
    from registry.gate.enrolment import read_published_keys
    from registry.gate.verify_change import verify_change

    keys = None
    if published_keys is not None:
        keys = read_published_keys(published_keys.read_bytes(), str(published_keys))
    now = int(time.time())
    return verify_change(root, base, head, author=author, published_keys=keys, now=now)
