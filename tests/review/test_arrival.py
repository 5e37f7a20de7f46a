"""Pull requests that are fetched from GitHub for review, and never checked out."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from registry import cli
from registry.documents.findings import RegistryError
from registry.gate import terminal
from registry.gate.github.entering import named
from registry.review.arrival import base_of, fetch_pull, run_number
from tests.simulators.gate import Proposals
from tests.simulators.github import FakeGitHub
from tests.simulators.github.git import Bare
from tests.simulators.hosting import Hosted
from tests.simulators.registry import Simulator, run_git, small

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

ALICE = 42


@pytest.fixture
def hosted(tmp_path: Path) -> Iterator[Hosted]:
    with FakeGitHub(tmp_path / "github") as hub:
        yield Hosted.found(hub, small())
        assert hub.violations == []


@pytest.fixture
def run(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Callable[..., tuple[int, str]]:
    """Runs the command line; gives its exit code and what it printed."""
    for name in ("GITHUB_REF", "GITHUB_REPOSITORY", "GITHUB_ACTIONS", "GH_TOKEN"):
        monkeypatch.delenv(name, raising=False)

    def command(*words: str, **environment: str) -> tuple[int, str]:
        for name, value in environment.items():
            monkeypatch.setenv(name, value)
        monkeypatch.setattr("sys.argv", ["registry", *words])
        code = terminal.run(lambda: cli.app(list(words)))
        return code, capsys.readouterr().out

    return command


def with_bundle() -> Simulator:
    changed = small()
    changed.add_levels("server-d", ALICE)
    return changed


def clone(hosted: Hosted, place: Path) -> Path:
    address = f"{hosted.hub.environment()['GITHUB_SERVER_URL']}/power/registry.git"
    run_git(place.parent, "clone", "-q", address, str(place))
    return place


def test_a_pull_request_is_fetched_and_not_checked_out(
    hosted: Hosted, tmp_path: Path
) -> None:
    number = hosted.propose(with_bundle(), ALICE)
    checkout = clone(hosted, tmp_path / "checkout")
    before = run_git(checkout, "for-each-ref"), run_git(checkout, "rev-parse", "HEAD")
    base, head = fetch_pull(checkout, number, hosted.connection())
    assert base == hosted.tip()
    shown = run_git(
        checkout, "show", "--stat", "--format=", "-m", "--first-parent", head
    )
    assert "datasets/server-d/manifest.json" in shown
    after = run_git(checkout, "for-each-ref"), run_git(checkout, "rev-parse", "HEAD")
    assert after == before
    assert run_git(checkout, "status", "--porcelain") == ""
    assert not (checkout / "datasets" / "server-d").exists()


def test_review_of_a_number_asks_github_and_writes_all_forms(
    hosted: Hosted, tmp_path: Path, run: Callable[..., tuple[int, str]]
) -> None:
    number = hosted.propose(with_bundle(), ALICE, title="Add <script>|@all")
    checkout = clone(hosted, tmp_path / "checkout")
    out = tmp_path / "packet"
    words = ("--root", str(checkout), "--out", str(out), "--no-models")
    code, printed = run("review", str(number), *words, **hosted.hub.environment())
    assert code == 0, printed
    assert printed.startswith("Review of bundle server-d\n  The gate lets it pass")
    assert str(out / "packet.html") in printed
    assert {one.name for one in out.iterdir()} == {
        "packet.md",
        "packet.html",
        "packet.json",
    }
    value = json.loads((out / "packet.json").read_text())
    author = value["sections"]["contributor"]["author"]
    assert author == {"id": ALICE, "login": "person-42"}
    assert "<script>" not in (out / "packet.html").read_text()


def test_the_approvals_of_a_change_of_trust_are_counted(
    hosted: Hosted, tmp_path: Path, run: Callable[..., tuple[int, str]]
) -> None:
    changed = small()
    changed.enrol(changed.people[ALICE].revoked(0, "2026-05-20T00:00:00Z", "lost"))
    number = hosted.propose(changed, ALICE)
    checkout = clone(hosted, tmp_path / "checkout")
    words = ("--root", str(checkout), "--json", "--no-models")
    for reviewers, given in (((), 0), ((2,), 1), ((3, 4), 3)):
        hosted.approve(number, *reviewers)
        code, printed = run("review", str(number), *words, **hosted.hub.environment())
        assert code == 0, printed
        glance = json.loads(printed)["sections"]["glance"]
        assert glance["approvals"] == {"needed": 2, "given": given}
    packet = ("--root", str(checkout), "--out", str(tmp_path / "out"), "--no-models")
    _, printed = run("review", str(number), *packet)
    assert "It needs 2 approvals of maintainers, has 3." in printed


def test_a_workflow_run_knows_its_pull_request(
    hosted: Hosted, tmp_path: Path, run: Callable[..., tuple[int, str]]
) -> None:
    """As the workflow calls it: no number, but GitHub's own variables."""
    number = hosted.propose(with_bundle(), ALICE)
    checkout = clone(hosted, tmp_path / "checkout")
    _, head = fetch_pull(checkout, number, hosted.connection())
    summary = tmp_path / "summary.md"
    summary.write_text("# Before\n")
    code, printed = run(
        "review", "--root", str(checkout), "--base", "HEAD", "--head", head,
        "--summary", str(summary), "--no-models",
        GITHUB_ACTIONS="true", GITHUB_REF=f"refs/pull/{number}/merge",
        **hosted.hub.environment(),
    )  # fmt: skip
    assert code == 0, printed
    written = summary.read_text()
    assert written.startswith("# Before\n# Review of bundle `server-d`")
    assert "proposed by account | `42`" in written


