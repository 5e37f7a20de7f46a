"""Tells by its content which tool wrote a recording."""

from __future__ import annotations

from itertools import islice
from pathlib import Path
from typing import Final

from registry.documents.findings import RegistryError, finding, shown
from tools.traces.forms import Source
from tools.traces.imports.databases import NOT_READ, Database, is_database
from tools.traces.imports.loadgen import PREFIX
from tools.traces.imports.normalising import as_object
from tools.traces.reading import Found, events

__all__ = ["detected", "is_detail_log", "of_tables"]


_TABLES: Final = {"StringIds": Source.NSYS, "StringTable": Source.NVPROF}
_REPORTS: Final = frozenset({".nsys-rep", ".qdrep"})
_LOOKED_AT: Final = 2000
"""Events that are looked at before the whole file is."""
_TORCH_CATEGORIES: Final = frozenset({"cpu_op", "cuda_runtime", "user_annotation"})
_TORCH_KEYS: Final = frozenset({"schemaVersion", "deviceProperties", "distributedInfo"})
_LOADGEN_NAMES: Final = frozenset({"GenerateLoadableSets", "LoadGen", "IssueQuery"})


def detected(path: Path) -> Source:
    """Which tool wrote a file.

    Raises:
        RegistryError: V050: none that is known; V001 to V004 if it is no trace either.
    """
    if path.suffix in _REPORTS and not is_database(path):
        what = "it is a report of nsys: `nsys export --type sqlite` makes what is read"
        raise RegistryError([finding(NOT_READ, str(path), what)])
    if is_database(path):
        with Database(path) as database:
            return of_tables(database)
    if is_detail_log(path):
        return Source.LOADGEN
    found = Found()
    read = events(path, found)
    source = _of_events(list(islice(read, _LOOKED_AT)))
    if source is None:
        for _ in read:  # other keys may stand behind the events
            pass
        source = _of_metadata(found.metadata)
    if source is None:
        what = "it is a Chrome trace, but of none of the tools; it may need no import"
        raise RegistryError([finding(NOT_READ, str(path), what)])
    return source


def is_detail_log(path: Path) -> bool:
    """Whether a file begins as LoadGen's detail log does."""
    with path.open("rb") as file:
        return PREFIX in file.read(4096)


def of_tables(database: Database) -> Source:
    """Which tool wrote a database.

    Raises:
        RegistryError: V050: none that is known.
    """
    for table, source in _TABLES.items():
        if table in database.names:
            return source
    names = ", ".join(shown(name) for name in sorted(database.names)[:5])
    what = f"its tables are neither nvprof's nor nsys's: {names or 'it has none'}"
    raise RegistryError([finding(NOT_READ, str(database.path), what)])


def _of_events(first: list[dict[str, object]]) -> Source | None:
    categories = {one.get("cat") for one in first if isinstance(one.get("cat"), str)}
    names = {one.get("name") for one in first if isinstance(one.get("name"), str)}
    if "py-spy" in categories:
        return Source.PYSPY
    if categories & _TORCH_CATEGORIES:
        return Source.TORCH
    return Source.LOADGEN if names & _LOADGEN_NAMES else None


def _of_metadata(metadata: dict[str, object]) -> Source | None:
    if "viztracer_metadata" in metadata:
        return Source.VIZTRACER
    if metadata.keys() & _TORCH_KEYS:
        return Source.TORCH
    version = str(as_object(metadata.get("otherData")).get("version", ""))
    return Source.LOADGEN if "LoadGen" in version[:100] else None
