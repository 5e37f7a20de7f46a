"""Model manifests of TRIMS Tools, as they are in its `builtin_models` folder.

Their files are kept under the names that TRIMS gives them. Their checksums are MD5 or
missing, and TRIMS reads none; we check the MD5, and a digest has to be recorded.
"""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Any, Final

from registry.documents.findings import (
    Finding,
    RegistryError,
    Severity,
    code,
    finding,
    shown,
)
from registry.documents.yaml_writer import write_yaml
from tools.assets.manifests import (
    LATEST,
    SCHEMA,
    Asset,
    AssetFile,
    Output,
    Parameters,
)
from tools.settings.lenient_yaml import LenientDocument, read_lenient_yaml

__all__ = ["as_manifest", "is_trims", "read_trims_manifest"]

A024 = code(
    "A024",
    Severity.ERROR,
    "A manifest of TRIMS Tools cannot be used.",
    "Mend it at the named line, or write it anew as asset-manifest/1.",
)

_OURS: Final = re.compile(rb"^schema[ \t]*:", re.MULTILINE)
_NAME: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9 ._:+-]{0,79}")
_MD5: Final = re.compile(r"[0-9a-f]{32}")
_URL: Final = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://[!-~]{1,1990}")
_NUMBER: Final = re.compile(r"-?[0-9]{1,12}(?:\.[0-9]{1,12})?(?:[eE]-?[0-9]{1,2})?")
_TRUE: Final = frozenset(("true", "yes", "on", "y"))


def is_trims(data: bytes) -> bool:
    """Tell whether a manifest may be one of TRIMS: ours says what it is."""
    return _OURS.search(data) is None


def read_trims_manifest(data: bytes, path: Path) -> Asset:
    """Read a manifest of TRIMS Tools.

    Raises:
        RegistryError: A024, all that is wrong.

    """
    reading = _Reading(read_lenient_yaml(data, os.fspath(path), A024), os.fspath(path))
    name = reading.text("name")
    if not _NAME.fullmatch(name):
        reading.refuse(f"name: {shown(name) or 'it'} is no name", "name")
    version = reading.text("version") or LATEST
    if not _NAME.fullmatch(version):
        reading.refuse(f"version: {shown(version)} is no version", "version")
    if _true(reading.text("model", "is_archive")):
        what = "model.is_archive: archives are not unpacked"
        reading.refuse(what, "model", "is_archive")
    files = reading.files()
    inputs, outputs = reading.inputs(), reading.outputs()
    if reading.problems:
        raise RegistryError(reading.problems)
    return Asset(
        name=name,
        version=version,
        licence=reading.text("license"),
        files=tuple(files),
        manifest=path,
        description=reading.text("description").strip()[:4000],
        references=tuple(reading.references()),
        framework=reading.framework(),
        inputs=tuple(inputs),
        outputs=tuple(outputs),
        attributes=reading.attributes(),
        large=_true(reading.text("large_model")),
        hidden=_true(reading.text("hidden")),
    )


def as_manifest(asset: Asset) -> bytes:
    """Write an asset, whose digests must be known by now, as an asset-manifest/1.

    Raises:
        RegistryError: A024, a digest is unknown, or a text has no form in such a file.

    """
    where = os.fspath(asset.manifest)
    unknown = [file.path for file in asset.files if file.sha256 is None]
    if unknown:
        what = f"no SHA-256 of {', '.join(unknown)} is known: fetch it with --record"
        raise RegistryError(finding(A024, where, what))
    document = {
        "schema": SCHEMA,
        "name": asset.name,
        "version": asset.version,
        "description": " ".join(asset.description.split()),
        "licence": asset.licence or "unknown",
        "references": list(asset.references),
        "framework": _framework(asset),
        "inputs": [_parameters(one) for one in asset.inputs],
        "outputs": [_parameters(one) for one in asset.outputs],
        "files": [
            {
                "path": file.path,
                "urls": list(file.urls),
                "sha256": file.sha256,
                "bytes": file.bytes,
            }
            for file in asset.files
        ],
        "attributes": dict(asset.attributes),
        "large": asset.large,
        "hidden": asset.hidden,
    }
    try:
        return write_yaml({name: value for name, value in document.items() if value})
    except ValueError as error:
        raise RegistryError(finding(A024, where, str(error))) from None


def _framework(asset: Asset) -> dict[str, str]:
    name, version = asset.framework or ("", None)
    pairs = {"name": name, "version": version or ""}
    return {key: text for key, text in pairs.items() if text}


def _parameters(one: Parameters) -> dict[str, object]:
    plain: dict[str, object] = one.model_dump(mode="json", exclude_defaults=True)
    return plain


