"""No byte of a committed bundle, signature, spec or trust file can change unseen."""

from __future__ import annotations

import json
import random
from pathlib import Path

from registry.gate.directory_tree import directory_tree
from registry.gate.git_tree import arrivals
from registry.gate.paths import contribution
from registry.gate.verify import verify_registry
from tests.simulators.registry import NOW, MemoryTree


def committed(repository: Path) -> dict[str, bytes]:
    """All contributions of this repository."""
    tree = directory_tree(repository)
    paths = [entry.path for entry in tree.entries()]
    return dict(tree.read_many([path for path in paths if contribution(path)]))


def test_a_flipped_byte_of_any_file_is_found(repository: Path) -> None:
    """One byte, one bit of it, in every file; the finding names the file."""
    files = committed(repository)
    at = arrivals(repository, "HEAD")
    specs = {
        json.loads(content)["spec"]["path"]: path.split("/")[1]
        for path, content in files.items()
        if path.endswith("/manifest.json")
    }
    chance = random.Random(20260301)
    unseen = []
    for path, content in files.items():
        dataset = specs.get(path) or path.split("/")[1]
        if path.startswith("registry/trust/"):
            dataset = next(iter(specs.values()))
        position = chance.randrange(len(content))
        flipped = bytearray(content)
        flipped[position] ^= 1 << chance.randrange(8)
        tree = MemoryTree(files | {path: bytes(flipped)})
        report = verify_registry(
            tree, arrivals=at, now=NOW, only={dataset}, expectations=False
        )
        if not any(one.path == path for one in report.findings):
            unseen.append((path, position))
    assert len(files) > 300
    assert unseen == []
