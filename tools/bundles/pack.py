"""Writes a bundle into a registry's checkout: all of it, or nothing."""

from __future__ import annotations

import os
import shutil
import tempfile
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Final

from registry.documents.canonical import sha256
from registry.documents.findings import RegistryError, Severity, code, finding
from registry.documents.manifest import read_manifest
from registry.documents.spec import read_spec

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
from tools.files.writing import whole

__all__ = ["merged_version", "place", "write_file"]

EXISTS = code(
    "L052",
    Severity.ERROR,
    "A dataset of this name is already there; it was not touched.",
    "Choose another name, or make its next version with `--new-version`.",
)
OTHER_SPEC = code(
    "L053",
    Severity.ERROR,
    "A different spec of this machine is already there; it was not touched.",
    "Use the spec as it is, or give the changed machine another name.",
    "S12",
)
NO_VERSION = code(
    "L054",
    Severity.ERROR,
    "There is no earlier version of the dataset.",
    "Leave `--new-version` out, or give the registry that has the dataset.",
    "S4",
)

_FILE_MODE: Final = 0o644
_FOLDER_MODE: Final = 0o755


def merged_version(root: Path, dataset: str) -> tuple[int, str]:
    """Return the version of a dataset in a checkout, and the digest of its manifest.

    Raises:
        RegistryError: L054, or what is wrong with the manifest.

    """
    path = f"datasets/{dataset}/manifest.json"
    try:
        data = (root / path).read_bytes()
    except FileNotFoundError:
        raise RegistryError(finding(NO_VERSION, path, "no such file")) from None
    return read_manifest(data, path).version, sha256(data)


def place(files: Mapping[str, bytes], root: Path, *, replace: bool = False) -> Path:
    """Write the files of one bundle and its spec.

    The folder appears complete by a rename, or not at all. Nothing that exists is
    overwritten, but the dataset's earlier version if ``replace`` says so, and a spec
    that says the same in other bytes.

    Args:
        files: Content by path in the registry, as ``draft.files`` gives it.
        root: The registry's checkout, or any other folder.
        replace: Whether the dataset's folder is there and gives way.

    Returns:
        The bundle's folder.

    Raises:
        RegistryError: L052, L053.
        OSError: The disk is full, or something may not be written.

    """
    spec_path = next(path for path in files if path.startswith("specs/"))
    inside = {path: data for path, data in files.items() if path != spec_path}
    folder = root / Path(next(iter(inside))).parent
    if not replace and os.path.lexists(folder):
        what = "the folder exists"
        raise RegistryError(finding(EXISTS, _shown(folder, root), what))
    with (
        _spec(root, spec_path, files[spec_path], folder.name),
        _staged(folder) as stage,
    ):
        for path, data in inside.items():
            _write_new(stage / Path(path).name, data)
        _swap(stage, folder)
    return folder


def write_file(path: Path, data: bytes) -> None:
    """Write or replace one file by a rename, so that nobody ever sees half of it."""
    with whole(path) as part:
        _write_new(part, data)


def _shown(path: Path, root: Path) -> str:
    return path.relative_to(root).as_posix()


@contextmanager
def _spec(root: Path, path: str, data: bytes, dataset: str) -> Iterator[None]:
    """Have the spec in place, and as it was if the bundle could not be written.

    A spec that somebody wrote by hand gives way to its canonical form, unless another
    bundle was signed with the very bytes.
    """
    file = root / path
    file.parent.mkdir(parents=True, exist_ok=True)
    before = file.read_bytes() if os.path.lexists(file) else None
    if before is not None and before != data:
        if not _same_machine(before, data, path):
            what = "it describes the machine in another way"
            raise RegistryError(finding(OTHER_SPEC, path, what))
        users = sorted(set(_users(root, path)) - {dataset})
        if users:
            what = f"{', '.join(users[:5])} was signed with it in another form"
            raise RegistryError(finding(OTHER_SPEC, path, what))
    if before != data:
        write_file(file, data)
    try:
        yield
    except BaseException:
        if before is None:
            file.unlink(missing_ok=True)
        elif before != data:
            write_file(file, before)
        raise


def _same_machine(before: bytes, data: bytes, path: str) -> bool:
    try:
        return read_spec(before, path) == read_spec(data, path)
    except RegistryError:
        return False


def _users(root: Path, spec: str) -> Iterator[str]:
    """Name the datasets of a checkout whose manifests name a spec."""
    for file in (root / "datasets").glob("*/manifest.json"):
        try:
            manifest = read_manifest(file.read_bytes(), _shown(file, root))
        except (OSError, RegistryError):
            continue  # not this bundle's business
        if manifest.spec.path == spec:
            yield file.parent.name


@contextmanager
def _staged(folder: Path) -> Iterator[Path]:
    """Give an empty folder beside the future one, and leave none behind."""
    folder.parent.mkdir(parents=True, exist_ok=True)
    stage = Path(tempfile.mkdtemp(prefix=".pack-", dir=folder.parent))
    stage.chmod(_FOLDER_MODE)
    try:
        yield stage
    finally:
        shutil.rmtree(stage, ignore_errors=True)


def _swap(stage: Path, folder: Path) -> None:
    """Put the new folder where an old one may be, which comes back on failure."""
    if not folder.exists():
        stage.rename(folder)
        return
    old = Path(tempfile.mkdtemp(prefix=".old-", dir=folder.parent))
    folder.rename(old / folder.name)
    try:
        stage.rename(folder)
    except BaseException:
        (old / folder.name).rename(folder)
        raise
    finally:
        shutil.rmtree(old, ignore_errors=True)


def _write_new(path: Path, data: bytes) -> None:
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW
    with os.fdopen(os.open(path, flags, _FILE_MODE), "wb") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())
        os.fchmod(file.fileno(), _FILE_MODE)
