"""Commits and differences, read from git and shown as GitHub shows them."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from tests.simulators.github.git import Bare
from tests.simulators.github.routing import Ask, Refused, Reply, page
from tests.simulators.github.shapes import node, simple_user

if TYPE_CHECKING:
    from tests.simulators.github.hub import FakeGitHub
    from tests.simulators.github.state import Account, Repository

__all__ = [
    "changed_files",
    "commit_body",
    "commit_page",
    "compared",
    "git_commit",
    "identity",
    "stamp",
]

UNSIGNED = {
    "verified": False,
    "reason": "unsigned",
    "signature": None,
    "payload": None,
    "verified_at": None,
}
_STATUSES = {
    "A": "added",
    "D": "removed",
    "M": "modified",
    "R": "renamed",
    "C": "copied",
    "T": "changed",
}


def stamp(seconds: float) -> str:
    """A time as GitHub writes it."""
    return f"{datetime.fromtimestamp(int(seconds), UTC):%Y-%m-%dT%H:%M:%SZ}"


def identity(account: Account) -> tuple[str, str]:
    """Name and mail address that GitHub writes into commits made on its pages."""
    mail = f"{account.id}+{account.login}@users.noreply.github.com"
    return account.name or account.login, mail


def git_commit(hub: FakeGitHub, known: Repository, sha: str) -> dict[str, Any]:
    """A commit as git has it."""
    tree, parents, an, ae, at, cn, ce, ct, message = _read(known.bare, sha)
    start = f"{hub.api}/repos/{hub.full_name(known)}"
    html = f"{hub.web}/{hub.full_name(known)}/commit"
    return {
        "sha": sha,
        "node_id": node("C", int(sha[:12], 16)),
        "url": f"{start}/git/commits/{sha}",
        "html_url": f"{html}/{sha}",
        "author": {"name": an, "email": ae, "date": stamp(int(at))},
        "committer": {"name": cn, "email": ce, "date": stamp(int(ct))},
        "tree": {"sha": tree, "url": f"{start}/git/trees/{tree}"},
        "message": message.rstrip("\n"),
        "parents": [
            {
                "sha": parent,
                "url": f"{start}/git/commits/{parent}",
                "html_url": f"{html}/{parent}",
            }
            for parent in parents.split()
        ],
        "verification": dict(UNSIGNED),
    }


@lru_cache(maxsize=4096)
def _read(bare: Path, sha: str) -> list[str]:
    """The parts of a commit; what a commit holds never changes."""
    form = "%T%x00%P%x00%an%x00%ae%x00%at%x00%cn%x00%ce%x00%ct%x00%B"
    return Bare(bare).git("show", "-s", f"--format={form}", sha).split("\0")


def commit_body(
    hub: FakeGitHub, known: Repository, sha: str, *, files: bool = False
) -> dict[str, Any]:
    """A commit with the accounts that its addresses belong to."""
    inner = git_commit(hub, known, sha)
    url = f"{hub.api}/repos/{hub.full_name(known)}/commits/{sha}"
    parents = [
        {**parent, "url": f"{url[:-40]}{parent['sha']}"} for parent in inner["parents"]
    ]
    shown = {
        "sha": sha,
        "node_id": inner["node_id"],
        "url": url,
        "html_url": inner["html_url"],
        "comments_url": f"{url}/comments",
        "author": _account(hub, inner["author"]["email"]),
        "committer": _account(hub, inner["committer"]["email"]),
        "parents": parents,
        "commit": {
            "url": inner["url"],
            "author": inner["author"],
            "committer": inner["committer"],
            "message": inner["message"],
            "tree": inner["tree"],
            "comment_count": 0,
            "verification": inner["verification"],
        },
    }
    if files:
        before = inner["parents"][0]["sha"] if inner["parents"] else None
        listed = changed_files(hub, known, before, sha)
        added = sum(file["additions"] for file in listed)
        removed = sum(file["deletions"] for file in listed)
        total = added + removed
        shown["stats"] = {"additions": added, "deletions": removed, "total": total}
        shown["files"] = listed[:300]
    return shown


def _account(hub: FakeGitHub, mail: str) -> dict[str, Any] | None:
    """The account of an address: anybody may write any address into a commit."""
    name = mail.removesuffix("@users.noreply.github.com")
    number = name.partition("+")[0]
    if name != mail and number.isdigit() and int(number) in hub.accounts:
        return simple_user(hub, int(number))
    return None


def commit_page(ask: Ask, shas: list[str]) -> Reply:
    """One page of a list of commits; only those shown are read."""
    reply = page(ask, shas)
    reply.body = [commit_body(ask.hub, ask.repository, sha) for sha in reply.body]
    return reply


def compared(ask: Ask, basehead: str) -> dict[str, Any]:
    """What lies between two names, ``BASE...HEAD``.

    Raises:
        Refused: 404, one of them is unknown.
    """
    bare, known, hub = ask.hub.git(ask.repository), ask.repository, ask.hub
    names = basehead.split("...")
    shas = [bare.branch(name) or bare.resolve(name) for name in names]
    if len(shas) != 2 or shas[0] is None or shas[1] is None:
        raise Refused(404, "Not Found")
    base, head = shas[0], shas[1]
    middle = bare.git("merge-base", base, head)
    ahead = bare.git("rev-list", "--reverse", f"{base}..{head}").split()
    behind = bare.git("rev-list", f"{head}..{base}").split()
    status = "identical"
    if ahead or behind:
        status = "diverged" if ahead and behind else "ahead" if ahead else "behind"
    html = f"{hub.web}/{hub.full_name(known)}/compare/{basehead}"
    return {
        "url": f"{hub.api}{quote(ask.path)}",
        "html_url": html,
        "permalink_url": html,
        "diff_url": f"{html}.diff",
        "patch_url": f"{html}.patch",
        "base_commit": commit_body(hub, known, base),
        "merge_base_commit": commit_body(hub, known, middle),
        "status": status,
        "ahead_by": len(ahead),
        "behind_by": len(behind),
        "total_commits": len(ahead),
        "commits": [commit_body(hub, known, sha) for sha in ahead[:250]],
        "files": changed_files(hub, known, middle, head)[:300],
    }


def changed_files(
    hub: FakeGitHub,
    known: Repository,
    before: str | None,
    after: str,
    *,
    patches: bool = True,
) -> list[dict[str, Any]]:
    """The files that differ between two commits, at most 3,000 as on GitHub.

    Args:
        hub: the fake.
        known: the repository.
        before: a commit; None stands for nothing.
        after: a commit.
        patches: whether to show the lines that differ.
    """
    if before is None:
        before = hub.git(known).git("mktree", data=b"")
    start = f"{hub.api}/repos/{hub.full_name(known)}/contents"
    html = f"{hub.web}/{hub.full_name(known)}"
    changes = _changes(known.bare, before, after)
    texts = _patches(known.bare, before, after) if patches else ()
    # A file that became a link is one change, but two parts of git's patch.
    patches = len(texts) == len(changes)
    shown = []
    for at, changed in enumerate(changes[:3000]):
        path = quote(changed.path.encode("utf-8", "surrogateescape"))
        entry: dict[str, Any] = {
            "sha": changed.sha,
            "filename": _readable(changed.path),
            "status": changed.status,
            "additions": changed.added,
            "deletions": changed.removed,
            "changes": changed.added + changed.removed,
            "blob_url": f"{html}/blob/{after}/{path}",
            "raw_url": f"{html}/raw/{after}/{path}",
            "contents_url": f"{start}/{path}?ref={after}",
        }
        if changed.previous != changed.path:
            entry["previous_filename"] = _readable(changed.previous)
        if patches and "\n@@" in texts[at]:
            entry["patch"] = texts[at][texts[at].index("\n@@") + 1 :].rstrip("\n")
        shown.append(entry)
    return shown


def _readable(path: str) -> str:
    return path.encode("utf-8", "surrogateescape").decode("utf-8", "replace")


@dataclass(frozen=True, slots=True)
class _Change:
    path: str
    previous: str
    status: str
    sha: str
    added: int
    removed: int


@lru_cache(maxsize=1024)
def _changes(bare: Path, before: str, after: str) -> tuple[_Change, ...]:
    words = ("diff-tree", "-r", "-z", "-M", "--raw", "--numstat", before, after)
    text = Bare(bare).raw(*words).decode("utf-8", "surrogateescape")
    parts = iter(text.split("\0")[:-1])
    found: list[tuple[str, str, str, str]] = []
    counts: dict[str, tuple[int, int]] = {}
    for part in parts:
        if part.startswith(":"):
            _, _, old, new, status = part.split(" ")
            previous = path = next(parts)
            if status[0] in "RC":
                path = next(parts)
            sha = old if status == "D" else new
            found.append((path, previous, _STATUSES[status[0]], sha))
            continue
        added, removed, path = part.split("\t")
        if not path:  # a rename: both names follow
            next(parts)
            path = next(parts)
        counts[path] = (0, 0) if added == "-" else (int(added), int(removed))
    return tuple(_Change(*parts, *counts[parts[0]]) for parts in found)


@lru_cache(maxsize=64)
def _patches(bare: Path, before: str, after: str) -> tuple[str, ...]:
    """What differs in each file, in the order of ``_changes``."""
    data = Bare(bare).raw("diff-tree", "-r", "-M", "-p", before, after)
    # Lines of files have a sign before them, so only git's own start like this.
    return tuple(
        part.decode("utf-8", "replace")
        for part in (b"\n" + data).split(b"\ndiff --git ")[1:]
    )
