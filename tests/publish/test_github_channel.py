"""Publishing to GitHub: whole or not seen at all, and safe to repeat."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from registry.client.downloading import download
from registry.publish.channels import github, latest_commit
from registry.publish.channels.github_releases import marked
from registry.publish.integrity import open_folder
from tests.publish.conftest import contents
from tests.publish.github_places import OWNER, Place, tag_at, writes
from tests.simulators.releases import SERIAL, poison


def test_a_release_is_published_whole(place: Place) -> None:
    release = place.build()
    lines: list[str] = []
    done = place.publish(release, progress=lines.append)
    one = place.assert_published(release)
    assert (done.new, done.latest, done.tag) == (True, True, tag_at(release))
    assert done.place == f"{place.hub.web}/power/registry/releases/tag/{done.tag}"
    assert done.files == len(one.assets)
    assert one.name == f"Power models of 2026-05-28, {done.tag}"
    assert "registry fetch --from github:power/registry@r-" in (one.body or "")
    assert place.latest == done.tag
    kinds = {asset.name: asset.content_type for asset in one.assets}
    assert kinds["index.json"] == "application/json"
    assert kinds["folder.zip"] == "application/zip"
    assert kinds["SHA256SUMS"].startswith("text/plain")
    assert f"sending 1 of {done.files}: RELEASE_NOTES.md" in lines


def test_publishing_again_writes_nothing(place: Place) -> None:
    release = place.build()
    place.publish(release)
    before = writes(place)
    again = place.publish(release)
    assert (again.new, again.latest) == (False, True)
    assert writes(place) == before


def test_what_was_published_is_downloaded_again(
    place: Place, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    release = place.build()
    done = place.publish(release)
    for name, value in place.hub.environment().items():
        monkeypatch.setenv(name, value)
    for number, spelling in enumerate(
        ("github:", f"github:power/registry@{done.tag}", str(done.place))
    ):
        got = download(spelling, tmp_path / f"copy-{number}")
        assert contents(got.out) == contents(release)
    assert all(asked.login is None for asked in place.hub.requests[-20:])


def test_the_newest_release_is_the_latest(place: Place) -> None:
    old, new = place.build(SERIAL), place.build(SERIAL + 1)
    assert place.publish(new).latest
    assert not place.publish(old).latest
    assert place.latest == tag_at(new)
    newest = place.build(SERIAL + 2)
    assert place.publish(newest).latest
    assert place.latest == tag_at(newest)


def test_an_older_release_is_never_the_latest_even_for_a_moment(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    old, new = place.build(SERIAL), place.build(SERIAL + 1)
    place.publish(new)
    monkeypatch.setattr(github, "settle_latest", lambda _: "")
    place.publish(old)
    assert place.latest == tag_at(new)


def test_a_wrong_latest_is_put_right(place: Place) -> None:
    old, new = place.build(SERIAL), place.build(SERIAL + 1)
    place.publish(old)
    place.publish(new)
    place.hub.main.latest = place.stored(tag_at(old))[0].id
    assert not place.publish(old).latest
    assert place.latest == tag_at(new)


def test_other_releases_do_not_count(place: Place) -> None:
    release = place.build()
    api = place.hub.connection(OWNER).repository
    api.create_git_release("v1.0", "code", marked("", 9_999_999_999))
    assert place.publish(release).latest
    assert latest_commit(place.hub.connection()) == place.git.branch("main")


def test_a_release_that_was_made_a_pre_release_does_not_count(place: Place) -> None:
    old, new = place.build(SERIAL), place.build(SERIAL + 1)
    place.publish(old)
    place.publish(new)
    place.stored(tag_at(new))[0].prerelease = True
    assert place.publish(old).latest
    assert place.latest == tag_at(old)


def test_a_release_whose_mark_was_edited_away_still_counts(place: Place) -> None:
    old, new = place.build(SERIAL), place.build(SERIAL + 1)
    place.publish(new)
    place.stored(tag_at(new))[0].body = "better words"
    assert not place.publish(old).latest
    assert place.latest == tag_at(new)


def test_immutable_releases_are_no_trouble(place: Place) -> None:
    place.hub.settings.immutable_releases = True
    old, new = place.build(SERIAL), place.build(SERIAL + 1)
    place.publish(old)
    place.publish(new)
    assert all(one.immutable for one in place.hub.releases)
    place.hub.main.latest = place.stored(tag_at(old))[0].id
    assert not place.publish(old).new
    assert place.latest == tag_at(new)


def test_an_empty_file_travels_in_the_zip(
    place: Place, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    release = place.build()
    index, _ = open_folder(release)
    poison(release, index, {"held_out.jsonl": b""})
    done = place.publish(release)
    (one,) = place.stored(done.tag)
    assert "held_out.jsonl" not in {asset.name for asset in one.assets}
    for name, value in place.hub.environment().items():
        monkeypatch.setenv(name, value)
    download("github:", tmp_path / "copy")
    assert contents(tmp_path / "copy") == contents(release)


def test_the_latest_commit(place: Place) -> None:
    connection = place.hub.connection()
    assert latest_commit(connection) is None
    old, new = place.build(SERIAL), place.build(SERIAL + 1)
    place.publish(new)
    place.publish(old)
    assert latest_commit(connection) == place.git.branch("main")


def test_notes_compare_with_the_release_before(place: Place) -> None:
    old, new = place.build(SERIAL), place.build(SERIAL + 1)
    place.publish(old)
    place.publish(new)
    assert tag_at(old) in (place.stored(tag_at(new))[0].body or "")
    assert tag_at(new) not in (place.stored(tag_at(old))[0].body or "")


def test_a_damaged_release_before_is_no_obstacle(place: Place) -> None:
    old, new = place.build(SERIAL), place.build(SERIAL + 1)
    place.publish(old)
    place.hub.releases[0].assets.clear()
    assert place.publish(new).new
    place.hub.releases.pop(0)
    place.assert_published(new)


def test_the_command_says_where_it_is(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    from typer.testing import CliRunner

    from registry.cli import app

    release = place.build()
    for name, value in place.hub.environment(OWNER).items():
        monkeypatch.setenv(name, value)
    place.publish(release)
    arguments = ["publish", str(release), "--to", "github:power/registry"]
    printed = CliRunner().invoke(app, arguments).stdout
    page = f"{place.hub.web}/power/registry/releases/tag/{tag_at(release)}"
    assert f"was there already: {page}" in printed
    document = json.loads(CliRunner().invoke(app, [*arguments, "--json"]).stdout)
    assert (document["place"], document["latest"]) == (page, True)
    assert document["files"] == len(place.hub.releases[0].assets)
