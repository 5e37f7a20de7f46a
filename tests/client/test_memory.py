"""What the client remembers, and how an old release is noticed."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from registry.client import open_release
from registry.client.memory import remember, state_file
from registry.documents.findings import RegistryError
from registry.publish.channels import publish
from tests.simulators.releases import SERIAL, make_release, usual_models


def codes(place: Path) -> set[str]:
    with pytest.raises(RegistryError) as caught:
        open_release(str(place))
    return {finding.code for finding in caught.value.findings}


def test_the_record_lies_where_it_is_told(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.delenv("REGISTRY_STATE")
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    assert state_file() == tmp_path / "power-dataset-registry" / "seen.json"
    monkeypatch.delenv("XDG_STATE_HOME")
    monkeypatch.setenv("HOME", str(tmp_path))
    assert state_file().is_relative_to(tmp_path / ".local" / "state")


def test_a_release_is_remembered(release: Path, state: Path) -> None:
    open_release(str(release))
    value = json.loads(state.read_bytes())
    assert value["schema"] == "seen/1"
    assert value["seen"][0][0] == str(release)
    assert value["seen"][0][1]["serial"] == SERIAL


def test_the_same_release_again_is_fine(release: Path) -> None:
    assert open_release(str(release)).tag == open_release(str(release)).tag


def test_a_newer_one_is_fine_and_the_old_one_then_is_not(tmp_path: Path) -> None:
    folder = tmp_path / "release"
    make_release(folder)
    open_release(str(folder))
    make_release(folder, serial=SERIAL + 1)
    open_release(str(folder))
    make_release(folder)
    assert codes(folder) == {"R042"}


def test_another_release_of_the_same_commit_is_not(tmp_path: Path) -> None:
    folder = tmp_path / "release"
    make_release(folder)
    open_release(str(folder))
    make_release(folder, usual_models()[:-1])
    assert codes(folder) == {"R043"}


def test_a_channel_that_goes_back_is_noticed(tmp_path: Path) -> None:
    channel = tmp_path / "channel"
    make_release(tmp_path / "old")
    make_release(tmp_path / "new", serial=SERIAL + 5)
    old = publish(tmp_path / "old", f"dir:{channel}")
    publish(tmp_path / "new", f"dir:{channel}")
    open_release(str(channel))
    (channel / "latest").unlink()
    (channel / "latest").symlink_to(old.tag)
    assert codes(channel) == {"R042"}
    assert open_release(str(old.folder)).index.serial == SERIAL  # named on purpose


def test_work_trees_have_no_serial_to_compare(tmp_path: Path) -> None:
    folder = tmp_path / "release"
    make_release(folder, serial=0)
    open_release(str(folder))
    make_release(folder, usual_models()[:-1], serial=0)
    open_release(str(folder))


@pytest.mark.parametrize(
    "record", [b"", b"[]", b'{"schema":"seen/2"}', b'{"schema":"seen/1","seen":[[]]}']
)
def test_an_unreadable_record_is_a_warning(
    release: Path, state: Path, record: bytes
) -> None:
    state.parent.mkdir()
    state.write_bytes(record)
    opened = open_release(str(release))
    assert [finding.code for finding in opened.warnings] == ["R044"]
    assert open_release(str(release)).warnings == ()


def test_a_record_that_cannot_be_kept_stops_nothing(
    release: Path, tmp_path: Path
) -> None:
    (tmp_path / "file").write_bytes(b"")
    state = tmp_path / "file" / "seen.json"
    assert open_release(str(release), state=state).warnings == ()


def test_the_record_does_not_grow_for_ever(release: Path, state: Path) -> None:
    opened = open_release(str(release))
    for number in range(12):
        remember(state, f"origin-{number}", opened.index, b"")
    many = [[f"o-{n}", {"index": "x", "serial": 1}] for n in range(700)]
    state.write_text(json.dumps({"schema": "seen/1", "seen": many}), "utf-8")
    remember(state, "last", opened.index, b"")
    seen = json.loads(state.read_bytes())["seen"]
    assert len(seen) == 500
    assert seen[-1][0] == "last"


def test_an_old_release_is_a_warning(release: Path) -> None:
    year = 365 * 24 * 3600
    assert open_release(str(release), now=SERIAL + year).warnings == ()
    opened = open_release(str(release), now=SERIAL + year + 1)
    assert [finding.code for finding in opened.warnings] == ["R045"]
    assert "2027-05-28" in opened.warnings[0].what


def test_a_pinned_digest_is_compared_first(release: Path) -> None:
    tag = open_release(str(release)).tag
    assert open_release(str(release), digest=tag).tag == tag
    with pytest.raises(RegistryError) as caught:
        open_release(str(release), digest="r-0000000000000000")
    assert caught.value.findings[0].code == "R046"
