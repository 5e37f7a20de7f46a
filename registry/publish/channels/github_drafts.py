"""Drafts of releases on GitHub: found or made, watched, and removed when spent."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING

import github

from registry.documents.findings import RegistryError
from registry.gate.github.connection import ABSENT, REFUSED, asking
from registry.gate.github.writing import settle
from registry.publish.channels.github_releases import mark_of, marked, releases

if TYPE_CHECKING:
    from collections.abc import Iterator

    from github.GitRelease import GitRelease

    from registry.gate.github.connection import Connection

__all__ = ["Vanished", "first_draft", "remove_drafts", "watching"]


class Vanished(Exception):  # noqa: N818 - it says what happened
    """The draft is gone: another publisher has deleted or published it."""


def first_draft(
    connection: Connection, tag: str, *, title: str, commit: str, serial: int
) -> GitRelease:
    """Find the draft of a tag, or make one; of several it is always the first.

    Args:
        connection: The repository.
        tag: The release's tag.
        title: Its title.
        commit: The commit that the tag will name.
        serial: Its serial.

    Raises:
        RegistryError: N001 to N005.

    """

    def drafts() -> list[GitRelease]:
        there = releases(connection)
        found = [one for one in there if one.draft and one.tag_name == tag]
        return sorted(found, key=lambda one: one.id)

    def look() -> GitRelease | None:
        return next(iter(drafts()), None)

    def write() -> GitRelease:
        return connection.repository.create_git_release(
            tag,
            title,
            marked("This release is being prepared.", serial),
            draft=True,
            target_commitish=commit,
            make_latest="false",
        )

    made = settle(look, write, what="making a draft", patience=connection.patience)
    with asking("the releases"):
        return next(iter(drafts()), made)  # the same for two who made one each


@contextlib.contextmanager
def watching(connection: Connection, draft: GitRelease) -> Iterator[None]:
    """Tell apart what is wrong with a draft from a draft that is no more.

    Raises:
        Vanished: Something failed, since the draft is gone.

    """
    try:
        yield
    except RegistryError as error:
        codes = {found.code for found in error.findings}
        if not codes & {ABSENT.id, REFUSED.id} or _is_draft(connection, draft):
            raise
        raise Vanished from error


def remove_drafts(connection: Connection, tag: str, serial: int) -> None:
    """Delete drafts that nobody needs: of this tag, and ours of older commits.

    An older draft was left by a publisher that did not finish; a later commit has a
    release now. Drafts that people made have no mark of ours and stay.

    Args:
        connection: The repository.
        tag: The tag of the release that was published.
        serial: Its serial.

    Raises:
        RegistryError: N001 to N005.

    """
    with asking("the releases"):
        there = [one for one in releases(connection) if one.draft]
    for one in there:
        mark = mark_of(one)
        if one.tag_name == tag or (mark is not None and mark < serial):
            _remove(connection, one)


def _remove(connection: Connection, draft: GitRelease) -> None:
    def look() -> bool | None:
        # Another publisher may have published it since it was listed.
        return None if _is_draft(connection, draft) else True

    def delete() -> bool:
        with contextlib.suppress(github.UnknownObjectException):
            draft.delete_release()
        return True

    settle(look, delete, what="deleting a draft", patience=connection.patience)


def _is_draft(connection: Connection, draft: GitRelease) -> bool:
    with contextlib.suppress(github.UnknownObjectException):
        return bool(connection.repository.get_release(draft.id).draft)
    return False
