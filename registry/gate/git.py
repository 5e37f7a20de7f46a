"""Run git on a repository whose content is not trusted, and read objects from it.

Every call is by argument list, with replacement objects, lazy fetches, prompts and the
caller's GIT_* variables off, so that only the named repository's own objects are read.
"""

from __future__ import annotations

import os
import signal
import subprocess
import tempfile
import weakref
from threading import Lock, Timer
from typing import IO, TYPE_CHECKING

from registry.documents import limits
from registry.documents.findings import RegistryError
from registry.gate.tree import history, missing, too_large

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from pathlib import Path

    from registry.gate.tree import Entry

__all__ = ["BlobReader", "commit_of", "git"]

_WINDOW = 128
"""Requests that wait in the pipe at once: far less than a pipe holds."""
_WINDOW_BYTES = 4 * limits.MIB
"""Bytes asked for at once, after which no further request is added."""


def environment() -> dict[str, str]:
    """The environment in which git runs."""
    kept = {key: value for key, value in os.environ.items() if key[:4] != "GIT_"}
    return kept | {
        "GIT_NO_REPLACE_OBJECTS": "1",
        "GIT_GRAFT_FILE": os.devnull,
        "GIT_NO_LAZY_FETCH": "1",
        "GIT_OPTIONAL_LOCKS": "0",
        "GIT_TERMINAL_PROMPT": "0",
        "GIT_LITERAL_PATHSPECS": "0",
        "LC_ALL": "C",
    }


def _command(repo: Path, arguments: Sequence[str]) -> list[str]:
    # Even `git diff-tree` and `git log` run programs that a repository's settings name,
    # and a commit-graph may tell other parents than the commits themselves.
    settings = (
        "core.fsmonitor=false",
        f"core.hooksPath={os.devnull}",
        "core.commitGraph=false",
        "log.showSignature=false",
        "log.follow=false",
    )
    off = [word for setting in settings for word in ("-c", setting)]
    return ["git", "--no-pager", *off, "-C", str(repo), *arguments]


def git(repo: Path, *arguments: str) -> bytes:
    """What a git command prints.

    A few objects can name trees without end, so that both the time and the length of an
    answer are bounded.

    Raises:
        RegistryError: T003, git is missing, refused, or does not come to an end.
    """
    with tempfile.TemporaryFile() as complaints:
        try:
            process = subprocess.Popen(
                _command(repo, arguments),
                env=environment(),
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=complaints,
            )
        except OSError as problem:
            message = f"git cannot be run: {problem.strerror}"
            raise history(message) from problem
        printed, ended = _bounded(process)
        complaints.seek(0)
        said = complaints.read(limits.KIB).decode("utf-8", "replace").splitlines()
    if len(printed) > limits.GIT_BYTES:
        message = f"git {arguments[0]}: more than {limits.GIT_BYTES} bytes of answer"
        raise history(message)
    if ended == -signal.SIGKILL:
        message = f"git {arguments[0]}: no answer in {limits.GIT_SECONDS:g} s"
        raise history(message)
    if ended:
        message = f"git {arguments[0]}: {said[0] if said else 'failed'}"
        raise history(message)
    return printed


def _bounded(process: subprocess.Popen[bytes]) -> tuple[bytes, int]:
    """What a process prints, up to one byte over the bound, and how it ended."""
    clock = Timer(limits.GIT_SECONDS, process.kill)
    clock.start()
    with process:
        most = limits.GIT_BYTES + 1
        printed = b"" if process.stdout is None else process.stdout.read(most)
        if len(printed) > limits.GIT_BYTES:
            process.kill()
        ended = process.wait()
        clock.cancel()
    return printed, ended


def commit_of(repo: Path, rev: str) -> str:
    """The full name of the commit that `rev` means now.

    Raises:
        RegistryError: T003, it means none.
    """
    if not rev or rev.startswith("-") or any(char in rev for char in "\n\0"):
        message = f"{rev!r} names no commit"
        raise history(message)
    asked = ("rev-parse", "--verify", "--quiet", "--end-of-options", rev + "^{commit}")
    try:
        return git(repo, *asked).decode("ascii").strip()
    except RegistryError as problem:
        message = f"{rev!r} names no commit"
        raise history(message) from problem


class BlobReader:
    """A `git cat-file --batch` process that hands out blobs, kept while it is used."""

    def __init__(self, repo: Path) -> None:
        """Start the process; it ends with this object."""
        process = subprocess.Popen(
            _command(repo, ("cat-file", "--batch")),
            env=environment(),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )
        if process.stdin is None or process.stdout is None:  # both were asked for
            message = "git cat-file has no pipes"
            raise history(message)
        self._requests: IO[bytes] = process.stdin
        self._answers: IO[bytes] = process.stdout
        self._lock = Lock()
        self.close = weakref.finalize(self, _close, process)

    def read(self, entries: Iterable[Entry]) -> Iterator[bytes]:
        """The bytes of each entry in order.

        Small blobs are asked for together; all that was asked for is read before any is
        handed out, so that a caller may stop at any time.

        Raises:
            RegistryError: an entry is no blob of the size that the tree says, or is
                over the limit of a file.
        """
        together: list[Entry] = []
        waiting = 0
        for entry in entries:
            if entry.size > limits.FILE_BYTES:
                raise too_large(entry.path, entry.size, limits.FILE_BYTES)
            together.append(entry)
            waiting += entry.size
            if waiting > _WINDOW_BYTES or len(together) == _WINDOW:
                yield from self._exchange(together)
                together, waiting = [], 0
        yield from self._exchange(together)

    def _exchange(self, entries: list[Entry]) -> list[bytes]:
        request = "".join(f"{entry.oid}\n" for entry in entries).encode("ascii")
        with self._lock:
            self._requests.write(request)
            self._requests.flush()
            answers = [self._answer(entry) for entry in entries]
        for entry, answer in zip(entries, answers, strict=True):
            if answer is None:
                raise missing(entry.path, "the repository does not hold its content")
        return [answer for answer in answers if answer is not None]

    def _answer(self, entry: Entry) -> bytes | None:
        header = self._answers.readline().split()
        if len(header) != len(("oid", "kind", "size")):
            return None
        content = self._answers.read(int(header[2]))
        self._answers.read(1)
        agrees = header[1] == b"blob" and len(content) == entry.size
        return content if agrees else None


def _close(process: subprocess.Popen[bytes]) -> None:
    for pipe in (process.stdin, process.stdout):
        if pipe is not None:
            pipe.close()
    process.wait()
