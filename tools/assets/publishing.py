"""Copy results to a URL under their digests, so that no copy ever changes.

    publish([Path("trace.json.gz")], "s3://results", prefix="traces")

A thing is at `<url>/<prefix>/<sha256>/<name>`, and what it is stands in a file beside
it, `<name>.published.json`. That file comes last, so whoever reads it finds all else.
Publishing again sends only what is missing, and never overwrites anything.
"""

from __future__ import annotations

import contextlib
import errno
import getpass
import mimetypes
import socket
import threading
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any, Final

from registry.documents.findings import (
    Finding,
    RegistryError,
    Severity,
    code,
    finding,
)
from registry.documents.instants import instant
from registry.gate.leaks import local_leaks
from tools.assets.contents import Content, File, content_of, name_problem
from tools.assets.published import (
    SUFFIX,
    Sidecar,
    described,
    folder_digest,
    listed,
    write_sidecar,
)
from tools.assets.sending import send_file, send_sidecar
from tools.assets.stores import Store, open_store

__all__ = [
    "METADATA",
    "NotPublishedError",
    "Published",
    "PublishedThing",
    "State",
    "publish",
]

METADATA: Final = ("id", "type", "description", "media_type")
"""What a caller may say of a thing; `Sidecar` has what each of them means."""

A006 = code(
    "A006",
    Severity.ERROR,
    "What would be public names this machine or its user.",
    "Give the file another name or the description other words.",
)
A011 = code(
    "A011",
    Severity.ERROR,
    "A prefix is no path of folders.",
    "Give names joined by slashes, for example traces/2026.",
)


class State(StrEnum):
    """What became of a thing."""

    PUBLISHED = "published"
    PRESENT = "present"
    PLANNED = "would be published"


@dataclass(frozen=True, slots=True)
class PublishedThing:
    """A file or folder and where it is now.

    Attributes:
        path: where it is here.
        state: what became of it.
        url: where it is, as it may be printed; `powerkit fetch` takes it.
        sidecar: what is said of it there.
        files: how many files it has.
        sent: how many bytes were sent for it.

    """

    path: Path
    state: State
    url: str
    sidecar: Sidecar
    files: int
    sent: int


@dataclass(frozen=True, slots=True)
class Published:
    """What was published.

    Attributes:
        url: where to, as it may be printed.
        things: one for each path, in their order.

    """

    url: str
    things: tuple[PublishedThing, ...]


class NotPublishedError(RegistryError):
    """Some of the things could not be published; the others are in `published`."""

    def __init__(self, findings: Iterable[Finding], published: Published) -> None:
        """Keep what was published besides what was not."""
        super().__init__(findings)
        self.published = published


@dataclass(slots=True)
class _Job:
    """A thing, where it goes, and how far it has come."""

    content: Content
    sidecar: Sidecar
    key: str
    sending: list[Future[bool]]

    def key_of(self, file: File) -> str:
        return f"{self.key}/{file.name}" if self.content.folder else self.key


def publish(
    paths: Sequence[Path],
    url: str,
    *,
    prefix: str = "",
    dry_run: bool = False,
    metadata: Mapping[str, str] | None = None,
    jobs: int = 4,
    progress: Callable[[str], None] | None = None,
    options: Mapping[str, Any] | None = None,
    clock: Callable[[], float] = time.time,
) -> Published:
    """Publish files and folders.

    Args:
        paths: what is published; each is a thing of its own.
        url: where to: a path, or a URL that fsspec can write to.
        prefix: folders below it.
        dry_run: read and name all, but ask nothing of the store.
        metadata: what is said of the things, by the names in `METADATA`. An id is for
            one thing alone.
        jobs: how many files are sent at once, where the store bears it.
        progress: is told in a line what is done.
        options: options of the file system, as fsspec has them.
        clock: gives the seconds since 1970 that are written as the time of publishing.

    Raises:
        RegistryError: A001, A003, A006 to A011: nothing was sent.
        NotPublishedError: A002, A004, A005: the other things were published.

    """
    said = dict(metadata or {})
    if not set(said) <= set(METADATA) or ("id" in said and len(paths) != 1):
        message = f"metadata are {', '.join(METADATA)}, and an id is for one thing"
        raise ValueError(message)
    tell = progress or _silent
    problems = _prefix_problems(prefix)
    created = instant(clock())
    store, things = None, []
    try:
        store = open_store(url, options)
    except RegistryError as error:
        problems.extend(error.findings)
    for path in paths:
        tell(f"reading {path.name}")
        try:
            things.append(_planned(path, prefix, said, created))
        except RegistryError as error:
            problems.extend(error.findings)
    if problems or store is None:
        raise RegistryError(problems)
    if dry_run:
        planned = (_thing(store, job, State.PLANNED, 0) for job in things)
        return Published(store.shown, tuple(planned))
    return _sent(store, things, jobs, tell)


