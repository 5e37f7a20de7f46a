"""`powerkit submit`: a signed bundle becomes a pull request, or is told how to."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

import typer

from registry.gate import terminal
from tools.dialogue import agreed
from tools.options import Base, Json, Registry, Yes

if TYPE_CHECKING:
    from registry.gate.github.proposals import Proposed
    from tools.submission.gathering import Submission
    from tools.submission.steps import Acting, ByHand

__all__ = ["submit"]

_NEXT: Final = (
    "the gate checks the pull request; findings stand there, with code and line",
    "to mend it: change, `powerkit sign`, and run this again for the same pull request",
    "maintainers approve: one, or two if it brings your trust file",
    "once it is merged, the next release has the models",
)


def submit(
    dataset: Annotated[
        str, typer.Argument(help="The dataset's id, or its folder in a checkout.")
    ],
    registry: Registry = Path(),
    repository: Annotated[
        str | None,
        typer.Option(
            help="The registry on GitHub, OWNER/NAME; by default GITHUB_REPOSITORY, or"
            " what the checkout's remotes name."
        ),
    ] = None,
    base: Base = None,
    *,
    yes: Yes = False,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Check and show all; change nothing.")
    ] = False,
    json_output: Json = False,
) -> None:
    """Check a bundle and open its pull request; again is harmless.

    The token is that of GH_TOKEN, GITHUB_TOKEN or `gh`; it is never stored.
    """
    from registry.gate.report import print_report
    from tools.submission import steps
    from tools.submission.describing import body_of
    from tools.submission.gathering import gather, manifest_of

    root, name = _place(dataset, registry)
    place = steps.Place(root, repository, base)
    who = steps.acting_for(place, manifest_of(root, name).contributor)
    if who is not None:
        account = f"{who.account.login} ({who.account.id})"
        said = f"account {account} by the token from {who.entry.source}"
        typer.echo(f"{said}, to {who.registry.name}", err=json_output)
    submission = gather(root, name, steps.merged_branch(place, who))
    report = steps.checked(submission, place, who)
    if report.refused or not json_output:
        print_report(report, json_output=json_output)
    if report.refused:
        raise typer.Exit(terminal.EXIT_FINDINGS)
    typer.echo(steps.shown(submission, place, who), err=json_output)
    body = body_of(submission, report)
    if who is None or dry_run:
        how = steps.how_by_hand(submission, body, place, who)
        _tell_how(how, submission, json_output=json_output)
        if not dry_run:
            _no_token(json_output=json_output)
        return
    if not yes and not agreed(f"May all of this be public at {who.registry.name}?"):
        typer.echo("Nothing was proposed.", err=True)
        raise typer.Exit(terminal.EXIT_FINDINGS)
    done = steps.proposed(submission, body, place, who)
    _tell(done, submission, who, json_output=json_output)


def _place(dataset: str, registry: Path) -> tuple[Path, str]:
    """The checkout and the dataset's id; a folder names both."""
    from registry.gate.drafting import top_of

    folder = Path(dataset)
    if "/" in dataset and folder.resolve().parent.name == "datasets":
        return folder.resolve().parent.parent, folder.resolve().name
    return (top_of(registry) if registry == Path() else registry), dataset


def _tell(
    done: Proposed, submission: Submission, who: Acting, *, json_output: bool
) -> None:
    if json_output:
        facts = {"submitted": True, **asdict(done), "token": who.entry.source}
        _print(facts, submission)
        return
    typer.echo(f"pull request {done.number} from {done.head}: {done.state}")
    typer.echo(done.url)
    for step in _NEXT:
        typer.echo(f"next: {step}")


def _tell_how(how: ByHand, submission: Submission, *, json_output: bool) -> None:
    if json_output:
        facts = {
            "submitted": False,
            "commands": how.commands,
            "url": how.url,
            "fork": how.fork,
            "undone": how.undone,
        }
        _print(facts, submission)
        return
    lines = [
        "nothing was proposed; by hand it is:",
        *(f"  {command}" for command in how.commands),
        f"then open {how.url}",
        f"`origin` must be your fork; {how.fork} makes one",
        *how.undone,
    ]
    typer.echo("\n".join(lines))


def _print(facts: dict[str, object], submission: Submission) -> None:
    known = {
        "schema": "submission/1",
        "dataset": submission.manifest.dataset,
        "files": sorted(submission.files),
        "next": list(_NEXT),
    }
    typer.echo(json.dumps(known | facts, indent=2, sort_keys=True))


def _no_token(*, json_output: bool) -> None:
    """End with the finding that says why nothing was proposed.

    Raises:
        typer.Exit: always.
    """
    from registry.gate.github.proposals import no_token
    from registry.gate.report import print_findings

    if not json_output:
        print_findings([no_token()])
    raise typer.Exit(terminal.EXIT_FINDINGS)
