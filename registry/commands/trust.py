"""`registry trust …`: contributors and their keys."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from registry import printing
from registry.commands.options import Json, Repository, Rev, Root
from registry.commands.proposing import DryRun, Plan, carry_out, entry_of, merged_tree
from registry.commands.trees import open_tree
from registry.gate.revoking import SINCE_HELP, Why, since_when

if TYPE_CHECKING:
    from collections.abc import Sequence

    from registry.documents.findings import Finding
    from registry.documents.trust import Contributor
    from registry.gate.github.entering import Entry
    from registry.gate.tree import Tree

__all__ = ["app"]

app = typer.Typer(
    no_args_is_help=True, help="Contributors and their keys.", rich_markup_mode=None
)

TrustFile = Annotated[
    Path,
    typer.Argument(
        help="The trust file that `powerkit enrol` wrote.", exists=True, dir_okay=False
    ),
]

_APPROVALS = (
    "two maintainers other than the author approve; every new commit needs that anew"
)


@app.command("allowed-signers")
def allowed_signers(root: Root = Path(), rev: Rev = None) -> None:
    """Print all keys as `ssh-keygen -Y verify` takes them."""
    from registry.gate.allowed_signers import allowed_signers as lines

    typer.echo(lines(open_tree(root, rev)), nl=False)


@app.command()
def add(
    file: TrustFile,
    root: Root = Path(),
    repository: Repository = None,
    *,
    dry_run: DryRun = False,
    json_output: Json = False,
) -> None:
    """Open a pull request that enrols a contributor.

    GitHub is asked whether the very account publishes the keys.
    """
    from registry.gate.enrolment import Proposal, check_new_contributor
    from registry.gate.identity import read_keyring
    from registry.gate.trust_changes import added

    merged, data = merged_tree(root), file.read_bytes()
    new, files = added(merged, data, str(file))
    entry = entry_of(root, repository)
    keyring, _ = read_keyring(merged)
    proposal = Proposal(new.id, _published(entry, new), int(time.time()))
    _stop(check_new_contributor(new, keyring, proposal), json_output=json_output)
    plan = Plan(
        files=files,
        again=lambda tree: added(tree, data, str(file))[1],
        branch=f"trust/{new.id}-enrol",
        title=f"Enrol contributor {new.id}",
        body=_body(f"Enrols account {new.id} with", new, new.keys),
        steps=(_APPROVALS, "once it is merged, the account's bundles are accepted"),
    )
    carry_out(plan, root, repository, entry, dry_run=dry_run, json_output=json_output)


@app.command()
def rotate(
    file: TrustFile,
    root: Root = Path(),
    repository: Repository = None,
    *,
    dry_run: DryRun = False,
    json_output: Json = False,
) -> None:
    """Open a pull request with a key that an older endorses."""
    from registry.gate.enrolment import Proposal, check_update
    from registry.gate.identity import read_keyring
    from registry.gate.trust_changes import rotated

    merged, data = merged_tree(root), file.read_bytes()
    old, new, files = rotated(merged, data, str(file))
    entry = entry_of(root, repository)
    keyring, _ = read_keyring(merged)
    proposal = Proposal(new.id, _published(entry, new), int(time.time()))
    _stop(check_update(old, new, keyring, proposal), json_output=json_output)
    more = new.keys[len(old.keys) :]
    plan = Plan(
        files=files,
        again=lambda tree: rotated(tree, data, str(file))[2],
        branch=f"trust/{new.id}-rotate",
        title=f"Change the keys of contributor {new.id}",
        body=_body(f"Changes the trust file of account {new.id}; new are", new, more),
        steps=(_APPROVALS, "once it is merged, bundles signed by the new key count"),
    )
    carry_out(plan, root, repository, entry, dry_run=dry_run, json_output=json_output)


@app.command()
def revoke(
    contributor: Annotated[
        int, typer.Option(min=0, help="The number of the key's account.")
    ],
    fingerprint: Annotated[
        str, typer.Option(help="The key's, as `ssh-keygen -lf KEY.pub` prints it.")
    ],
    reason: Annotated[Why, typer.Option(help="Why it is trusted no more.")],
    since: Annotated[str | None, typer.Option(help=SINCE_HELP)] = None,
    root: Root = Path(),
    repository: Repository = None,
    *,
    dry_run: DryRun = False,
    json_output: Json = False,
) -> None:
    """Open a pull request that ends trust in a key, for good."""
    from registry.gate.trust_changes import revoked, same_revocation

    try:
        at = since_when(since)
    except ValueError as error:
        raise typer.BadParameter(f"--since: {error}") from None

    def make(merged: Tree) -> dict[str, bytes]:
        return revoked(merged, contributor, fingerprint, reason.value, at)

    files = make(merged_tree(root))
    (path,) = files
    entry = entry_of(root, repository)
    short = "".join(char for char in fingerprint[7:] if char.isalnum())[:12].lower()
    plan = Plan(
        files=files,
        again=make,
        branch=f"trust/{contributor}-revoke-{short}",
        title=f"Revoke a key of contributor {contributor}: {reason.value}",
        body=f"Revokes `{fingerprint}` of account {contributor}, reason"
        f" `{reason.value}`. Nothing takes that back.\n",
        steps=(
            _APPROVALS,
            "bundles that came before stay: `registry withdraw` takes them out",
        ),
        as_good=None
        if since
        else lambda ours, there: same_revocation(ours[path], there.get(path), path),
    )
    carry_out(plan, root, repository, entry, dry_run=dry_run, json_output=json_output)


@app.command()
def expiring(
    root: Root = Path(),
    rev: Rev = None,
    within: Annotated[int, typer.Option(min=0, help="Days to look ahead.")] = 30,
    *,
    json_output: Json = False,
) -> None:
    """List keys whose end leaves their owner without any."""
    from registry.gate.expiry import expiring as listed
    from registry.gate.report import print_findings

    found = listed(open_tree(root, rev), int(time.time()), within)
    print_findings(found, json_output=json_output)
    if not json_output:
        keys = "1 key" if len(found) == 1 else f"{len(found)} keys"
        typer.echo(f"{keys} ended, or in {within} days, without a successor")


def _published(entry: Entry | None, new: Contributor) -> frozenset[bytes] | None:
    """The keys that GitHub lists for the file's own account, by its number."""
    if entry is None:
        return None
    from registry.gate.enrolment import published_blobs
    from registry.gate.github.accounts import published_keys

    return published_blobs(published_keys(entry.connection, new.id).signing_keys)


def _stop(found: Sequence[Finding], *, json_output: bool) -> None:
    """Show what is wrong; ends the command if any of it is an error."""
    from registry.gate.report import print_findings

    code = printing.exit_code(found)
    if code or (found and not json_output):
        print_findings(found, json_output=json_output)
    if code:
        raise typer.Exit(code)


def _body(what: str, contributor: Contributor, keys: Sequence[object]) -> str:
    names = [key.fingerprint for key in contributor.keys if key in keys]
    listed = "".join(f"- `{name}`\n" for name in names) or "- no keys\n"
    return f"{what}\n\n{listed}\nLook at who asks for this, and by which way.\n"
