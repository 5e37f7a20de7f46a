"""Releases of the fake: drafts, uploads, redirects, and what cannot be changed."""

from __future__ import annotations

import hashlib
from pathlib import Path
from urllib.parse import urlsplit

import github
import pytest
import requests
from github.GitRelease import GitRelease

from tests.simulated.conftest import git
from tests.simulators.github import FakeGitHub

DATA = bytes(range(256)) * 50


def draft(hub: FakeGitHub, tag: str = "r-1", login: str = "mia") -> GitRelease:
    repository = hub.connection(login).repository
    return repository.create_git_release(tag, "name", "text", draft=True)


def upload(release: GitRelease, name: str, data: bytes = DATA) -> None:
    # PyGithub wants a file; requests shows better what goes over the wire.
    url = release.upload_url.partition("{")[0]
    answer = requests.post(
        f"{url}?name={name}",
        data=data,
        timeout=9,
        headers={
            "Content-Type": "application/octet-stream",
            "Authorization": f"Bearer {release.requester.auth.token}",
        },
    )
    if answer.status_code != 201:
        raise github.GithubException(answer.status_code, answer.json())


def refused(error: pytest.ExceptionInfo[github.GithubException]) -> tuple[int, str]:
    return error.value.status, error.value.data["errors"][0]["code"]


def test_drafts_are_seen_with_push_access_only_and_may_share_a_tag(
    hub: FakeGitHub,
) -> None:
    drafts = [draft(hub), draft(hub)]
    upload(drafts[0], "a.bin")
    listed = hub.connection("mia").repository.get_releases()
    assert [release.tag_name for release in listed] == ["r-1", "r-1"]
    for login in ("alice", None):
        repository = hub.connection(login).repository
        assert list(repository.get_releases()) == []
        for number in (drafts[0].id, "r-1"):
            with pytest.raises(github.UnknownObjectException):
                repository.get_release(number)
    assert "refs/tags" not in git(hub.bare, "for-each-ref")
    assert drafts[0].raw_data["html_url"] != drafts[1].raw_data["html_url"]


def test_publishing_makes_the_tag_where_it_is_said(hub: FakeGitHub) -> None:
    commit = git(hub.bare, "rev-parse", "main")
    repository = hub.connection("mia").repository
    first = repository.create_git_release(
        "r-1", "n", "t", draft=True, target_commitish=commit
    )
    second = draft(hub)
    first.update_release("n", "t", draft=False)
    assert git(hub.bare, "rev-parse", "refs/tags/r-1") == commit
    with pytest.raises(github.GithubException) as error:
        second.update_release("n", "t", draft=False)
    assert refused(error) == (422, "already_exists")
    nowhere = repository.create_git_release(
        "r-2", "n", "t", draft=True, target_commitish="f" * 40
    )
    with pytest.raises(github.GithubException) as error:
        nowhere.update_release("n", "t", draft=False)
    assert refused(error) == (422, "invalid")
    assert hub.connection().repository.get_latest_release().id == first.id


def test_the_latest_is_the_newest_unless_it_is_said_otherwise(hub: FakeGitHub) -> None:
    repository = hub.connection("mia").repository
    first = repository.create_git_release("r-1", "n", "t")
    second = repository.create_git_release("r-2", "n", "t")
    assert repository.get_latest_release().id == second.id
    third = repository.create_git_release("r-3", "n", "t", make_latest="false")
    assert repository.get_latest_release().id == second.id
    repository.create_git_release("r-4", "n", "t", prerelease=True)
    first.update_release("n", "t", make_latest="true")
    assert repository.get_latest_release().id == first.id
    first.delete_release()
    assert repository.get_latest_release().id == third.id


def test_a_file_has_a_digest_and_its_name_is_taken(hub: FakeGitHub) -> None:
    release = draft(hub)
    upload(release, "a.bin")
    (asset,) = release.get_assets()
    assert asset.raw_data["digest"] == f"sha256:{hashlib.sha256(DATA).hexdigest()}"
    assert (asset.size, asset.state) == (len(DATA), "uploaded")
    with pytest.raises(github.GithubException) as error:
        upload(release, "a.bin", b"other")
    assert refused(error) == (422, "already_exists")
    with pytest.raises(github.GithubException) as error:
        upload(release, "empty", b"")
    assert refused(error) == (422, "custom")
    upload(release, "with%20space%20(1).bin")
    assert [a.name for a in release.get_assets()] == ["a.bin", "with.space.1.bin"]


