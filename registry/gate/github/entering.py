"""From a command line to a connection: which repository is meant, and whose token."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Final
from urllib.parse import urlsplit

from registry.documents.findings import RegistryError
from registry.gate.git import git
from registry.gate.github import connection as connecting
from registry.gate.github.forks import home

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from registry.gate.github.connection import Connection

__all__ = ["Entry", "Token", "enter", "named", "server_of", "token_of"]

_REMOTES: Final = ("upstream", "origin")
_URL: Final = re.compile(
    r"(?:.*[@/])?([^/:]+(?::[0-9]+)?)[:/]([^/:]+/[^/]+?)(?:\.git)?/?"
)
_SECONDS: Final = 20


@dataclass(frozen=True, slots=True)
class Token:
    """A token, and where it was found; only the latter is ever shown.

    Attributes:
        value: the token.
        source: a variable's name, or the program that keeps it.
    """

    value: str = field(repr=False)
    source: str


@dataclass(frozen=True, slots=True)
class Entry:
    """A connection with a token to the registry that is meant.

    Attributes:
        connection: the registry on GitHub.
        source: where the token was found.
    """

    connection: Connection
    source: str


def token_of(environment: Mapping[str, str], server: str) -> Token | None:
    """The token of the environment, else the one that GitHub's own `gh` keeps.

    Args:
        environment: variables; ``PATH`` says whether there is a `gh`.
        server: for example ``https://github.com``.
    """
    for name in ("GH_TOKEN", "GITHUB_TOKEN"):
        if environment.get(name):
            return Token(environment[name], name)
    program = shutil.which("gh", path=environment.get("PATH", ""))
    if program is None:
        return None
    host = urlsplit(server).netloc
    try:
        done = subprocess.run(
            [program, "auth", "token", "--hostname", host],
            env=dict(environment),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=_SECONDS,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    value = done.stdout.decode("ascii", "replace").strip()
    return Token(value, "gh") if done.returncode == 0 and value else None


def enter(
    root: Path,
    repository: str | None,
    environment: Mapping[str, str] | None = None,
) -> Entry | None:
    """Connect to the registry that a command means; None if there is no token.

    Args:
        root: a checkout, whose remotes name the repository if nothing else does.
        repository: ``OWNER/NAME``; by default ``GITHUB_REPOSITORY``.
        environment: by default the process's.

    Raises:
        RegistryError: N006; N001 to N005 if a fork was to be asked where it is from.
    """
    known = dict(os.environ if environment is None else environment)
    token = token_of(known, server_of(known))
    if token is None:
        return None
    known["GH_TOKEN"] = token.value
    name = named(root, repository, known)
    connection = connecting.connect(
        name, environment=known, patience=connecting.PATIENT
    )
    said = repository or known.get("GITHUB_REPOSITORY")
    if not said:  # the checkout may be one of a fork
        connection = replace(
            connection, name=home(connection).source or connection.name
        )
    return Entry(connection, token.source)


def server_of(environment: Mapping[str, str]) -> str:
    """Where people reach GitHub."""
    return connecting.connect("o/n", environment=environment).server


def named(
    root: Path, repository: str | None, environment: Mapping[str, str]
) -> str | None:
    """The repository that was said, or that the checkout's remotes name."""
    said = repository or environment.get("GITHUB_REPOSITORY")
    if said:
        return said
    host = urlsplit(server_of(environment)).netloc
    for remote in _REMOTES:
        try:
            url = git(root, "config", "--get", f"remote.{remote}.url")
        except RegistryError:
            continue
        match = _URL.fullmatch(url.decode("utf-8", "replace").strip())
        if match is not None and match[1] == host:
            return match[2]
    return None
