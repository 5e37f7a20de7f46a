"""Accounts, tokens, permissions and pages of the fake."""

from __future__ import annotations

from collections.abc import Mapping

import github
import pytest
import requests

from tests.simulators.github import FakeGitHub

R = "/repos/power/registry"


def ask(
    hub: FakeGitHub, path: str, token: str | None = None, method: str = "GET"
) -> requests.Response:
    headers = {} if token is None else {"Authorization": f"token {token}"}
    return requests.request(
        method, hub.api + path, headers=headers, timeout=9, allow_redirects=False
    )


def test_lists_have_pages(hub: FakeGitHub) -> None:
    for number in range(45):
        hub.publish_key("alice", f"ssh-ed25519 AAAA{number} a comment")
    path = "/users/alice/ssh_signing_keys"
    first = ask(hub, path)
    assert len(first.json()) == 30
    assert first.json()[1]["key"] == "ssh-ed25519 AAAA0", "comments are not kept"
    assert set(first.links) == {"next", "last"}
    second = requests.get(first.links["next"]["url"], timeout=9)
    assert len(second.json()) == 16
    assert set(second.links) == {"prev", "first"}
    wide = ask(hub, f"{path}?per_page=20&page=2")
    assert len(wide.json()) == 20
    assert "per_page=20&page=3" in wide.links["next"]["url"]
    assert len(ask(hub, f"{path}?per_page=1000").json()) == 46
    assert ask(hub, f"{path}?page=9").json() == []
    assert len(hub.connection().read_all(path)) == 46
    hub.drop_key("alice", "ssh-ed25519 AAAA3")
    assert len(hub.connection().read_all(path)) == 45


def test_a_renamed_account_keeps_its_number_and_repositories(hub: FakeGitHub) -> None:
    hub.fork("alice")
    hub.rename("alice", "alicia")
    assert ask(hub, "/user/42").json()["login"] == "alicia"
    assert ask(hub, "/users/alice").status_code == 404
    moved = ask(hub, "/repos/alice/registry/branches")
    assert moved.status_code == 301
    assert requests.get(moved.headers["Location"], timeout=9).status_code == 200
    assert hub.bare_of("alice/registry") == hub.bare_of("alicia/registry")
    hub.add_user("alice", 99)
    assert ask(hub, "/users/alice").json()["id"] == 99
    with pytest.raises(ValueError, match="exists"):
        hub.rename("bob", "Alicia")


def test_a_wrong_token_opens_nothing(hub: FakeGitHub) -> None:
    answer = ask(hub, R, "ghp_wrong")
    assert (answer.status_code, answer.json()["message"]) == (401, "Bad credentials")
    assert ask(hub, "/user").status_code == 401
    assert ask(hub, R).status_code == 200


def test_a_private_repository_is_unknown_to_others(hub: FakeGitHub) -> None:
    hub.main.private = True
    for token in (None, hub.token("alice")):
        assert ask(hub, R, token).status_code == 404
    assert ask(hub, R, hub.token("mia")).json()["visibility"] == "private"


def test_settings_are_for_admins(hub: FakeGitHub) -> None:
    path = f"{R}/actions/permissions"
    answer = ask(hub, path, hub.token("mia"))
    text = "Must have admin rights to Repository."
    assert (answer.status_code, answer.json()["message"]) == (403, text)
    assert answer.headers["X-Accepted-GitHub-Permissions"] == "administration=read"
    assert ask(hub, path).status_code == 401
    assert ask(hub, path, hub.token("power")).status_code == 200
    assert "security_and_analysis" in ask(hub, R, hub.token("power")).json()
    assert "security_and_analysis" not in ask(hub, R, hub.token("mia")).json()


@pytest.mark.parametrize(
    ("permissions", "statuses"),
    [
        ({}, (403, 403, 403)),
        ({"contents": "read"}, (200, 403, 403)),
        ({"contents": "read", "pull-requests": "read"}, (200, 200, 403)),
        ({"contents": "write"}, (200, 403, 201)),
    ],
)
def test_a_job_may_do_what_its_workflow_says(
    hub: FakeGitHub, permissions: Mapping[str, str], statuses: tuple[int, int, int]
) -> None:
    token = hub.job_token(permissions)
    made = requests.post(
        f"{hub.api}{R}/releases",
        json={"tag_name": "r-1", "draft": True},
        headers={"Authorization": f"Bearer {token}"},
        timeout=9,
    )
    found = (
        ask(hub, f"{R}/branches", token).status_code,
        ask(hub, f"{R}/pulls", token).status_code,
        made.status_code,
    )
    assert found == statuses
    if made.status_code == 403:
        assert made.json()["message"] == "Resource not accessible by integration"
    else:
        assert made.json()["author"]["login"] == "github-actions[bot]"
    assert ask(hub, f"{R}/actions/permissions", token).status_code == 403


def test_a_fine_grained_token_does_part_of_what_its_person_may(hub: FakeGitHub) -> None:
    path = f"{R}/actions/permissions"
    reading = hub.fine_token("power", {"administration": "read"})
    assert ask(hub, path, reading).status_code == 200
    answer = ask(hub, f"{R}/branches", reading)
    text = "Resource not accessible by personal access token"
    assert (answer.status_code, answer.json()["message"]) == (403, text)
    other = hub.fine_token("mia", {"administration": "read"})
    assert ask(hub, path, other).status_code == 403


def test_labels_of_those_who_may_not_push_are_dropped(hub: FakeGitHub) -> None:
    shown = hub.connection("alice").repository.create_issue("t", labels=["watch"])
    assert shown.labels == []
    shown = hub.connection("mia").repository.create_issue("t", labels=["watch"])
    assert [label.name for label in shown.labels] == ["watch"]


def test_nobody_approves_their_own_change(hub: FakeGitHub) -> None:
    connection = hub.connection("mia")
    main = connection.repository.get_branch("main").commit
    connection.repository.create_git_ref("refs/heads/topic", main.sha)
    with pytest.raises(github.GithubException, match="No commits between"):
        connection.repository.create_pull(base="main", head="topic", title="t")
    connection.repository.create_file("x", "m", "content", branch="topic")
    pull = connection.repository.create_pull(base="main", head="topic", title="t")
    with pytest.raises(github.GithubException, match="your own pull request"):
        pull.create_review(event="APPROVE")
    with pytest.raises(github.GithubException, match="already exists"):
        connection.repository.create_pull(base="main", head="topic", title="t")
    with pytest.raises(github.GithubException) as error:
        hub.connection("bob").repository.get_pull(pull.number).merge()
    assert error.value.status == 403
