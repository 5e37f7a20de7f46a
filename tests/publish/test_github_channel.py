"""Publishing to GitHub: whole or not seen at all, and safe to repeat."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from registry.client.downloading import download
from registry.documents.findings import RegistryError
from registry.gate.github.connection import Patience
from registry.publish import web
from registry.publish.channels import (
    github,
    github_assets,
    github_drafts,
    latest_commit,
)
from registry.publish.channels.github_releases import marked
from registry.publish.integrity import open_folder, tag_of
from tests.publish.conftest import contents
from tests.publish.github_places import OWNER, Place
from tests.simulators.github.hub import QUICK, FakeGitHub
from tests.simulators.github.state import Release
from tests.simulators.releases import SERIAL, poison

if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import ModuleType

    from registry.gate.github.connection import Connection


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("REGISTRY_STATE", str(tmp_path / "seen.json"))
    monkeypatch.setattr(web, "PAUSES", (0.0, 0.0))


@pytest.fixture
def place(tmp_path: Path) -> Iterator[Place]:
    with FakeGitHub(tmp_path / "hub") as hub:
        yield Place(hub, tmp_path)


def tag_at(release: Path) -> str:
    return tag_of((release / "index.json").read_bytes())


def refusal(place: Place, release: Path, **options: object) -> list[tuple[str, str]]:
    with pytest.raises(RegistryError) as caught:
        place.publish(release, **options)
    return [(found.code, found.what) for found in caught.value.findings]


def writes(place: Place) -> int:
    return sum(asked.method != "GET" for asked in place.hub.requests)


def put_draft(place: Place, tag: str, body: str = "", name: str = "mine") -> Release:
    """Leave a draft there."""
    api = place.hub.connection(OWNER).repository
    made = api.create_git_release(tag, name, body, draft=True, make_latest="false")
    return next(one for one in place.hub.releases if one.id == made.id)


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


def test_a_draft_is_filled_and_published(place: Place) -> None:
    """As after a publisher that was killed: some files are there, some are wrong."""
    release = place.build()
    draft = put_draft(place, tag_at(release), marked("", SERIAL))
    api = place.hub.connection(OWNER).repository.get_release(draft.id)
    for name in ("index.json", "SHA256SUMS"):
        api.upload_asset(str(release / name), name=name)
    api.upload_asset(str(release / "index.json"), name="RELEASE_NOTES.md")
    api.upload_asset(str(release / "index.json"), name="evil.json")
    place.hub.fail("POST", "/uploads/", 502)
    with pytest.raises(Exception, match="502"):
        api.upload_asset(str(release / "provenance.jsonl"))
    assert [asset.state for asset in draft.assets].count("starter") == 1
    kept = {asset.id for asset in draft.assets[:2]}
    done = place.publish(release)
    one = place.assert_published(release)
    assert one.id == draft.id
    assert kept <= {asset.id for asset in one.assets}
    assert done.new


def test_drafts_that_nobody_needs_are_removed(place: Place) -> None:
    release = place.build()
    tag = tag_at(release)
    first = put_draft(place, tag)
    put_draft(place, tag)
    put_draft(place, "r-0123456789abcdef", marked("", SERIAL - 1))
    newer = put_draft(place, "r-fedcba9876543210", marked("", SERIAL + 1))
    people = put_draft(place, "v2.0", "what we plan")
    copied = put_draft(place, "v3.0", marked("our words, below yours", SERIAL - 1))
    unmarked = put_draft(place, "r-0000000000000000", "mine")
    place.publish(release)
    assert [one.id for one in place.stored(tag)] == [first.id]
    drafts = {one.id for one in place.hub.releases if one.draft}
    assert drafts == {newer.id, people.id, copied.id, unmarked.id}


def test_two_assets_of_a_name_are_told_by_github_and_settled(place: Place) -> None:
    """The answer to an upload is lost: sending it again would be refused with 422."""
    release = place.build()
    place.hub.fail("POST", "/uploads/", "cut", times=3, after=True)
    place.publish(release)
    place.assert_published(release)
    assert place.hub.count("POST", "/uploads/") == len(place.hub.releases[0].assets)


def test_a_name_that_is_taken_meanwhile_is_looked_at_again(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    """GitHub's list was late: the upload is refused with 422, and the file is right."""
    release = place.build()
    draft = put_draft(place, tag_at(release))
    api = place.hub.connection(OWNER).repository.get_release(draft.id)
    api.upload_asset(str(release / "index.json"))
    api.upload_asset(str(release / "index.json"), name="SHA256SUMS")
    late(monkeypatch, github_assets, "listed")
    place.publish(release)
    place.assert_published(release)
    refused = [asked for asked in place.hub.requests if asked.status == 422]
    assert len(refused) == 2