class _Reading:
    """A document of TRIMS, and what is wrong with it so far."""

    def __init__(self, document: LenientDocument, path: str) -> None:
        self.document = document
        self.path = path
        self.problems: list[Finding] = []

    def refuse(self, what: str, *place: str | int) -> None:
        line = self.document.line(*place)
        self.problems.append(finding(A024, self.path, what, line=line))

    def at(self, *place: str | int) -> Any:
        """What is at a place, or None."""
        value: Any = self.document.value
        for step in place:
            if isinstance(value, dict) and isinstance(step, str):
                value = value.get(step)
            elif isinstance(value, list) and isinstance(step, int):
                value = value[step] if step < len(value) else None
            else:
                return None
        return value

    def text(self, *place: str | int) -> str:
        value = self.at(*place)
        return value if isinstance(value, str) else ""

    def files(self) -> list[AssetFile]:
        """The files under the names that TRIMS gives them."""
        base = self.text("model", "base_url").rstrip("/")
        found = []
        for ours, theirs in (("model.symbol", "graph"), ("model.params", "weights")):
            part = self.text("model", f"{theirs}_path")
            if not base or not part:
                what = f"model: base_url or {theirs}_path is missing"
                self.refuse(what, "model")
                continue
            place = ("model", f"{theirs}_path")
            md5 = self.md5("model", f"{theirs}_checksum")
            found.append(self.file(ours, f"{base}/{part.lstrip('/')}", md5, place))
        features = ("output", "parameters", "features_url")
        if url := self.text(*features):
            md5 = self.md5("output", "parameters", "features_checksum")
            found.append(self.file("features.txt", url, md5, features))
        return found

    def file(
        self, path: str, url: str, md5: str | None, place: tuple[str, ...]
    ) -> AssetFile:
        if not _URL.fullmatch(url):
            self.refuse(f"{'.'.join(place)}: {shown(url)} is no URL", *place)
        return AssetFile(path, (url,), md5=md5)

    def md5(self, *place: str) -> str | None:
        text = self.text(*place).lower()
        if text and not _MD5.fullmatch(text):
            self.refuse(f"{'.'.join(place)}: {shown(text)} is no MD5", *place)
        return text if _MD5.fullmatch(text) else None

    def inputs(self) -> list[Parameters]:
        found = []
        inputs = self.at("inputs")
        for number in range(len(inputs) if isinstance(inputs, list) else 0):
            place = ("inputs", number)
            shape = self.numbers(*place, "parameters", "dimensions")
            if not shape or any(side < 1 or side != int(side) for side in shape):
                what = f"inputs[{number}]: dimensions are no whole numbers above 0"
                self.refuse(what, *place)
                continue
            found.append(
                Parameters(
                    type=self.text(*place, "type")[:200] or "tensor",
                    description=self.text(*place, "description")[:4000],
                    dimensions=tuple(map(int, shape))[:8],
                    mean=self.numbers(*place, "parameters", "mean") or None,
                    scale=self.numbers(*place, "parameters", "scale") or None,
                )
            )
        return found

    def outputs(self) -> list[Output]:
        if not isinstance(self.at("output"), dict):
            return []
        labels = self.text("output", "parameters", "features_url")
        return [
            Output(
                type=self.text("output", "type")[:200] or "tensor",
                description=self.text("output", "description")[:4000],
                labels="features.txt" if labels else None,
            )
        ]

    def numbers(self, *place: str | int) -> tuple[float, ...]:
        """Numbers of a list, or of a text: "[1, 2, 3]", "1,2,3" or one alone."""
        value = self.at(*place)
        if not value:
            return ()
        parts = (
            value
            if isinstance(value, list)
            else re.split(r"[\s,]+", str(value).strip("[] \t"))
        )
        if len(parts) > 4096 or not all(
            isinstance(part, str) and _NUMBER.fullmatch(part.strip()) for part in parts
        ):
            named = ".".join(str(step) for step in place)
            self.refuse(f"{named}: it is no number and no list of numbers", *place)
            return ()
        return tuple(float(part) for part in parts)

    def references(self) -> list[str]:
        found = self.at("references")
        texts = found if isinstance(found, list) else []
        return [text[:200] for text in texts[:50] if isinstance(text, str) and text]

    def framework(self) -> tuple[str, str | None] | None:
        name = self.text("framework", "name")[:200]
        return (name, self.text("framework", "version")[:200] or None) if name else None

    def attributes(self) -> dict[str, str]:
        found = self.at("attributes")
        pairs = found.items() if isinstance(found, dict) else ()
        return {
            name[:200]: text[:200]
            for name, text in list(pairs)[:64]
            if isinstance(text, str) and text and name
        }


def _true(text: str) -> bool:
    return text.lower() in _TRUE
