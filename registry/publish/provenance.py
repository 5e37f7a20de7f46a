"""Provenance of every published model: in-toto statements with SLSA's predicate.

One line of ``provenance.jsonl`` a model says which files it is (by digest), from which
signed bundles, by whose keys, from which commit and with which libraries it was made.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from registry.documents.canonical import encode
from registry.documents.findings import RegistryError, Severity, code, finding
from registry.documents.names import REGISTRY
from registry.documents.strict_json import read_json

if TYPE_CHECKING:
    from collections.abc import Iterator

    from registry.documents.canonical import Json
    from registry.documents.findings import Finding
    from registry.publish.index import BundleEntry, Index, ModelEntry

__all__ = ["PROVENANCE", "check_provenance", "provenance_bytes", "statement"]

PROVENANCE: Final = "provenance.jsonl"
"""The file in a release folder."""

MISMATCH = code(
    "R011",
    Severity.ERROR,
    "The provenance of a model does not agree with the index of its release.",
    "Do not use the release; download it again from the registry itself.",
    "P2",
    "P3",
)

_STATEMENT: Final = "https://in-toto.io/Statement/v1"
_PREDICATE: Final = "https://slsa.dev/provenance/v1"
_BUILD_TYPE: Final = f"urn:{REGISTRY}:power-model:1"
_BUILDER: Final = f"urn:{REGISTRY}:registry-build"
_LINE_BYTES: Final = 16 * 1024 * 1024


def statement(index: Index, model: ModelEntry) -> dict[str, Json]:
    """Make the statement of one published model.

    Args:
        index: The index of the release.
        model: One of its published models.

    Returns:
        An in-toto Statement v1 with a SLSA v1 predicate: the subject is the model's
        files, the resolved dependencies are commit, bundles and libraries.

    """
    bundles = {bundle.dataset: bundle for bundle in index.bundles}
    digests = {asset.path: asset.sha256 for asset in index.assets}
    dependencies: list[Json] = []
    if index.commit is not None:
        commit: dict[str, Json] = {"gitCommit": index.commit}
        dependencies.append({"digest": commit, "name": "source"})
    dependencies += [_bundle(bundles[name]) for name in model.bundles]
    dependencies += [
        {"name": name, "uri": f"pkg:pypi/{name}@{version}"}
        for name, version in sorted(index.libraries.items())
    ]
    return {
        "_type": _STATEMENT,
        "predicate": {
            "buildDefinition": {
                "buildType": _BUILD_TYPE,
                "externalParameters": {"class": model.class_key, "model": model.id},
                "internalParameters": {
                    "class_rule": index.class_rule,
                    "code": dict(index.code),
                    "input_digest": model.input_digest,
                },
                "resolvedDependencies": dependencies,
            },
            "runDetails": {"builder": {"id": _BUILDER}},
        },
        "predicateType": _PREDICATE,
        "subject": [
            {"digest": {"sha256": digests[path]}, "name": path} for path in model.files
        ],
    }


def provenance_bytes(index: Index) -> bytes:
    """Write the statements of all published models, one canonical line each."""
    return b"".join(encode(statement(index, model)) for model in _published(index))


def check_provenance(data: bytes, index: Index) -> list[Finding]:
    """Compare a provenance file with the index, statement by statement.

    Args:
        data: The bytes of ``provenance.jsonl``.
        index: The index of the same release.

    Returns:
        A finding for each model whose statement is missing, strange or different.

    """
    expected = {m.id: encode(statement(index, m)) for m in _published(index)}
    findings: list[Finding] = []
    for number, line in enumerate(data.splitlines(keepends=True), 1):
        model = _model_of(line)
        if model is None or expected.pop(model, None) != line:
            what = f"the statement of {model or 'an unnamed model'} says something else"
            findings.append(finding(MISMATCH, PROVENANCE, what, line=number))
    findings += [
        finding(MISMATCH, PROVENANCE, f"there is no statement of {model}")
        for model in expected
    ]
    return findings


def _published(index: Index) -> Iterator[ModelEntry]:
    return (model for model in index.models if model.status == "published")


def _bundle(bundle: BundleEntry) -> dict[str, Json]:
    return {
        "annotations": {
            "arrived": bundle.arrived,
            "cites": bundle.cites,
            "contributor": bundle.contributor,
            "key": bundle.fingerprint,
            "licence": bundle.licence,
            "version": bundle.version,
        },
        "digest": {"sha256": bundle.manifest_sha256},
        "name": f"datasets/{bundle.dataset}/manifest.json",
    }


def _model_of(line: bytes) -> str | None:
    """Read which model a line speaks of, whatever the line is."""
    try:
        value: Json = read_json(line, PROVENANCE, max_bytes=_LINE_BYTES)
    except RegistryError:
        return None
    for key in ("predicate", "buildDefinition", "externalParameters", "model"):
        if not isinstance(value, dict) or key not in value:
            return None
        value = value[key]
    return value if isinstance(value, str) else None
