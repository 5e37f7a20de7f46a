"""Duplicates: the same measurement again, as it is, with rows moved, or nearly so.

Only manifests are compared: their digests and row sketches. The gate recomputes both
from the tables before, so a manifest cannot hide a copy.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from registry.documents import limits
from registry.documents.findings import Severity, code, finding

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping

    from registry.documents.findings import Finding
    from registry.documents.manifest import FileEntry, Manifest

__all__ = ["FEWEST_SHARED", "check_duplicates", "measurements", "shared_rows"]

SAME_TABLE = code(
    "D001",
    Severity.ERROR,
    "A table is already in the registry under another name.",
    "Contribute a measurement once; a corrected one is a new version of its dataset.",
    "B12",
    "S6",
)
SAME_ROWS = code(
    "D002",
    Severity.ERROR,
    "A table has the rows of another one, perhaps in another order or at other times.",
    "Contribute a measurement once; a corrected one is a new version of its dataset.",
    "B12",
    "S6",
)
NEAR_COPY = code(
    "D003",
    Severity.WARNING,
    "More than half of a table's rows are in another dataset too.",
    "Say in the pull request how the two measurements are related.",
    "B12",
)

_MOST_SHARED: Final = 0.5
_FEWEST_ROWS: Final = 8
"""Distinct rows below which equality may be chance: a few loads in whole watts."""
FEWEST_SHARED: Final = int(_MOST_SHARED * _FEWEST_ROWS) + 1
"""Row digests that two sketches share at least, if one table may copy the other."""
_MOST_HOLDERS: Final = 64
"""Datasets remembered for one row digest, so that a common row costs no more."""
_TABLES: Final = ("samples.csv", "levels.csv")
"""Tables that hold measurements; plans of runs may well be equal."""


@dataclass(slots=True)
class _Index:
    """Where each digest and each row was seen, in the order of the datasets' names."""

    tables: dict[str, list[str]] = field(default_factory=dict)
    rows: dict[str, list[str]] = field(default_factory=dict)


def check_duplicates(
    manifests: Mapping[str, Manifest], candidates: Collection[str]
) -> list[Finding]:
    """Compare candidates with all datasets of a registry.

    The cost grows with the number of datasets, not with its square.

    Args:
        manifests: The manifest of every dataset, candidates included, by its id.
        candidates: Ids of the datasets to check. Of two candidates that are alike, the
            one that is later in the alphabet is named.

    """
    index = _Index()
    for dataset in sorted(manifests):
        entry = measurements(manifests[dataset])
        if entry is None:
            continue
        index.tables.setdefault(entry.sha256, []).append(dataset)
        for row in entry.sketch:
            holders = index.rows.setdefault(row, [])
            if len(holders) < _MOST_HOLDERS:
                holders.append(dataset)
    asked = set(candidates)
    return [
        found
        for dataset in sorted(asked & set(manifests))
        for found in _check(dataset, manifests, index, asked)
    ]


def shared_rows(first: tuple[str, ...], second: tuple[str, ...]) -> float:
    """Estimate the share of the smaller table's rows that the other one has too.

    A full sketch knows all row digests up to its largest one; only there can the two
    be compared.

    Args:
        first: Sketch of one table (see ``registry.documents.sketch``), sorted.
        second: Sketch of the other.

    Returns:
        0 to 1; 0 if too few rows can be compared.

    """
    edge = min(
        (sketch[-1] for sketch in (first, second) if len(sketch) >= limits.SKETCH),
        default=None,
    )
    left, right = (
        {row for row in sketch if edge is None or row <= edge}
        for sketch in (first, second)
    )
    fewest = min(len(left), len(right))
    return len(left & right) / fewest if fewest >= _FEWEST_ROWS else 0.0


def _check(
    dataset: str,
    manifests: Mapping[str, Manifest],
    index: _Index,
    asked: Collection[str],
) -> Iterator[Finding]:
    entry = measurements(manifests[dataset])
    if entry is None:
        return
    path = f"datasets/{dataset}/{entry.path}"
    told = set()
    for other in index.tables[entry.sha256]:
        if _is_elder(other, dataset, asked):
            told.add(other)
            what = f"the same bytes are in {_described(other, manifests, dataset)}"
            yield finding(SAME_TABLE, path, what)
    for other in _alike(entry, index):
        if other in told or not _is_elder(other, dataset, asked):
            continue
        twin = measurements(manifests[other])
        if twin is None:
            continue
        described = _described(other, manifests, dataset)
        enough = len(entry.sketch) >= _FEWEST_ROWS
        if enough and twin.sketch == entry.sketch and twin.rows == entry.rows:
            whole = len(entry.sketch) < limits.SKETCH
            which = "the rows" if whole else "all sampled rows"
            yield finding(SAME_ROWS, path, f"{which} are those of {described}")
            continue
        share = shared_rows(entry.sketch, twin.sketch)
        if share > _MOST_SHARED:
            what = f"about {share:.0%} of the rows are in {described}"
            yield finding(NEAR_COPY, path, what)


def _alike(entry: FileEntry, index: _Index) -> list[str]:
    """Return the datasets with enough rows in common to be looked at, sorted."""
    hits = Counter(other for row in entry.sketch for other in index.rows.get(row, ()))
    return sorted(other for other, count in hits.items() if count >= FEWEST_SHARED)


def _is_elder(other: str, dataset: str, asked: Collection[str]) -> bool:
    """Tell whether another dataset is the one that was there before."""
    return other != dataset and (other not in asked or other < dataset)


def _described(other: str, manifests: Mapping[str, Manifest], dataset: str) -> str:
    same = manifests[other].contributor == manifests[dataset].contributor
    whose = "" if same else ", of another contributor"
    return f"datasets/{other}{whose}"


def measurements(manifest: Manifest) -> FileEntry | None:
    """The entry of the table that holds a bundle's measurements."""
    return next((entry for entry in manifest.files if entry.path in _TABLES), None)