def test_the_packet_appears_when_github_does_not_answer(
    hosted: Hosted, tmp_path: Path, run: Callable[..., tuple[int, str]]
) -> None:
    number = hosted.propose(with_bundle(), ALICE)
    checkout = clone(hosted, tmp_path / "checkout")
    _, head = fetch_pull(checkout, number, hosted.connection())
    environment = hosted.hub.environment() | {"GITHUB_API_URL": "http://127.0.0.1:9"}
    code, printed = run(
        "review", str(number), "--root", str(checkout), "--base", "HEAD",
        "--head", head, "--no-models", "--json", **environment,
    )  # fmt: skip
    assert code == 0, printed
    value = json.loads(printed)
    assert value["sections"]["data"]["dataset"] == "server-d"
    assert value["sections"]["contributor"]["author"] is None
    codes = {one["code"] for one in value["sections"]["findings"]["findings"]}
    assert "N001" in codes


def test_a_number_that_github_does_not_know_is_a_finding(
    hosted: Hosted, tmp_path: Path, run: Callable[..., tuple[int, str]]
) -> None:
    checkout = clone(hosted, tmp_path / "checkout")
    environment = hosted.hub.environment()
    code, printed = run("review", "77", "--root", str(checkout), **environment)
    assert code == 1
    assert "R080" in printed


def test_a_pull_request_without_a_trial_merge_is_shown_by_its_own_commit(
    hosted: Hosted, tmp_path: Path
) -> None:
    number = hosted.propose(with_bundle(), ALICE)
    main = hosted.push(hosted.state)
    Bare(hosted.hub.bare).set_ref(f"refs/pull/{number}/merge", None)
    checkout = clone(hosted, tmp_path / "checkout")
    base, head = fetch_pull(checkout, number, hosted.connection())
    fork = hosted.hub.bare_of("person-42/registry")
    assert head == run_git(fork, "rev-parse", "change").strip()
    assert base == main


def test_main_is_taken_as_it_is_now(hosted: Hosted, tmp_path: Path) -> None:
    """GitHub makes trial merges anew only when somebody looks at them."""
    number = hosted.propose(with_bundle(), ALICE)
    checkout = clone(hosted, tmp_path / "checkout")
    main = hosted.push(hosted.state)
    base, _ = fetch_pull(checkout, number, hosted.connection())
    assert base == main


def test_a_revision_is_compared_with_main(
    tmp_path: Path, run: Callable[..., tuple[int, str]]
) -> None:
    repo = tmp_path / "repo"
    Proposals(repo, small())
    with_bundle().record(repo, "change", "main")
    words = ("review", "change", "--root", str(repo), "--no-models", "--json")
    code, printed = run(*words)
    assert code == 0, printed
    assert json.loads(printed)["kind"] == "bundle"
    assert run(*words) == (code, printed)
    code, printed = run("review", "gone", "--root", str(repo))
    assert code == 1
    assert "T003" in printed
    code, printed = run("review", "change", "--head", "main", "--root", str(repo))
    assert code == 2


def test_a_checkout_without_main_needs_a_base(tmp_path: Path) -> None:
    repo = tmp_path / "repo"
    small().record(repo, "other")
    with pytest.raises(RegistryError) as caught:
        base_of(repo)
    assert caught.value.findings[0].code == "T003"
    run_git(repo, "branch", "main", "other")
    assert base_of(repo) == "main"


@pytest.mark.parametrize(
    ("environment", "number"),
    [
        ({"GITHUB_ACTIONS": "true", "GITHUB_REF": "refs/pull/12/merge"}, 12),
        ({"GITHUB_ACTIONS": "true", "GITHUB_REF": "refs/heads/main"}, None),
        ({"GITHUB_ACTIONS": "true", "GITHUB_REF": "refs/pull/12/merge\n"}, None),
        ({"GITHUB_ACTIONS": "true"}, None),
        ({"GITHUB_REF": "refs/pull/12/merge"}, None),
        (
            {
                "GITHUB_ACTIONS": "true",
                "GITHUB_REF": "refs/heads/gh-readonly-queue/main/pr-7-" + "a" * 40,
            },
            7,
        ),
    ],
)
def test_the_number_comes_from_githubs_ref(
    environment: dict[str, Any], number: int | None
) -> None:
    assert run_number(environment) == number


@pytest.mark.parametrize(
    ("address", "name"),
    [
        ("https://github.com/power/registry", "power/registry"),
        ("https://github.com/power/registry.git", "power/registry"),
        ("git@github.com:power/my.data.git", "power/my.data"),
        ("/srv/git", None),
    ],
)
def test_the_repository_is_that_of_the_remote(
    tmp_path: Path, address: str, name: str | None
) -> None:
    repo = tmp_path / "repo"
    small().record(repo)
    assert named(repo, None, {}) is None
    run_git(repo, "remote", "add", "origin", address)
    assert named(repo, None, {}) == name
