"""Where runs go, and what may be deleted there: only what is recognised as ours.

    <profile_output_directory>/<host label>/<profile_output or YYYY-MM-DD-HH>/<run id>/

A folder of runs holds a marker. Without it nothing is deleted, and neither is anything
that a symbolic link leads to or that no run can have left.
"""

from __future__ import annotations

import os
import re
import secrets
from collections.abc import Iterator
from datetime import UTC, datetime
from enum import StrEnum
from pathlib import Path
from typing import Final

from registry.documents.findings import (
    Finding,
    RegistryError,
    Severity,
    code,
    finding,
    shown,
)
from tools.experiments.files import read_document, write_document
from tools.experiments.occupancy import is_in_use
from tools.experiments.record import RECORD

__all__ = [
    "MARKER",
    "Reuse",
    "experiment_folder",
    "foreign",
    "free_name",
    "host_label",
    "is_marked",
    "new_run_id",
    "open_folder",
    "output_name",
    "remove_ours",
]

MARKER: Final = "powerkit-experiment.json"
"""The file that says that a folder of runs is ours."""
_SCHEMA: Final = "experiment-folder/1"
_RUN_ID: Final = re.compile(r"\d{8}T\d{6}Z-[0-9a-f]{12}")
_SEGMENT: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9._+-]{0,99}")
_RUN_FILES: Final = re.compile(
    r"(?:\.?(?:run|result)\.json(?:(?:\.[0-9a-f]{8})?\.part)?|stdout|stderr"
    r"|\.?(?:trace\.json(?:\.gz)?|samples\.csv)(?:[.-][A-Za-z0-9_-]{1,40}){0,2})"
)
_OWN_FILES: Final = re.compile(
    r"\.?(?:powerkit-experiment\.json|row\.json|matrix\.(?:json|lock)"
    r"|(?:comparison|service-trace)(?:-\d{1,6})?\.json"
    r"|plan(?:-\d{1,6})?\.jsonl|service(?:-\d{1,6})?\.log(?:\.1)?"
    r"|(?:combined|compared)[A-Za-z0-9._+-]{0,200}\.json(?:\.gz)?)"
    r"(?:(?:\.[0-9a-f]{8})?\.part)?"
)
_DEPTH: Final = 4

NAME = code(
    "B010",
    Severity.ERROR,
    "The name of an output folder is not one that stays below the folder of results.",
    "Use up to four names of letters, digits, dot, dash, plus and underscore, joined by"
    " slashes.",
)
EXISTS = code(
    "B011",
    Severity.ERROR,
    "An output folder holds results already.",
    "Give another --profile-output, --append to add runs, or --profile-output-overwrite"
    " to delete the old ones.",
)
FOREIGN = code(
    "B012",
    Severity.ERROR,
    "An output folder holds what is not ours, so nothing in it is deleted.",
    "Look at it, and delete it by hand if it may go.",
)
LINK = code(
    "B013",
    Severity.ERROR,
    "The way to an output folder leads through a symbolic link or a file.",
    "Give the folder that it points to as profile_output_directory.",
)


BUSY = code(
    "B014",
    Severity.ERROR,
    "Runs are being made in an output folder, so nothing in it is deleted.",
    "Wait for their end, or give another --profile-output.",
)


class Reuse(StrEnum):
    """What to do with a folder that holds runs already."""

    REFUSE = "refuse"
    APPEND = "append"
    OVERWRITE = "overwrite"


def host_label(name: str) -> str:
    """Make a folder's name of a host's name, which never enters a record."""
    label = re.sub(r"[^A-Za-z0-9._+-]", "-", name.partition(".")[0]).strip("-._+")
    return label[:100] or "host"


def output_name(text: str, *, shown_as: str = "--profile-output") -> Path:
    """Check the name of an output folder.

    Args:
        text: names joined by slashes.
        shown_as: where it was given, for findings.

    Raises:
        RegistryError: B010.
    """
    parts = text.split("/")
    odd = [one for one in parts if not _SEGMENT.fullmatch(one) or one.endswith(".")]
    if odd or len(parts) > _DEPTH:
        what = f'"{shown(text)}" is absolute, too deep or has an odd name in it'
        raise RegistryError(finding(NAME, shown_as, what))
    return Path(*parts)


def experiment_folder(
    base: Path, label: str, name: str | None, now: datetime | None = None
) -> Path:
    """Return where an experiment's runs go.

    Args:
        base: the folder of all results; links on the way to it are the user's own.
        label: the host's.
        name: the output's name, or None for the hour, as YYYY-MM-DD-HH in local time.
        now: the time; the clock's if None.

    Raises:
        RegistryError: B010.
    """
    moment = datetime.now().astimezone() if now is None else now
    part = output_name(name) if name else Path(moment.strftime("%Y-%m-%d-%H"))
    return base.expanduser().resolve() / label / part


def new_run_id(now: datetime | None = None) -> str:
    """Return a new name of a run: names sort by the second in which they were made."""
    moment = (now or datetime.now(UTC)).astimezone(UTC)
    return f"{moment:%Y%m%dT%H%M%SZ}-{secrets.token_hex(6)}"


