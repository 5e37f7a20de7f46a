"""A plain bare repository where a test of the runner needs no GitHub."""

from __future__ import annotations

import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest

__all__ = ["PlainHub"]


@dataclass
class PlainHub:
    """A folder that git serves as GitHub would: `file:` addresses, no API."""

    root: Path
    granted: list[Mapping[str, str]]

    @property
    def bare(self) -> Path:
        return self.root / "power" / "registry"

    def environment(self) -> dict[str, str]:
        return {
            "GITHUB_REPOSITORY": "power/registry",
            "GITHUB_SERVER_URL": f"file://{self.root}",
            "GITHUB_API_URL": "http://127.0.0.1:9",
        }

    def job_token(self, permissions: Mapping[str, str]) -> str:
        self.granted.append(permissions)
        return f"token-{len(self.granted)}"


@pytest.fixture
def plain(tmp_path: Path) -> PlainHub:
    hub = PlainHub(tmp_path / "hub", [])
    hub.bare.parent.mkdir(parents=True)
    subprocess.run(["git", "init", "-q", "--bare", "-b", "main", hub.bare], check=True)
    allow = ["config", "uploadpack.allowAnySHA1InWant", "true"]
    subprocess.run(["git", "-C", hub.bare, *allow], check=True)
    return hub
