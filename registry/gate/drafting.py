"""Commits that are made in a place apart, so that no checkout is ever touched.

The commit lies in a repository of its own in a temporary folder, which borrows the
checkout's objects: neither its work tree, nor its index, nor its branches change.
"""

from __future__ import annotations

import os
import subprocess
import tempfile
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

from registry.documents.canonical import sha256
from registry.documents.findings import RegistryError
from registry.gate.git import commit_of, environment, git
from registry.gate.tree import TRUST, history

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

__all__ = [
    "BASES",
    "BRANCH",
    "NOBODY",
    "Identity",
    "apart",
    "base_of",
    "branch_for",
    "commit_files",
    "fast_import",
    "first_of",
    "is_checkout",
    "quoted",
    "start_of",
    "top_of",
]

BASES: Final = ("upstream/main", "origin/main", "main", "HEAD")
"""Where the merged registry may be in a checkout, the most likely first."""

BRANCH: Final = "refs/heads/proposal"
"""Where the commit is put in the repository apart."""


@dataclass(frozen=True, slots=True)
class Identity:
    """Who a commit says it is by.

    Attributes:
        name: shown to people.
        email: an address; GitHub tells accounts by it.
    """

    name: str
    email: str

    @property
    def text(self) -> str:
        """Name and address as git writes them; what would break the line is left out.

        A name that was written as bytes that are no text does not stop a commit.
        """
        keep = {ord(char): None for char in "<>\n\0"}
        name = self.name.translate(keep).strip() or "unknown"
        text = f"{name} <{self.email.translate(keep).strip()}>"
        return text.encode("utf-8", "replace").decode("utf-8")


NOBODY: Final = Identity("proposal", "proposal@localhost")
"""For commits that never leave this machine."""


def is_checkout(root: Path) -> bool:
    """Tell whether a folder is the top of a git checkout with a commit."""
    try:
        prefix = git(root, "rev-parse", "--show-prefix").strip()
        commit_of(root, "HEAD")
    except RegistryError:
        return False
    return not prefix


def top_of(folder: Path) -> Path:
    """The top of the git checkout that a folder lies in; else the folder itself.

    A folder that is a registry stays what it is, whatever it lies in.
    """
    if (folder / TRUST).is_dir():
        return folder
    try:
        up = git(folder, "rev-parse", "--show-cdup").decode("utf-8").strip()
    except RegistryError:
        return folder
    return folder / up


def base_of(root: Path, base: str | None = None) -> str:
    """Return the name of the revision that a change would be merged into.

    Args:
        root: a checkout.
        base: what the user names; otherwise the first of ``BASES`` that exists.

    Raises:
        RegistryError: T003, the named revision does not exist.
    """
    if base is not None:
        commit_of(root, base)
        return base
    found = first_of(root, BASES)
    if found is None:
        raise history("there is no commit")
    return found


def start_of(root: Path, base: str | None = None) -> str:
    """The revision at which a branch is to begin; in no checkout, where it usually is.

    Args:
        root: a checkout, or any other folder.
        base: what the user names.

    Raises:
        RegistryError: T003, the named revision does not exist.
    """
    return base_of(root, base) if is_checkout(root) else BASES[1]


def first_of(root: Path, names: Iterable[str]) -> str | None:
    """The first of some revisions that exists in a checkout, or None."""
    for name in names:
        with suppress(RegistryError):
            commit_of(root, name)
            return name
    return None


@contextmanager
def apart(root: Path, *, whole: bool = False) -> Iterator[Path]:
    """Give a bare repository in a temporary folder, gone after the context.

    Args:
        root: a checkout, whose objects and shallow ends it knows; or any other folder,
            of which it knows nothing.
        whole: whether to know nothing either of a checkout that lacks objects: from
            such a one not everything can be pushed.

    Raises:
        RegistryError: T003.
    """
    with tempfile.TemporaryDirectory(prefix="power-dataset-registry-") as name:
        repo = Path(name)
        if is_checkout(root) and not (whole and _is_thin(root)):
            _borrow(root, repo)
        else:
            git(repo, "init", "-q", "--bare", "--template=")
        yield repo