def free_name(folder: Path, name: str) -> Path:
    """Return where a file goes beside those that earlier experiments left.

    Args:
        folder: the folder.
        name: the file's name; if it is taken, a number is put before its endings.
    """
    stem, dot, endings = name.partition(".")
    path, number = folder / name, 2
    while os.path.lexists(path):
        path, number = folder / f"{stem}-{number}{dot}{endings}", number + 1
    return path


def open_folder(
    folder: Path, base: Path, reuse: Reuse, about: dict[str, str] | None = None
) -> None:
    """Make a folder for runs, or take one that is there.

    Args:
        folder: the folder, below ``base``.
        base: the folder of all results; below it no symbolic link is followed.
        reuse: what to do where runs lie already: refuse, add or delete.
        about: name and description, kept in the marker.

    Raises:
        RegistryError: B011 to B014; nothing was changed then.
    """
    _refuse_links(folder, base.expanduser().resolve())
    if folder.is_dir() and any(folder.iterdir()):
        if reuse == Reuse.REFUSE:
            raise RegistryError(finding(EXISTS, str(folder), "it is not empty"))
        if reuse == Reuse.OVERWRITE:
            remove_ours(folder)
        elif not is_marked(folder):
            what = f"{MARKER} is missing, so nothing is added"
            raise RegistryError(finding(FOREIGN, str(folder), what))
    folder.mkdir(parents=True, exist_ok=True)
    if not is_marked(folder):
        write_document(folder / MARKER, {"schema": _SCHEMA, **(about or {})})


def is_marked(folder: Path) -> bool:
    """Whether a folder is one of ours."""
    marker = folder / MARKER
    if marker.is_symlink() or not marker.is_file():
        return False
    try:
        return read_document(marker, 65_536).get("schema") == _SCHEMA
    except RegistryError:
        return False


def foreign(folder: Path) -> list[Finding]:
    """Return what keeps a folder from being deleted; nothing for one that is empty."""
    return _looked_through(folder)[2][:20]


def _looked_through(folder: Path) -> tuple[list[Path], list[Path], list[Finding]]:
    """Return the files and folders that are ours, and findings on all else."""
    if folder.is_symlink() or not folder.is_dir():
        return [], [], [finding(LINK, str(folder), "it is no folder")]
    if not any(folder.iterdir()):
        return [], [folder], []
    files: list[Path] = []
    folders: list[Path] = []
    return files, folders, list(_inventory(folder, files, folders, _DEPTH))


def remove_ours(folder: Path) -> None:
    """Delete a folder of runs with all that is in it, if all of it is ours.

    Everything is looked at before anything is deleted; each file is deleted by its
    name, and a folder only when it is empty.

    Raises:
        RegistryError: B012 to B014; nothing was deleted then.
    """
    files, folders, found = _looked_through(folder)
    if found:
        raise RegistryError(found[:20])
    for path in files:
        if path.name != MARKER:
            path.unlink()
    for path in reversed(folders):
        # A marker goes last: what an interruption leaves is still known as ours.
        (path / MARKER).unlink(missing_ok=True)
        path.rmdir()


def _inventory(
    folder: Path, files: list[Path], folders: list[Path], depth: int
) -> Iterator[Finding]:
    """Collect what a folder of runs holds; yield what is not ours."""
    if not is_marked(folder):
        yield finding(FOREIGN, str(folder), f"{MARKER} is missing")
        return
    if is_in_use(folder):
        yield finding(BUSY, str(folder), "somebody uses it now")
        return
    folders.append(folder)
    for entry in _entries(folder):
        path = folder / entry.name
        if entry.is_file(follow_symlinks=False) and _OWN_FILES.fullmatch(entry.name):
            files.append(path)
        elif not entry.is_dir(follow_symlinks=False):
            yield finding(FOREIGN, str(path), "no run left a file of this name")
        elif _RUN_ID.fullmatch(entry.name):
            folders.append(path)
            yield from _run_files(path, files)
        elif depth:
            yield from _inventory(path, files, folders, depth - 1)
        else:
            yield finding(FOREIGN, str(path), "it is nested too deeply")


def _run_files(folder: Path, files: list[Path]) -> Iterator[Finding]:
    known = _listed(folder)
    for entry in _entries(folder):
        plain = entry.is_file(follow_symlinks=False)
        if plain and (entry.name in known or _RUN_FILES.fullmatch(entry.name)):
            files.append(folder / entry.name)
        else:
            what = "the run did not leave a file of this name"
            yield finding(FOREIGN, str(folder / entry.name), what)


def _listed(folder: Path) -> frozenset[str]:
    """Names of the files that a run's record lists."""
    record = folder / RECORD
    if record.is_symlink() or not record.is_file():
        return frozenset()
    try:
        listed = read_document(record).get("files")
    except RegistryError:
        return frozenset()
    if not isinstance(listed, list):
        return frozenset()
    names = [one.get("path") for one in listed if isinstance(one, dict)]
    return frozenset(name for name in names if isinstance(name, str))


def _entries(folder: Path) -> list[os.DirEntry[str]]:
    with os.scandir(folder) as entries:
        return sorted(entries, key=lambda entry: entry.name)


def _refuse_links(folder: Path, base: Path) -> None:
    """Refuse a folder whose way below the base leads elsewhere."""
    place = base
    for part in folder.relative_to(base).parts:
        place /= part
        if place.is_symlink() or (place.exists() and not place.is_dir()):
            raise RegistryError(finding(LINK, str(place), "it is no folder"))
