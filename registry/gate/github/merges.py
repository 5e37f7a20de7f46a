"""What came to the main branch since a release, judged again with what GitHub knows.

The check of a pull request helps its author; a setting or a stolen account may go round
it. So before a release everything is asked once more: each commit that brought data or
trust must be the merge of a pull request, made by the account that owns the data, and
approved by maintainers where it concerns trust (threat-model.md S5, S11, W10).

Only the findings of a run that asked GitHub without a failure can be empty.
"""

from __future__ import annotations

import contextlib
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeVar

from registry.documents.findings import (
    Finding,
    RegistryError,
    Severity,
    code,
    finding,
)
from registry.documents.manifest import read_manifest
from registry.gate.changes import changes
from registry.gate.git import commit_of
from registry.gate.git_tree import git_tree
from registry.gate.github.accounts import owners_keys
from registry.gate.github.approvals import NOBODY, check_approvals
from registry.gate.github.connection import FORBIDDEN, LIMITED, UNREACHABLE
from registry.gate.github.pulls import PullRequest, merged_pulls_of
from registry.gate.github.settled import Settled
from registry.gate.mainline import founding, mainline, steps_since
from registry.gate.maintainers import maintainers_of
from registry.gate.outcome import Outcome, Report
from registry.gate.paths import MAINTAINERS, MANIFEST, contribution
from registry.gate.tree import DATASETS, TRUST
from registry.gate.verify_change import verify_change

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from registry.documents.maintainers import Maintainers
    from registry.gate.github.connection import Connection
    from registry.gate.mainline import Step

__all__ = ["verify_merges"]

NO_PULL = code(
    "N013",
    Severity.ERROR,
    "Data or trust came to the main branch without a pull request.",
    "Withdraw the dataset (`registry withdraw`), or let an administrator take the "
    "commit back in full (`git revert`); propose it again by a pull request.",
    "S5",
    "S11",
    "S13",
)
SCATTERED = code(
    "N015",
    Severity.ERROR,
    "The commits of one pull request do not stand together on the main branch.",
    "Allow only merge commits in the repository's settings; take the commits back in "
    "full and merge the pull request again.",
    "W10",
)
TIME = code(
    "S024",
    Severity.ERROR,
    "A merge commit's time is not the time at which GitHub merged it.",
    "Take it back in full and merge the pull request again, on GitHub itself.",
    "S10",
    "S13",
)
SETTLED = code(
    "S025",
    Severity.INFO,
    "What should not have come to the main branch has no effect any more.",
    "Nothing must be done.",
    "S11",
)

_DOWN = frozenset((UNREACHABLE.id, FORBIDDEN.id, LIMITED.id))
"""After one of these nothing more is asked: each question would wait as long again."""
_COPIES = 10
"""How many pull requests of the same commits are looked at, the owners' first."""
_LATE = 86_400
"""A merge queue makes a commit before it merges it: at most this many seconds."""

_Answer = TypeVar("_Answer")


def verify_merges(
    repo: Path,
    since: str | None,
    head: str,
    connection: Connection,
    *,
    progress: Callable[[str], None] | None = None,
) -> Report:
    """Verify all that came to the main branch since one of its commits.

    What was pushed before the registry named maintainers is its founders' word. A push
    that was taken back in full since is told of, but not held against the branch.

    Args:
        repo: a repository with the whole history.
        since: the last commit that was found right, usually that of the newest
            release; None for the commit that first names maintainers.
        head: the commit to be released.
        connection: the repository on GitHub.
        progress: called with a word on each commit before it is judged.

    Returns:
        N and S findings of this module, and those of `verify_change` for each merge.
    """
    outcome = Outcome()
    try:
        steps = mainline(repo, head)
        first = founding(repo, steps)
        if first is None:
            what = "no commit of the branch names a maintainer"
            outcome.findings.append(finding(NOBODY, MAINTAINERS, what))
            return outcome.report()
        later = steps_since(steps, first)
        if since is not None:
            asked = steps_since(steps, commit_of(repo, since))
            later = min(later, asked, key=len)
        judge = _Judge.of(repo, later, steps[-1].sha, connection)
        for number, step in enumerate(later):
            if progress is not None:
                progress(f"judging {step.sha[:12]}, {number + 1} of {len(later)}")
            judge.step(number)
        judge.settle()
    except RegistryError as error:
        outcome.findings += error.findings
        return outcome.report()
    outcome.findings += judge.found
    outcome.bundles = judge.bundles
    return outcome.report()


