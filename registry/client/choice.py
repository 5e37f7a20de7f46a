"""Which model fits a server: its own class's if there is one, else the generic one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from registry.documents.classkey import GENERIC, class_key
from registry.documents.findings import RegistryError, Severity, code, finding
from registry.documents.spec import read_spec
from registry.modelling.model import LINEAR, TREES, parse_id

if TYPE_CHECKING:
    from pathlib import Path

    from registry.publish.index import ClassEntry, Index, ModelEntry

__all__ = ["Server", "choose", "server_by_number", "server_by_spec"]

NO_CLASS = code(
    "R050",
    Severity.ERROR,
    "A release has no class of this number.",
    "Choose a class of the release's node_type_index.json; 0 is the generic one.",
)
NO_MODEL = code(
    "R051",
    Severity.ERROR,
    "A release has no model for this use, not even a generic one.",
    "Choose another `--source` or `--output`; RELEASE_NOTES.md of the release lists "
    "all models.",
)
NO_SPEC = code(
    "R052",
    Severity.ERROR,
    "A hardware spec cannot be read.",
    "Name a file of the form that `registry schema` prints.",
)

_SPEC_BYTES = 64 * 1024


@dataclass(frozen=True, slots=True)
class Server:
    """The server that a model is wanted for.

    Attributes:
        key: The class that its spec gives, or that was asked for.
        entry: That class in the release; the generic one if it was never measured.
        logical_cpus: Logical processors; None if unknown.
    """

    key: str
    entry: ClassEntry
    logical_cpus: int | None

    @property
    def measured(self) -> bool:
        """Whether the release has data of this very class."""
        return self.entry.key == self.key


def server_by_spec(index: Index, path: Path) -> Server:
    """Find the class of a server by its hardware spec.

    Raises:
        RegistryError: R052, or the spec's own Y and H codes.

    """
    try:
        with path.open("rb") as file:
            data = file.read(_SPEC_BYTES + 1)
    except OSError as error:
        raise RegistryError(finding(NO_SPEC, path.name, f"{error.strerror}")) from None
    spec = read_spec(data, path.name)
    reviewed = [e.key for e in index.classes if spec.machine in e.machines]
    # A reviewed class file may have moved this very machine; the index knows.
    key = next((k for k in reviewed if k != GENERIC), class_key(spec))
    entry = index.server_class(key)
    return Server(key, entry or _generic(index), spec.logical_cpus)


def server_by_number(index: Index, number: int) -> Server:
    """Find a class by Kepler's node type number.

    Raises:
        RegistryError: R050.

    """
    entry = next((e for e in index.classes if e.number == number), None)
    if entry is None:
        raise RegistryError(finding(NO_CLASS, "--class", f"there is no class {number}"))
    cores = None if entry.attributes is None else entry.attributes.cores
    return Server(entry.key, entry, cores)


def choose(
    index: Index, server: Server, source: str, output: str, *, estimator: bool
) -> ModelEntry:
    """Choose the best published model for a server.

    Of the class's models the one with the least held-out error counts, but one of the
    feature group BPFOnly wins: Kepler always has its features, also where a virtual
    machine has no hardware counters. Without a model of the class the generic one
    takes its place.

    Args:
        index: The release.
        server: The server.
        source: ``acpi`` or ``rapl-sysfs``.
        output: ``AbsPower`` or ``DynPower``.
        estimator: Whether Kepler's Python estimator evaluates it, which also takes
            trees; Kepler Go takes linear models only.

    Raises:
        RegistryError: R051.

    """
    trainers = (TREES, LINEAR) if estimator else (LINEAR,)
    for key in (server.entry.key, GENERIC):
        fitting = [
            model
            for model in index.models
            if model.status == "published"
            and model.class_key == key
            and model.id.startswith(f"{source}/{output}/")
            and parse_id(model.id).trainer in trainers
        ]
        if fitting:
            return min(fitting, key=_preference)
    kind = "linear or tree" if estimator else "linear"
    what = f"no {kind} model of {output} for source {source}"
    raise RegistryError(finding(NO_MODEL, "--from", what))


def _preference(model: ModelEntry) -> tuple[bool, float, str]:
    return parse_id(model.id).group != "BPFOnly", model.error.mae, model.id


def _generic(index: Index) -> ClassEntry:
    entry = index.server_class(GENERIC)
    if entry is None:
        what = "the release is empty"
        raise RegistryError(finding(NO_MODEL, "--from", what))
    return entry
