"""A main branch with what GitHub would tell of it, without a server.

Tests that need answers which GitHub gives rarely, or never, script them here; the way
over HTTP is tested against the simulated GitHub.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, cast

from registry.documents.findings import CODES, RegistryError, finding
from registry.documents.maintainers import (
    SCHEMA,
    Maintainers,
    maintainers_bytes,
)
from registry.gate.changes import changes
from registry.gate.git_tree import git_tree
from registry.gate.github.merges import verify_merges
from registry.gate.paths import MAINTAINERS
from tests.simulators.registry import ARRIVED, Simulator, run_git

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from registry.gate.github.connection import Connection
    from registry.gate.outcome import Report

__all__ = ["DAY", "Mainline", "Record", "maintainers_file"]

DAY = 86_400


def maintainers_file(*ids: int, approvals: int = 2) -> bytes:
    """A maintainers' file that names accounts."""
    named = [{"id": one, "login": f"maintainer-{one}"} for one in ids]
    value = {"schema": SCHEMA, "approvals": approvals, "maintainers": named}
    return maintainers_bytes(Maintainers.model_validate(value))


@dataclass
class Record:
    """What GitHub tells, in place of a connection.

    Attributes:
        name: the repository.
        logins: login by id.
        owners: id by login; where it disagrees with `logins`, somebody was renamed.
        keys: signing keys by login.
        pulls: pull requests by number.
        reviews: reviews by number.
        files: changed files by number.
        commits: numbers of pull requests by commit.
        failures: pattern of a path to the code of the failure to answer it with.
        asked: paths that were asked for, in order.
    """

    name: str = "power/registry"
    logins: dict[int, str] = field(default_factory=dict)
    owners: dict[str, int] = field(default_factory=dict)
    keys: dict[str, list[str]] = field(default_factory=dict)
    pulls: dict[int, dict[str, Any]] = field(default_factory=dict)
    reviews: dict[int, list[dict[str, Any]]] = field(default_factory=dict)
    files: dict[int, list[dict[str, Any]]] = field(default_factory=dict)
    commits: dict[str, list[int]] = field(default_factory=dict)
    failures: dict[str, str] = field(default_factory=dict)
    asked: list[str] = field(default_factory=list)

    @property
    def connection(self) -> Connection:
        """Itself, as the gate takes it."""
        return cast("Connection", self)

    def account(self, id: int, login: str, *keys: str) -> None:  # noqa: A002
        """Add an account, or give it another name or other keys."""
        self.logins[id], self.owners[login] = login, id
        self.keys[login] = list(keys)

    def review(self, number: int, user: int, state: str, day: int = 1) -> None:
        """Add a review of a pull request's last commit."""
        self.reviews.setdefault(number, []).append(
            {
                "user": {"id": user, "login": f"maintainer-{user}", "type": "User"},
                "state": state,
                "commit_id": self.pulls[number]["head"]["sha"],
                "submitted_at": f"2026-05-{day:02}T00:00:00Z",
            }
        )

    def read(self, path: str) -> Any:
        """One answer."""
        self._note(path)
        match path.strip("/").split("/"):
            case ["user", number] if int(number) in self.logins:
                return {"id": int(number), "login": self.logins[int(number)]}
            case ["users", login] if login in self.owners:
                return {"id": self.owners[login], "login": login}
            case ["repos", _, _, "pulls", number] if int(number) in self.pulls:
                return self.pulls[int(number)]
        raise _failure("N004", path)

    def read_all(self, path: str) -> list[Any]:
        """A list."""
        self._note(path)
        match path.strip("/").split("/"):
            case ["users", login, "ssh_signing_keys"] if login in self.keys:
                return [{"key": one} for one in self.keys[login]]
            case ["repos", _, _, "pulls", number, "reviews"]:
                return self.reviews.get(int(number), [])
            case ["repos", _, _, "pulls", number, "files"]:
                return self.files.get(int(number), [])
            case ["repos", _, _, "commits", sha, "pulls"]:
                return [self.pulls[one] for one in self.commits.get(sha, [])]
        raise _failure("N004", path)

    def _note(self, path: str) -> None:
        self.asked.append(path)
        for pattern, code in self.failures.items():
            if re.search(pattern, path):
                raise _failure(code, path)