@dataclass(slots=True)
class _Merge:
    """One pull request's part of the branch.

    Attributes:
        base: the commit before it.
        last: its last commit on the branch.
        paths: the contributions that it touches.
        pulls: the pull requests that have exactly its commits; usually one.
        earlier: its commits on the branch before the last one.
    """

    base: str
    last: Step
    paths: tuple[str, ...]
    pulls: tuple[PullRequest, ...] = ()
    earlier: tuple[Step, ...] = ()


@dataclass(slots=True)
class _Judge:
    """Judges a branch step by step; the maintainers are those of the step before."""

    repo: Path
    connection: Connection
    steps: Sequence[Step]
    settled: Settled
    maintainers: Maintainers | None
    found: list[Finding] = field(default_factory=list)
    bundles: int = 0
    down: bool = False
    _next: int = 0
    _judged: list[tuple[_Merge, list[Finding]]] = field(default_factory=list)
    _pulls: dict[str, tuple[PullRequest, ...] | None] = field(default_factory=dict)

    @classmethod
    def of(
        cls, repo: Path, steps: Sequence[Step], head: str, connection: Connection
    ) -> _Judge:
        """Prepare to judge the steps that lead to a commit."""
        start = steps[0].parent if steps else head
        tree = git_tree(repo, start or head)
        settled = Settled(tree, git_tree(repo, head))
        return cls(repo, connection, steps, settled, maintainers_of(tree))

    def step(self, number: int) -> None:
        """Judge a step, unless it belongs to what is judged already."""
        if number < self._next:
            return
        step = self.steps[number]
        paths = self._paths(step.parent, step.sha)
        if not paths:
            return
        merge, found = self._merge_at(number, paths)
        if merge.pulls:
            found += self._best(merge)
        else:
            found += self._verified(merge, None, None)
        if not _errors(found) and MAINTAINERS in merge.paths:
            self.maintainers = maintainers_of(git_tree(self.repo, merge.last.sha))
        self._judged.append((merge, found))

    def settle(self) -> None:
        """Tell what was found, when all that came later is known."""
        wrong = any(_errors(found) for _, found in self._judged)
        for merge, found in self._judged if wrong else ():
            if not _errors(found):
                base = git_tree(self.repo, merge.base)
                last = git_tree(self.repo, merge.last.sha)
                self.settled.accept(base, last, merge.paths)
        for merge, found in self._judged:
            over = (self.settled.has(path, merge.last.time) for path in merge.paths)
            if _errors(found) and all(over):
                what = f"{merge.last.sha[:12]}: {len(found)} findings of it are settled"
                self.found.append(finding(SETTLED, merge.paths[0], what))
            else:
                self.found += found

    def _paths(self, base: str | None, sha: str) -> tuple[str, ...]:
        if base is None:  # cannot be: the founding commit comes before every step
            return ()
        touched = (one.path for one in changes(self.repo, base, sha))
        return tuple(path for path in touched if contribution(path))

    def _ask(
        self, question: Callable[[], _Answer], found: list[Finding]
    ) -> _Answer | None:
        """An answer of GitHub, or None and why."""
        if self.down:
            return None
        try:
            return question()
        except RegistryError as error:
            said = error.findings
            self.down = any(one.code in _DOWN for one in said)
            # What was not asked is nothing that a later commit could settle.
            (self.found if self.down else found).extend(said)
            return None

    def _pulls_of(
        self, step: Step, found: list[Finding]
    ) -> tuple[PullRequest, ...] | None:
        if step.sha not in self._pulls:
            question = lambda: merged_pulls_of(self.connection, step.sha)  # noqa: E731
            self._pulls[step.sha] = self._ask(question, found)
        return self._pulls[step.sha]

    def _merge_at(
        self, number: int, paths: tuple[str, ...]
    ) -> tuple[_Merge, list[Finding]]:
        """The merge that begins with a step, and what is wrong with its shape."""
        step, found = self.steps[number], list[Finding]()
        alone = _Merge(step.parent or step.sha, step, paths)
        pulls = self._pulls_of(step, found)
        if pulls is None:
            return alone, found
        exact = tuple(one for one in pulls if one.merged_sha == step.sha)
        if exact and step.merges:
            alone.pulls = exact
            return alone, found
        if exact:  # squashed, or the last of several
            return self._rebased(number, number, exact, paths, found)
        ends = {one.sha: at for at, one in enumerate(self.steps) if at > number}
        rebased = [one for one in pulls if one.merged_sha in ends]
        if not rebased:
            what = f"no pull request was merged by {step.sha[:12]}"
            return alone, [*found, finding(NO_PULL, paths[0], what)]
        end = ends[rebased[0].merged_sha or ""]
        whole = tuple(one for one in rebased if ends[one.merged_sha or ""] == end)
        return self._rebased(number, end, whole, paths, found)

    def _rebased(
        self,
        number: int,
        end: int,
        pulls: tuple[PullRequest, ...],
        touched: tuple[str, ...],
        found: list[Finding],
    ) -> tuple[_Merge, list[Finding]]:
        """The steps that a rebase made of one pull request, judged as a whole."""
        pull = pulls[0]
        while number > self._next and self._belongs(number - 1, pull, found):
            number -= 1
        first, last = self.steps[number], self.steps[end]
        base = first.parent or first.sha
        earlier = tuple(self.steps[number:end])
        paths = self._paths(base, last.sha) or touched  # if it took all back itself
        whole = _Merge(base, last, paths, pulls, earlier)
        apart = [
            step.sha[:12]
            for at, step in enumerate(self.steps[number:end], number)
            if not self._belongs(at, pull, found)
        ]
        if apart:
            what = f"pull request {pull.number} goes around {', '.join(apart[:3])}"
            found.append(finding(SCATTERED, whole.paths[0], what))
        self._next = end + 1
        return whole, found

    def _belongs(self, at: int, pull: PullRequest, found: list[Finding]) -> bool:
        step = self.steps[at]
        pulls = self._pulls_of(step, found) or ()
        own = any(one.merged_sha == step.sha for one in pulls)
        return not own and pull in pulls

    def _best(self, merge: _Merge) -> list[Finding]:
        """The findings by the pull request that has fewest errors.

        One of them must be right in everything: whoever copies the commits of another's
        pull request into one of their own can neither help nor harm it.
        """
        owners = self._owners(merge)
        pulls = sorted(merge.pulls, key=lambda one: one.author_id not in owners)
        best: list[Finding] | None = None
        for pull in pulls[:_COPIES]:
            found = self._by(merge, pull)
            if best is None or _errors(found) < _errors(best):
                best = found
            if not _errors(best):
                break
        return best or []

    def _owners(self, merge: _Merge) -> set[int]:
        """Whose data or keys a merge touches, as far as that can be read."""
        tree = git_tree(self.repo, merge.last.sha)
        owners: set[int] = set()
        for path in merge.paths:
            name = path.rpartition("/")[2]
            if path.startswith(TRUST) and name.removesuffix(".yaml").isdecimal():
                owners.add(int(name.removesuffix(".yaml")))
            elif name == MANIFEST and path.startswith(DATASETS):
                with contextlib.suppress(RegistryError):
                    owners.add(read_manifest(tree.read(path), path).contributor)
        return owners

    def _by(self, merge: _Merge, pull: PullRequest) -> list[Finding]:
        found: list[Finding] = []
        trust = [path for path in merge.paths if path.startswith(TRUST)]
        for step in (*merge.earlier, merge.last):  # each may be a bundle's arrival
            if pull.merged_at is None or abs(step.time - pull.merged_at) > _LATE:
                what = f"{step.sha[:12]} is from another day than its merge"
                found.append(finding(TIME, merge.paths[0], what))
                break
        keys = None
        if any(path != MAINTAINERS for path in trust):
            question = lambda: owners_keys(self.connection, trust, pull.author_id)  # noqa: E731
            keys = self._ask(question, found)
        if trust:
            found += self._approved(merge, pull, trust)
        return found + self._verified(merge, pull.author_id, keys)

    def _approved(
        self, merge: _Merge, pull: PullRequest, trust: list[str]
    ) -> list[Finding]:
        found: list[Finding] = []
        tree = git_tree(self.repo, merge.last.sha)
        blobs = {one.path: one.oid for one in tree.entries(TRUST)}
        merged = {path: blobs[path] for path in trust if path in blobs}
        missing = self._ask(
            lambda: check_approvals(
                self.connection, pull, self.maintainers, trust, merged
            ),
            found,
        )
        return found + (missing or [])

    def _verified(
        self, merge: _Merge, author: int | None, keys: Sequence[str] | None
    ) -> list[Finding]:
        report = verify_change(
            self.repo,
            merge.base,
            merge.last.sha,
            author=author,
            published_keys=keys,
            now=merge.last.time,
            expectations=False,
        )
        self.bundles += report.bundles
        return list(report.findings)


def _errors(found: Sequence[Finding]) -> int:
    return sum(one.severity is Severity.ERROR for one in found)
