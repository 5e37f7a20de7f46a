"""Privacy: nothing in a bundle names a machine, a person, a network or a workload.

Tables hold numbers and words of enumerations only, so what is left to look at are the
few short texts of the manifest and the spec; and, before packing, the very bytes.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Final

import polars as pl

from registry.documents import workloads
from registry.documents.columns import column
from registry.documents.findings import Severity, code, finding
from registry.gate.identifiers import Identifier, identifiers
from registry.gate.leaks import local_leaks

if TYPE_CHECKING:
    from collections.abc import Iterator

    from registry.documents.bundle import Bundle
    from registry.documents.findings import Code, Finding
    from registry.documents.manifest import Manifest
    from registry.documents.spec import HardwareSpec

__all__ = [
    "check_bundle",
    "check_texts",
    "local_leaks",
    "manifest_texts",
    "spec_texts",
]

_MEND: Final = "Remove it; describe the machine by product names only."

_CODES: Final[dict[str, Code]] = {
    kind: code(number, Severity.ERROR, f"A text holds {what}.", _MEND, "B14")
    for number, kind, what in (
        ("P001", "address", "an IP address"),
        ("P002", "hardware", "a hardware (MAC) address"),
        ("P003", "email", "an e-mail address or an account at a host"),
        ("P004", "uuid", "a UUID"),
        ("P005", "serial", "what looks like a serial number or machine id"),
        ("P006", "host", "a host or domain name"),
        ("P007", "account", "a user name or a path of a file system"),
        ("P008", "pod", "the name of a pod or container"),
    )
}
OWN_WORKLOADS = code(
    "P009",
    Severity.ERROR,
    "The manifest's privacy statement and the runs contradict each other.",
    "Leave own workloads out (withheld) or give them pseudonyms (pseudonymised), and"
    " write the manifest with `powerkit pack`.",
    "B14",
)
FREE_TEXT = code(
    "P010",
    Severity.ERROR,
    "A table holds text that is not of an enumeration.",
    "Use catalogued columns and their words only.",
    "B14",
)
CLOCK = code(
    "P011",
    Severity.ERROR,
    "Times in a table tell when the machine was measured or started.",
    "Count time_seconds from the first sample.",
    "B14",
)

_LATEST_START: Final = 3600.0
"""Seconds; a clock that begins later was not set to 0 at the first sample."""
_VERSIONS: Final = re.compile(r"(?:version|firmware|kernel|bios_version|microcode)$")
_NUMBER: Final = re.compile(r"(?<![0-9A-Za-z.])[0-9]{9,}(?![0-9A-Za-z.])")
"""A long number, which in a short text is no size, date or model."""
_DIGESTS: Final = frozenset({"sha256", "previous", "sketch", "columns", "zone"})

# In bytes, what is random by nature would look like serial numbers.
_ARMOUR: Final = re.compile(
    r"-----BEGIN SSH SIGNATURE-----.*?-----END SSH SIGNATURE-----", re.DOTALL
)
_KEY: Final = re.compile(r"\bAAAA[0-9A-Za-z+/]{40,}={0,2}")
_DIGEST: Final = re.compile(
    r"(?<![0-9A-Za-z])(?:[0-9a-f]{64}|(?<=\")[0-9a-f]{16}(?=\"))"
)


def check_bundle(bundle: Bundle) -> list[Finding]:
    """Check everything in a bundle that could name someone."""
    manifest = bundle.manifest
    path = f"{bundle.path}/manifest.json"
    return [
        *check_texts(path, manifest_texts(manifest)),
        *check_texts(manifest.spec.path, spec_texts(bundle.spec)),
        *_own_workloads(bundle, path),
        *_tables(bundle),
    ]


def check_texts(path: str, data: bytes | str | Mapping[str, str]) -> list[Finding]:
    """Look for identifiers in a file, or in texts by the name of their field.

    Args:
        path: The file that the texts are in.
        data: The file itself, in which digests, keys and signatures are skipped; or
            texts by field. Four numbers in a field that holds a version are no address.

    """
    if isinstance(data, Mapping):
        return [
            _named(path, found, f"{name}: ")
            for name, text in data.items()
            for found in _in_field(name, text)
        ]
    text = data.decode("utf-8", "replace") if isinstance(data, bytes) else data
    for pattern in (_ARMOUR, _KEY, _DIGEST):
        text = pattern.sub(_blank, text)
    return [
        _named(path, found, "", text.count("\n", 0, found.start) + 1)
        for found in identifiers(text)
    ]


def manifest_texts(manifest: Manifest) -> dict[str, str]:
    """Return the texts of a manifest by field, digests left out."""
    return dict(_texts(manifest.model_dump(mode="json", by_alias=True)))


def spec_texts(spec: HardwareSpec) -> dict[str, str]:
    """Return the texts of a spec by field."""
    return dict(_texts(spec.model_dump(mode="json", by_alias=True, exclude_none=True)))


def _in_field(name: str, text: str) -> Iterator[Identifier]:
    found = identifiers(text, version=_VERSIONS.search(name) is not None)
    yield from found
    taken = {at for one in found for at in range(one.start, one.start + len(one.text))}
    for match in _NUMBER.finditer(text):
        if match.start() not in taken:
            yield Identifier(match.start(), "serial", match.group())


def _blank(match: re.Match[str]) -> str:
    """Return spaces that keep every line where it is."""
    return re.sub(r"[^\n]", " ", match.group())


def _texts(value: object, name: str = "") -> Iterator[tuple[str, str]]:
    match value:
        case str():
            yield name, value
        case dict():
            for key, item in value.items():
                if key not in _DIGESTS:
                    yield from _texts(item, f"{name}.{key}" if name else key)
        case list() | tuple():
            for number, item in enumerate(value):
                yield from _texts(item, f"{name}[{number}]")


def _named(
    path: str, found: Identifier, field: str, line: int | None = None
) -> Finding:
    """Make a finding that shows enough to find the text, and no more."""
    text = found.text
    shown = f"{text[:3]}…{text[-1:]}" if len(text) > 5 else "…"
    what = f'{field}"{shown}" ({len(text)} characters)'
    return finding(_CODES[found.kind], path, what, line=line)


def _own_workloads(bundle: Bundle, path: str) -> Iterator[Finding]:
    runs = bundle.table("runs")
    if runs is None or "workload" not in runs.columns:
        return
    labels = set(runs["workload"].drop_nulls().to_list())
    pseudonyms = sum(map(workloads.is_pseudonym, labels))
    stated = bundle.manifest.privacy.own_workloads
    if bool(pseudonyms) != (stated == "pseudonymised"):
        what = f"own workloads are {stated}, and runs.csv has {pseudonyms} pseudonyms"
        yield finding(OWN_WORKLOADS, path, what)


def _tables(bundle: Bundle) -> Iterator[Finding]:
    for table, frame in bundle.tables.items():
        path = f"{bundle.path}/{table}.csv"
        for name in frame.columns:
            if column(name, table) is None:
                what = f"column {len(name)} characters long is not catalogued"
                yield finding(FREE_TEXT, path, what, line=1)
            elif not frame[name].dtype.is_numeric():
                yield from _words(frame[name], table, path)
        if "time_seconds" in frame.columns and frame.height:
            start = frame["time_seconds"][0]
            if start is not None and start > _LATEST_START:
                what = f"time_seconds begins at {start:.6g}"
                yield finding(CLOCK, path, what, line=2)


def _words(values: pl.Series, table: str, path: str) -> Iterator[Finding]:
    """Check a text column again, so that no reader's mistake lets free text pass."""
    entry = column(values.name, table)
    allowed = set(entry.values) if entry is not None else set()
    for word in values.cast(pl.String).drop_nulls().unique(maintain_order=True):
        known = word in allowed if allowed else workloads.is_label(word)
        if not known:
            line = values.cast(pl.String).index_of(word)
            what = f"{values.name} holds a text of {len(word)} characters"
            at = None if line is None else line + 2
            yield finding(FREE_TEXT, path, what, line=at)
