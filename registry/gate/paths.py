"""Where a contribution's files may lie, how they may be named and how large they are.

One rule for names holds for the whole registry; it is checked on the listing, before
anything is opened (threat-model.md B1 to B4, B6).
"""

from __future__ import annotations

import re
import unicodedata
from typing import TYPE_CHECKING

from registry.documents import limits
from registry.documents.findings import Severity, code, finding
from registry.documents.names import path_problem
from registry.gate.tree import (
    DATASETS,
    EXECUTABLE,
    LINK,
    REGULAR,
    ROOTS,
    SPECS,
    SUBMODULE,
    TOO_LARGE,
    TRUST,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from registry.documents.findings import Finding
    from registry.gate.tree import Entry

__all__ = [
    "MAINTAINERS",
    "MANIFEST",
    "PAGES",
    "SIGNATURE",
    "WITHDRAWN",
    "check_bundle_size",
    "check_collisions",
    "check_entry",
    "contribution",
    "dataset_of",
]

MANIFEST = "manifest.json"
SIGNATURE = "manifest.json.sig"
WITHDRAWN = "WITHDRAWN.yaml"
MAINTAINERS = f"{TRUST}maintainers.yaml"
PAGES = frozenset(f"{root}README.md" for root in ROOTS)
"""Pages of the registry itself that lie among contributions; they are code."""

NAME = code(
    "T010",
    Severity.ERROR,
    "A file or folder has a name that is not allowed.",
    "Use lower-case letters, digits, dot, dash and underscore only.",
    "B1",
    "B3",
    "B4",
    "W4",
)
KIND = code(
    "T011",
    Severity.ERROR,
    "Something is no ordinary file.",
    "Commit plain files only: no links, submodules or executable bits "
    "(`git update-index --chmod=-x`).",
    "B2",
)
COLLISION = code(
    "T012",
    Severity.ERROR,
    "Two names differ only in case or in how characters are composed.",
    "Rename one of the two.",
    "B4",
)
PLACE = code(
    "T013",
    Severity.ERROR,
    "A file lies where no such file belongs.",
    "A bundle's files are datasets/<dataset>/*, its spec is specs/<machine>.yaml, "
    "keys are registry/trust/<id>.yaml, maintainers registry/trust/maintainers.yaml.",
    "B1",
    "B7",
)
MANY = code(
    "T014",
    Severity.ERROR,
    "A bundle has too many files or is too large.",
    "Split the recording into several datasets, or record fewer samples a second.",
    "B6",
)

_TRUST_NAME = re.compile(r"(?:0|[1-9][0-9]{0,15})\.yaml")
_OWN_SPECS = re.compile(r"specs/(?:schema\.json|(?:classes|decisions)/.+)")
_KINDS = {
    EXECUTABLE: "an executable file",
    LINK: "a symbolic link",
    SUBMODULE: "a submodule or nested repository",
}
_BOUNDS = (
    (re.compile(r".*\.json\.sig"), limits.SIGNATURE_BYTES),
    (re.compile(r".*\.json"), limits.JSON_BYTES),
    (re.compile(r".*\.yaml"), limits.YAML_BYTES),
)


def contribution(path: str) -> bool:
    """Whether a path is a contributor's to write, as opposed to the registry's own.

    A folder that only some file systems tell from one of ours is judged as ours.
    """
    like = _folded(path)
    inside = any(like.startswith(root) or root.startswith(like + "/") for root in ROOTS)
    return inside and path not in PAGES and not _OWN_SPECS.fullmatch(path)


def dataset_of(path: str) -> str | None:
    """The dataset whose folder a path lies in, or None."""
    if not path.startswith(DATASETS):
        return None
    dataset, slash, _ = path.removeprefix(DATASETS).partition("/")
    return dataset if slash else None


def check_entry(entry: Entry) -> list[Finding]:
    """Everything that the listing alone shows to be wrong with one file."""
    found: list[Finding] = []
    path = entry.path
    folder, slash, name = path.rpartition("/")
    withdrawn = name == WITHDRAWN and dataset_of(path) is not None
    problem = path_problem(folder + slash + "withdrawn" if withdrawn else path)
    if problem is not None:
        found.append(finding(NAME, path, problem))
    elif not _in_place(path):
        found.append(finding(PLACE, path, "no file of this name belongs here"))
    if entry.mode != REGULAR:
        kind = _KINDS.get(entry.mode, "a pipe, socket or device")
        found.append(finding(KIND, path, f"it is {kind}"))
    most = next((most for like, most in _BOUNDS if like.fullmatch(path)), None)
    if entry.size > (most or limits.FILE_BYTES):
        what = f"{entry.size} bytes; at most {most or limits.FILE_BYTES}"
        found.append(finding(TOO_LARGE, path, what))
    return found


def check_bundle_size(dataset: str, entries: Sequence[Entry]) -> list[Finding]:
    """Whether a bundle's files are few and small enough together."""
    found: list[Finding] = []
    folder = DATASETS + dataset
    if len(entries) > limits.BUNDLE_FILES:
        what = f"{len(entries)} files; at most {limits.BUNDLE_FILES}"
        found.append(finding(MANY, folder, what))
    size = sum(entry.size for entry in entries)
    if size > limits.BUNDLE_BYTES:
        found.append(
            finding(MANY, folder, f"{size} bytes; at most {limits.BUNDLE_BYTES}")
        )
    return found


def check_collisions(
    paths: Iterable[str], present: Iterable[str] = ()
) -> list[Finding]:
    """Whether any path, or a folder on its way, collides with another.

    Args:
        paths: the paths to judge.
        present: paths that were there before, which are not blamed.
    """
    taken: dict[str, str] = {}
    folders: set[str] = set()
    for path in present:
        folder = path.rpartition("/")[0]
        for part in (path,) if folder in folders else _parts(path):
            taken.setdefault(_folded(part), part)
        folders.add(folder)
    found: list[Finding] = []
    for path in sorted(paths):
        for part in _parts(path):
            other = taken.setdefault(_folded(part), part)
            if other != part:
                what = f"it collides with {other} where case does not count"
                found.append(finding(COLLISION, path, what))
                break
    return found


def _parts(path: str) -> Iterable[str]:
    at = path.find("/")
    while at != -1:
        yield path[:at]
        at = path.find("/", at + 1)
    yield path


def _folded(path: str) -> str:
    if path.isascii():
        return path.lower()
    return unicodedata.normalize("NFKC", path).casefold()


def _in_place(path: str) -> bool:
    folder, _, name = path.rpartition("/")
    if path == MAINTAINERS:
        return True
    if path.startswith(TRUST):
        return folder + "/" == TRUST and _TRUST_NAME.fullmatch(name) is not None
    if path.startswith(SPECS):
        return folder + "/" == SPECS and name.endswith(".yaml")
    return path.startswith(DATASETS) and path.count("/") == 2