def commit_files(
    repo: Path,
    parents: Sequence[str],
    tree: str,
    files: Mapping[str, bytes | None],
    message: str,
    identity: Identity,
    when: int,
) -> str:
    """Make a commit of a commit's tree with some files changed.

    Args:
        repo: where to; see `apart`.
        parents: full names of its parents.
        tree: full name of the commit whose files it has.
        files: content of ordinary files by path, or None for one that goes.
        message: what it says.
        identity: author and committer.
        when: seconds since 1970.

    Returns:
        The commit's full name.

    Raises:
        RegistryError: T003.
    """
    said = message.encode("utf-8", "replace")
    by = f"{identity.text} {when} +0000\n".encode()
    stream = bytearray(f"commit {BRANCH}\n".encode())
    stream += b"author " + by + b"committer " + by
    stream += b"data %d\n%s\n" % (len(said), said)
    for word, parent in zip(("from", *["merge"] * len(parents)), parents, strict=False):
        stream += f"{word} {parent}\n".encode()
    root = git(repo, "rev-parse", "--verify", f"{tree}^{{tree}}").strip()
    stream += b'M 040000 %s ""\n' % root
    for path, content in sorted(files.items()):
        if content is None:
            stream += b"D %s\n" % quoted(path)
        else:
            stream += b"M 100644 inline %s\n" % quoted(path)
            stream += b"data %d\n%s\n" % (len(content), content)
    return fast_import(repo, bytes(stream))


def fast_import(repo: Path, stream: bytes) -> str:
    """Feed `git fast-import` one commit on ``BRANCH``; gives the commit's full name.

    Raises:
        RegistryError: T003.
    """
    done = subprocess.run(
        ["git", "-C", str(repo), "fast-import", "--quiet", "--force"],
        input=stream,
        env=environment(),
        capture_output=True,
        check=False,
    )
    if done.returncode:
        said = done.stderr.decode("utf-8", "replace").strip().splitlines()
        raise history(f"git fast-import: {said[0] if said else 'failed'}")
    return commit_of(repo, BRANCH)


def branch_for(kind: str, name: str) -> str:
    """The branch that belongs to one change of one thing, a name that git allows.

    Args:
        kind: what is done, such as ``withdraw``.
        name: a name as datasets have it.
    """
    if ".." in name or name.endswith((".lock", ".")):
        name = f"{name.replace('.', '-')}-{sha256(name.encode())[:8]}"
    return f"{kind}/{name}"


def quoted(path: str) -> bytes:
    """Return a path as fast-import reads it, whatever characters it has."""
    return b'"' + b"".join(b"\\%03o" % byte for byte in os.fsencode(path)) + b'"'


def _is_thin(root: Path) -> bool:
    """Whether a checkout was cloned without its whole history, or without contents."""
    if git(root, "rev-parse", "--is-shallow-repository").strip() != b"false":
        return True
    try:
        return bool(git(root, "config", "--get", "extensions.partialClone"))
    except RegistryError:  # there is no such setting
        return False


def _borrow(root: Path, repo: Path) -> None:
    """Make an empty repository that finds the checkout's objects."""
    kind = git(root, "rev-parse", "--show-object-format").decode("ascii").strip()
    git(repo, "init", "-q", "--bare", "--template=", f"--object-format={kind}")
    place = ("rev-parse", "--path-format=absolute", "--git-path")
    objects = git(root, *place, "objects").rstrip(b"\n")
    info = repo / "objects" / "info"
    info.mkdir(parents=True, exist_ok=True)
    (info / "alternates").write_bytes(objects + b"\n")
    shallow = Path(os.fsdecode(git(root, *place, "shallow").rstrip(b"\n")))
    if shallow.is_file():  # a clone without its whole history
        (repo / "shallow").write_bytes(shallow.read_bytes())
