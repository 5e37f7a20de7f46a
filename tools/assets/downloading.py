"""Copy a file from the first of its mirrors that has the right bytes.

    download(Wanted(("https://a.example/m.onnx", "s3://b/m.onnx"), sha256), target)

A file appears under its name only when its digest is right. What has come so far stays
beside it under a hidden name, and the next attempt goes on from there.
"""

from __future__ import annotations

import errno
import fcntl
import hashlib
import os
import shutil
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import IO, Any, Final

from registry.documents.findings import RegistryError, Severity, code, finding
from tools.assets.contents import FILE_BYTES, file_digest
from tools.assets.sources import PATIENT, Body, Patience, SourceError, opened
from tools.settings.redaction import redacted

__all__ = ["Fetched", "Outcome", "Wanted", "download", "part_of"]

A012 = code(
    "A012",
    Severity.ERROR,
    "There is no room for a file.",
    "Make room, or choose another folder, and run it again.",
)
A013 = code(
    "A013",
    Severity.ERROR,
    "Another program is fetching the same file.",
    "Wait for it, or end it, and run it again.",
)
A014 = code(
    "A014",
    Severity.ERROR,
    "Something else is where a file is to be.",
    "Nothing was changed. Look at it; move it away or choose another folder.",
)
A015 = code(
    "A015",
    Severity.ERROR,
    "A file could not be fetched.",
    "Check the URL and the network and run it again: it goes on where it stopped.",
)
A019 = code(
    "A019",
    Severity.ERROR,
    "A fetched file cannot be written.",
    "Check the folder and its permissions, or choose another one.",
)

_FULL: Final = frozenset((errno.ENOSPC, errno.EDQUOT, errno.EFBIG))


class Outcome(StrEnum):
    """What became of a file."""

    FETCHED = "fetched"
    PRESENT = "present"


@dataclass(frozen=True, slots=True)
class Wanted:
    """A file that somebody has.

    Attributes:
        urls: where it may be, in the order in which they are tried.
        sha256: its digest; None accepts what comes, so that its digest is recorded.
        bytes: its size, if it is known.
        md5: an MD5 that is known besides, which tells accidents only.

    """

    urls: tuple[str, ...]
    sha256: str | None
    bytes: int | None = None
    md5: str | None = None


@dataclass(frozen=True, slots=True)
class Fetched:
    """A file that is here and has the right bytes.

    Attributes:
        path: where it is.
        outcome: whether it was fetched now.
        bytes: its size.
        sha256: its digest.
        url: where it came from, as it may be printed; "" if it was here.

    """

    path: Path
    outcome: Outcome
    bytes: int
    sha256: str
    url: str = ""


@dataclass(slots=True)
class _Run:
    """What `download` passes on to its parts."""

    wanted: Wanted
    target: Path
    file: IO[bytes]
    patience: Patience
    options: Mapping[str, Any] | None
    tell: Callable[[str], None]


def part_of(target: Path, sha256: str | None) -> Path:
    """Where the first bytes of a file wait for the others."""
    return target.with_name(f".{target.name}.{(sha256 or 'new')[:12]}.part")


def download(
    wanted: Wanted,
    target: Path,
    *,
    patience: Patience = PATIENT,
    options: Mapping[str, Any] | None = None,
    progress: Callable[[str], None] | None = None,
) -> Fetched:
    """Fetch a file, if it is not here already.

    Args:
        wanted: which file.
        target: where it is to be; its folder is made.
        patience: how long sources are waited for.
        options: options of the file system, as fsspec has them.
        progress: is told in a line what is done.

    Raises:
        RegistryError: A012, A013, A014, A019; A015, one for every mirror.

    """
    try:
        if (present := _present(wanted, target)) is not None:
            return present
        with _part(target, wanted) as (part, file):
            run = _Run(wanted, target, file, patience, options, progress or _silent)
            size, sha256, url = _from_mirrors(run)
            os.fsync(file.fileno())
            part.replace(target)
    except OSError as error:
        what = error.strerror or "it cannot be written"
        raise RegistryError(finding(A019, str(target), what)) from None
    return Fetched(target, Outcome.FETCHED, size, sha256, redacted(url))


def _present(wanted: Wanted, target: Path) -> Fetched | None:
    if not os.path.lexists(target):
        return None
    if not target.is_file():
        raise RegistryError(finding(A014, str(target), "it is no file"))
    size, sha256, md5 = file_digest(target)
    if sha256 != (wanted.sha256 or sha256) or md5 != (wanted.md5 or md5):
        what = f"it is a file of {size} bytes with another digest"
        raise RegistryError(finding(A014, str(target), what))
    return Fetched(target, Outcome.PRESENT, size, sha256)


@contextmanager
def _part(target: Path, wanted: Wanted) -> Iterator[tuple[Path, IO[bytes]]]:
    """Open what has come so far; nobody else may at the same time.

    Raises:
        RegistryError: A013.
    """
    new_folder = not target.parent.exists()
    target.parent.mkdir(parents=True, exist_ok=True)
    part = part_of(target, wanted.sha256)
    with part.open("a+b", buffering=0) as file:
        if not _locked(file, part):
            what = "another program writes it now"
            raise RegistryError(finding(A013, str(target), what))
        try:
            yield part, file
        except BaseException:
            if os.fstat(file.fileno()).st_size == 0:
                part.unlink(missing_ok=True)
                if new_folder:
                    with suppress(OSError):  # others may have put something there
                        target.parent.rmdir()
            raise