def test_a_draft_that_was_listed_late_is_kept(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    release = place.build()
    draft = put_draft(place, tag_at(release))
    late(monkeypatch, github_drafts, "releases")
    place.publish(release)
    assert place.assert_published(release).id == draft.id
    assert place.hub.count("DELETE", "/releases/[0-9]+$") == 1


def test_a_draft_that_vanishes_is_begun_again(place: Place) -> None:
    release = place.build()
    times = iter([True])

    def delete_once(line: str) -> None:
        if line.startswith("sending 5 ") and next(times, False):
            place.hub.releases.clear()

    assert place.publish(release, progress=delete_once).new
    place.assert_published(release)


def test_a_draft_that_vanishes_for_ever_is_told(place: Place) -> None:
    release = place.build()

    def delete(line: str) -> None:
        if line.startswith("sending 5 "):
            place.hub.releases.clear()

    ((code, _),) = refusal(place, release, progress=delete)
    assert code == "R079"
    assert place.hub.releases == []


def test_another_publisher_that_finishes_first_is_no_trouble(place: Place) -> None:
    place.hub.settings.immutable_releases = True
    release = place.build()
    times = iter([True])

    def overtaken(line: str) -> None:
        if line.startswith("sending 5 ") and next(times, False):
            place.publish(release)

    place.publish(release, progress=overtaken)
    place.assert_published(release)


def test_a_draft_that_was_published_meanwhile_is_not_deleted(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    release = place.build()
    other = put_draft(place, "r-0123456789abcdef", marked("", SERIAL - 1))
    real = github_drafts.releases

    def then_published(connection: Connection) -> list[Any]:
        found = real(connection)
        if place.latest == tag_at(release):
            other.draft, other.published_at = False, other.created_at
        return found

    monkeypatch.setattr(github_drafts, "releases", then_published)
    place.publish(release)
    assert other in place.hub.releases
    assert place.hub.count("DELETE", "/releases/[0-9]+$") == 0


def late(monkeypatch: pytest.MonkeyPatch, module: ModuleType, name: str) -> None:
    """Let a list be empty the first time, as on a server that lags behind."""
    real, first = getattr(module, name), iter([True])
    monkeypatch.setattr(module, name, lambda of: [] if next(first, False) else real(of))


@pytest.mark.parametrize("kind", [502, "cut"])
def test_an_upload_that_breaks_off_is_sent_again(place: Place, kind: int | str) -> None:
    """What it leaves holds the name, so it must go before the file is sent again."""
    release = place.build()
    place.hub.fail("POST", "/uploads/", kind, times=2)
    place.publish(release)
    place.assert_published(release)
    assert place.hub.count("DELETE", "/releases/assets/") >= 1


def test_a_published_release_that_was_changed_is_told(place: Place) -> None:
    release = place.build()
    done = place.publish(release)
    (one,) = place.stored(done.tag)
    one.assets[0].digest = f"sha256:{'0' * 64}"
    one.assets.pop(1)
    one.assets[1].state = "starter"
    one.assets[2].name = "evil.json"
    before = writes(place)
    found = refusal(place, release)
    assert {code for code, _ in found} == {"R076"}
    whats = [what for _, what in found]
    assert whats.count("it is missing") == 2
    assert whats.count("the release has no such file") == 1
    assert {"its upload broke off", "its digest is another one"} < set(whats)
    assert writes(place) == before


def test_a_digest_that_github_does_not_state_is_computed(place: Place) -> None:
    release = place.build()
    done = place.publish(release)
    (one,) = place.stored(done.tag)
    for asset in one.assets:
        asset.digest = None
    assert not place.publish(release).new
    one.assets[0].data = one.assets[0].data.replace(b"a", b"b")
    assert [code for code, _ in refusal(place, release)] == ["R076"]


def test_nothing_is_published_before_every_file_was_compared(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever sending files believed: GitHub's own list decides."""
    release = place.build()
    monkeypatch.setattr(github, "fill", lambda *_: None)
    found = refusal(place, release)
    assert {code for code, _ in found} == {"R076"}
    assert [one.draft for one in place.hub.releases] == [True]


def test_a_tag_that_names_another_commit_is_told(place: Place) -> None:
    release = place.build()
    other = place.commit(SERIAL + 5)
    place.git.set_ref(f"refs/tags/{tag_at(release)}", other)
    (found,) = refusal(place, release)
    assert found[0] == "R078"
    assert writes(place) == 0
    index, _ = open_folder(release)
    place.git.set_ref(f"refs/tags/{tag_at(release)}", index.commit)
    assert place.publish(release).new


def test_a_tag_that_was_moved_afterwards_is_told(place: Place) -> None:
    release = place.build()
    done = place.publish(release)
    place.git.set_ref(f"refs/tags/{done.tag}", place.commit(SERIAL + 5))
    assert [code for code, _ in refusal(place, release)] == ["R078"]


def test_immutable_releases_are_no_trouble(place: Place) -> None:
    place.hub.settings.immutable_releases = True
    old, new = place.build(SERIAL), place.build(SERIAL + 1)
    place.publish(old)
    place.publish(new)
    assert all(one.immutable for one in place.hub.releases)
    place.hub.main.latest = place.stored(tag_at(old))[0].id
    assert not place.publish(old).new
    assert place.latest == tag_at(new)


def test_a_damaged_folder_asks_github_nothing(place: Place) -> None:
    release = place.build()
    (release / "RELEASE_NOTES.md").write_bytes(b"trust me")
    assert refusal(place, release)[0][0] == "R013"
    assert place.hub.requests == []


def test_more_assets_than_github_takes_are_refused_at_once(place: Place) -> None:
    release = place.build()
    index, _ = open_folder(release)
    more = [f"extra-{number}.json" for number in range(1000)]
    blank = index.asset("index.json") or index.assets[0]
    for name in more:
        (release / name).write_bytes(b"{}\n")
    assets = [blank.model_copy(update={"path": name}) for name in more]
    listed = sorted([*index.assets, *assets], key=lambda asset: asset.path)
    poison(release, index.model_copy(update={"assets": tuple(listed)}), {})
    ((code, what),) = refusal(place, release)
    assert code == "R074"
    assert "GitHub takes 1000" in what
    assert place.hub.requests == []


@pytest.mark.parametrize("name", ["a..json", "a.json.", "folder.zip", "FOLDER.zip"])
def test_a_name_that_github_would_change_is_refused(place: Place, name: str) -> None:
    release = place.build()
    index, _ = open_folder(release)
    (release / name).write_bytes(b"{}\n")
    extra = index.assets[0].model_copy(update={"path": name})
    listed = sorted([*index.assets, extra], key=lambda asset: asset.path)
    poison(release, index.model_copy(update={"assets": tuple(listed)}), {})
    assert [code for code, _ in refusal(place, release)] == ["R074"]
    assert place.hub.requests == []


def test_uncommitted_files_are_not_published(place: Place) -> None:
    release = place.build()
    index, _ = open_folder(release)
    poison(release, index.model_copy(update={"commit": None}), {})
    ((code, what),) = refusal(place, release)
    assert (code, "no commit" in what) == ("R074", True)


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


def test_without_a_token_nothing_is_asked(place: Place) -> None:
    release = place.build()
    found = refusal(place, release, environment=place.hub.environment())
    assert [code for code, _ in found] == ["R075"]
    assert place.hub.requests == []


def test_a_stranger_may_not_publish(place: Place) -> None:
    release = place.build()
    place.hub.add_user("mallory", 666)
    found = refusal(place, release, environment=place.hub.environment("mallory"))
    assert found[0][0] in {"N002", "N004"}
    assert place.hub.releases == []


def test_a_repository_that_is_not_there_is_told(place: Place) -> None:
    release = place.build()
    environment = place.hub.environment(OWNER) | {"GITHUB_REPOSITORY": "power/gone"}
    assert refusal(place, release, environment=environment)[0][0] == "N004"


@pytest.mark.parametrize("to", ["", "x", "a/b/c", "power/registry@r-1"])
def test_an_unclear_repository_is_refused(place: Place, to: str) -> None:
    from registry.publish.channels import publish

    release = place.build()
    environment = {"GH_TOKEN": "x"}
    with pytest.raises(RegistryError) as caught:
        publish(release, f"github:{to}", environment=environment, patience=QUICK)
    assert caught.value.findings[0].code == "N006"


def test_a_limit_says_when_to_go_on_and_loses_nothing(place: Place) -> None:
    release = place.build()

    def limit(line: str) -> None:
        if line.startswith("sending 5 "):
            place.hub.fail("POST", "/uploads/", "limit", times=99, seconds=3600)

    with pytest.raises(RegistryError) as caught:
        place.publish(release, progress=limit)
    (found,) = caught.value.findings
    assert (found.code, "until 20" in found.what) == ("N003", True)
    assert "goes on where it stopped" in found.fix
    (draft,) = place.hub.releases
    before = {asset.id for asset in draft.assets}
    assert len(before) == 4
    place.hub.behave()
    place.publish(release)
    one = place.assert_published(release)
    assert before <= {asset.id for asset in one.assets}


def test_a_short_limit_is_waited_for(place: Place) -> None:
    release = place.build()
    place.hub.fail("*", "/releases", "secondary", times=2, seconds=0)
    patience = Patience(20, attempts=4, pause=0, rate_limit=5, between_writes=0)
    assert place.publish(release, patience=patience).new


def test_the_latest_commit(place: Place) -> None:
    connection = place.hub.connection()
    assert latest_commit(connection) is None
    old, new = place.build(SERIAL), place.build(SERIAL + 1)
    place.publish(new)
    place.publish(old)
    assert latest_commit(connection) == place.git.branch("main")


def test_p4_a_latest_release_under_another_tag_is_refused(place: Place) -> None:
    release = place.build()
    place.publish(release)
    one = place.hub.releases[0]
    one.tag_name = "r-0123456789abcdef"
    with pytest.raises(RegistryError) as caught:
        latest_commit(place.hub.connection())
    assert caught.value.findings[0].code == "R077"
    one.assets[:] = [asset for asset in one.assets if asset.name != "index.json"]
    with pytest.raises(RegistryError) as caught:
        latest_commit(place.hub.connection())
    assert caught.value.findings[0].code == "R077"


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
