"""Publish to GitHub: draft, upload, compare, publish; at every step safe to repeat.

What is there decides what is done next, so a publisher that was killed, or whose
answers were lost, goes on where it stopped. Nobody sees a release before all of its
files are there with the right digests.
"""

from __future__ import annotations

import contextlib
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

import github

from registry.documents.findings import RegistryError, Severity, code, finding
from registry.gate.github.connection import (
    ABSENT,
    LIMITED,
    PATIENT,
    REFUSED,
    UNREACHABLE,
    asking,
    connect,
)
from registry.gate.github.writing import settle
from registry.publish.channels.github_assets import differences, fill
from registry.publish.channels.github_releases import (
    index_of,
    latest,
    mark_of,
    marked,
    newest,
    published,
    releases,
    serial_of,
    tag_commit,
)
from registry.publish.channels.outcome import Published
from registry.publish.channels.parcels import parcels
from registry.publish.difference import change_notes
from registry.publish.integrity import check_folder, open_folder, tag_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from github.GitRelease import GitRelease

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

_PASSING: Final = frozenset({UNREACHABLE.id, LIMITED.id})
_TITLE: Final = "Power models of {day}, {tag}"


class _Vanished(Exception):  # noqa: N818 - it says what happened
    """The draft is gone: another publisher has deleted or published it."""


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
            except _Vanished:
                show("the draft vanished: beginning again")
    what = f"after {patience.attempts} attempts"
    raise RegistryError(finding(VANISHED, tag, what))


def _once(sending: _Sending) -> Published:
    """Look what is there and do the rest."""
    connection, tag = sending.connection, sending.tag
    sending.progress(f"looking for {tag}")
    with asking("the releases"):
        found = published(connection, tag)
    new = found is None
    if found is None:
        _check_tag(sending, there=False)
        draft = _draft(sending)
        with _watching(sending, draft):
            fill(connection, draft, sending.parcels, sending.progress)
            _compare(sending, draft)
            found = _make_public(sending, draft)
    _compare(sending, found)
    _check_tag(sending, there=True)
    sending.progress("tidying up")
    first = _settle_latest(sending)
    _remove_drafts(sending)
    return Published(
        place=found.html_url,
        tag=tag,
        new=new,
        latest=first.tag_name == tag,
        serial=sending.index.serial,
        files=len(sending.parcels),
    )


def _compare(sending: _Sending, release: GitRelease) -> None:
    problems = differences(sending.connection, release, sending.parcels)
    if problems:
        raise RegistryError(problems)


def _check_tag(sending: _Sending, *, there: bool) -> None:
    """Make sure that the tag is free, or names the release's commit."""
    with asking(f"the tag {sending.tag}"):
        commit = tag_commit(sending.connection, sending.tag)
    if commit != sending.commit and (there or commit is not None):
        what = f"it names {commit or 'nothing'}, not {sending.commit}"
        raise RegistryError(finding(TAG_TAKEN, sending.tag, what))


@contextlib.contextmanager
def _watching(sending: _Sending, draft: GitRelease) -> Iterator[None]:
    """Tell apart what is wrong with a draft from a draft that is no more."""
    try:
        yield
    except RegistryError as error:
        with asking("the releases"):
            there = releases(sending.connection)
        if any(one.draft and one.id == draft.id for one in there):
            raise
        if not any(found.code in {ABSENT.id, REFUSED.id} for found in error.findings):
            raise
        raise _Vanished from error


def _draft(sending: _Sending) -> GitRelease:
    """Find the draft of the tag, or make one; of several the first one is kept."""
    connection = sending.connection

    def drafts() -> list[GitRelease]:
        there = releases(connection)
        found = [one for one in there if one.draft and one.tag_name == sending.tag]
        return sorted(found, key=lambda one: one.id)

    def look() -> GitRelease | None:
        return next(iter(drafts()), None)

    def write() -> GitRelease:
        return connection.repository.create_git_release(
            sending.tag,
            sending.title,
            marked("This release is being prepared.", sending.index.serial),
            draft=True,
            target_commitish=sending.commit,
            make_latest="false",
        )

    sending.progress("making a draft")
    made = settle(look, write, what="making a draft", patience=connection.patience)
    with asking("the releases"):
        found = drafts() or [made]
    for extra in found[1:]:
        _remove(connection, extra)
    return found[0]


def _make_public(sending: _Sending, draft: GitRelease) -> GitRelease:
    connection, serial = sending.connection, sending.index.serial
    with asking("the releases"):
        there = [(serial_of(connection, one), one) for one in releases(connection)]
    before = newest(connection, (one for number, one in there if number < serial))
    last = newest(connection, (one for _, one in there))
    newer = last is not None and serial_of(connection, last) > serial
    earlier = None if before is None else _index_of(connection, before)
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


def _settle_latest(sending: _Sending) -> GitRelease:
    """Let GitHub's ``latest`` be the release with the highest serial.

    Two publishers may each have seen the other's release too late, and one that was
    killed may not have come to it.
    """
    connection = sending.connection
    first: GitRelease | None = None

    def look() -> GitRelease | None:
        nonlocal first
        first = newest(connection, releases(connection))
        now = latest(connection)
        return first if first and now and now.id == first.id else None

    def write() -> None:
        if first is not None:
            first.update_release(
                first.name or first.tag_name,
                first.body or "",
                draft=False,
                make_latest="true",
            )

    what = "marking the newest release as the latest"
    return settle(look, write, what=what, patience=connection.patience)


def _index_of(connection: Connection, release: GitRelease) -> Index | None:
    """Read the index of an earlier release, for the notes; None if it is damaged."""
    try:
        return index_of(connection, release)
    except RegistryError as error:
        if any(found.code in _PASSING for found in error.findings):
            raise
        return None


def _remove_drafts(sending: _Sending) -> None:
    """Delete drafts that nobody needs: of this tag, and ours of older commits.

    An older draft was left by a publisher that did not finish; a later commit has a
    release now. Drafts that people made have no mark of ours and stay.
    """
    with asking("the releases"):
        there = [one for one in releases(sending.connection) if one.draft]
    for one in there:
        mark = mark_of(one)
        older = mark is not None and mark < sending.index.serial
        if one.tag_name == sending.tag or older:
            _remove(sending.connection, one)


def _remove(connection: Connection, draft: GitRelease) -> None:
    def delete() -> bool:
        with contextlib.suppress(github.UnknownObjectException):
            draft.delete_release()
        return True

    settle(lambda: None, delete, what="deleting a draft", patience=connection.patience)
