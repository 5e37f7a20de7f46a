"""Whose account is behind a numeric id, and which keys it publishes for signing.

An account is its id. A login is asked for anew each time: it can be given up and taken
by somebody else, so after its keys were read it must still belong to the id
(threat-model.md S8, S9).
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from registry.documents.findings import (
    RegistryError,
    Severity,
    code,
    finding,
    shown,
)
from registry.gate.github.connection import ABSENT, asking
from registry.gate.github.pulls import GONE

if TYPE_CHECKING:
    from collections.abc import Iterable

    from registry.gate.github.connection import Connection

__all__ = ["Proposer", "login_of", "owners_keys", "published_keys"]

RENAMED = code(
    "N011",
    Severity.ERROR,
    "An account was renamed while its keys were read.",
    "Run this again.",
    "S8",
)

_OWN = re.compile(r"registry/trust/([1-9][0-9]{0,18})\.yaml")
_LOGIN = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9_-]{0,63})")
"""Logins as they may stand in an API path; those of bots, `name[bot]`, may not."""


@dataclass(frozen=True, slots=True)
class Proposer:
    """An account, and the keys that it publishes.

    Attributes:
        id: its numeric id.
        login: its name at present: shown, never trusted.
        signing_keys: public key lines that it publishes for signing, of any kind.
    """

    id: int
    login: str
    signing_keys: tuple[str, ...] = ()


def login_of(connection: Connection, account: int) -> str:
    """The name that an account has now.

    Raises:
        RegistryError: N010, there is no such account; N001 to N005.
    """
    try:
        found = connection.read(f"/user/{account}")
    except RegistryError as error:
        if error.findings[0].code == ABSENT.id:
            raise _gone(account) from error
        raise
    with asking(f"account {account}"):
        return str(found["login"])


def published_keys(connection: Connection, account: int) -> Proposer:
    """An account with all keys that it publishes for signing at this moment.

    Raises:
        RegistryError: N010, there is no such account; N011, its name passed to another
            account while the keys were read; N001 to N005.
    """
    login = login_of(connection, account)
    if _LOGIN.fullmatch(login) is None:  # a bot, which publishes no keys
        return Proposer(account, login)
    listed = connection.read_all(f"/users/{login}/ssh_signing_keys")
    with asking(f"signing keys of {login}"):
        keys = tuple(str(one["key"]) for one in listed)
    if _id_of(connection, login) != account:
        what = f"{shown(login)} does not belong to account {account} any more"
        raise RegistryError(finding(RENAMED, "github", what))
    return Proposer(account, login, keys)


def owners_keys(
    connection: Connection, trust: Iterable[str], author: int
) -> tuple[str, ...]:
    """The keys that the account publishes whose trust file a change touches.

    Args:
        connection: the repository.
        trust: paths of the trust files that are touched.
        author: the account that proposes the change; asked about if the files are not
            those of one account.

    Returns:
        Public key lines; none if there is no such account any more, so that the keys of
        one who left can still be revoked.

    Raises:
        RegistryError: as `published_keys`.
    """
    owners = {match[1] for path in trust if (match := _OWN.fullmatch(path))}
    account = int(owners.pop()) if len(owners) == 1 else author
    try:
        return published_keys(connection, account).signing_keys
    except RegistryError as error:
        if error.findings[0].code == GONE.id:
            return ()
        raise


def _id_of(connection: Connection, login: str) -> int | None:
    try:
        found: dict[str, Any] = connection.read(f"/users/{login}")
    except RegistryError as error:
        if error.findings[0].code == ABSENT.id:
            return None
        raise
    with asking(f"account {login}"):
        return int(found["id"])


def _gone(account: int) -> RegistryError:
    what = f"GitHub knows no account {account}"
    return RegistryError(finding(GONE, "github", what))
