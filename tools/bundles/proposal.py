"""Proposes a bundle as a pull request would, without touching the checkout.

The commit is made in a repository of its own in a temporary folder, which borrows the
checkout's objects. So the gate sees git objects, exactly as it will on the server.
"""

from __future__ import annotations

import os
import stat
import subprocess
import tempfile
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Final

from registry.documents import limits
from registry.documents.findings import RegistryError
from registry.gate.git import commit_of, environment, git
from registry.gate.tree import history, too_large

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

__all__ = ["BASES", "base_of", "is_checkout", "proposed"]

BASES: Final = ("upstream/main", "origin/main", "main", "HEAD")
"""Where the merged registry may be in a checkout, the most likely first."""

_BRANCH: Final = "refs/heads/proposal"
_AUTHOR: Final = b"committer proposal <proposal@localhost> 0 +0000\n"
_MODES: Final = {False: b"100644", True: b"100755"}


def is_checkout(root: Path) -> bool:
    """Tell whether a folder is the top of a git checkout with a commit."""
    try:
        prefix = git(root, "rev-parse", "--show-prefix").strip()
        commit_of(root, "HEAD")
    except RegistryError:
        return False
    return not prefix


def base_of(root: Path, base: str | None = None) -> str:
    """Return the name of the revision that the bundle would be merged into.

    Args:
        root: A checkout.
        base: What the user names; otherwise the first of ``BASES`` that exists.

    Raises:
        RegistryError: T003, the named revision does not exist.

    """
    if base is not None:
        commit_of(root, base)
        return base
    for name in BASES:
        try:
            commit_of(root, name)
        except RegistryError:
            continue
        return name
    raise history("there is no commit")


@contextmanager
def proposed(
    root: Path, folder: str, files: Iterable[str]
) -> Iterator[tuple[Path, str]]:
    """Commit the work tree's state of a bundle on top of HEAD, in a place apart.

    Args:
        root: The top of a checkout.
        folder: The bundle's folder, which is taken as a whole.
        files: Further files by their path in the registry; absent ones are passed over.

    Yields:
        A repository that lasts as long as the context, and the commit's name in it.

    Raises:
        RegistryError: T002, T003.

    """
    head = commit_of(root, "HEAD")
    stream = bytearray()
    stream += f"commit {_BRANCH}\n".encode() + _AUTHOR + b"data 0\n"
    stream += f"from {head}\n".encode()
    stream += b"D " + _quoted(folder) + b"\n"
    inside = sorted(
        Path(at, name).relative_to(root).as_posix()
        for at, _, names in os.walk(root / folder)
        for name in names
    )
    for path in (*inside, *files):
        stream += _file(root / path, path)
    with tempfile.TemporaryDirectory(prefix="powerkit-") as name:
        repo = Path(name)
        _borrowing(root, repo)
        command = ["git", "-C", name, "fast-import", "--quiet"]
        done = subprocess.run(
            command,
            input=bytes(stream),
            env=environment(),
            capture_output=True,
            check=False,
        )
        if done.returncode:
            said = done.stderr.decode("utf-8", "replace").strip().splitlines()
            raise history(f"git fast-import: {said[0] if said else 'failed'}")
        yield repo, commit_of(repo, _BRANCH)


def _borrowing(root: Path, repo: Path) -> None:
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


def _file(file: Path, path: str) -> bytes:
    """Return one file as a command for fast-import: links stay links."""
    try:
        status = file.lstat()
    except FileNotFoundError:
        return b""
    if stat.S_ISLNK(status.st_mode):
        mode, data = b"120000", os.fsencode(file.readlink())
    elif stat.S_ISREG(status.st_mode):
        if status.st_size > 2 * limits.FILE_BYTES:
            raise too_large(path, status.st_size, limits.FILE_BYTES)
        mode = _MODES[bool(status.st_mode & stat.S_IXUSR)]
        data = file.read_bytes()
    else:
        return b""  # git cannot hold it, so it will not be proposed
    head = b"M %s inline %s\ndata %d\n" % (mode, _quoted(path), len(data))
    return head + data + b"\n"


def _quoted(path: str) -> bytes:
    """Return a path as fast-import reads it, whatever characters it has."""
    return b'"' + b"".join(b"\\%03o" % byte for byte in os.fsencode(path)) + b'"'
