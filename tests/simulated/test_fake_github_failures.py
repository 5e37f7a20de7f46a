"""What tests can let go wrong, and that it goes wrong as they say."""

from __future__ import annotations

import random
from collections import Counter

import pytest
import requests
from github.Requester import Requester

from registry.documents.findings import RegistryError
from registry.gate.github.connection import Patience
from tests.simulators.github import FakeGitHub

ONCE = Patience(timeout=9, attempts=1, pause=0.0, rate_limit=0.0, between_writes=0.0)


def ask(hub: FakeGitHub, path: str = "/users/alice") -> requests.Response:
    return requests.get(hub.api + path, timeout=9)


@pytest.mark.parametrize("kind", [500, "502", 503])
def test_server_errors_come_as_often_as_wanted(
    hub: FakeGitHub, kind: int | str
) -> None:
    hub.fail("GET", "^/users/alice$", kind, times=2)
    hub.fail("POST", "^/users/alice$", 500)
    asked = [ask(hub).status_code for _ in range(3)]
    assert asked == [int(kind), int(kind), 200]
    assert [one.status for one in hub.requests[-3:]] == asked
    assert ask(hub, "/users/bob").status_code == 200


def test_reads_are_repeated_by_our_client(hub: FakeGitHub) -> None:
    hub.fail("GET", "/users/alice$", 502, times=3)
    assert hub.connection("mia").read("/users/alice")["id"] == 42
    assert hub.count("GET", "/users/alice$") == 4


def test_the_hourly_limit_is_understood_by_our_client(hub: FakeGitHub) -> None:
    hub.fail("GET", "/users/alice$", "limit", seconds=3600)
    with pytest.raises(RegistryError) as error:
        hub.connection("mia").read("/users/alice")
    assert error.value.findings[0].code == "N003"
    assert "until 2" in error.value.findings[0].what


@pytest.mark.parametrize("kind", ["limit", "secondary"])
def test_rate_limits_are_worded_so_that_pygithub_knows_them(
    hub: FakeGitHub, kind: str
) -> None:
    hub.fail("GET", "/users/alice$", kind)
    answer = ask(hub)
    assert (answer.status_code, answer.headers["Retry-After"]) == (403, "0")
    assert Requester.isRateLimitError(answer.json()["message"])
    primary = Requester.isPrimaryRateLimitError(answer.json()["message"])
    assert primary == (kind == "limit")


def test_the_hour_is_used_up(hub: FakeGitHub) -> None:
    hub.hourly[0] = 3
    asked = [ask(hub) for _ in range(5)]
    assert [answer.status_code for answer in asked] == [200, 200, 200, 403, 403]
    left = [answer.headers["X-RateLimit-Remaining"] for answer in asked]
    assert left == ["2", "1", "0", "0", "0"]
    assert hub.connection("mia").read("/users/alice")["id"] == 42


def test_a_cut_before_and_after_the_effect(hub: FakeGitHub) -> None:
    repository = hub.connection("mia", ONCE).repository
    for after, there in ((False, 0), (True, 1)):
        hub.fail("POST", "/issues$", "cut", after=after)
        with pytest.raises(requests.ConnectionError):
            repository.create_issue("broken")
        assert len(hub.issues) == there
        assert hub.requests[-1].status == 0


def test_writes_are_not_idempotent(hub: FakeGitHub) -> None:
    repository = hub.connection("mia").repository
    repository.create_issue("twice")
    repository.create_issue("twice")
    assert [issue.title for issue in hub.issues] == ["twice", "twice"]


def test_an_answer_that_breaks_off_and_one_that_stalls(hub: FakeGitHub) -> None:
    hub.fail("GET", "/users/alice$", "short")
    with pytest.raises(requests.RequestException):
        ask(hub)
    hub.fail("GET", "/users/alice$", "slow", seconds=0.01)
    assert ask(hub).json()["id"] == 42
    hub.fail("GET", "/users/alice$", "slow", seconds=0.5)
    with pytest.raises(requests.RequestException):
        requests.get(f"{hub.api}/users/alice", timeout=0.1)


def test_an_unknown_kind_is_refused(hub: FakeGitHub) -> None:
    with pytest.raises(ValueError, match="none of"):
        hub.fail("GET", "/", "explode")


def test_chance_is_repeated_by_its_seed(hub: FakeGitHub) -> None:
    def outcomes() -> list[int]:
        hub.misbehave(random.Random(7), 0.5)
        found = []
        for _ in range(40):
            try:
                found.append(ask(hub).status_code)
            except requests.RequestException:
                found.append(0)
        return found

    hub.hourly[0] = 1000
    first = outcomes()
    assert first == outcomes()
    assert {0, 200, 500, 502, 503, 403} <= set(first)
    assert 10 < Counter(first)[200] < 35
    hub.behave()
    assert {ask(hub).status_code for _ in range(10)} == {200}


def test_a_fault_of_the_fake_itself_fails_the_test(
    hub: FakeGitHub, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken() -> str:
        raise ZeroDivisionError

    monkeypatch.setattr(hub, "stamp", broken)
    with pytest.raises(requests.ConnectionError):
        requests.post(
            f"{hub.api}/repos/power/registry/issues",
            json={"title": "t"},
            headers={"Authorization": f"Bearer {hub.token('mia')}"},
            timeout=9,
        )
    with pytest.raises(AssertionError, match="ZeroDivisionError"):
        hub.__exit__(None)
    hub.crashes.clear()
