"""Publishing to a folder: atomic, idempotent, and safe to kill at any moment."""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from registry.documents.findings import RegistryError
from registry.publish import channels
from registry.publish.channels import directory
from registry.publish.integrity import check_folder, open_folder
from tests.publish.conftest import contents
from tests.simulators import models as made
from tests.simulators.releases import SERIAL, make_release

if TYPE_CHECKING:
    from collections.abc import Callable

STEPS = ("mkdir", "rename", "replace", "symlink", "fsync", "open")


@pytest.fixture(scope="module")
def release(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("channel") / "release"
    make_release(out)
    return out


@pytest.fixture(scope="module")
def newer(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("channel") / "newer"
    make_release(out, serial=SERIAL + 1)
    return out


def to(channel: Path) -> str:
    return f"dir:{channel}"


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def codes(error: RegistryError) -> set[str]:
    return {finding.code for finding in error.findings}


def test_a_release_lies_under_its_tag_and_latest(release: Path, tmp_path: Path) -> None:
    done = channels.publish(release, to(tmp_path / "new" / "channel"))
    assert (done.new, done.latest) == (True, True)
    channel = done.folder.parent
    assert (channel / "latest").readlink() == Path(done.tag)
    assert contents(done.folder) == contents(release)
    assert names(channel) == sorted([done.tag, "latest"])


def test_publishing_again_changes_nothing(release: Path, tmp_path: Path) -> None:
    first = channels.publish(release, to(tmp_path))
    stamp = (first.folder / "index.json").stat().st_mtime_ns
    again = channels.publish(release, to(tmp_path))
    assert (again.new, again.latest, again.tag) == (False, True, first.tag)
    assert (first.folder / "index.json").stat().st_mtime_ns == stamp


def test_latest_moves_forward_only(release: Path, newer: Path, tmp_path: Path) -> None:
    old = channels.publish(release, to(tmp_path))
    new = channels.publish(newer, to(tmp_path))
    assert (tmp_path / "latest").readlink() == Path(new.tag)
    late = channels.publish(release, to(tmp_path))
    assert (late.new, late.latest) == (False, False)
    assert (tmp_path / "latest").readlink() == Path(new.tag)
    assert (tmp_path / old.tag).is_dir()


def test_an_older_release_is_added_without_moving_latest(
    release: Path, newer: Path, tmp_path: Path
) -> None:
    new = channels.publish(newer, to(tmp_path))
    old = channels.publish(release, to(tmp_path))
    assert (old.new, old.latest) == (True, False)
    assert (tmp_path / "latest").readlink() == Path(new.tag)


def test_a_broken_latest_is_replaced(release: Path, tmp_path: Path) -> None:
    (tmp_path / "latest").symlink_to("r-gone")
    assert channels.publish(release, to(tmp_path)).latest


@pytest.mark.parametrize("place", ["", "dir:", "dir: ", "/srv/x", "s3:bucket"])
def test_other_places_are_refused(release: Path, place: str) -> None:
    with pytest.raises(RegistryError) as caught:
        channels.publish(release, place)
    assert codes(caught.value) == {"R030"}


def test_a_folder_named_latest_is_left_alone(release: Path, tmp_path: Path) -> None:
    (tmp_path / "latest").mkdir()
    with pytest.raises(RegistryError) as caught:
        channels.publish(release, to(tmp_path))
    assert codes(caught.value) == {"R031"}


def test_a_file_is_no_channel(release: Path, tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"")
    with pytest.raises(RegistryError) as caught:
        channels.publish(release, to(tmp_path / "file"))
    assert codes(caught.value) == {"R031"}


def test_a_damaged_release_is_not_published(release: Path, tmp_path: Path) -> None:
    shutil.copytree(release, tmp_path / "damaged")
    (tmp_path / "damaged" / "RELEASE_NOTES.md").write_bytes(b"trust me")
    with pytest.raises(RegistryError) as caught:
        channels.publish(tmp_path / "damaged", to(tmp_path / "channel"))
    assert codes(caught.value) == {"R013"}
    assert not (tmp_path / "channel").exists()


@pytest.mark.parametrize("victim", ["index.json", "RELEASE_NOTES.md"])
def test_a_published_release_that_was_changed_is_told(
    release: Path, tmp_path: Path, victim: str
) -> None:
    done = channels.publish(release, to(tmp_path))
    (done.folder / victim).write_bytes(b"{}")
    with pytest.raises(RegistryError) as caught:
        channels.publish(release, to(tmp_path))
    assert codes(caught.value) == {"R032"}


def test_a_release_that_changes_while_it_is_copied_is_refused(
    release: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    copy = directory._copy

    def changing(source: Path, target: Path) -> None:
        copy(source, target)
        if target.name == "RELEASE_NOTES.md":
            target.write_bytes(b"something else")

    monkeypatch.setattr(directory, "_copy", changing)
    with pytest.raises(RegistryError) as caught:
        channels.publish(release, to(tmp_path))
    assert codes(caught.value) == {"R013"}
    assert names(tmp_path) == []


def killed_at(step: int, monkeypatch: pytest.MonkeyPatch) -> Callable[[], int]:
    """Make the n-th file system call die; gives how many there were."""
    count = 0

    def counted(call: Callable[..., Any]) -> Callable[..., Any]:
        def run(*arguments: Any, **named: Any) -> Any:
            nonlocal count
            count += 1
            if count == step:
                os._exit(9)
            return call(*arguments, **named)

        return run

    for name in STEPS:
        monkeypatch.setattr(os, name, counted(getattr(os, name)))
    return lambda: count


def publish_in_child(release: Path, channel: Path, step: int) -> int:
    """Publish in a process of its own that dies at a step; gives its exit code."""
    child = os.fork()
    if not child:
        with pytest.MonkeyPatch.context() as patch:
            killed_at(step, patch)
            channels.publish(release, to(channel))
        os._exit(0)
    _, status = os.waitpid(child, 0)
    return os.waitstatus_to_exitcode(status)


@pytest.mark.skipif(sys.platform != "linux", reason="the channel needs flock")
def test_killed_at_every_step_it_leaves_nothing_half(tmp_path: Path) -> None:
    release, newer = tmp_path / "release", tmp_path / "newer"
    make_release(release, [made.model()])
    make_release(newer, [made.model()], serial=SERIAL + 1)
    whole = tmp_path / "whole"
    channels.publish(release, to(whole))
    channels.publish(newer, to(whole))
    expected = contents(whole)
    step = 1
    while True:
        channel = tmp_path / f"killed-{step}"
        channels.publish(release, to(channel))
        before = (channel / "latest").readlink()
        died = publish_in_child(newer, channel, step)
        for name in names(channel):
            if name.startswith("r-"):
                index, data = open_folder(channel / name)
                assert check_folder(channel / name, index, data) == []
        seen, _ = open_folder(channel / "latest")
        assert seen.serial in {SERIAL, SERIAL + 1}
        assert died == 0 or (channel / "latest").readlink() in {
            before,
            (whole / "latest").readlink(),
        }
        channels.publish(newer, to(channel))
        assert contents(channel) == expected
        assert not [name for name in names(channel) if name.startswith(".")]
        shutil.rmtree(channel)
        if died == 0:
            break
        step += max(1, step // 3)
    assert step > 20
