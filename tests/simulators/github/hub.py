"""The fake as tests see it: a GitHub on loopback with one registry on it."""

from __future__ import annotations

import secrets
import threading
import time
from typing import TYPE_CHECKING, Any, Self

from registry.gate.github.connection import Connection, Patience, connect
from tests.simulators.github import (  # noqa: F401  they declare the operations
    accounts,
    assets,
    contents,
    environments,
    issues,
    labels,
    objects,
    pulls,
    releases,
    repositories,
    reviews,
    rulesets,
    settings,
)
from tests.simulators.github.api import Api
from tests.simulators.github.contract import Contract
from tests.simulators.github.faults import Faults
from tests.simulators.github.git import Bare
from tests.simulators.github.people import People
from tests.simulators.github.proposing import Proposing
from tests.simulators.github.state import (
    Account,
    Asset,
    Issue,
    Release,
    Repository,
    Request,
    Settings,
    Token,
)
from tests.simulators.github.trouble import Trouble
from tests.simulators.github.web import Blobs, Web, signature
from tests.simulators.github.wire import Server

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["FakeGitHub"]

QUICK = Patience(timeout=20, attempts=4, pause=0.0, rate_limit=0.0, between_writes=0.0)
"""For tests: nothing waits, and only what hangs ends by the timeout."""


