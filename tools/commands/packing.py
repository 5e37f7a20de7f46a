"""From answers on the command line to a bundle that a person has looked over."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final, Literal

from registry.documents import limits
from registry.documents.findings import RegistryError, Severity, code, finding
from registry.documents.manifest import CODES, Days, Source, read_manifest
from registry.documents.names import is_name
from registry.documents.spec import read_spec
from registry.documents.strict_csv import read_table
from registry.documents.validation import validate
from registry.gate.privacy import check_texts, manifest_texts, spec_texts
from tools.bundles.draft import Draft, files
from tools.bundles.identities import local_identities
from tools.bundles.pack import merged_version, place
from tools.bundles.review import check_leaks, review

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping
    from pathlib import Path

    import polars as pl

    from registry.documents.findings import Finding
    from registry.documents.spec import HardwareSpec
    from tools.bundles.draft import Licence, OwnWorkloads
    from tools.importers.kepler_query import Imported

__all__ = [
    "Answers",
    "Derived",
    "folder_draft",
    "imported_draft",
    "next_version",
    "origin",
    "publish",
    "read_bounded",
    "spec_of",
]

Derived = Literal["rates", "means"] | None

NO_TABLES = code(
    "L030",
    Severity.ERROR,
    "A folder does not hold the tables of a bundle, and nothing else.",
    "Give a folder with runs.csv and either samples.csv or levels.csv.",
    "B7",
)
NO_NAME = code(
    "L031",
    Severity.ERROR,
    "A dataset cannot have this name.",
    "Use lower-case letters, digits, dot, dash and underscore, and begin with a letter"
    " or digit.",
    "B1",
)
TOO_LARGE = code(
    "L032",
    Severity.ERROR,
    "A file is larger than the kit reads.",
    "Split the recording into several datasets.",
    "B6",
)
SOURCE = code(
    "L033",
    Severity.ERROR,
    "The source of published data is not named completely.",
    "Give `--source`, `--source-id` and `--source-published` together.",
)

_SETS: Final = ({"runs.csv", "samples.csv"}, {"levels.csv", "runs.csv"})


@dataclass(frozen=True, slots=True)
class Answers:
    """What the contributor says about a bundle.

    Attributes:
        dataset: The id of the dataset.
        contributor: The numeric id of the account that will sign.
        licence: The terms of publication.
        own_workloads: What was done with workloads of the contributor's own.
        source: Where published data was taken from, or None.

    """

    dataset: str
    contributor: int
    licence: Licence
    own_workloads: OwnWorkloads
    source: Source | None = None


def origin(kind: str | None, id_: str | None, day: str | None) -> Source | None:
    """Return the source of published data, or None if none is named.

    Raises:
        RegistryError: L033, M003.

    """
    parts = {"kind": kind, "id": id_, "published": day}
    missing = [name for name, value in parts.items() if value is None]
    if len(missing) == len(parts):
        return None
    if missing:
        what = f"without its {' and '.join(missing)}"
        raise RegistryError(finding(SOURCE, "--source", what))
    return validate(Source, parts, "--source", CODES)


def read_bounded(path: Path, most: int = limits.FILE_BYTES) -> bytes:
    """Read a file that is not larger than it may be.

    Raises:
        RegistryError: L032.
        OSError: It cannot be read.

    """
    with path.open("rb") as file:
        data = file.read(most + 1)
    if len(data) > most:
        raise RegistryError(finding(TOO_LARGE, str(path), f"more than {most} bytes"))
    return data


def spec_of(path: Path) -> HardwareSpec:
    """Read the machine's spec from any file.

    Raises:
        RegistryError: L032, Y and H codes.
        OSError: It cannot be read.

    """
    return read_spec(read_bounded(path, 2 * limits.YAML_BYTES), str(path))


def folder_draft(
    folder: Path,
    spec: HardwareSpec,
    answers: Answers,
    days: tuple[str, str],
    derived: Derived,
) -> Draft:
    """Make a draft of the tables in a folder.

    Raises:
        RegistryError: L030 to L032, C and M codes.
        OSError: A file cannot be read.

    """
    names = {entry.name for entry in folder.iterdir()}
    if names not in _SETS:
        what = f"it holds {', '.join(sorted(names)[:8]) or 'nothing'}"
        raise RegistryError(finding(NO_TABLES, str(folder), what))
    tables: dict[str, pl.DataFrame] = {}
    problems: list[Finding] = []
    for name in sorted(names):
        table = name.removesuffix(".csv")
        try:
            data = read_bounded(folder / name, limits.FILE_BYTES)
            tables[table] = read_table(data, name, table)
        except RegistryError as error:
            problems += error.findings
    if problems:
        raise RegistryError(problems)
    return _draft(answers, spec, tables, days, derived, ())


def imported_draft(
    imported: Imported,
    spec: HardwareSpec,
    answers: Answers,
    derived: Derived = None,
) -> Draft:
    """Make a draft of an imported recording.

    Raises:
        RegistryError: L031, M codes.

    """
    days = (imported.first, imported.last)
    return _draft(answers, spec, imported.tables, days, derived, imported.notes)


def next_version(draft: Draft, root: Path) -> Draft:
    """Make the draft follow the version that the registry has.

    Raises:
        RegistryError: L054, or what is wrong with the present manifest.

    """
    version, digest = merged_version(root, draft.dataset)
    return replace(draft, version=version + 1, previous=digest)


def publish(
    draft: Draft,
    root: Path,
    not_names: Collection[str] = (),
    *,
    show: Callable[[str], None],
    confirm: Callable[[str], bool] | None,
    identities: Collection[str] | None = None,
) -> Path | None:
    """Show what would be public, ask, and write the bundle.

    Args:
        draft: The bundle.
        root: The registry's checkout.
        not_names: Words that name nobody, though this machine has them.
        show: Called with texts for the contributor.
        confirm: Asks; None if the texts were looked over already.
        identities: Names of this machine; by default collected here.

    Returns:
        The bundle's folder; None if the contributor said no.

    Raises:
        RegistryError: P codes, L050 to L053, and whatever makes it no bundle; then
            nothing is written.

    """
    content = files(draft)
    for note in draft.notes:
        show(f"note: {note}\n")
    show(review(content))
    _check_privacy(draft, content)
    names = local_identities() if identities is None else identities
    check_leaks(content, frozenset(names) - frozenset(not_names))
    if confirm is not None and not confirm("May all of this be public?"):
        return None
    return place(content, root, replace=draft.version > 1)


def _draft(
    answers: Answers,
    spec: HardwareSpec,
    tables: Mapping[str, pl.DataFrame],
    days: tuple[str, str],
    derived: Derived,
    notes: tuple[str, ...],
) -> Draft:
    if not is_name(answers.dataset):
        what = "the name is not allowed"
        raise RegistryError(finding(NO_NAME, answers.dataset, what))
    return Draft(
        dataset=answers.dataset,
        contributor=answers.contributor,
        spec=spec,
        tables=tables,
        measured=_days(*days),
        licence=answers.licence,
        own_workloads=answers.own_workloads,
        derived=derived,
        source=answers.source,
        notes=notes,
    )


def _days(first: str, last: str) -> Days:
    """The days of measurement; of one day, what is wrong is said once.

    Raises:
        RegistryError: M003, M004.
    """
    try:
        return validate(Days, {"from": first, "to": last}, "measured", CODES)
    except RegistryError as error:
        if first != last:
            raise
        raise RegistryError(error.findings[0]) from None


def _check_privacy(draft: Draft, content: Mapping[str, bytes]) -> None:
    """Say now what the gate would say of the texts."""
    path = f"{draft.folder}/manifest.json"
    manifest = read_manifest(content[path], path)
    found = [
        *check_texts(path, manifest_texts(manifest)),
        *check_texts(draft.spec_path, spec_texts(draft.spec)),
    ]
    if found:
        raise RegistryError(found)
