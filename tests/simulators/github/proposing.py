"""Forks, pull requests, reviews, merges and the merge queue of the fake."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.simulators.github import merging
from tests.simulators.github.merging import CannotMerge, merged_commit
from tests.simulators.github.state import (
    Account,
    Issue,
    MergeGroup,
    Pull,
    Repository,
    Review,
)

if TYPE_CHECKING:
    from threading import RLock

__all__ = ["Proposing"]


class Proposing:
    """The part of the fake that changes repositories."""

    main: Repository
    repositories: dict[int, Repository]
    lock: RLock

    # What tests call; logins stand for accounts, numbers for pull requests.

    def fork(self, login: str) -> str:
        """Fork the registry; gives the fork's ``OWNER/NAME``."""
        with self.lock:
            made = self.make_fork(self.person(login), self.main, None)
            made.visible = True
            return self.full_name(made)

    def open_pull(
        self,
        login: str,
        branch: str,
        title: str = "A change",
        body: str = "",
        owner: str | None = None,
        base: str = "main",
    ) -> int:
        """Open a pull request to the registry; gives its number.

        Args:
            login: who opens it.
            branch: the branch that holds the change.
            title: of the pull request.
            body: of the pull request.
            owner: whose repository holds the branch; by default the account's own
                fork if it has one, else the registry.
            base: the branch to change.
        """
        with self.lock:
            person = self.person(login)
            source = self.head_repository(self.main, owner or person.login, None)
            if source is None and owner is None:
                source = self.main
            if source is None or self.git(source).branch(branch) is None:
                raise KeyError(f"{owner or login}:{branch}")
            return self.make_pull(
                self.main, person, source, branch, base=base, title=title, body=body
            ).number

    def pull(self, number: int) -> Pull:
        """A pull request of the registry, up to date with its branches."""
        with self.lock:
            for pull in self.main.pulls:
                if pull.number == number:
                    self.refresh(self.main, pull)
                    return pull
        raise KeyError(number)

    def review(
        self,
        number: int,
        login: str,
        state: str = "APPROVED",
        commit: str | None = None,
    ) -> int:
        """Review a pull request; gives the review's id."""
        with self.lock:
            pull = self.pull(number)
            return self.make_review(pull, self.person(login), state, commit, "").id

    def merge(
        self, number: int, by: str, method: str = "merge", when: int | None = None
    ) -> str:
        """Merge a pull request; gives the new commit of its base.

        Raises:
            CannotMerge: it conflicts, or is closed.
        """
        with self.lock:
            pull, person = self.pull(number), self.person(by)
            return self.merge_pull(self.main, pull, person, method, when=when)

    def queue(
        self,
        number: int,
        *,
        by: str | None = None,
        after: MergeGroup | None = None,
        method: str = "merge",
        when: int | None = None,
    ) -> MergeGroup:
        """Add a pull request to the merge queue.

        Args:
            number: the pull request.
            by: who adds it; by default the registry's owner.
            after: the entry before it; None if it is the first.
            method: how it is merged.
            when: Unix time of the merge commit.

        Raises:
            CannotMerge: it conflicts, or is closed.
        """
        with self.lock:
            pull = self.pull(number)
            bare = self.git(self.main)
            base = bare.branch(pull.base) if after is None else after.head_sha
            if not pull.open or base is None:
                raise CannotMerge("Pull Request is not mergeable")
            owner = self.accounts[self.main.owner]
            person = owner if by is None else self.person(by)
            time = int(self.time()) if when is None else when
            sha = merged_commit(self, self.main, pull, base, person, method, when=time)
            name = f"refs/heads/gh-readonly-queue/{pull.base}/pr-{number}-{base}"
            bare.set_ref(name, sha)
            self.queued[name] = (person.id, time)
            return MergeGroup(name, base, sha, number)

    def finish_queue(self, group: MergeGroup) -> str:
        """Let an entry of the queue, whose checks passed, become its base's commit.

        Raises:
            CannotMerge: the base is not the commit that the entry was built on.
        """
        with self.lock:
            pull, bare = self.pull(group.number), self.git(self.main)
            if bare.branch(pull.base) != group.base_sha:
                raise CannotMerge("The base has moved; the entry must be built again.")
            by, when = self.queued.pop(group.ref)
            bare.set_ref(group.ref, None)
            self._land(self.main, pull, group.head_sha, by, when)
            return group.head_sha

    def drop_queue(self, group: MergeGroup) -> None:
        """Take an entry, whose checks failed, out of the queue."""
        with self.lock:
            self.git(self.main).set_ref(group.ref, None)
            self.queued.pop(group.ref, None)

    # What the operations of the API share with them.

    def make_fork(
        self, owner: Account, parent: Repository, name: str | None
    ) -> Repository:
        """Fork a repository, or give the fork that the account has already."""
        for known in self.repositories.values():
            if known.owner == owner.id and known.parent == parent.id:
                return known
        made = self.make_repository(owner, name or parent.name, parent)
        made.visible = self.late_forks <= 0
        return made

    def head_repository(
        self, base: Repository, owner: str, name: str | None
    ) -> Repository | None:
        """The repository that ``OWNER:branch`` speaks of: the base, or a fork of it."""
        for known in self.repositories.values():
            login = self.accounts[known.owner].login
            if login.lower() != owner.lower() and owner:
                continue
            if known is base and (not owner or login.lower() == owner.lower()):
                return known
            if known.parent == base.id and owner and name in {None, known.name}:
                return known
        return None

    def make_pull(
        self,
        known: Repository,
        author: Account,
        source: Repository,
        branch: str,
        *,
        base: str,
        title: str,
        body: str | None,
    ) -> Pull:
        """Open a pull request."""
        issue = self.make_issue(known, author, title, body)
        pull = Pull(issue, base, "", source.id, source.owner, branch, "")
        self.refresh(known, pull)
        known.pulls.append(pull)
        return pull

    def make_issue(
        self, known: Repository, author: Account, title: str, body: str | None
    ) -> Issue:
        """A numbered issue; pull requests are numbered with them."""
        known.numbers += 1
        now = self.stamp()
        return Issue(self.next_id(), known.numbers, author.id, title, body, now, now)

    def make_review(
        self, pull: Pull, reviewer: Account, state: str, commit: str | None, body: str
    ) -> Review:
        """Add a review; an approval counts for the commit that it names."""
        made = Review(
            self.next_id(),
            reviewer.id,
            state,
            commit or pull.head_sha,
            self.stamp(),
            body or "",
        )
        pull.reviews.append(made)
        return made

    def merge_pull(
        self,
        known: Repository,
        pull: Pull,
        by: Account,
        method: str,
        *,
        when: int | None = None,
        title: str | None = None,
        body: str | None = None,
    ) -> str:
        """Merge a pull request.

        Raises:
            CannotMerge: it conflicts, or is closed.
        """
        base = self.git(known).branch(pull.base)
        if not pull.open or base is None:
            raise CannotMerge("Pull Request is not mergeable")
        time = int(self.time()) if when is None else when
        sha = merged_commit(
            self, known, pull, base, by, method, when=time, title=title, body=body
        )
        self._land(known, pull, sha, by.id, time)
        return sha

    def _land(
        self, known: Repository, pull: Pull, sha: str, by: int, when: int
    ) -> None:
        bare = self.git(known)
        pull.base_sha = bare.branch(pull.base) or pull.base_sha
        bare.set_ref(f"refs/heads/{pull.base}", sha)
        pull.landed = bare.git("rev-list", f"{pull.base_sha}..{sha}").split()
        if pull.test_merge is not None:
            bare.set_ref(f"refs/pull/{pull.number}/merge", None)
        self.set_state(pull.issue, "closed")
        pull.merged_sha, pull.merged_by = sha, by
        pull.merged_at = pull.issue.closed_at = merging.stamp(when)
        if known.settings.flags["delete_branch_on_merge"]:
            source = self.repositories.get(pull.head_repository or 0)
            if source is not None and pull.head != source.default_branch:
                self.git(source).set_ref(f"refs/heads/{pull.head}", None)
        self.pushed(known)

    def set_state(self, issue: Issue, state: str, reason: str | None = None) -> None:
        """Open or close an issue or a pull request."""
        if issue.state == state:
            return
        issue.state = state
        issue.closed_at = self.stamp() if state == "closed" else None
        known = {"closed": "completed", "open": "reopened"}[state]
        issue.state_reason = reason or known
        issue.updated_at = self.stamp()

    def refresh(self, known: Repository, pull: Pull) -> None:
        """Bring a pull request up to date with its branches."""
        merging.refresh(self, known, pull)
