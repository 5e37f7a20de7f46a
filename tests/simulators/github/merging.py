"""Merging pull requests with real git merges, and keeping their refs as GitHub does."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.simulators.github.history import identity, stamp

if TYPE_CHECKING:
    from tests.simulators.github.git import Bare
    from tests.simulators.github.hub import FakeGitHub
    from tests.simulators.github.state import Account, Pull, Repository

__all__ = ["CannotMerge", "merged_commit", "refresh", "stamp"]


class CannotMerge(Exception):  # noqa: N818  GitHub's answer, not a fault
    """A pull request cannot be merged as it is."""


def merged_commit(
    hub: FakeGitHub,
    known: Repository,
    pull: Pull,
    onto: str,
    by: Account,
    method: str,
    *,
    when: int,
    title: str | None = None,
    body: str | None = None,
) -> str:
    """Make the commit that merges a pull request; no ref is moved.

    Args:
        hub: the fake.
        known: the repository that it was opened in.
        pull: the pull request.
        onto: the commit that comes before.
        by: who merges.
        method: ``merge``, ``squash`` or ``rebase``.
        when: Unix time of the commit.
        title: first line of its message.
        body: the rest of it.

    Raises:
        CannotMerge: both sides changed the same.
        ValueError: another method.
    """
    bare = hub.git(known)
    if method == "rebase":
        return _rebased(bare, pull, onto, by, when)
    tree = bare.merged_tree(onto, pull.head_sha)
    if tree is None:
        raise CannotMerge("Merge conflicts must be resolved first.")
    owner = hub.accounts[pull.head_owner].login
    if method == "merge":
        title = title or f"Merge pull request #{pull.number} from {owner}/{pull.head}"
        message = f"{title}\n\n{pull.issue.title if body is None else body}"
        parents, author = [onto, pull.head_sha], identity(by)
    elif method == "squash":
        title = title or f"{pull.issue.title} (#{pull.number})"
        message = f"{title}\n\n{pull.issue.body or '' if body is None else body}"
        parents, author = [onto], identity(hub.accounts[pull.issue.user])
    else:
        raise ValueError(method)
    return bare.commit(
        tree, parents, message.rstrip("\n") + "\n", author=author, when=when
    )


def _rebased(bare: Bare, pull: Pull, onto: str, by: Account, when: int) -> str:
    """Copy each commit onto the base; the last copy is the new base."""
    for sha in pull.commits:
        # git merges by histories: this one says that both sides began at the parent.
        someone = identity(by)
        start = bare.commit(f"{sha}^^{{tree}}", [], "", author=someone, when=when)
        ours = bare.commit(f"{onto}^{{tree}}", [start], "", author=someone, when=when)
        theirs = bare.commit(f"{sha}^{{tree}}", [start], "", author=someone, when=when)
        tree = bare.merged_tree(ours, theirs)
        if tree is None or " " in bare.git("show", "-s", "--format=%P", sha):
            raise CannotMerge("This branch can't be rebased")
        name, mail = bare.git("show", "-s", "--format=%an%n%ae", sha).split("\n")
        onto = bare.commit(
            tree,
            [onto],
            bare.git("show", "-s", "--format=%B", sha) + "\n",
            author=(name, mail),
            committer=someone,
            when=when,
        )
    return onto


def refresh(hub: FakeGitHub, known: Repository, pull: Pull) -> None:
    """Bring an open pull request up to date with the branches of both sides."""
    bare = hub.git(known)
    base = bare.branch(pull.base) if pull.open else None
    if base is None:
        return
    source = hub.repositories.get(pull.head_repository or 0)
    head = None if source is None else hub.git(source).branch(pull.head)
    if source is None or head is None:
        hub.set_state(pull.issue, "closed")
        return
    if (base, head) == (pull.base_sha, pull.head_sha) and pull.commits:
        return
    bare.take(hub.git(source), head)
    if head != pull.head_sha or not pull.shown_base:
        pull.shown_base = base
    pull.base_sha, pull.head_sha = base, head
    pull.issue.updated_at = hub.stamp()
    if pull.commits and bare.contains(head, base):
        # Somebody pushed the branch's commits to the base: GitHub calls it merged.
        _merged_by_push(hub, pull, base)
    else:
        words = ("rev-list", "--reverse", "--topo-order", f"{base}..{head}")
        pull.commits = bare.git(*words).split()
        pull.test_merge = _test_merge(hub, bare, pull)
    bare.set_ref(f"refs/pull/{pull.number}/head", head)
    if pull.test_merge is not None and pull.open:
        bare.set_ref(f"refs/pull/{pull.number}/merge", pull.test_merge)


def _merged_by_push(hub: FakeGitHub, pull: Pull, base: str) -> None:
    hub.set_state(pull.issue, "closed")
    pull.merged_at, pull.merged_sha = pull.issue.closed_at, base


def _test_merge(hub: FakeGitHub, bare: Bare, pull: Pull) -> str | None:
    tree = bare.merged_tree(pull.base_sha, pull.head_sha)
    if tree is None:
        return None
    author = identity(hub.accounts[pull.issue.user])
    text = f"Merge {pull.head_sha} into {pull.base_sha}\n"
    sides = [pull.base_sha, pull.head_sha]
    return bare.commit(tree, sides, text, author=author, when=int(hub.time()))
