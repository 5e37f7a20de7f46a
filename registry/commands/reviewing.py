"""`registry review`: everything about one change that a maintainer should see."""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from registry import printing
from registry.commands.options import Jobs, Json, Repository, Root
from registry.gate.progress import progress_line

if TYPE_CHECKING:
    from collections.abc import Callable

    from registry.review.page import Packet

__all__ = ["review"]


def review(
    change: Annotated[
        str | None,
        typer.Argument(
            help="A pull request's number, or a revision; else --head is looked at."
        ),
    ] = None,
    root: Root = Path(),
    base: Annotated[
        str | None,
        typer.Option(help="The revision to be merged into; by default main."),
    ] = None,
    head: Annotated[
        str | None, typer.Option(help="The proposed revision; by default HEAD.")
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(help="Write packet.md, packet.html and packet.json here."),
    ] = None,
    summary: Annotated[
        Path | None,
        typer.Option(help="Add the packet to this file, GitHub's step summary."),
    ] = None,
    repository: Repository = None,
    jobs: Jobs = 1,
    *,
    models: Annotated[
        bool,
        typer.Option(
            help="Fit the affected models with the change and without, which takes"
            " minutes where recordings are long."
        ),
    ] = True,
    json_output: Json = False,
) -> None:
    """Show what a change brings: people, data, models, findings."""
    from registry.review.as_json import as_json, glance_lines
    from registry.review.as_markdown import as_markdown

    if change is not None and not change.isdecimal() and head is not None:
        raise typer.BadParameter("name the revision once")
    with progress_line(hidden=json_output) as show:
        packet = _packet(root, change, (base, head), repository, (jobs, models), show)
    if out is not None:
        _write(packet, out)
    if summary is not None:
        _append(packet, summary)
    if json_output:
        typer.echo(as_json(packet), nl=False)
    elif out is not None or summary is not None:
        typer.echo("\n".join(glance_lines(packet)))
        if out is not None:
            typer.echo(f"the whole packet: {out / 'packet.html'}, .md and .json")
    else:
        typer.echo(as_markdown(packet), nl=False)


def _packet(
    root: Path,
    change: str | None,
    revisions: tuple[str | None, str | None],
    repository: str | None,
    fitting: tuple[int, bool],
    show: Callable[[str], None],
) -> Packet:
    """Find the change, let the gate judge it, and make its packet."""
    from registry.review.arrival import base_of, run_number
    from registry.review.packet import make_packet
    from registry.review.proposal import open_proposal

    now = int(time.time())
    base, head = revisions
    jobs, models = fitting
    if change is not None and change.isdecimal():
        number: int | None = int(change)
    else:
        number = run_number(os.environ) if change is None else None
        head = change or head or "HEAD"
    if number is None:
        proposal = open_proposal(root, base or base_of(root), head or "HEAD", now=now)
        return make_packet(proposal, jobs=jobs, models=models, progress=show)
    show(f"asking GitHub about pull request {number}")
    return _pull(root, number, (base, head), repository, fitting, show)


def _pull(
    root: Path,
    number: int,
    revisions: tuple[str | None, str | None],
    repository: str | None,
    fitting: tuple[int, bool],
    show: Callable[[str], None],
) -> Packet:
    from registry.documents.findings import RegistryError
    from registry.gate.github.connection import connect
    from registry.gate.github.entering import named
    from registry.gate.github.verify_pull import verify_pull
    from registry.review.arrival import author_of, base_of, fetch_pull
    from registry.review.packet import make_packet
    from registry.review.proposal import open_proposal

    now = int(time.time())
    base, head = revisions
    jobs, models = fitting
    connection = connect(named(root, repository, os.environ))
    if head is None:
        show(f"fetching the objects of pull request {number}")
        onto, head = fetch_pull(root, number, connection)
        base = base or onto
    base = base or base_of(root)
    try:
        author = author_of(connection, number)
    except RegistryError:
        author = None  # verify_pull finds the same, and the packet shows it
    proposal = open_proposal(root, base, head, author=author, now=now)
    show("verifying the change")
    report = verify_pull(
        root, proposal.base, proposal.head, number, connection, now=now
    )
    return make_packet(proposal, report, jobs=jobs, models=models, progress=show)


def _write(packet: Packet, out: Path) -> None:
    from registry.review.as_html import as_html
    from registry.review.as_json import as_json
    from registry.review.as_markdown import as_markdown

    out.mkdir(parents=True, exist_ok=True)
    printing.write(out / "packet.md", as_markdown(packet))
    printing.write(out / "packet.html", as_html(packet))
    printing.write(out / "packet.json", as_json(packet))


def _append(packet: Packet, summary: Path) -> None:
    """Add the packet to what other commands wrote, within GitHub's limit."""
    from registry.review.as_markdown import SUMMARY_BYTES, as_markdown

    used = summary.stat().st_size if summary.exists() else 0
    with summary.open("a", encoding="utf-8") as page:
        page.write(as_markdown(packet, max(SUMMARY_BYTES - used, 1_000)))
