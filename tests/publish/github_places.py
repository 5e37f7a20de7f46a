"""A fake GitHub with commits, and releases that were built from them."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import pytest

from registry.documents.findings import RegistryError
from registry.publish import web
from registry.publish.channels import publish
from registry.publish.integrity import open_folder, tag_of
from tests.simulators import models as made
from tests.simulators.github.hub import QUICK, FakeGitHub
from tests.simulators.releases import SERIAL, head, make_release

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from registry.publish.channels.outcome import Published
    from tests.simulators.github.state import Release

__all__ = ["OWNER", "Place", "opened", "refusal", "tag_at", "writes"]

OWNER = "power"


class Place:
    """A repository on the fake, and releases to publish there."""

    def __init__(self, hub: FakeGitHub, folder: Path) -> None:
        """Publish to a fake; releases are made in a folder."""
        self.hub = hub
        self.folder = folder
        self.git = hub.git(hub.main)
        self._tree = self.git.git("mktree")

    def commit(self, serial: int) -> str:
        """Put a commit on main."""
        before = self.git.branch("main")
        sha = self.git.commit(
            self._tree,
            [] if before is None else [before],
            f"{serial}",
            author=("A", "a@example.org"),
            when=serial,
        )
        self.git.set_ref("refs/heads/main", sha)
        return sha

    def build(self, serial: int = SERIAL) -> Path:
        """Make a release folder from a new commit."""
        out = self.folder / f"release-{serial}"
        start = head(serial).model_copy(update={"commit": self.commit(serial)})
        make_release(out, [made.model()], start=start)
        return out

    def publish(self, release: Path, **options: Any) -> Published:
        """Publish a release as the owner."""
        environment = self.hub.environment(OWNER)
        options = {"environment": environment, "patience": QUICK} | options
        return publish(release, "github:", **options)

    def stored(self, tag: str) -> list[Release]:
        """All releases and drafts of a tag."""
        return [one for one in self.hub.releases if one.tag_name == tag]

    def assert_published(self, release: Path) -> Release:
        """There is exactly one release of a folder, whole, and no draft."""
        index, data = open_folder(release)
        (one,) = self.stored(tag_of(data))
        assert not one.draft
        assert not [other for other in self.hub.releases if other.draft]
        names = [asset.name for asset in one.assets]
        assert len(names) == len(set(names))
        flat = {path.name for path in release.iterdir() if path.is_file()}
        assert set(names) == flat | {"folder.zip"}
        for asset in one.assets:
            assert asset.state == "uploaded"
            if asset.name != "folder.zip":
                assert asset.data == (release / asset.name).read_bytes()
        assert self.git.resolve(f"refs/tags/{one.tag_name}") == index.commit
        assert self.hub.violations == []
        return one

    @property
    def latest(self) -> str | None:
        """The tag of the latest release."""
        found = self.hub.latest_release(self.hub.main)
        return None if found is None else found.tag_name


@contextmanager
def opened(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Place]:
    """A place on a new fake, a record of seen releases of its own, and no waiting."""
    monkeypatch.setenv("REGISTRY_STATE", str(folder / "seen.json"))
    monkeypatch.setattr(web, "PAUSES", (0.0, 0.0))
    with FakeGitHub(folder / "hub") as hub:
        yield Place(hub, folder)


def refusal(place: Place, release: Path, **options: object) -> list[tuple[str, str]]:
    """Code and words of all that publishing complains of."""
    with pytest.raises(RegistryError) as caught:
        place.publish(release, **options)
    return [(found.code, found.what) for found in caught.value.findings]


def tag_at(release: Path) -> str:
    """The tag of a release folder."""
    return tag_of((release / "index.json").read_bytes())


def writes(place: Place) -> int:
    """How often GitHub was asked to change something."""
    return sum(asked.method != "GET" for asked in place.hub.requests)
