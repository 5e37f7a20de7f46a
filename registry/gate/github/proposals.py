"""Pull requests that hold exactly the given files, and are safe to propose again.

The branch has a fixed name. A second run finds what the first one did: the same content
gives the same pull request and pushes nothing; other content is one more commit on it;
one that was merged or closed is followed by a new one. The user's checkout is never
touched: the commit is made apart from it.
"""

from __future__ import annotations

import os
import re
import subprocess
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from registry.documents.findings import RegistryError, Severity, code, finding
from registry.gate.drafting import NOBODY, Identity, apart
from registry.gate.git import commit_of
from registry.gate.github.candidate import TIP, Candidate
from registry.gate.github.forks import acting, fork_of, home, wait_for
from registry.gate.github.remote import Moved, remote
from registry.gate.github.writing import settle

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from github.PullRequest import PullRequest

    from registry.documents.findings import Finding
    from registry.gate.github.candidate import Files, SaysTheSame
    from registry.gate.github.connection import Connection
    from registry.gate.github.forks import Account, Home
    from registry.gate.github.remote import Remote
    from registry.gate.tree import Tree

    Check = Callable[[Path, str, str, Account], None]

__all__ = ["Proposed", "author_of", "no_token", "propose", "rehearse"]

NO_TOKEN = code(
    "L082",
    Severity.ERROR,
    "There is no token, so GitHub was asked nothing and nothing was proposed.",
    "Run the commands above, or log in with `gh auth login`, or set GH_TOKEN, and run "
    "this again.",
)
BUSY = code(
    "L086",
    Severity.ERROR,
    "Somebody else pushes to the same branch at the same time.",
    "See who it is; then run the same command again.",
    "W10",
)

_BRANCH: Final = re.compile(r"[a-z0-9][a-z0-9._/-]{0,200}")
_TRIES: Final = 3
"""How often it is begun anew because somebody else was quicker."""


@dataclass(frozen=True, slots=True)
class Proposed:
    """A pull request that holds what was to be proposed.

    Attributes:
        number: its number.
        url: its page.
        new: whether it was opened by this call.
        pushed: whether this call pushed a commit.
        head: ``owner:branch`` that it is made from.
        by: login of the account that proposes.
    """

    number: int
    url: str
    new: bool
    pushed: bool
    head: str
    by: str

    @property
    def state(self) -> str:
        """What this call did to it, in words."""
        if self.new:
            return "opened"
        return "updated" if self.pushed else "as it was"


def no_token() -> Finding:
    """What a command says that found no token and only told how to do it by hand."""
    what = "neither GH_TOKEN nor GITHUB_TOKEN is set, and gh gives none"
    return finding(NO_TOKEN, "github", what)


def propose(
    connection: Connection,
    repo: Path,
    files: Files | Callable[[Tree], Files],
    *,
    branch: str,
    title: str,
    body: str,
    message: str,
    base: str = "main",
    fork: bool | None,
    check: Check | None = None,
    as_good: SaysTheSame | None = None,
) -> Proposed:
    """Have a pull request that changes exactly these files.

    Args:
        connection: the registry on GitHub, with a token.
        repo: a checkout whose objects and identity are used, never changed; or any
            other folder.
        files: content by path, or None for a file that goes; or a function that gives
            them for the base as it is on GitHub now.
        branch: a name that belongs to this very change.
        title: of the pull request. An open one gets it with a new commit.
        body: of the pull request as Markdown, if it is new or gets another title.
        message: of the commit; the sign-off is added.
        base: the branch to be merged into.
        fork: whether to push to the account's own fork, which is made if there is none;
            None to do so only if the account may not push to the registry.
        check: called with a repository, the base, the change, both as commits, and the
            account, before anything is written to GitHub; raises to stop it.
        as_good: tells of our files and those that an earlier call pushed whether they
            say the same, for files that hold a time; by default only equal bytes do.

    Raises:
        RegistryError: T040 to T042, L082, L084 to L086, N001 to N006. Whatever was
            done by then is found and used by the next call.
    """
    if connection.token is None:
        raise RegistryError(finding(NO_TOKEN, "github", "GH_TOKEN is not set"))
    if _BRANCH.fullmatch(branch) is None or ".." in branch:
        message = f"{branch!r} is no name of a branch"
        raise ValueError(message)
    account = acting(connection)
    registry = home(connection)
    identity = author_of(repo, account)
    signed = f"{message.rstrip()}\n\nSigned-off-by: {identity.text}\n"
    with apart(repo, whole=True) as place:
        change = Candidate(place, signed, identity, as_good)
        change.begin(remote(connection, registry.name), base, files)
        if check is not None:
            check(place, change.main, change.draft, account)
        target = registry
        own = account.login.lower() == registry.owner.lower()
        if (not registry.writable if fork is None else fork) and not own:
            target = fork_of(connection, registry, account)
            wait_for(connection, place, target)
        pulls = _Pulls(connection, registry, target, branch, base)
        pushed = _bring(remote(connection, target.name), branch, change, pulls)
    return pulls.open(title, body, pushed=pushed, by=account.login)