def _locked(file: IO[bytes], part: Path) -> bool:
    """Lock a file; it may have got its final name while we opened it."""
    try:
        fcntl.flock(file.fileno(), fcntl.LOCK_EX | fcntl.LOCK_NB)
        return os.path.samestat(os.fstat(file.fileno()), part.stat())
    except OSError:
        return False


def _from_mirrors(run: _Run) -> tuple[int, str, str]:
    """Fill the file; gives its size, its digest and the URL that had it.

    Raises:
        RegistryError: A012; A015, one for every mirror.
    """
    reasons: list[str] = []
    for url in run.wanted.urls:
        try:
            return *_from_one(run, url), url
        except SourceError as error:
            reasons.append(f"{redacted(url)}: {error}")
    if kept := os.fstat(run.file.fileno()).st_size:
        reasons[-1] += f" ({kept} bytes are kept for the next time)"
    raise RegistryError(finding(A015, str(run.target), reason) for reason in reasons)


def _from_one(run: _Run, url: str) -> tuple[int, str]:
    """Fill the file from one mirror, patiently; gives its size and its digest.

    Raises:
        SourceError: it has not the file, or not now.
        RegistryError: A012.
    """
    attempt, restarted = 0, False
    before: SourceError | None = None
    while True:
        try:
            went_on = _append(run, url)
            return _checked(run, went_on=went_on)
        except SourceError as error:
            if error.restart and not restarted:
                run.file.truncate(0)  # what came before was of another file
                restarted = True
                continue
            attempt += 1
            before = before if error.restart and before is not None else error
            if not error.again or attempt >= run.patience.attempts:
                raise before from None
            run.patience.wait(attempt - 1, error.after)


def _append(run: _Run, url: str) -> bool:
    """Add what is missing from a mirror; tells whether there was something before.

    Raises:
        SourceError: the mirror fails, or has a file of another size.
        RegistryError: A012.
    """
    known, have = run.wanted.bytes, os.fstat(run.file.fileno()).st_size
    if known is not None and have == known:
        return True
    if have > (known or have) or (run.wanted.sha256 or run.wanted.md5) is None:
        run.file.truncate(0)
        have = 0
    with opened(url, have, run.patience, run.options) as body:
        if body.start != have:
            run.file.truncate(body.start)
            have = body.start
        total = known if known is not None else body.total
        if known is not None and body.total not in {None, known}:
            what = f"it has {body.total} bytes, not {known}"
            raise SourceError(what)
        most = FILE_BYTES if total is None else total
        _check_room(run.target, (total or have) - have)
        end = _write(run, body, have, most)
        if total is not None and end < total:
            what = f"it ended after {end} of {total} bytes"
            raise SourceError(what, again=True)
    return have > 0


def _write(run: _Run, body: Body, have: int, most: int) -> int:
    """Write chunks; gives the size that the file has then."""
    for chunk in body.chunks:
        have += len(chunk)
        if have > most:
            run.file.truncate(0)
            raise SourceError(f"it has more than {most} bytes")
        try:
            _write_all(run.file, chunk)
        except OSError as error:
            if error.errno not in _FULL:
                raise
            run.file.truncate(0)
            raise RegistryError(_no_room(run.target, "the disk is full")) from None
        run.tell(f"{run.target.name}: {have} of {most} bytes")
    return have


def _write_all(file: IO[bytes], chunk: bytes) -> None:
    left = memoryview(chunk)
    while left:
        left = left[file.write(left) :]


def _checked(run: _Run, *, went_on: bool) -> tuple[int, str]:
    """Give the size and the digest of the file, if they are right.

    Args:
        run: whose file.
        went_on: whether its first bytes may be another mirror's or of another day.

    Raises:
        SourceError: they are not; nothing is kept.
    """
    sha256, md5, size = hashlib.sha256(), hashlib.md5(usedforsecurity=False), 0
    run.file.seek(0)
    while chunk := run.file.read(1 << 20):
        sha256.update(chunk)
        md5.update(chunk)
        size += len(chunk)
    wanted, digest = run.wanted, sha256.hexdigest()
    if digest != (wanted.sha256 or digest):
        what = f"its SHA-256 is {digest}, not {wanted.sha256}"
    elif md5.hexdigest() != (wanted.md5 or md5.hexdigest()):
        what = f"its MD5 is {md5.hexdigest()}, not {wanted.md5}"
    else:
        return size, digest
    run.file.truncate(0)
    raise SourceError(what, restart=went_on)


def _check_room(target: Path, needed: int) -> None:
    free = shutil.disk_usage(target.parent).free
    if needed > free:
        what = f"{needed} bytes are needed and {free} are free"
        raise RegistryError(_no_room(target, what))


def _no_room(target: Path, what: str) -> Any:
    return finding(A012, str(target.parent), f"{target.name}: {what}")


def _silent(_: str) -> None:
    """Say nothing."""
