"""What publishing to GitHub refuses: changed releases, names, tags, strangers."""

from __future__ import annotations

import pytest

from registry.documents.findings import RegistryError
from registry.publish.channels import (
    github,
    latest_commit,
)
from registry.publish.integrity import open_folder
from tests.publish.github_places import OWNER, Place, refusal, tag_at, writes
from tests.simulators.github.hub import QUICK
from tests.simulators.releases import SERIAL, poison


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