def rehearse(
    connection: Connection,
    repo: Path,
    files: Files,
    check: Check,
    *,
    base: str = "main",
) -> None:
    """Have a change checked as `propose` would, and write nothing to GitHub.

    Args:
        connection: the registry on GitHub.
        repo: as for `propose`.
        files: as for `propose`.
        check: called as by `propose`.
        base: the branch to be merged into.

    Raises:
        RegistryError: T040 to T042, N001 to N006; what `check` raises.
    """
    account = acting(connection)
    registry = home(connection)
    with apart(repo, whole=True) as place:
        change = Candidate(place, "rehearsal", NOBODY, None)
        change.begin(remote(connection, registry.name), base, files)
        check(place, change.main, change.draft, account)


def author_of(repo: Path, account: Account) -> Identity:
    """Who the commit says it is by: git's own settings, else what GitHub knows.

    Args:
        repo: a folder in which git is asked.
        account: the account that proposes.
    """
    name, email = _setting(repo, "user.name"), _setting(repo, "user.email")
    if name and email:
        return Identity(name, email)
    return Identity(account.login, account.address)


@dataclass(frozen=True, slots=True)
class _Pulls:
    """The pull requests from one branch."""

    connection: Connection
    registry: Home
    target: Home
    branch: str
    base: str

    @property
    def head(self) -> str:
        return f"{self.target.owner}:{self.branch}"

    def listed(self, state: str) -> list[PullRequest]:
        """Those that are made from this very repository."""
        api = replace(self.connection, name=self.registry.name).repository
        found = api.get_pulls(state=state, head=self.head, base=self.base)
        # One whose fork is gone names no repository, and can no longer be mended.
        return [one for one in found if one.head.repo and self._ours(one)]

    def _ours(self, one: PullRequest) -> bool:
        return one.head.repo.id == self.target.id and one.head.ref == self.branch

    def current(self) -> PullRequest | None:
        """The one that is open."""
        return next(iter(self.listed("open")), None)

    def ended_at(self, tip: str) -> bool:
        """Whether one that is merged or closed had this commit at its end."""
        return any(one.head.sha == tip for one in self.listed("closed"))

    def open(self, title: str, body: str, *, pushed: bool, by: str) -> Proposed:
        """Find the open one, or open one."""
        api = replace(self.connection, name=self.registry.name).repository
        inside = self.target.id == self.registry.id
        asked = 0

        def write() -> PullRequest:
            nonlocal asked
            asked += 1
            head = self.branch if inside else self.head
            return api.create_pull(self.base, head, title=title, body=body)

        found = settle(
            self.current,
            write,
            what=f"pull request from {self.head}",
            patience=self.connection.patience,
        )
        if pushed and not asked and found.title != title:
            self._rename(found, title, body)
        page = f"{self.connection.server}/{self.registry.name}/pull/{found.number}"
        return Proposed(found.number, page, asked > 0, pushed, self.head, by)

    def _rename(self, one: PullRequest, title: str, body: str) -> None:
        """Let the words say what was pushed: reviewers read them first.

        What its owner wrote into the text stays as long as the title is still right.
        """

        def look() -> PullRequest | None:
            now = self.current()
            return now if now is not None and now.title == title else None

        settle(
            look,
            lambda: one.edit(title=title, body=body),
            what=f"title of pull request {one.number}",
            patience=self.connection.patience,
        )


def _bring(there: Remote, branch: str, change: Candidate, pulls: _Pulls) -> bool:
    """Have the branch hold the change; tells whether something was pushed."""
    for _ in range(_TRIES):
        tip = there.tip(change.place, branch)
        commit = change.draft
        if tip is not None:
            there.fetch(change.place, branch, TIP)
            if commit_of(change.place, TIP) != tip:
                continue  # it moved in between
            over = _over(pulls, tip)
            if not over and change.is_at(tip):
                return False
            # What a merged or closed one was made from has served: begin afresh.
            commit = change.draft if over else change.follow(tip)
        try:
            there.push(change.place, commit, branch, tip)
        except Moved:
            continue
        return True
    raise RegistryError(finding(BUSY, "github", f"{there.name} {branch}"))


def _over(pulls: _Pulls, tip: str) -> bool:
    """Whether what a branch holds was merged or closed, and is proposed no more."""
    return settle(
        lambda: pulls.current() is None and pulls.ended_at(tip),
        lambda: None,
        what=f"pull requests from {pulls.head}",
        patience=pulls.connection.patience,
    )


def _setting(repo: Path, key: str) -> str:
    """A setting of the user's git, or nothing."""
    try:
        done = subprocess.run(
            ["git", "-C", str(repo), "config", "--get", key],
            env=os.environ | {"LC_ALL": "C"},
            capture_output=True,
            check=False,
        )
    except OSError:
        return ""
    return done.stdout.decode("utf-8", "replace").strip()