def _planned(path: Path, prefix: str, said: Mapping[str, str], created: str) -> _Job:
    content = content_of(path)
    files = listed(content.files) if content.folder else None
    digest = content.files[0].sha256 if files is None else folder_digest(files)
    what = {
        "id": digest,
        "type": "file" if files is None else "folder",
        "media_type": _media_type(content),
    } | dict(said)
    facts = {
        "name": content.name,
        "bytes": content.bytes,
        "sha256": digest,
        "created": created,
        "files": files,
    }
    sidecar = described(what | facts, str(path))
    named = local_leaks(write_sidecar(sidecar), _own_names())
    if named:
        raise RegistryError(
            finding(A006, str(path), f"its description holds {', '.join(named)}")
        )
    return _Job(content, sidecar, _key(prefix, digest, content.name), [])


def _sent(
    store: Store, things: Sequence[_Job], jobs: int, tell: Callable[[str], None]
) -> Published:
    """Send all files at once, and each description as soon as its files are there."""
    total = sum(len(job.content.files) for job in things)
    pool = ThreadPoolExecutor(max(1, jobs) if store.parallel else 1)
    over = threading.Event()
    told = _ending(over, tell)
    problems: list[Finding] = []
    done: list[PublishedThing] = []
    count = 0
    try:
        for job in things:
            for file in job.content.files:
                key = job.key_of(file)
                job.sending.append(pool.submit(send_file, store, file, key, told))
        for job in things:
            found, sent = len(problems), 0
            for file, sending in zip(job.content.files, job.sending, strict=True):
                try:
                    sent += file.bytes if sending.result() else 0
                except RegistryError as error:
                    problems.extend(error.findings)
                count += 1
                tell(f"{count} of {total} files: {file.name}")
            if len(problems) > found:
                continue
            try:
                new = send_sidecar(store, job.sidecar, job.key + SUFFIX)
            except RegistryError as error:
                problems.extend(error.findings)
                continue
            state = State.PUBLISHED if new or sent else State.PRESENT
            done.append(_thing(store, job, state, sent))
    finally:
        over.set()
        pool.shutdown(cancel_futures=True)
    published = Published(store.shown, tuple(done))
    if problems:
        raise NotPublishedError(problems, published)
    return published


def _ending(
    over: threading.Event, tell: Callable[[str], None]
) -> Callable[[str], None]:
    """Tell, until nobody waits any more: a large file must not hold up the end."""

    def told(line: str) -> None:
        if over.is_set():
            raise InterruptedError(errno.EINTR, "it was ended")
        tell(line)

    return told


def _thing(store: Store, job: _Job, state: State, sent: int) -> PublishedThing:
    content, url = job.content, store.url(job.key)
    return PublishedThing(
        content.path, state, url, job.sidecar, len(content.files), sent
    )


def _key(prefix: str, digest: str, name: str) -> str:
    return "/".join(part for part in (prefix.strip("/"), digest, name) if part)


def _prefix_problems(prefix: str) -> list[Finding]:
    parts = prefix.strip("/").split("/") if prefix.strip("/") else []
    return [
        finding(A011, "prefix", what)
        for part in parts
        if (what := name_problem(part)) is not None
    ]


def _media_type(content: Content) -> str:
    if content.folder:
        return "inode/directory"
    kind, packed = mimetypes.guess_type(content.name)
    if packed is not None:
        return {"gzip": "application/gzip"}.get(packed, "application/octet-stream")
    return kind or "application/octet-stream"


def _own_names() -> set[str]:
    """The names of this machine and of whoever works at it."""
    host = socket.gethostname()
    names = {host, host.partition(".")[0]}
    with contextlib.suppress(KeyError, OSError):  # the user has a number only
        names.add(getpass.getuser())
    return names


def _silent(_: str) -> None:
    """Say nothing."""
