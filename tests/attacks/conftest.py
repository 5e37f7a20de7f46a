"""Documents and registries that attacks start from."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.attacks.hosted_changes import MALLORY
from tests.simulators.github import FakeGitHub
from tests.simulators.hosting import Hosted
from tests.simulators.registry import small


@pytest.fixture
def manifest_of() -> Callable[..., bytes]:
    """Return a function that makes a manifest with some values replaced."""

    def make(path: str = "levels.csv", **changes: Any) -> bytes:
        value = {
            "schema": "bundle/1",
            "registry": "power-dataset-registry",
            "dataset": "a",
            "version": 1,
            "previous": None,
            "contributor": 1,
            "spec": {"path": "specs/a.yaml", "sha256": "0" * 64},
            "profile": "load-levels",
            "files": [
                {
                    "path": name,
                    "bytes": 1,
                    "sha256": "0" * 64,
                    "rows": 1,
                    "columns": ["run"],
                    "sketch": sketch,
                }
                for name, sketch in ((path, ["0" * 16]), ("runs.csv", []))
            ],
            "objects": [],
            "licence": "CC0-1.0",
            "measured": {"from": "2026-01-01", "to": "2026-01-01"},
            "workloads": ["idle"],
            "privacy": {"own_workloads": "none"},
            "derived": None,
            "tool": {"name": "t", "version": "1"},
            "source": None,
        }
        text = json.dumps({**value, **changes}, sort_keys=True, separators=(",", ":"))
        return text.encode() + b"\n"

    return make


@pytest.fixture
def hosted(tmp_path: Path) -> Iterator[Hosted]:
    """A founded registry on the simulated GitHub, where mallory has an account."""
    with FakeGitHub(tmp_path / "github") as hub:
        hub.add_user("mallory", MALLORY)
        yield Hosted.found(hub, small())
        assert hub.violations == []
