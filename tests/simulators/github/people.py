"""Accounts, keys and tokens of the fake."""

from __future__ import annotations

import secrets
from typing import TYPE_CHECKING

from tests.simulators.github.state import Account, Repository, SigningKey, Token

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from threading import RLock

__all__ = ["People"]


class People:
    """The part of the fake that knows who is who."""

    accounts: dict[int, Account]
    tokens: dict[str, Token]
    moved: dict[str, int]
    repositories: dict[int, Repository]
    main: Repository
    lock: RLock

    def add_user(self, login: str, id: int, keys: Iterable[str] = ()) -> Account:  # noqa: A002
        """Make an account.

        Args:
            login: its name.
            id: its number, which never changes.
            keys: SSH signing keys that it publishes, one line each.
        """
        if id in self.accounts or self.account(login) is not None:
            raise ValueError(f"{login} ({id}) exists")
        kind = "Bot" if login.endswith("[bot]") else "User"
        self.accounts[id] = Account(id, login, self.stamp(), kind)
        for line in keys:
            self.publish_key(login, line)
        return self.accounts[id]

    def account(self, login: str) -> Account | None:
        """An account by its name of today; case does not matter."""
        for account in self.accounts.values():
            if account.login.lower() == login.lower():
                return account
        return None

    def person(self, login: str) -> Account:
        """An account by its name of today.

        Raises:
            KeyError: there is none.
        """
        found = self.account(login)
        if found is None:
            raise KeyError(login)
        return found

    def publish_key(self, login: str, line: str) -> None:
        """Publish an SSH signing key: a line ``ssh-ed25519 AAAA… comment``."""
        # GitHub keeps the kind and the key, and shows the comment as a title only.
        key = " ".join(line.split()[:2])
        with self.lock:
            made = SigningKey(self.next_id(), key, "laptop", self.stamp())
            self.person(login).signing_keys.append(made)

    def drop_key(self, login: str, line: str) -> None:
        """Stop publishing a signing key."""
        key = " ".join(line.split()[:2])
        with self.lock:
            person = self.person(login)
            person.signing_keys = [k for k in person.signing_keys if k.key != key]

    def rename(self, old: str, new: str) -> None:
        """Rename an account; its repositories are reached by both names."""
        with self.lock:
            if self.account(new) is not None:
                raise ValueError(f"{new} exists")
            person = self.person(old)
            for known in self.repositories.values():
                if known.owner == person.id:
                    self.moved[f"{person.login}/{known.name}".lower()] = known.id
            person.login = new

    def add_maintainer(self, login: str, role: str = "write") -> None:
        """Let an account push to the registry, or more."""
        self.main.collaborators[self.person(login).id] = role

    def token(self, login: str) -> str:
        """A person's token; the same for every call."""
        person = self.person(login)
        with self.lock:
            for token in self.tokens.values():
                if token.account == person.id and token.permissions is None:
                    return token.value
            value = f"ghp_{secrets.token_hex(18)}"
            self.tokens[value] = Token(value, person.id)
            return value

    def job_token(self, permissions: Mapping[str, str]) -> str:
        """The token of a workflow's job in the registry.

        Args:
            permissions: as a workflow writes them, with ``-`` or ``_``:
                ``{"contents": "read", "pull-requests": "read"}``.
        """
        granted = {name.replace("-", "_"): level for name, level in permissions.items()}
        value = f"ghs_{secrets.token_hex(18)}"
        with self.lock:
            self.tokens[value] = Token(value, 41898282, granted, self.main.id)
        return value

    def fine_token(self, login: str, permissions: Mapping[str, str]) -> str:
        """A person's token that may do part of what the person may.

        Args:
            login: the person.
            permissions: such as ``{"contents": "write", "administration": "read"}``.
        """
        value = f"github_pat_{secrets.token_hex(20)}"
        granted = {name.replace("-", "_"): level for name, level in permissions.items()}
        with self.lock:
            self.tokens[value] = Token(value, self.person(login).id, granted)
        return value

    def revoke_token(self, value: str) -> None:
        """Make a token unknown: requests with it are answered 401."""
        with self.lock:
            self.tokens.pop(value, None)