class Mainline:
    """A repository whose main branch was founded, and what GitHub tells of it."""

    def __init__(
        self, repo: Path, founded: Simulator, maintainers: bytes | None = None
    ) -> None:
        """Found it: pushed by its founders, who then name accounts 1, 2 and 3."""
        self.repo, self.record = repo, Record()
        self.when = ARRIVED
        self.state = founded.copy()
        self.state.record(repo, when=self.when)
        named = maintainers_file(1, 2, 3) if maintainers is None else maintainers
        self.state.files[MAINTAINERS] = named
        self.founding = self.push(self.state)
        for number in (1, 2, 3):
            self.record.account(number, f"maintainer-{number}")
        for person in founded.people.values():
            self.record.account(person.id, person.login)

    def push(self, changed: Simulator) -> str:
        """Push a state to main without a pull request."""
        self.state = self._whole(changed)
        self.when += DAY
        self.state.record(self.repo, start="main", when=self.when)
        return self.tip()

    def tip(self) -> str:
        """The newest commit of main."""
        return run_git(self.repo, "rev-parse", "main").strip()

    def merge(
        self,
        changed: Simulator,
        author: int = 42,
        *,
        approved: Iterable[int] = (),
        steps: Iterable[Simulator] = (),
        method: str = "merge",
    ) -> int:
        """Merge a state by a pull request; gives its number.

        Args:
            changed: the state; main's maintainers unless it has its own.
            author: the account that proposes it.
            approved: the accounts that approve its last commit.
            steps: states of earlier commits of the pull request.
            method: merge, squash or rebase.
        """
        before, start = self.tip(), "main"
        self.when += DAY
        for state in (*steps, changed):
            self.state = self._whole(state)
            self.state.record(self.repo, "head", start, when=self.when - 60)
            start = "head"
        head = run_git(self.repo, "rev-parse", "head").strip()
        made = self._land(before, head, method)
        return self._tell(author, before, head, made, approved)

    def verify(self, since: str | None = None, head: str = "main") -> Report:
        """Judge the branch."""
        return verify_merges(self.repo, since, head, self.record.connection)

    def _whole(self, changed: Simulator) -> Simulator:
        own = {MAINTAINERS: self.state.files[MAINTAINERS]}
        return Simulator(own | changed.files, changed.people)

    def _land(self, before: str, head: str, method: str) -> list[str]:
        """Put a head on main; gives the commits that this makes."""
        if method == "rebase":
            listed = run_git(self.repo, "rev-list", "--reverse", f"{before}..{head}")
            made = listed.split()
        else:
            parents = [before, head] if method == "merge" else [before]
            words = [word for one in parents for word in ("-p", one)]
            command = ("commit-tree", f"{head}^{{tree}}", *words, "-m", "merge")
            made = [run_git(self.repo, *command, when=self.when).strip()]
        run_git(self.repo, "update-ref", "refs/heads/main", made[-1])
        return made

    def _tell(
        self,
        author: int,
        before: str,
        head: str,
        made: list[str],
        approved: Iterable[int],
    ) -> int:
        number = len(self.record.pulls) + 1
        self.record.pulls[number] = {
            "number": number,
            "user": {"id": author, "login": f"login-{author}"},
            "base": {"ref": "main", "repo": {"full_name": self.record.name}},
            "head": {"sha": head},
            "state": "closed",
            "merged_at": f"{datetime.fromtimestamp(self.when + 5, UTC):%FT%TZ}",
            "merge_commit_sha": made[-1],
        }
        for sha in made:
            self.record.commits[sha] = [number]
        for one in approved:
            self.record.review(number, one, "APPROVED")
        tree = git_tree(self.repo, head)
        blobs = {one.path: one.oid for one in tree.entries()}
        self.record.files[number] = [
            {
                "filename": one.path,
                "status": "removed" if one.status == "deleted" else one.status,
                "sha": blobs.get(one.path, "0" * 40),
            }
            for one in changes(self.repo, before, head)
        ]
        return number


def _failure(code: str, path: str) -> RegistryError:
    return RegistryError(finding(CODES[code], "github", path))
