"""The index of a release: what it holds, from which data, how good it is, and digests.

``read_index(data, "index.json")`` gives a document in which every model's files are
assets with a size and a digest, and every bundle behind it is named.
"""

from __future__ import annotations

from typing import Annotated, Any, Final, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from registry.documents.canonical import encode_numbers
from registry.documents.findings import RegistryError, Severity, code, finding
from registry.documents.names import NAME_PATTERN, REGISTRY
from registry.documents.strict_json import read_json
from registry.publish.kepler.node_types import Machine

__all__ = [
    "INDEX_BYTES",
    "Asset",
    "BundleEntry",
    "ClassEntry",
    "Comparison",
    "ErrorEntry",
    "Index",
    "MachineEntry",
    "ModelEntry",
    "Withdrawal",
    "index_bytes",
    "machine_entry",
    "read_index",
]

INDEX_BYTES: Final = 64 * 1024 * 1024
"""The largest index that a client reads."""

BAD_INDEX = code(
    "R010",
    Severity.ERROR,
    "The index of a release is not one that this program can trust.",
    "Download the release again, or use the program's version that made it.",
    "P2",
)

Digest = Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]
Name = Annotated[str, Field(pattern=NAME_PATTERN)]
AssetPath = Annotated[
    str,
    Field(
        max_length=200,
        pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]*(/[A-Za-z0-9][A-Za-z0-9._-]*){0,6}$",
    ),
]
Text = Annotated[str, Field(max_length=600)]
Natural = Annotated[int, Field(ge=0, le=2**53 - 1, strict=True)]
Number = Annotated[float, Field(allow_inf_nan=False)]
NodeType = Annotated[int, Field(ge=0, le=999_999_999, strict=True)]


