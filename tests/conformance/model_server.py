"""A stand-in for Kepler's model server (kepler-clients.md b2, b4, b5).

It loads a pipeline zip, matches node types and chooses models as the server does.
"""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["GROUPS", "ModelServer", "covers", "similarity"]

GROUPS: Final = {
    "BPFOnly": {"bpf_cpu_time_ms", "bpf_page_cache_hit"},
    "CounterOnly": {"cache_miss", "cpu_cycles", "cpu_instructions"},
}
WEIGHT_TRAINERS: Final = "SGDRegressorTrainer"
SHARES: Final = {
    "processor": 5 / 8,
    "cores": 1 / 8,
    "chips": 1 / 8,
    "memory": 1 / 16,
    "frequency": 1 / 16,
}
Spec = dict[str, Any]


class ModelServer:
    """A server that loaded one pipeline."""

    def __init__(self, archive: Path, folder: Path) -> None:
        """Unpack the pipeline, and every model zip beside itself."""
        self.root = folder / archive.name.split(".zip")[0]
        shutil.unpack_archive(archive, self.root, "zip")
        assert (self.root / "metadata.json").is_file()
        for packed in sorted(self.root.rglob("*.zip")):
            target = packed.with_suffix("")
            shutil.unpack_archive(packed, target)
            weights = packed.with_suffix(".json")
            if weights.exists():
                shutil.copy(weights, target / "weight.json")
        index = json.loads((self.root / "node_type_index.json").read_text("utf-8"))
        self.types: dict[int, Spec] = {
            int(number): value["attrs"] for number, value in index.items()
        }
        self.members = {int(n): len(value["members"]) for n, value in index.items()}

    def node_type(self, spec: Mapping[str, Any]) -> int:
        """Match a machine: exactly, or else the most similar type."""
        for number, attributes in self.types.items():
            if covers(attributes, spec):
                return number
        rated = {n: similarity(a, spec) for n, a in self.types.items()}
        return max(rated, key=lambda n: (rated[n], self.members[n]))

    def choose(
        self,
        source: str,
        number: int,
        *,
        weight: bool,
        metrics: frozenset[str] = frozenset(GROUPS["BPFOnly"]),
    ) -> dict[str, Any]:
        """Answer a request for a model of a node type: metadata, or the weights."""
        best: dict[str, Any] | None = None
        answer: dict[str, Any] = {}
        for group, features in GROUPS.items():
            folder = self.root / source / "AbsPower" / group
            if not features <= metrics or not folder.is_dir():
                continue
            models = [path for path in folder.iterdir() if path.is_dir()]
            named = [path for path in models if f"_{number}" in path.name] or models
            if weight:
                named = [p for p in named if p.name.split("_")[0] in WEIGHT_TRAINERS]
            exact = [p for p in named if int(p.name.split("_")[-1]) == number]
            for path in exact or self._largest(named):
                metadata = json.loads((path / "metadata.json").read_text("utf-8"))
                if "mae" in metadata and (not best or best["mae"] > metadata["mae"]):
                    best = metadata
                    name = "weight.json" if weight else "metadata.json"
                    answer = json.loads((path / name).read_text("utf-8"))
        return answer

    def _largest(self, models: list[Path]) -> list[Path]:
        types = {path: self.types[int(path.name.split("_")[-1])] for path in models}
        cores = {path: attributes["cores"] for path, attributes in types.items()}
        return [path for path in models if cores[path] == max(cores.values())]


def covers(attributes: Spec, spec: Mapping[str, Any]) -> bool:
    """Tell whether a type covers a spec: every attribute that counts is equal."""
    for name in SHARES:
        value = spec.get(name)
        if value is None or not value or (name != "processor" and float(value) <= 0):
            continue
        try:
            if float(attributes[name]) != float(value):
                return False
        except ValueError:
            if attributes[name] != value:
                return False
    return True


def similarity(attributes: Spec, spec: Mapping[str, Any]) -> float:
    """Rate how similar a type is, by the server's weights."""
    total = 0.0
    for name, share in SHARES.items():
        mine, value = attributes[name], spec.get(name)
        if value is None:
            continue
        if name == "processor":
            total += share * _letters(str(mine), str(value))
        else:
            gap = abs(float(mine) - float(value))
            mean = (float(mine) + float(value)) / 2
            total += share * (max(0.0, 1 - gap / mean) if mean else 1.0)
    return total


def _letters(one: str, other: str) -> float:
    if one == other:
        return 1.0
    if not one or not other:
        return 0.0
    mine, theirs = set(one), set(other)
    return 0.5 * len(mine & theirs) / len(mine | theirs)
