"""Whose account a pull request is, and what happens when GitHub fails meanwhile."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING

import pytest

from registry.documents.findings import RegistryError
from registry.gate.github.accounts import Proposer, published_keys
from registry.gate.github.connection import Patience, connect
from registry.gate.github.pulls import PullRequest, merged_pulls_of, pull_request
from registry.gate.github.verify_pull import queued_number
from tests.simulators.gate import found
from tests.simulators.github import FakeGitHub
from tests.simulators.hosting import Hosted
from tests.simulators.mainlines import Record
from tests.simulators.people import Person
from tests.simulators.registry import Simulator, small

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from registry.gate.github.connection import Connection

ALICE = 42
KEYS = r"/users/.*/ssh_signing_keys"


def proposer(connection: Connection, number: int) -> Proposer:
    """The author of a pull request, with the keys that the account publishes."""
    return published_keys(connection, pull_request(connection, number).author_id)


def pull_of_commit(connection: Connection, sha: str) -> PullRequest | None:
    """The pull request that a commit of the branch merged, or None."""
    pulls = merged_pulls_of(connection, sha)
    return next((one for one in pulls if one.merged_sha == sha), None)


@pytest.fixture
def hosted(tmp_path: Path) -> Iterator[Hosted]:
    with FakeGitHub(tmp_path / "github") as hub:
        yield Hosted.found(hub, small())
        assert hub.violations == []


def with_bundle() -> Simulator:
    changed = small()
    changed.add_levels("server-d", ALICE)
    return changed


def with_newcomer() -> Simulator:
    changed = small()
    changed.enrol(Person.new(99, "newcomer"))
    changed.add_levels("server-d", 99)
    return changed


def refusal(record: Record, number: int = 1) -> str:
    with pytest.raises(RegistryError) as caught:
        proposer(record.connection, number)
    (one,) = caught.value.findings
    return one.code


def told(user: int | None = ALICE) -> Record:
    record = Record()
    record.account(ALICE, "alice", "ssh-ed25519 AAAA")
    record.pulls[1] = {
        "number": 1,
        "user": None if user is None else {"id": user, "login": "old-name"},
        "base": {"ref": "main"},
        "head": {"sha": "a" * 40},
        "state": "open",
        "merged_at": None,
        "merge_commit_sha": "b" * 40,
    }
    return record


def test_an_author_is_an_id_with_the_name_and_keys_of_today() -> None:
    record = told()
    found_one = proposer(record.connection, 1)
    assert dataclasses.astuple(found_one) == (ALICE, "alice", ("ssh-ed25519 AAAA",))
    assert record.asked == [
        "/repos/power/registry/pulls/1",
        "/user/42",
        "/users/alice/ssh_signing_keys",
        "/users/alice",
    ]


def test_s8_a_name_that_changes_hands_meanwhile_is_refused() -> None:
    record = told()
    record.owners["alice"] = 777
    assert refusal(record) == "N011"
    del record.owners["alice"]
    assert refusal(record) == "N011"


def test_an_account_that_is_gone() -> None:
    assert refusal(told(user=None)) == "N010"
    assert refusal(told(user=5)) == "N010"
    assert refusal(told(), 7) == "N004"


@pytest.mark.parametrize("login", ["dependabot[bot]", "a/../b", "a?per_page=1", ""])
def test_a_name_never_becomes_another_path(login: str) -> None:
    record = told()
    record.account(ALICE, login, "ssh-ed25519 AAAA")
    assert proposer(record.connection, 1).signing_keys == ()
    assert all("/users/" not in path for path in record.asked)


def test_odd_answers_are_findings() -> None:
    record = told()
    record.pulls[1]["user"] = {"login": "without-id"}
    assert refusal(record) == "N001"
    record = told()
    record.pulls[1] |= {"merged_at": "yesterday"}
    assert refusal(record) == "N001"


def test_pull_requests_of_a_commit(hosted: Hosted) -> None:
    number = hosted.propose(with_bundle(), ALICE)
    connection = hosted.connection()
    opened = pull_request(connection, number)
    assert (opened.state, opened.merged_sha, opened.merged_at) == ("open", None, None)
    assert (opened.author_id, opened.base) == (ALICE, "main")
    head = opened.head_sha
    assert merged_pulls_of(connection, head) == ()
    sha = hosted.merge(number)
    merged = pull_of_commit(connection, sha)
    assert merged is not None
    assert (merged.number, merged.merged_sha) == (number, sha)
    assert (merged.merged_at, merged.state) == (hosted.now(), "merged")
    assert pull_of_commit(connection, head) is None
    with pytest.raises(RegistryError, match="N005"):
        pull_of_commit(connection, "f" * 40)


@pytest.mark.parametrize(
    ("ref", "number"),
    [
        (f"refs/heads/gh-readonly-queue/main/pr-12-{'a' * 40}", 12),
        (f"gh-readonly-queue/main/pr-1-{'a' * 40}", 1),
        (f"gh-readonly-queue/other/pr-12-{'a' * 40}", None),
        (f"gh-readonly-queue/main/pr-012-{'a' * 40}", None),
        (f"x/gh-readonly-queue/main/pr-12-{'a' * 40}", None),
        (f"gh-readonly-queue/main/pr-12-{'a' * 40}\n", None),
        ("gh-readonly-queue/main/pr-12-abc", None),
        ("12", None),
    ],
)
def test_a_queue_ref_names_a_pull_request(ref: str, number: int | None) -> None:
    assert queued_number(ref) == number


def test_a_short_page_is_not_the_last_one(hosted: Hosted) -> None:
    """GitHub may leave entries out of a page; only its links say what is the last."""
    connection = hosted.connection()
    pages = {1: [1, 2], 2: [], 3: [3]}

    def answer(verb: str, path: str) -> tuple[dict[str, str], list[int]]:
        page = int(path.rpartition("=")[2])
        link = f'<x?page={page + 1}>; rel="next"' if page + 1 in pages else ""
        return {"link": link}, pages[page]

    connection.api.requester.requestJsonAndCheck = answer  # type: ignore[method-assign]
    assert connection.read_all("/anything") == [1, 2, 3]


def test_w13_a_list_without_an_end_is_no_answer(hosted: Hosted) -> None:
    connection = hosted.connection()
    asked: list[str] = []

    def answer(verb: str, path: str) -> tuple[dict[str, str], list[int]]:
        asked.append(path)
        assert len(asked) <= 1000
        return {"link": '<x>; rel="next"'}, []

    connection.api.requester.requestJsonAndCheck = answer  # type: ignore[method-assign]
    with pytest.raises(RegistryError) as refused:
        connection.read_all("/anything")
    assert [one.code for one in refused.value.findings] == ["N001"]


@pytest.mark.parametrize("kind", [500, 502, 503, "cut", "short", "secondary"])
def test_a_passing_failure_is_not_seen(kind: int | str, hosted: Hosted) -> None:
    number = hosted.propose(with_bundle(), ALICE)
    fault = hosted.hub.fail("GET", "/pulls/", kind)
    assert hosted.check(number).findings == ()
    assert fault.times == 0


@pytest.mark.parametrize(
    ("kind", "code"),
    [
        (500, "N001"),
        (502, "N001"),
        ("cut", "N001"),
        ("short", "N001"),
        ("limit", "N003"),
        ("secondary", "N003"),
    ],
)
def test_a_lasting_failure_is_a_finding_beside_the_others(
    kind: int | str, code: str, hosted: Hosted
) -> None:
    broken = with_bundle()
    broken.files["datasets/server-d/runs.csv"] += b"x"
    number = hosted.propose(broken, ALICE)
    hosted.hub.fail("GET", "/pulls/", kind, times=1000, seconds=3600.0)
    codes = found(hosted.check(number))
    assert (code, "github") in codes
    assert ("M023", "datasets/server-d/runs.csv") in codes


def test_a_limit_says_until_when(hosted: Hosted) -> None:
    number = hosted.propose(with_bundle(), ALICE)
    hosted.hub.fail("GET", "/pulls/", "limit", times=1000, seconds=3600.0)
    (one,) = hosted.check(number).findings
    assert "until 20" in one.what
    assert "wait" in one.fix.lower()


def test_a_slow_github_is_a_finding(hosted: Hosted) -> None:
    number = hosted.propose(with_bundle(), ALICE)
    hosted.patience = Patience(timeout=1, attempts=1)
    hosted.hub.fail("GET", "/pulls/", "slow", times=1000, seconds=1.3)
    assert found(hosted.check(number)) == [("N001", "github")]


def test_a_list_of_keys_that_fails_concerns_new_keys_only(hosted: Hosted) -> None:
    hosted.hub.add_user("newcomer", 99)
    hosted.hub.fail("GET", KEYS, 502, times=1000)
    assert found(hosted.check(hosted.propose(with_bundle(), ALICE))) == []
    codes = found(hosted.check(hosted.propose(with_newcomer(), 99)))
    assert ("N001", "github") in codes
    assert ("K024", "registry/trust/99.yaml") in codes


def test_a_second_page_that_fails_is_no_short_list(hosted: Hosted) -> None:
    keys = [f"ssh-ed25519 AAAA{number}" for number in range(150)]
    hosted.hub.add_user("newcomer", 99, keys)
    connection = hosted.connection()
    assert len(published_keys(connection, 99).signing_keys) == 150
    hosted.hub.fail("GET", KEYS, "cut", times=1000)
    with pytest.raises(RegistryError, match="N001"):
        published_keys(connection, 99)


def test_after_the_merge_a_failure_refuses_the_release(hosted: Hosted) -> None:
    hosted.merge(hosted.propose(with_bundle(), ALICE))
    hosted.hub.fail("GET", "/commits/", "limit", times=1000, seconds=60.0)
    assert found(hosted.merged()) == [("N003", "github")]
    hosted.hub.behave()
    assert hosted.merged().findings == ()


def test_a_token_that_may_not_read_is_named(hosted: Hosted) -> None:
    number = hosted.propose(with_bundle(), ALICE)
    hosted.permissions = {"contents": "read"}
    codes = found(hosted.check(number))
    assert codes == [("N002", "github")]


def test_the_pause_between_writes_is_a_number_of_seconds() -> None:
    """On a server of one's own it may be none; a wrong one is told, not ignored."""
    known = {"GITHUB_REPOSITORY": "power/registry"}
    for said in ("0", "0.5", "60"):
        made = connect(environment={**known, "REGISTRY_WRITE_PAUSE": said})
        pause = vars(made.api.requester)["_Requester__seconds_between_writes"]
        assert pause == float(said)
    for said in ("-1", "61", "soon", "1e1", "nan"):
        with pytest.raises(RegistryError, match="N007"):
            connect(environment={**known, "REGISTRY_WRITE_PAUSE": said})
