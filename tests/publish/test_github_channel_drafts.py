"""Publishing to GitHub goes on where it broke off, beside whoever else publishes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from registry.documents.findings import RegistryError
from registry.gate.github.connection import Patience
from registry.publish.channels import github_assets, github_drafts
from registry.publish.channels.github_releases import marked
from tests.publish.github_places import OWNER, Place, refusal, tag_at
from tests.simulators.github.state import Release
from tests.simulators.releases import SERIAL

if TYPE_CHECKING:
    from types import ModuleType

    from registry.gate.github.connection import Connection


def put_draft(place: Place, tag: str, body: str = "", name: str = "mine") -> Release:
    """Leave a draft there."""
    api = place.hub.connection(OWNER).repository
    made = api.create_git_release(tag, name, body, draft=True, make_latest="false")
    return next(one for one in place.hub.releases if one.id == made.id)


def late(monkeypatch: pytest.MonkeyPatch, module: ModuleType, name: str) -> None:
    """Let a list be empty the first time, as on a server that lags behind."""
    real, first = getattr(module, name), iter([True])
    monkeypatch.setattr(module, name, lambda of: [] if next(first, False) else real(of))


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


@pytest.mark.parametrize("kind", [502, "cut"])
def test_an_upload_that_breaks_off_is_sent_again(place: Place, kind: int | str) -> None:
    """What it leaves holds the name, so it must go before the file is sent again."""
    release = place.build()
    place.hub.fail("POST", "/uploads/", kind, times=2)
    place.publish(release)
    place.assert_published(release)
    assert place.hub.count("DELETE", "/releases/assets/") >= 1


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
