"""Who acts on GitHub, and that account's fork of the registry, made if need be."""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from itertools import islice
from typing import TYPE_CHECKING, Any, Final

import github

from registry.documents.findings import RegistryError, Severity, code, finding
from registry.gate.github.connection import asking
from registry.gate.github.remote import remote
from registry.gate.github.writing import settle

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from registry.gate.github.connection import Connection

__all__ = ["Account", "Home", "acting", "fork_of", "home", "wait_for"]

NOT_READY = code(
    "L085",
    Severity.ERROR,
    "The fork was made, but GitHub is still copying it.",
    "Run the same command again in a few minutes: it goes on with this fork.",
)

_TRIES: Final = 30
_LONGEST_PAUSE: Final = 12.0
"""Seconds; with `_TRIES`, a new fork is waited for about five minutes."""
_FORKS: Final = 2000
"""Forks that are looked through for a renamed one."""


@dataclass(frozen=True, slots=True)
class Account:
    """The account that a token acts for.

    Attributes:
        id: its number, which never changes.
        login: its name now.
    """

    id: int
    login: str

    @property
    def address(self) -> str:
        """The address by which GitHub knows its commits, and which tells nothing."""
        return f"{self.id}+{self.login}@users.noreply.github.com"


@dataclass(frozen=True, slots=True)
class Home:
    """A repository, as GitHub names it now.

    Attributes:
        id: its number.
        name: ``OWNER/NAME``.
        owner: the login before the slash.
        writable: whether the token may push to it.
        source: ``OWNER/NAME`` of what it was forked from, or None.
    """

    id: int
    name: str
    owner: str
    writable: bool = True
    source: str | None = None


def acting(connection: Connection) -> Account:
    """The account of the token.

    Raises:
        RegistryError: N001 to N005.
    """
    found = connection.read("/user")
    with asking("the account of the token"):
        return Account(int(found["id"]), str(found["login"]))


def home(connection: Connection) -> Home:
    """The connection's own repository; an old name leads to the present one.

    Raises:
        RegistryError: N001 to N005.
    """
    found = connection.read(f"/repos/{connection.name}")
    with asking(f"repository {connection.name}"):
        return _home(found)


def fork_of(connection: Connection, registry: Home, account: Account) -> Home:
    """The account's fork of the registry, whatever it is called; made if missing.

    Args:
        connection: the registry on GitHub.
        registry: the same, see `home`.
        account: who owns the fork.

    Raises:
        RegistryError: N001 to N005.
    """
    repository = replace(connection, name=registry.name).repository

    def look() -> Home | None:
        name = f"{account.login}/{registry.name.partition('/')[2]}"
        try:
            same = connection.api.get_repo(name)
        except github.UnknownObjectException:
            same = None
        if same is not None and _forked_from(same.raw_data, registry.id):
            return _home(same.raw_data)
        for other in islice(repository.get_forks(), _FORKS):
            if other.owner.id == account.id:
                return _home(other.raw_data)
        return None

    return settle(
        look,
        lambda: _home(repository.create_fork(default_branch_only=True).raw_data),
        what=f"fork of {registry.name} for {account.login}",
        patience=connection.patience,
    )


def wait_for(connection: Connection, repo: Path, fork: Home) -> None:
    """Wait until git answers for a fork, which GitHub copies after it said yes.

    Args:
        connection: the registry on GitHub.
        repo: any repository here.
        fork: the fork.

    Raises:
        RegistryError: L085.
    """
    there = remote(connection, fork.name)
    for attempt in range(_TRIES):
        if attempt:
            pause = connection.patience.pause * 2.0 ** (attempt - 1)
            time.sleep(min(pause, _LONGEST_PAUSE))
        if there.answers(repo):
            return
    raise RegistryError(finding(NOT_READY, "github", f"{fork.name} does not answer"))


def _home(data: Mapping[str, Any]) -> Home:
    permissions = data.get("permissions") or {}
    above = data.get("source") or data.get("parent") or {}
    return Home(
        int(data["id"]),
        str(data["full_name"]),
        str(data["owner"]["login"]),
        bool(permissions.get("push", False)),
        str(above["full_name"]) if above else None,
    )


def _forked_from(data: Mapping[str, Any], id_: int) -> bool:
    above = [data.get("parent") or {}, data.get("source") or {}]
    return bool(data.get("fork")) and id_ in [one.get("id") for one in above]