class _Entry(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Asset(_Entry):
    """One file of the release and its digest."""

    path: AssetPath
    bytes: Natural
    sha256: Digest


class MachineEntry(_Entry):
    """A machine in the model server's words; see ``kepler.node_types.Machine``."""

    vendor: Text
    processor: Text
    cores: Natural
    chips: Natural
    memory: Natural
    frequency: Natural
    threads_per_core: Natural

    def as_machine(self) -> Machine:
        """Give the same as the type that artifacts are written from."""
        return Machine(**self.model_dump())


class ClassEntry(_Entry):
    """A server class: its key, Kepler's number for it and who was measured.

    Attributes:
        key: Readable key, ``generic`` for the pooled class.
        number: Kepler's node type, 0 for the generic class.
        attributes: Its first machine; None for the generic class.
        machines: Names of the measured machines.
        contributors: How many contributors stand behind it.
    """

    key: Name
    number: NodeType
    attributes: MachineEntry | None
    machines: tuple[Name, ...]
    contributors: Natural


class BundleEntry(_Entry):
    """A signed bundle in use.

    Attributes:
        dataset: Its name.
        version: Its version.
        manifest_sha256: Digest of the signed manifest.
        spec_sha256: Digest of its hardware spec.
        machine: The machine of the spec.
        attributes: That machine in the model server's words.
        class_key: The class that the spec gives; ``class`` in the document.
        contributor: Numeric GitHub id; 0 is the founding data.
        fingerprint: The signing key.
        licence: SPDX id of its licence.
        cites: Kind and id of the published result that it was taken from, or None.
        arrived: When it came to main, seconds since 1970; None outside git.
    """

    model_config = ConfigDict(extra="forbid", frozen=True, populate_by_name=True)

    dataset: Name
    version: Natural
    manifest_sha256: Digest
    spec_sha256: Digest
    machine: Name
    attributes: MachineEntry
    class_key: Name = Field(validation_alias="class", serialization_alias="class")
    contributor: Natural
    fingerprint: Annotated[str, Field(pattern=r"^SHA256:[A-Za-z0-9+/]{43}$")]
    licence: Text
    cites: Text | None
    arrived: Natural | None


class Withdrawal(_Entry):
    """A bundle that no model uses any more, since when and why."""

    dataset: Name
    day: Annotated[str, Field(pattern=r"^\d{4}-\d\d-\d\d$")]
    reason: Text


class ErrorEntry(_Entry):
    """Held-out errors; see ``modelling.model.ErrorReport`` for their meaning."""

    protocol: Text
    folds: Natural
    rows: Natural
    mae: Number
    mae_low: Number
    mae_high: Number
    mape: Number
    rmse: Number
    p95: Number
    worst: Number
    baseline_mae: Number
    components: dict[str, dict[str, Number | None]]


class Comparison(_Entry):
    """The class's own model and the generic one on the same held-out rows.

    Attributes:
        rows: How many rows were compared.
        mae: Mean absolute error in W of the class's model, each row held out.
        generic_mae: The same of the generic model, which may have seen the rows.
    """

    rows: Natural
    mae: Number
    generic_mae: Number


class ModelEntry(_Entry):
    """A model, published or withheld with the reason.

    Attributes:
        id: ``source/output/group/trainer_number``.
        class_key: Its class; ``class`` in the document.
        features: Feature names in order.
        status: ``published`` or ``withheld``.
        why: How it was chosen, or why it is no use; a sentence for people.
        error: Held-out errors.
        comparison: Against the generic model; None where there is nothing to compare.
        bundles: Names of the datasets behind it.
        machines: How many servers were measured.
        input_digest: Digest of everything that decides its bytes.
        files: Its assets. A model that is withheld only because the generic one is
            closer lies in the folder ``withheld``; others that are withheld have none.
    """

    model_config = ConfigDict(extra="forbid", frozen=True, populate_by_name=True)

    id: Text
    class_key: Name = Field(validation_alias="class", serialization_alias="class")
    features: tuple[Text, ...]
    status: Literal["published", "withheld"]
    why: Text
    error: ErrorEntry
    comparison: Comparison | None
    bundles: tuple[Name, ...]
    machines: Natural
    input_digest: Digest
    files: tuple[AssetPath, ...]


class Index(_Entry):
    """The whole index; equal content has equal bytes."""

    model_config = ConfigDict(extra="forbid", frozen=True, populate_by_name=True)

    schema_id: Literal["release/1"] = Field(
        validation_alias="schema", serialization_alias="schema"
    )
    registry: Literal["power-dataset-registry"] = REGISTRY
    serial: Natural
    commit: Annotated[str, Field(pattern=r"^[0-9a-f]{40}([0-9a-f]{24})?$")] | None
    created: Annotated[str, Field(pattern=r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$")] | None
    expires: Natural | None
    class_rule: Text
    code: dict[str, Digest]
    libraries: dict[str, Text]
    classes: tuple[ClassEntry, ...]
    bundles: tuple[BundleEntry, ...]
    withdrawn: tuple[Withdrawal, ...]
    models: tuple[ModelEntry, ...]
    assets: tuple[Asset, ...]

    @model_validator(mode="after")
    def _holds_together(self) -> Self:
        paths = [asset.path for asset in self.assets]
        keys = {entry.key for entry in self.classes}
        datasets = {bundle.dataset for bundle in self.bundles}
        if len({path.casefold() for path in paths}) != len(paths):
            raise ValueError("an asset is listed twice")
        if {"index.json", "SHA256SUMS"} & set(paths):
            raise ValueError("the index lists itself")
        known = set(paths)
        for model in self.models:
            apart = [path.startswith("withheld/") for path in model.files]
            published = model.status == "published"
            if any(apart) if published else not all(apart):
                raise ValueError(f"{model.id} is {model.status} with the wrong files")
            if published and not apart:
                raise ValueError(f"{model.id} is published without a file")
            if not known.issuperset(model.files):
                raise ValueError(f"{model.id} names a file that is no asset")
            if model.class_key not in keys or not datasets.issuperset(model.bundles):
                raise ValueError(f"{model.id} names a class or bundle that is missing")
        return self

    def asset(self, path: str) -> Asset | None:
        """Find an asset by its path."""
        return next((asset for asset in self.assets if asset.path == path), None)

    def server_class(self, key: str) -> ClassEntry | None:
        """Find a class by its key."""
        return next((entry for entry in self.classes if entry.key == key), None)


def index_bytes(index: Index) -> bytes:
    """Write an index as canonical JSON."""
    return encode_numbers(index.model_dump(mode="json", by_alias=True))


def read_index(data: bytes, path: str) -> Index:
    """Read an index that may come from anywhere.

    Args:
        data: The bytes of ``index.json``.
        path: Its name in findings.

    Raises:
        RegistryError: R010 or a J code; nothing else, whatever the bytes.

    """
    value: Any = read_json(data, path, max_bytes=INDEX_BYTES, floats=True)
    try:
        index = Index.model_validate(value)
    except ValidationError as error:
        findings = [
            finding(BAD_INDEX, path, f"{'.'.join(map(str, e['loc']))}: {e['msg']}")
            for e in error.errors(include_url=False, include_input=False)[:5]
        ]
        raise RegistryError(findings) from None
    if index_bytes(index) != data:
        what = "it is not in canonical form, so its digest means nothing"
        raise RegistryError(finding(BAD_INDEX, path, what))
    return index


def machine_entry(machine: Machine) -> MachineEntry:
    """Put a machine into the index."""
    return MachineEntry.model_validate(machine, from_attributes=True)
