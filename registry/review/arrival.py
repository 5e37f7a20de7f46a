"""How a change gets here: from a pull request on GitHub, or from a local revision.

A pull request is fetched as git objects into ``FETCH_HEAD`` and never checked out.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from registry.documents.findings import RegistryError, Severity, code, finding
from registry.gate.drafting import BASES, first_of
from registry.gate.git import commit_of, git
from registry.gate.github.pulls import BRANCH, pull_request
from registry.gate.github.verify_pull import queued_number
from registry.gate.tree import history
from registry.review.proposal import Author

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from registry.gate.github.connection import Connection

__all__ = ["author_of", "base_of", "fetch_pull", "run_number"]

NOT_FETCHED = code(
    "R080",
    Severity.ERROR,
    "A pull request cannot be fetched into this checkout.",
    "Check the number and the checkout's remote; or fetch it yourself, and name the"
    " revision with --base.",
    "W10",
)

_REMOTES: Final = ("upstream", "origin")
_RUN: Final = re.compile(r"refs/pull/([1-9][0-9]{0,9})/merge")


def base_of(root: Path) -> str:
    """Name the revision that changes are merged into.

    HEAD is none: it is what is reviewed.

    Raises:
        RegistryError: T003, none is there.
    """
    names = [name for name in BASES if name != "HEAD"]
    found = first_of(root, names)
    if found is None:
        message = f"none of {', '.join(names)} is in this checkout: give --base"
        raise history(message)
    return found


def run_number(environment: Mapping[str, str]) -> int | None:
    """Tell which pull request a workflow run is about, or None.

    Args:
        environment: ``GITHUB_REF`` is ``refs/pull/N/merge``, or a merge queue's ref.
    """
    if environment.get("GITHUB_ACTIONS") != "true":
        return None
    ref = environment.get("GITHUB_REF", "")
    match = _RUN.fullmatch(ref)
    return queued_number(ref) if match is None else int(match.group(1))


def fetch_pull(root: Path, number: int, connection: Connection) -> tuple[str, str]:
    """Fetch a pull request's objects, and main's as they are now.

    Args:
        root: the checkout; its remote for the repository is used, if it has one.
        number: of the pull request.
        connection: the repository on GitHub.

    Returns:
        Commits of main and of the head: GitHub's trial merge, or the newest commit of
        the pull request where there is none, since it conflicts or is closed.

    Raises:
        RegistryError: R080.
    """
    place = _place(root, connection)
    try:
        base = _fetch(root, place, f"refs/heads/{BRANCH}")
        try:
            return base, _fetch(root, place, f"refs/pull/{number}/merge")
        except RegistryError:
            return base, _fetch(root, place, f"refs/pull/{number}/head")
    except RegistryError as error:
        what = f"pull request {number} from {place}: {error.findings[0].what}"
        raise RegistryError(finding(NOT_FETCHED, "github", what)) from error


def author_of(connection: Connection, number: int) -> Author:
    """Ask GitHub who made a pull request.

    Raises:
        RegistryError: N010, N001 to N005.
    """
    found = pull_request(connection, number)
    return Author(found.author_id, found.author_login)


def _fetch(root: Path, place: str, ref: str) -> str:
    quiet = ("--quiet", "--no-tags", "--no-recurse-submodules", "--no-auto-maintenance")
    git(root, "fetch", *quiet, place, ref)
    return commit_of(root, "FETCH_HEAD")


def _place(root: Path, connection: Connection) -> str:
    """Choose the remote of that repository, or its address."""
    for remote in _REMOTES:
        address = _address(root, remote)
        if address is not None and re.search(
            rf"[/:]{re.escape(connection.name)}(?:\.git)?/?$", address
        ):
            return remote
    return f"{connection.server}/{connection.name}.git"


def _address(root: Path, remote: str) -> str | None:
    try:
        return git(root, "remote", "get-url", remote).decode("utf-8", "replace").strip()
    except RegistryError:
        return None