@pytest.mark.parametrize(("kind", "status"), [("502", 502), ("cut", None)])
def test_a_broken_upload_holds_the_name(
    hub: FakeGitHub, kind: str, status: int | None
) -> None:
    release = draft(hub)
    hub.fail("POST", "/assets$", kind)
    with pytest.raises((github.GithubException, requests.ConnectionError)) as error:
        upload(release, "a.bin")
    assert getattr(error.value, "status", None) == status
    (asset,) = release.get_assets()
    assert (asset.name, asset.state, asset.size) == ("a.bin", "starter", 0)
    assert asset.raw_data["digest"] is None
    with pytest.raises(github.GithubException) as error:
        upload(release, "a.bin")
    assert refused(error) == (422, "already_exists")
    asset.delete_asset()
    upload(release, "a.bin")
    assert [a.state for a in release.get_assets()] == ["uploaded"]


def test_an_upload_whose_answer_is_lost_was_done(hub: FakeGitHub) -> None:
    release = draft(hub)
    hub.fail("POST", "/assets$", 502, after=True)
    with pytest.raises(github.GithubException):
        upload(release, "a.bin")
    assert [a.state for a in release.get_assets()] == ["uploaded"]


def test_files_are_reached_through_two_redirects_to_another_host(
    hub: FakeGitHub,
) -> None:
    release = draft(hub)
    upload(release, "index.json")
    release.update_release("n", "t", draft=False)
    url = f"{hub.web}/power/registry/releases/latest/download/index.json"
    places, session = [url], requests.Session()
    while True:
        answer = session.get(places[-1], allow_redirects=False, timeout=9)
        if answer.status_code != 302:
            break
        places.append(answer.headers["Location"])
    assert places[1] == f"{hub.web}/power/registry/releases/download/r-1/index.json"
    assert len(places) == 3
    assert urlsplit(places[2]).hostname != urlsplit(url).hostname
    assert answer.content == DATA
    assert session.get(url, timeout=9).content == DATA
    part = session.get(url, headers={"Range": "bytes=10-19"}, timeout=9)
    assert (part.status_code, part.content) == (206, DATA[10:20])
    token = {"Authorization": f"Bearer {hub.token('mia')}"}
    assert session.get(places[2], headers=token, timeout=9).status_code == 400
    assert session.get(f"{hub.blobs}/guessed", timeout=9).status_code == 403
    for missing in ("latest/download/none.json", "download/r-9/index.json"):
        place = f"{hub.web}/power/registry/releases/{missing}"
        assert session.get(place, timeout=9).status_code == 404


def test_the_api_leads_to_the_bytes_too(hub: FakeGitHub, tmp_path: Path) -> None:
    release = draft(hub)
    upload(release, "a.bin")
    (asset,) = release.get_assets()
    headers = {"Accept": "application/octet-stream"}
    answer = requests.get(asset.url, headers=headers, timeout=9)
    assert answer.status_code == 404, "drafts are hidden"
    headers["Authorization"] = f"Bearer {hub.token('mia')}"
    answer = requests.get(asset.url, headers=headers, timeout=9)
    # requests drops the token on the way to another host, so this one answers.
    assert (answer.status_code, answer.content) == (200, DATA)


def test_an_immutable_release_stays_as_it_is(hub: FakeGitHub) -> None:
    hub.settings.immutable_releases = True
    release = draft(hub)
    upload(release, "a.bin")
    release = release.update_release("n", "t", draft=False)
    assert release.raw_data["immutable"] is True
    (asset,) = release.get_assets()
    for change in (
        lambda: upload(release, "b.bin"),
        asset.delete_asset,
        lambda: asset.update_asset("c.bin", ""),
        lambda: release.update_release("n", "t", tag_name="r-2"),
        lambda: release.update_release("n", "t", draft=True),
    ):
        with pytest.raises(github.GithubException) as error:
            change()
        assert refused(error) == (422, "custom")
    assert release.update_release("n", "better words").body == "better words"
    release.delete_release()
    with pytest.raises(github.GithubException) as error:
        hub.connection("mia").repository.create_git_release("r-1", "n", "t")
    assert refused(error) == (422, "custom")


def test_without_push_access_nothing_is_released(hub: FakeGitHub) -> None:
    with pytest.raises(github.GithubException) as error:
        draft(hub, login="alice")
    assert error.value.status == 403
    assert hub.releases == []
