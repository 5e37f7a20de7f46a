"""Finds SPECpower_ssj2008 results where a user points: pages, folders, CSV pairs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from registry.documents.findings import RegistryError
from tools.importers.disclosure import Disclosure, result_id, unreadable
from tools.importers.specpower_csv import read_csv
from tools.importers.specpower_text import read_text

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

    from registry.documents.findings import Finding

__all__ = ["Found", "chosen", "read_ids", "read_sources"]

Found = Disclosure | tuple[str, tuple["Finding", ...]]
"""A result, or the id and the findings of one that cannot be used."""

_RESULTS: Final = "specpower_results.csv"
_LEVELS: Final = "specpower_levels.csv"
_PAGES: Final = "power_ssj2008-*.txt"


def read_ids(text: str, path: str) -> tuple[str, ...]:
    """Read a list of result ids, one a line; ``#`` begins a remark.

    Raises:
        RegistryError: L011, a line is no id or an id stands there twice.

    """
    ids: list[str] = []
    for line in text.splitlines():
        word = line.partition("#")[0].strip()
        if not word:
            continue
        id_ = result_id(word, path)
        if id_ in ids:
            raise unreadable(path, f"{id_} stands there twice")
        ids.append(id_)
    return tuple(ids)


def read_sources(
    paths: Iterable[Path], wanted: frozenset[str] = frozenset()
) -> Iterator[Found]:
    """Read all results of the given files and folders.

    Args:
        paths: SPEC's text pages, folders of them, ``specpower_results.csv`` with
            ``specpower_levels.csv`` beside it, or the folder of that pair.
        wanted: Ids to read; all if empty. Pages of others are not opened.

    Raises:
        RegistryError: L011, there is nothing of the kind.
        OSError: A file cannot be read.

    """
    for path in paths:
        pages = sorted(path.glob(_PAGES)) if path.is_dir() else []
        if (path / _RESULTS).is_file():
            yield from _pair(path / _RESULTS, wanted)
        elif path.suffix == ".csv":
            yield from _pair(path, wanted)
        elif pages or path.is_file():
            for page in pages or [path]:
                yield from _page(page, wanted)
        else:
            what = f"neither {_PAGES} nor {_RESULTS} is there"
            raise unreadable(str(path), what)


def chosen(
    found: Iterable[Found], wanted: tuple[str, ...]
) -> tuple[list[Disclosure], list[Finding]]:
    """Return the results that are wanted, in that order, and what is wrong with others.

    A result that several sources hold is taken from the first.

    Raises:
        RegistryError: L011, a wanted result is nowhere.

    """
    results: dict[str, Disclosure] = {}
    problems: dict[str, tuple[Finding, ...]] = {}
    for one in found:
        if isinstance(one, Disclosure):
            results.setdefault(one.id, one)
        else:
            problems.setdefault(one[0], one[1])
    absent = [id_ for id_ in wanted if id_ not in results and id_ not in problems]
    if absent:
        raise unreadable("-", f"no source has {', '.join(absent)}")
    names = wanted or tuple(results)
    bad = {name: list(found) for name, found in problems.items() if name not in results}
    listed = [id_ for id_ in bad if not wanted or id_ in wanted]
    return (
        [results[id_] for id_ in names if id_ in results],
        [problem for id_ in listed for problem in bad[id_]],
    )


def _pair(path: Path, wanted: frozenset[str]) -> Iterator[Found]:
    levels = path.with_name(_LEVELS)
    for id_, result in read_csv(path.read_bytes(), levels.read_bytes(), path.name):
        if not wanted or id_ in wanted:
            yield result if isinstance(result, Disclosure) else (id_, result)


def _page(path: Path, wanted: frozenset[str]) -> Iterator[Found]:
    try:
        id_ = result_id(path.stem, path.name)
    except RegistryError as error:
        yield path.name, error.findings
        return
    if wanted and id_ not in wanted:
        return
    try:
        yield read_text(path.read_bytes(), path.name)
    except RegistryError as error:
        yield id_, error.findings
