"""Which server class each machine belongs to.

The class of a machine is a pure function of its spec (`registry.documents.classkey`).
Where measurements show that machines belong together or apart, a reviewed file
``specs/classes/<key>.yaml`` says so and wins; a file moves only when people move it:

    schema: server-class/1
    key: epyc-7763-2s-128c-512g
    machines:
      - first-machine
      - second-machine
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final

from registry.documents import canonical
from registry.documents.classkey import GENERIC, RULE
from registry.documents.findings import (
    Finding,
    RegistryError,
    Severity,
    code,
    finding,
)
from registry.documents.strict_yaml import read_yaml
from registry.gate.tree import Tree

FOLDER: Final = "specs/classes/"

MALFORMED = code(
    "G001",
    Severity.ERROR,
    "A reviewed class file is not of the form server-class/1.",
    "Give schema, key (the file's name) and machines, and nothing else.",
)
TWICE = code(
    "G002",
    Severity.ERROR,
    "Two reviewed class files claim the same machine.",
    "Name each machine in one file only.",
)


def reviewed_classes(tree: Tree) -> dict[str, str]:
    """Read the reviewed class files.

    Returns:
        Class key by machine; empty where there are no such files.

    Raises:
        RegistryError: G001 or G002, or codes of the YAML reader.
    """
    paths = [entry.path for entry in tree.entries(FOLDER)]
    members: dict[str, str] = {}
    findings: list[Finding] = []
    for path, data in tree.read_many(paths):
        value = read_yaml(data, path).value
        key = path.removeprefix(FOLDER).removesuffix(".yaml")
        machines = _machines(value, key)
        if machines is None:
            what = "schema, key or machines are missing or not as they should be"
            findings.append(finding(MALFORMED, path, what))
            continue
        for machine in machines:
            if machine in members:
                what = f"{machine} is also claimed by {members[machine]}"
                findings.append(finding(TWICE, path, what))
            members[machine] = key
    if findings:
        raise RegistryError(findings)
    return members


def class_rule(reviewed: Mapping[str, str]) -> str:
    """Name the rule that decided the classes: its version, and what people reviewed."""
    if not reviewed:
        return RULE
    digest = canonical.sha256(canonical.encode(dict(reviewed)))
    return f"{RULE}+{digest[:16]}"


def members(keys: Iterable[tuple[str, str]]) -> dict[str, tuple[str, ...]]:
    """Group datasets by class, with the generic class over all of them.

    Args:
        keys: Pairs of dataset and class key, in any order.

    Returns:
        Sorted datasets by class key, sorted by key; class ``generic`` holds all. It
        is there whenever there is any dataset.
    """
    found: dict[str, list[str]] = {}
    for dataset, key in keys:
        found.setdefault(key, []).append(dataset)
        found.setdefault(GENERIC, []).append(dataset)
    return {key: tuple(sorted(found[key])) for key in sorted(found)}


def _machines(value: object, key: str) -> list[str] | None:
    if not isinstance(value, dict) or set(value) != {"schema", "key", "machines"}:
        return None
    machines = value["machines"]
    if value["schema"] != "server-class/1" or value["key"] != key or key == GENERIC:
        return None
    if not isinstance(machines, list) or not machines:
        return None
    names = [name for name in machines if isinstance(name, str)]
    return names if len(names) == len(machines) else None