class FakeGitHub(People, Proposing, Trouble):
    """A GitHub that remembers, on three ports of loopback.

    Attributes:
        api: address of the API.
        web: address for people and git.
        blobs: address of stored files, at another host name.
        requests: all requests so far.
        crashes: traces of faults in the fake itself.
        hourly: requests an hour without and with a token.
        teams: logins of members by ``ORGANISATION/TEAM``.
        limit_seconds: when the hour ends, from now.
        late_forks: how many times a new fork is still not there when asked for.
        now: Unix time that GitHub's clock shows; None for the true time.
    """

    def __init__(self, root: Path, name: str = "power/registry") -> None:
        """Make the owner and their empty, public repository.

        Args:
            root: a folder for the bare repositories.
            name: ``OWNER/NAME``.
        """
        self.root = root
        self.name = name
        self.lock = threading.RLock()
        self.accounts: dict[int, Account] = {}
        self.repositories: dict[int, Repository] = {}
        self.tokens: dict[str, Token] = {}
        self.moved: dict[str, int] = {}
        self.teams: dict[str, list[str]] = {}
        self.queued: dict[str, tuple[int, int]] = {}
        self.requests: list[Request] = []
        self.signatures: dict[str, Asset] = {}
        self.crashes: list[str] = []
        self.contract = Contract()
        self.faults = Faults()
        self.hourly = [60, 5000]
        self.anonymous = 0
        self.limit_seconds = 0
        self.late_forks = 0
        self.now: int | None = None
        self._ids = 1000
        owner, short = name.split("/")
        self.add_user(owner, 1)
        self.add_user("github-actions[bot]", 41898282)
        self.main = self.make_repository(self.accounts[1], short)
        self._servers: list[Server] = []
        self.api = self.web = self.blobs = ""

    def __enter__(self) -> Self:
        """Start the servers."""
        self._servers = [Server(self, kind) for kind in (Api, Web, Blobs)]
        ports = [server.server_port for server in self._servers]
        self.api, self.web = (f"http://127.0.0.1:{port}" for port in ports[:2])
        self.blobs = f"http://localhost:{ports[2]}"
        return self

    def __exit__(self, *error: object) -> None:
        """Stop them; a fault of the fake itself fails the test."""
        for server in self._servers:
            server.close()
        if self.crashes and error[0] is None:
            raise AssertionError("the fake GitHub failed:\n" + self.crashes[0])

    # What tests look at and change.

    @property
    def violations(self) -> list[str]:
        """What differs from GitHub's own document."""
        return self.contract.violations

    @property
    def bare(self) -> Path:
        """The bare repository of the registry."""
        return self.main.bare

    def bare_of(self, full_name: str) -> Path:
        """The bare repository of any other, ``OWNER/NAME``."""
        return self.named(full_name).bare

    @property
    def settings(self) -> Settings:
        return self.main.settings

    @property
    def releases(self) -> list[Release]:
        return self.main.releases

    @property
    def issues(self) -> list[Issue]:
        return self.main.issues

    def environment(self, login: str | None = None) -> dict[str, str]:
        """Variables that make our commands talk to this fake, as an account."""
        found = {
            "GITHUB_API_URL": self.api,
            "GITHUB_SERVER_URL": self.web,
            "GITHUB_REPOSITORY": self.full_name(self.main),
        }
        return found if login is None else {**found, "GH_TOKEN": self.token(login)}

    def connection(
        self, login: str | None = None, patience: Patience = QUICK
    ) -> Connection:
        """A connection as an account, or without a token."""
        return connect(environment=self.environment(login), patience=patience)

    def git_url(self, login: str | None = None, full_name: str | None = None) -> str:
        """The address to clone from, with the account's token in it."""
        name = full_name or self.full_name(self.main)
        who = "" if login is None else f"x-access-token:{self.token(login)}@"
        return f"{self.web.replace('://', f'://{who}')}/{name}.git"

    # What the operations share.

    def time(self) -> float:
        """GitHub's clock: Unix time."""
        return time.time() if self.now is None else self.now

    def stamp(self) -> str:
        """GitHub's clock as its replies write it."""
        from tests.simulators.github.history import stamp

        return stamp(self.time())

    def next_id(self) -> int:
        """A number that nothing else has."""
        with self.lock:
            self._ids += 1
            return self._ids

    def git(self, known: Repository) -> Bare:
        """The git repository behind a repository."""
        return Bare(known.bare)

    def full_name(self, known: Repository) -> str:
        return f"{self.accounts[known.owner].login}/{known.name}"

    def named(self, full_name: str) -> Repository:
        """A repository by ``OWNER/NAME``.

        Raises:
            KeyError: there is none.
        """
        found, _ = self.find_repository(*full_name.split("/"))
        if found is None:
            raise KeyError(full_name)
        return found

    def find_repository(self, owner: str, name: str) -> tuple[Repository | None, bool]:
        """A repository by name, and whether that is a former name of it."""
        wanted = f"{owner}/{name}".lower()
        for known in self.repositories.values():
            if self.full_name(known).lower() == wanted:
                return self._arrived(known), False
        number = self.moved.get(wanted)
        return (None, False) if number is None else (self.repositories[number], True)

    def _arrived(self, known: Repository) -> Repository:
        """Let a new fork appear after it was asked for often enough."""
        if not known.visible:
            if self.late_forks <= 0:
                known.visible = True
            self.late_forks -= 1
        return known

    def make_repository(
        self, owner: Account, name: str, parent: Repository | None = None
    ) -> Repository:
        """A repository, empty or a fork."""
        number, now = self.next_id(), self.stamp()
        bare = self.root / "repositories" / f"{number}.git"
        bare.parent.mkdir(parents=True, exist_ok=True)
        Bare.create(bare, None if parent is None else parent.bare)
        made = Repository(number, owner.id, name, bare, now, now)
        if parent is not None:
            made.parent, made.default_branch = parent.id, parent.default_branch
        self.repositories[number] = made
        return made

    def new_environment(self) -> dict[str, Any]:
        """An environment of jobs that nothing protects."""
        number, now = self.next_id(), self.stamp()
        return {"id": number, "created_at": now, "branch_policies": []}

    def latest_release(self, known: Repository) -> Release | None:
        """What ``releases/latest`` leads to."""
        shown = [r for r in known.releases if not (r.draft or r.prerelease)]
        for release in shown:
            if release.id == known.latest:
                return release
        return max(shown, key=lambda release: release.published, default=None)

    def signed(self, asset: Asset) -> str:
        """An address of a file that works without a token."""
        name = signature()
        self.signatures[name] = asset
        return f"{self.blobs}/{name}?sp=r&sig={secrets.token_hex(8)}"

    def pushed(self, known: Repository) -> None:
        """Bring pull requests up to date after a push to a repository."""
        known.pushed_at = self.stamp()
        for other in self.repositories.values():
            for pull in other.pulls:
                if known.id in {other.id, pull.head_repository}:
                    self.refresh(other, pull)

    def role(
        self, known: Repository, account: Account | None, token: Token | None
    ) -> str:
        """What an account may do; ``none`` if the repository is hidden from it."""
        least = "none" if known.private else "read"
        if account is None:
            return least
        if token is not None and token.repository is not None:
            if token.repository != known.id:
                return least
            granted = (token.permissions or {}).get("contents", "none")
            return "write" if granted == "write" else "read"
        if account.id == known.owner:
            return "admin"
        return known.collaborators.get(account.id, least)

    def may_push(
        self, known: Repository, account: Account | None, token: Token | None
    ) -> bool:
        """Whether drafts of releases are shown."""
        permissions = None if token is None else token.permissions
        if permissions is not None and permissions.get("contents") != "write":
            return False
        return self.role(known, account, token) in {"write", "maintain", "admin"}

    def may_label(
        self, known: Repository, account: Account | None, token: Token | None
    ) -> bool:
        """Whether an account may label and close what others opened."""
        if token is not None and token.permissions is not None:
            return token.permissions.get("issues") == "write"
        least = {"triage", "write", "maintain", "admin"}
        return self.role(known, account, token) in least
