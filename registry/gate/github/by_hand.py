"""What to type where there is no token: git commands, and the page that opens the rest.

Everything is quoted for a POSIX shell, since a file name or a title may hold anything.
"""

from __future__ import annotations

import os
import shlex
from typing import TYPE_CHECKING, Final
from urllib.parse import quote, urlencode

from registry.gate.github.connection import connect
from registry.gate.github.entering import named, server_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path

__all__ = ["LOGIN", "UNKNOWN", "commands", "compare_url", "heredocs", "place_of"]

LOGIN: Final = "YOUR-LOGIN"
"""Stands for the account's name where nobody knows it."""
UNKNOWN: Final = "OWNER/NAME"
"""Stands for the registry where nothing says which it is."""
_END: Final = "END-OF-FILE"


def place_of(root: Path, repository: str | None) -> tuple[str, str]:
    """The server and ``OWNER/NAME`` that are meant, or words that stand for the latter.

    Args:
        root: a checkout, whose remotes name the repository if nothing else does.
        repository: ``OWNER/NAME``; by default ``GITHUB_REPOSITORY``.

    Raises:
        RegistryError: N006, that is no name of a repository.
    """
    name = named(root, repository, os.environ)
    if name is None:
        return server_of(os.environ), UNKNOWN
    known = connect(name)
    return known.server, known.name


def commands(
    paths: Iterable[str], *, branch: str, base: str, title: str, remote: str = "origin"
) -> list[str]:
    """Git commands that commit files which lie in the checkout, and push them.

    Args:
        paths: files or folders to be added.
        branch: the new branch.
        base: what it begins at, for example ``upstream/main``.
        title: what the commit says.
        remote: the name of the fork in the checkout.
    """
    words = [
        ["git", "switch", "-c", branch, "--no-track", base],
        ["git", "add", "--", *paths],
        ["git", "commit", "-s", "-m", title],
        ["git", "push", "-u", remote, branch],
    ]
    return [shlex.join(one) for one in words]


def heredocs(files: Mapping[str, bytes]) -> list[str]:
    """Shell commands that write text files whose content was never written down."""
    return [
        f"cat > {shlex.quote(path)} <<'{_END}'\n{content.decode('utf-8')}{_END}"
        for path, content in files.items()
    ]


def compare_url(
    server: str, name: str, *, branch: str, title: str, body: str, login: str = LOGIN
) -> str:
    """The page of GitHub that opens a pull request from a branch of a fork.

    Args:
        server: for example ``https://github.com``.
        name: ``OWNER/NAME`` of the registry.
        branch: the branch.
        title: filled in there.
        body: filled in there.
        login: owner of the fork.
    """
    head = f"{quote(login)}:{quote(branch, safe='/')}"
    query = urlencode({"quick_pull": "1", "title": title, "body": body})
    return f"{server}/{quote(name)}/compare/main...{head}?{query}"
