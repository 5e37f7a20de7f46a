"""Publish to GitHub: draft, upload, compare, publish; at every step safe to repeat.

What is there decides what is done next, so a publisher that was killed, or whose
answers were lost, goes on where it stopped. Nobody sees a release before all of its
files are there with the right digests.
"""

from __future__ import annotations

import tempfile
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Final

from registry.documents.findings import RegistryError, Severity, code, finding
from registry.gate.github.connection import (
    LIMITED,
    PATIENT,
    UNREACHABLE,
    asking,
    connect,
)
from registry.gate.github.writing import settle
from registry.publish.channels.github_assets import differences, fill
from registry.publish.channels.github_drafts import (
    Vanished,
    first_draft,
    remove_drafts,
    watching,
)
from registry.publish.channels.github_latest import by_serial, settle_latest
from registry.publish.channels.github_releases import (
    marked,
    published,
    readable_index,
    tag_commit,
)
from registry.publish.channels.outcome import Published
from registry.publish.channels.parcels import parcels
from registry.publish.difference import change_notes
from registry.publish.integrity import check_folder, open_folder, tag_of

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from github.GitRelease import GitRelease

    from registry.documents.findings import Finding
    from registry.gate.github.connection import Connection, Patience
    from registry.publish.channels.parcels import Parcel
    from registry.publish.index import Index

__all__ = ["publish"]

NO_TOKEN = code(
    "R075",
    Severity.ERROR,
    "Nothing can be published on GitHub without a token.",
    "Give GH_TOKEN a token with the permission `contents: write` for the repository.",
    "W8",
)
TAG_TAKEN = code(
    "R078",
    Severity.ERROR,
    "The tag of a release names another commit than the release.",
    "Find out who made the tag and delete it; then publish again.",
    "P4",
    "W11",
)
VANISHED = code(
    "R079",
    Severity.ERROR,
    "A draft on GitHub vanished while it was filled, again and again.",
    "Somebody else deletes it, or publishes too: let them finish and run this again.",
    "W11",
)

_GOES_ON: Final = (
    "What was sent is kept: publishing goes on where it stopped, and nobody sees the"
    " release before it is whole."
)
_TITLE: Final = "Power models of {day}, {tag}"


@dataclass(frozen=True, slots=True)
class _Sending:
    """A release on its way."""

    connection: Connection
    index: Index
    tag: str
    commit: str
    parcels: Sequence[Parcel]
    progress: Callable[[str], None]

    @property
    def title(self) -> str:
        return _TITLE.format(day=(self.index.created or "")[:10], tag=self.tag)


def publish(
    release: Path,
    repository: str | None = None,
    *,
    environment: Mapping[str, str] | None = None,
    patience: Patience = PATIENT,
    progress: Callable[[str], None] | None = None,
) -> Published:
    """Publish a release folder as a release on GitHub.

    Args:
        release: A complete release folder, built from a commit.
        repository: ``OWNER/NAME``; by default GITHUB_REPOSITORY.
        environment: As in `connect`.
        patience: As in `connect`.
        progress: Called with lines for people.

    Raises:
        RegistryError: The release is damaged (R01x) or does not suit GitHub (R074); or
            R075, R076, R078, R079, or N001 to N006: run it again.

    """
    index, data = open_folder(release)
    problems = check_folder(release, index, data)
    if problems:
        raise RegistryError(problems)
    connection = connect(repository, environment=environment, patience=patience)
    show = progress or (lambda _: None)
    with tempfile.TemporaryDirectory(prefix="publish-") as work:
        files = parcels(release, index, data, Path(work))
        if connection.token is None:
            what = "neither GH_TOKEN nor GITHUB_TOKEN is set"
            raise RegistryError(finding(NO_TOKEN, "github", what))
        tag = tag_of(data)
        sending = _Sending(connection, index, tag, index.commit or "", files, show)
        for _ in range(patience.attempts):
            try:
                return _once(sending)
            except Vanished:
                show("the draft vanished: beginning again")
            except RegistryError as error:
                raise RegistryError(map(_resumable, error.findings)) from error
    what = f"after {patience.attempts} attempts"
    raise RegistryError(finding(VANISHED, tag, what))


def _resumable(found: Finding) -> Finding:
    """Say of what will pass that nothing is lost."""
    if found.code not in {LIMITED.id, UNREACHABLE.id}:
        return found
    when = (
        "after the time that the finding names" if found.code == LIMITED.id else "later"
    )
    return replace(found, fix=f"Run this again {when}. {_GOES_ON}")


def _once(sending: _Sending) -> Published:
    """Look what is there and do the rest."""
    connection, tag, serial = sending.connection, sending.tag, sending.index.serial
    sending.progress(f"looking for {tag}")
    with asking("the releases"):
        found = published(connection, tag)
    new = found is None
    if found is None:
        _check_tag(sending, there=False)
        sending.progress("making a draft")
        draft = first_draft(
            connection, tag, title=sending.title, commit=sending.commit, serial=serial
        )
        with watching(connection, draft):
            _fill(sending, draft)
            found = _make_public(sending, draft)
    if problems := differences(connection, found, sending.parcels):
        raise RegistryError(problems)
    _check_tag(sending, there=True)
    sending.progress("tidying up")
    first = settle_latest(connection)
    remove_drafts(connection, tag, serial)
    return Published(
        place=found.html_url,
        tag=tag,
        new=new,
        latest=first == tag,
        serial=serial,
        files=len(sending.parcels),
    )


def _fill(sending: _Sending, draft: GitRelease) -> None:
    """Send files until the draft has them all; another publisher may do the same."""
    problems: list[Finding] = []
    for _ in range(sending.connection.patience.attempts):
        fill(sending.connection, draft, sending.parcels, sending.progress)
        problems = differences(sending.connection, draft, sending.parcels)
        if not problems:
            return
    raise RegistryError(problems)


def _check_tag(sending: _Sending, *, there: bool) -> None:
    """Make sure that the tag is free, or names the release's commit."""
    with asking(f"the tag {sending.tag}"):
        commit = tag_commit(sending.connection, sending.tag)
    if commit != sending.commit and (there or commit is not None):
        what = f"it names {commit or 'nothing'}, not {sending.commit}"
        raise RegistryError(finding(TAG_TAKEN, sending.tag, what))


def _make_public(sending: _Sending, draft: GitRelease) -> GitRelease:
    connection, serial = sending.connection, sending.index.serial
    with asking("the releases"):
        others = by_serial(connection)
        before = next((one for number, one in others if number < serial), None)
        earlier = None if before is None else readable_index(connection, before)
    newer = any(number > serial for number, _ in others)
    body = change_notes(earlier, sending.index, repository=connection.name)

    def write() -> GitRelease | None:
        made = draft.update_release(
            sending.title,
            marked(body, serial),
            draft=False,
            tag_name=sending.tag,
            target_commitish=sending.commit,
            make_latest="false" if newer else "true",
        )
        return None if made.draft else made

    sending.progress("publishing")
    return settle(
        lambda: published(connection, sending.tag),
        write,
        what="publishing",
        patience=connection.patience,
    )
