"""A registry on the simulated GitHub: people propose, maintainers review and merge.

hosted = Hosted.found(hub, small())
number = hosted.propose(changed, 42)
report = hosted.check(number)
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from registry.gate.github.connection import Connection, Patience, connect
from registry.gate.github.merges import verify_merges
from registry.gate.github.verify_pull import verify_pull
from registry.gate.paths import MAINTAINERS
from registry.gate.signing import public_line
from tests.simulators.github.git import Bare
from tests.simulators.mainlines import DAY, maintainers_file
from tests.simulators.registry import ARRIVED, Simulator

if TYPE_CHECKING:
    from collections.abc import Iterable

    from registry.gate.outcome import Report
    from tests.simulators.github import FakeGitHub, MergeGroup

__all__ = ["READER", "Hosted"]

READER = {"contents": "read", "pull-requests": "read"}
"""What the token of a verifying job may do, as the workflows say."""


@dataclass
class Hosted:
    """A founded registry on the fake.

    Attributes:
        hub: the fake; maintainers are the accounts 2, 3 and 4.
        state: what main holds.
        permissions: what the token of a verifying job may do.
        patience: how long it waits; None for the fake's usual.
    """

    hub: FakeGitHub
    state: Simulator
    permissions: dict[str, str] = field(default_factory=lambda: dict(READER))
    patience: Patience | None = None

    @classmethod
    def found(cls, hub: FakeGitHub, founded: Simulator) -> Hosted:
        """Push a registry and name its maintainers; each person has an account."""
        for number in (2, 3, 4):
            hub.add_user(f"maintainer-{number}", number)
        for person in founded.people.values():
            hub.add_user(person.login, person.id, [public_line(person.key)])
        founded.record(hub.bare, when=ARRIVED)
        hosted = cls(hub, founded.copy())
        hub.now = ARRIVED
        hosted.state.files[MAINTAINERS] = maintainers_file(2, 3, 4)
        hosted.push(hosted.state)
        return hosted

    def now(self) -> int:
        """GitHub's clock."""
        return int(self.hub.time())

    def wait(self, seconds: int = DAY) -> None:
        """Let time pass."""
        self.hub.now = self.now() + seconds

    def push(self, changed: Simulator) -> str:
        """Push a state to main, past every pull request."""
        self.wait()
        self.state = self.whole(changed)
        self.state.record(self.hub.bare, start="main", when=self.now())
        self.hub.pushed(self.hub.main)
        return self.tip()

    def tip(self) -> str:
        """The newest commit of main."""
        return Bare(self.hub.bare).git("rev-parse", "main")

    def whole(self, changed: Simulator) -> Simulator:
        """A state with main's maintainers, unless it has its own."""
        own = {MAINTAINERS: self.state.files[MAINTAINERS]}
        return Simulator(own | changed.files, changed.people)

    def commit(self, changed: Simulator, login: str, branch: str = "change") -> str:
        """Commit a state to a branch of an account's fork; gives the commit."""
        fork = Bare(self.hub.bare_of(self.hub.fork(login)))
        fork.take(Bare(self.hub.bare), self.tip())
        whole = self.whole(changed)
        whole.record(fork.path, branch, self.tip(), when=self.now())
        self.hub.pushed(self.hub.named(self.hub.fork(login)))
        return fork.git("rev-parse", branch)

    def propose(
        self, changed: Simulator, author: int, branch: str = "change", **more: Any
    ) -> int:
        """Open a pull request with a state; gives its number."""
        login = self.hub.accounts[author].login
        self.commit(changed, login, branch)
        return self.hub.open_pull(login, branch, **more)

    def approve(self, number: int, *reviewers: int, state: str = "APPROVED") -> None:
        """Review a pull request's present commit."""
        for one in reviewers:
            self.hub.review(number, self.hub.accounts[one].login, state)

    def check(self, number: int, **options: Any) -> Report:
        """Verify an open pull request as its workflow does."""
        usual = {"now": self.now(), "expectations": False}
        head = options.pop("head", f"refs/pull/{number}/merge")
        return verify_pull(
            self.hub.bare, "main", head, number, self.connection(), **usual | options
        )

    def check_queued(self, group: MergeGroup) -> Report:
        """Verify an entry of the merge queue as its workflow does."""
        return verify_pull(
            self.hub.bare,
            f"{group.head_sha}^1",
            group.head_sha,
            group.number,
            self.connection(),
            now=self.now(),
            queued=True,
            expectations=False,
        )

    def merge(
        self, number: int, approved: Iterable[int] = (), method: str = "merge"
    ) -> str:
        """Approve and merge a pull request; gives main's new commit."""
        self.approve(number, *approved)
        self.wait()
        by = self.hub.accounts[2].login
        return self.hub.merge(number, by, method, when=self.now())

    def merged(self, since: str | None = None) -> Report:
        """Judge main as the publishing workflow does."""
        return verify_merges(self.hub.bare, since, "main", self.connection())

    def connection(self) -> Connection:
        """A connection with the token of a job that may only read."""
        token = {"GH_TOKEN": self.hub.job_token(self.permissions)}
        patience = self.patience or self.hub.connection().patience
        return connect(environment=self.hub.environment() | token, patience=patience)
