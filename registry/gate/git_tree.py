"""A registry tree as git committed it, and when each of its bundles arrived."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from registry.documents.findings import RegistryError
from registry.gate.git import BlobReader, commit_of, git
from registry.gate.tree import DATASETS, REGULAR, Entry, below, history, missing

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from registry.gate.tree import Tree

__all__ = ["GitTree", "arrivals", "git_tree", "path_text"]


class GitTree:
    """The files of one commit; another process to which it is sent starts its own git.

    Attributes:
        repo: the repository.
        commit: full name of the commit.
    """

    def __init__(self, repo: Path, commit: str) -> None:
        """List the commit's files; their content is read when it is asked for."""
        self.repo = repo
        self.commit = commit
        self._entries = _list(repo, commit)
        self._by_path = {entry.path: entry for entry in self._entries}
        self._reader: BlobReader | None = None

    def __reduce__(self) -> tuple[type[GitTree], tuple[Path, str]]:
        """Send the names only: a process cannot be sent."""
        return GitTree, (self.repo, self.commit)

    def entries(self, prefix: str = "") -> list[Entry]:
        """The files whose path begins with `prefix`, sorted by path."""
        return below(self._entries, prefix) if prefix else list(self._entries)

    def read(self, path: str) -> bytes:
        """All bytes of one ordinary file; RegistryError if there is none."""
        return next(content for _, content in self.read_many((path,)))

    def read_many(self, paths: Iterable[str]) -> Iterator[tuple[str, bytes]]:
        """Paths with their bytes, in the order asked for."""
        if self._reader is None:
            self._reader = BlobReader(self.repo)
        entries = [self._regular(path) for path in paths]
        contents = self._reader.read(entries)
        for entry, content in zip(entries, contents, strict=True):
            yield entry.path, content

    def _regular(self, path: str) -> Entry:
        entry = self._by_path.get(path)
        if entry is None:
            raise missing(path)
        if entry.mode != REGULAR:
            raise missing(path, "it is no ordinary file")
        return entry


def git_tree(repo: Path, rev: str) -> GitTree:
    """The tree of a commit.

    Args:
        repo: a repository, bare or not.
        rev: a commit, branch or tag.

    Raises:
        RegistryError: T003, there is no such commit.
    """
    return GitTree(repo, commit_of(repo, rev))


def path_text(path: bytes) -> str:
    """A path as git stores it as text that keeps every byte."""
    return path.decode("utf-8", "surrogateescape")


def _list(repo: Path, commit: str) -> list[Entry]:
    entries: list[Entry] = []
    listing = git(repo, "ls-tree", "-r", "-z", "--full-tree", "--long", commit)
    for record in listing.split(b"\0")[:-1]:
        fields, _, path = record.partition(b"\t")
        mode, _, oid, size = fields.split()
        entries.append(
            Entry(
                path=path_text(path),
                mode=int(mode, 8),
                size=int(size) if size.isdigit() else 0,
                oid=oid.decode("ascii"),
            )
        )
    return sorted(entries, key=lambda entry: entry.path)


def arrivals(repo: Path, rev: str, tree: Tree | None = None) -> dict[str, int]:
    """When each bundle's present manifest came to the branch.

    A date that a contributor wrote counts for nothing: the time is that of the commit
    by which the branch itself took the manifest in (threat-model.md S10).

    Args:
        repo: a repository.
        rev: the commit whose first parents are walked.
        tree: if given, manifests that are not the commit's own have not arrived yet.

    Returns:
        Dataset to committer time in seconds since 1970, of the newest first-parent
        commit that changed its manifest. Empty outside a repository.

    Raises:
        RegistryError: T003, the history was cut short, so that times are unknown.
    """
    if not _is_repository(repo) or not git(repo, "rev-list", "-n", "1", "--all"):
        return {}
    commit = commit_of(repo, rev)
    if git(repo, "rev-parse", "--is-shallow-repository").strip() != b"false":
        message = "the history is shallow, so it is unknown when bundles arrived"
        raise history(message)
    shape = ("--first-parent", "--diff-merges=first-parent", "--no-renames", "--root")
    form = ("--raw", "-z", "--abbrev=40", "--format=tformat:%ct")
    log = git(repo, "log", *shape, *form, commit, "--", ":(top,glob)datasets/*/*.json")
    found = _newest(log)
    if tree is not None:
        merged = GitTree(repo, commit)
        for dataset in list(found):
            if _manifest(tree, dataset) != _manifest(merged, dataset):
                del found[dataset]
    return found


def _manifest(tree: Tree, dataset: str) -> bytes | None:
    try:
        return tree.read(f"{DATASETS}{dataset}/manifest.json")
    except RegistryError:
        return None


def _newest(log: bytes) -> dict[str, int]:
    """Read `git log --raw -z --format=%ct`: times, then pairs of change and path."""
    found: dict[str, int] = {}
    when = 0
    fields = iter(log.split(b"\0"))
    for field in fields:
        text = field.strip()
        if text.startswith(b":"):
            path = path_text(next(fields, b""))
            dataset, _, name = path.removeprefix(DATASETS).partition("/")
            if name == "manifest.json":
                found.setdefault(dataset, when)
        elif text.isdigit():
            when = int(text)
    return found


def _is_repository(repo: Path) -> bool:
    bare = (repo / "objects").is_dir() and (repo / "HEAD").is_file()
    return bare or (repo / ".git").exists()
