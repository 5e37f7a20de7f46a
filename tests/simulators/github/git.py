"""Real bare repositories: what GitHub does inside them is done by git itself."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path

__all__ = ["Bare", "GitFailed"]

_ENVIRONMENT = {
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_CONFIG_SYSTEM": os.devnull,
    "GIT_TERMINAL_PROMPT": "0",
    "LC_ALL": "C",
}
_CONFIG = """
[uploadpack]
	allowAnySHA1InWant = true
	allowFilter = true
[http]
	receivepack = true
[receive]
	hideRefs = refs/pull
	autogc = false
[gc]
	auto = 0
[maintenance]
	auto = false
"""
_SHA = re.compile(r"[0-9a-f]{40}\n?")
_WEB = ("GitHub", "noreply@github.com")
EMPTY = "0" * 40


class GitFailed(Exception):  # noqa: N818
    """A git command failed."""


class Bare:
    """A bare repository on disk."""

    def __init__(self, path: Path) -> None:
        """Use the repository at a path."""
        self.path = path

    @classmethod
    def create(cls, path: Path, source: Path | None = None) -> Bare:
        """Make a repository as GitHub serves it: any commit may be fetched by name.

        Args:
            path: where; must not exist.
            source: a repository to fork: its branches and tags come along.
        """
        if source is None:
            _run(["git", "init", "--quiet", "--bare", "-b", "main", str(path)])
        else:
            _run(["git", "clone", "--quiet", "--bare", str(source), str(path)])
        with (path / "config").open("a", encoding="utf-8") as file:
            file.write(_CONFIG)
        return cls(path)

    def git(self, *words: str, data: bytes | None = None, **extra: str) -> str:
        """Run git here; gives what it printed, without the last line end.

        Raises:
            GitFailed: its status was not 0.
        """
        return self.raw(*words, data=data, **extra).decode().rstrip("\n")

    def raw(self, *words: str, data: bytes | None = None, **extra: str) -> bytes:
        """Run git here; gives the bytes that it printed."""
        return _run(["git", "-C", str(self.path), *words], data, extra)

    def resolve(self, name: str) -> str | None:
        """The commit that a name stands for."""
        try:
            words = ("rev-parse", "--verify", "--quiet", "--end-of-options")
            return self.git(*words, f"{name}^{{commit}}")
        except GitFailed:
            return None

    def branch(self, name: str) -> str | None:
        """The commit of a branch."""
        # Most are files of their own; the others git finds.
        loose = self.path / "refs" / "heads" / name
        if ".." not in name.split("/") and loose.is_file():
            text = loose.read_text(encoding="ascii")
            if _SHA.fullmatch(text):
                return text.strip()
        return self.resolve(f"refs/heads/{name}")

    def refs(self, prefix: str) -> dict[str, str]:
        """All refs under a prefix, with the objects that they name."""
        text = self.git("for-each-ref", "--format=%(refname) %(objectname)", prefix)
        return {
            line.split(" ")[0]: line.split(" ")[1] for line in text.split("\n") if line
        }

    def set_ref(self, ref: str, sha: str | None) -> None:
        """Point a ref at an object, or remove it."""
        if sha is None:
            self.git("update-ref", "-d", ref)
        else:
            self.git("update-ref", ref, sha)

    def contains(self, ancestor: str, commit: str) -> bool:
        """Whether a commit has another among its ancestors, or is the same."""
        try:
            self.git("merge-base", "--is-ancestor", ancestor, commit)
        except GitFailed:
            return False
        return True

    def merged_tree(self, base: str, head: str) -> str | None:
        """The tree of a merge; None if it conflicts."""
        try:
            return self.git("merge-tree", "--write-tree", base, head).split("\n")[0]
        except GitFailed:
            return None

    def commit(
        self,
        tree: str,
        parents: list[str],
        message: str,
        *,
        author: tuple[str, str],
        when: int,
        committer: tuple[str, str] = _WEB,
    ) -> str:
        """Make a commit.

        Args:
            tree: its tree.
            parents: its parents.
            message: its message.
            author: name and mail address.
            when: Unix time of author and committer.
            committer: name and mail address; GitHub itself by default.
        """
        words = [word for parent in parents for word in ("-p", parent)]
        return self.git(
            "commit-tree",
            tree,
            *words,
            data=message.encode(),
            GIT_AUTHOR_NAME=author[0],
            GIT_AUTHOR_EMAIL=author[1],
            GIT_AUTHOR_DATE=f"{when} +0000",
            GIT_COMMITTER_NAME=committer[0],
            GIT_COMMITTER_EMAIL=committer[1],
            GIT_COMMITTER_DATE=f"{when} +0000",
        )

    def take(self, other: Bare, sha: str) -> None:
        """Take a commit and what it needs from another repository."""
        if other.path != self.path and self.resolve(sha) is None:
            self.git("fetch", "--quiet", "--no-tags", str(other.path), sha)


def _run(
    words: list[str], data: bytes | None = None, extra: dict[str, str] | None = None
) -> bytes:
    # Variables such as GIT_DIR of a hook that runs the tests must not reach git here.
    kept = {k: v for k, v in os.environ.items() if not k.startswith("GIT_")}
    done = subprocess.run(
        words,
        input=data if data is not None else b"",
        capture_output=True,
        env={**kept, **_ENVIRONMENT, **(extra or {})},
        check=False,
    )
    if done.returncode:
        raise GitFailed(f"{' '.join(words[:6])}: {done.stderr.decode()[:400]}")
    return done.stdout
