"""registry withdraw and registry trust: one file a change, and what happens next."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_args

import pytest

from registry.documents.trust import Revocation, read_trust
from registry.gate.revoking import Why
from registry.gate.signing import public_line
from registry.gate.verify import verify_change
from registry.gate.withdrawal import read_withdrawal
from tests.simulators.github import FakeGitHub
from tests.simulators.github.hub import QUICK
from tests.simulators.people import Person, private_key
from tests.simulators.registry import NOW, Simulator, run_git, small

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

ENDED = "datasets/server-a/WITHDRAWN.yaml"
WITHDRAW = ("withdraw", "server-a", "--reason", "measurement-error")
KEY = Person.new(42).entries[0].fingerprint
REVOKE = ("trust", "revoke", "--contributor", 42, "--fingerprint", KEY)
LOST = ("--reason", "lost")
NEWCOMER = Person.new(4242, "alice")


@dataclass(frozen=True, slots=True)
class Done:
    code: int
    out: str


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("template") / "checkout"
    small().commit(root)
    shutil.rmtree(root / ".git" / "hooks", ignore_errors=True)
    return root


@pytest.fixture
def checkout(template: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(template, tmp_path / "checkout"))


@pytest.fixture(autouse=True)
def _alone(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """No token, no `gh`, no waiting."""
    for name in ("GH_TOKEN", "GITHUB_TOKEN", "GITHUB_REPOSITORY"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr("registry.gate.github.connection.PATIENT", QUICK)
    programs = tmp_path / "programs"
    programs.mkdir()
    for name in ("git", "sh", "cat"):
        found = subprocess.run(["which", name], capture_output=True, check=True)
        (programs / name).symlink_to(os.fsdecode(found.stdout.strip()))
    monkeypatch.setenv("PATH", str(programs))


@pytest.fixture
def hub(
    tmp_path: Path, checkout: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[FakeGitHub]:
    with FakeGitHub(tmp_path / "hub") as fake:
        fake.add_user("mia", 7)
        fake.add_maintainer("mia")
        fake.add_user("person-42", 42, [public_line(Person.new(42).key)])
        fake.add_user("alice", 4242, [public_line(NEWCOMER.key)])
        run_git(checkout, "push", "-q", fake.git_url("power"), "main")
        fake.requests.clear()
        for name, value in fake.environment().items():
            monkeypatch.setenv(name, value)
        yield fake
        assert fake.violations == []


@pytest.fixture
def run(
    checkout: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Callable[..., Done]:
    """Run the command in the checkout, without a token."""
    from registry import cli

    def call(*arguments: object) -> Done:
        words = ["registry", *map(str, arguments), "--root", str(checkout)]
        monkeypatch.setattr(sys, "argv", words)
        with pytest.raises(SystemExit) as left:
            cli.main()
        code = left.value.code
        out, err = capsys.readouterr()
        return Done(code if isinstance(code, int) else 0, out + err)

    return call


@pytest.fixture
def by(
    run: Callable[..., Done], hub: FakeGitHub, monkeypatch: pytest.MonkeyPatch
) -> Callable[..., Done]:
    """Run the command as somebody, by default a maintainer."""

    def call(*arguments: object, login: str = "mia") -> Done:
        monkeypatch.setenv("GH_TOKEN", hub.token(login))
        done = run(*arguments)
        assert not [one for one in hub.tokens if one in done.out]
        return done

    return call


def files(hub: FakeGitHub, number: int = 1) -> dict[str, bytes]:
    head = hub.pull(number).head_sha
    names = run_git(hub.bare, "diff", "--name-only", f"main...{head}").split()
    command = ["git", "-C", str(hub.bare), "cat-file", "blob"]
    return {
        name: subprocess.check_output([*command, f"{head}:{name}"]) for name in names
    }


def open_pulls(hub: FakeGitHub) -> list[int]:
    return [pull.number for pull in hub.main.pulls if pull.open]


def accepted(hub: FakeGitHub, author: int, keys: Any = None, number: int = 1) -> bool:
    """Whether the gate takes the pull request."""
    head = hub.pull(number).head_sha
    report = verify_change(
        hub.bare, "main", head, author=author, published_keys=keys, now=NOW * 2
    )
    return not report.refused


def saved(tmp_path: Path, person: Person) -> Path:
    file = tmp_path / f"{person.id}.yaml"
    file.write_bytes(person.trust_file())
    return file


# Withdrawals.


def test_a_maintainer_withdraws_a_dataset(
    by: Callable[..., Done], hub: FakeGitHub
) -> None:
    done = by(*WITHDRAW, "--day", "2026-01-15")
    assert done.code == 0, done
    content = files(hub)
    assert set(content) == {ENDED}
    read = read_withdrawal(content[ENDED], ENDED)
    assert (read.reason, read.day) == ("measurement-error", "2026-01-15")
    pull = hub.pull(1)
    assert pull.issue.title == "Withdraw server-a: measurement-error"
    assert (pull.head, pull.head_repository) == ("withdraw/server-a", hub.main.id)
    assert "T032" in done.out  # somebody else than its contributor
    assert f"{hub.web}/power/registry/pull/1" in done.out
    assert "next: once it is merged, the next release leaves the bundle out" in done.out
    assert accepted(hub, 7)


def test_its_contributor_withdraws_it_from_a_fork(
    by: Callable[..., Done], hub: FakeGitHub
) -> None:
    done = by(*WITHDRAW, "--json", login="person-42")
    document = json.loads(done.out)
    assert (done.code, document["head"]) == (0, "person-42:withdraw/server-a")
    assert (document["proposed"], document["files"]) == (True, [ENDED])
    assert set(files(hub)) == {ENDED}


def test_to_withdraw_again_is_harmless_on_any_day(
    by: Callable[..., Done], hub: FakeGitHub, monkeypatch: pytest.MonkeyPatch
) -> None:
    by(*WITHDRAW)
    before = files(hub)
    real = sys.modules["registry.commands.withdrawing"]
    monkeypatch.setattr(real, "_today", lambda: "2026-01-15")
    assert "as it was" in by(*WITHDRAW).out
    assert files(hub) == before
    other = by("withdraw", "server-a", "--reason", "privacy")
    assert "updated" in other.out
    assert read_withdrawal(files(hub)[ENDED], ENDED).reason == "privacy"
    said = hub.pull(1).issue
    assert (said.title, "`privacy`" in said.body) == (
        "Withdraw server-a: privacy",
        True,
    )
    assert open_pulls(hub) == [1]
    hub.merge(1, "power")
    again = by(*WITHDRAW)
    assert (again.code, "T044" in again.out) == (1, True), again
    assert open_pulls(hub) == []


def test_what_is_not_there_or_withdrawn_is_not_withdrawn(
    run: Callable[..., Done], checkout: Path
) -> None:
    for name in ("no-such", "../server-a", "server-a/../server-b", ""):
        done = run("withdraw", name, "--reason", "request")
        assert (done.code, "T043" in done.out) == (1, True), done
    assert run("withdraw", "server-a", "--reason", "boredom").code == 2
    done = run(*WITHDRAW, "--day", "yesterday")
    assert (done.code, "M032" in done.out) == (1, True), done
    assert run(*WITHDRAW, "--day", "2999-01-01").code == 2
    (checkout / ENDED).write_bytes(
        b'schema: withdrawn/1\nday: "2026-06-01"\nreason: request\n'
    )
    run_git(checkout, "add", "-A")
    run_git(checkout, "commit", "-q", "-m", "withdrawn")
    done = run(*WITHDRAW)
    assert (done.code, "T044" in done.out) == (1, True), done


def test_without_a_token_file_and_commands_are_printed_and_work(
    run: Callable[..., Done], hub: FakeGitHub, checkout: Path
) -> None:
    done = run(*WITHDRAW, "--day", "2026-09-01")
    assert (done.code, "L082" in done.out) == (1, True), done
    assert hub.requests == []
    told = json.loads(run(*WITHDRAW, "--day", "2026-09-01", "--json").out)
    assert told["proposed"] is False
    compare = "/power/registry/compare/main...YOUR-LOGIN:withdraw/server-a?quick_pull=1"
    assert compare in told["url"]
    run_git(checkout, "remote", "add", "origin", hub.git_url("power"))
    run_git(checkout, "config", "user.name", "power")
    run_git(checkout, "config", "user.email", "power@example.org")
    for command in told["commands"]:
        subprocess.run(["sh", "-c", command], check=True, cwd=checkout)
    hub.open_pull("power", "withdraw/server-a")
    assert {name: data.decode() for name, data in files(hub).items()} == told["files"]


def test_a_dry_run_changes_nothing(by: Callable[..., Done], hub: FakeGitHub) -> None:
    done = by(*WITHDRAW, "--dry-run")
    assert (done.code, "reason: measurement-error" in done.out) == (0, True), done
    assert hub.main.pulls == []
    assert hub.count("POST", "receive-pack|^/repos") == 0


def test_github_down_leaves_nothing_half_done(
    by: Callable[..., Done], hub: FakeGitHub
) -> None:
    hub.fail("POST", "/pulls", 503, times=100)
    done = by(*WITHDRAW)
    assert (done.code, "N001" in done.out) == (1, True), done
    hub.behave()
    assert "opened" in by(*WITHDRAW).out
    assert set(files(hub)) == {ENDED}
    assert hub.count("POST", "receive-pack") == 1


def test_no_connection_and_a_wrong_token_are_said_in_words(
    by: Callable[..., Done], hub: FakeGitHub, monkeypatch: pytest.MonkeyPatch
) -> None:
    hub.token("mia")
    monkeypatch.setenv("GH_TOKEN", "unknown")
    monkeypatch.setattr(hub, "token", lambda _: "unknown")
    refused = by(*WITHDRAW)
    assert (refused.code, "N002" in refused.out) == (1, True), refused
    assert "that is valid" in refused.out
    monkeypatch.setenv("GITHUB_API_URL", "http://127.0.0.1:9")
    gone = by(*WITHDRAW)
    assert (gone.code, "N001" in gone.out) == (1, True), gone
    assert "no connection" in gone.out
    assert "Error" not in gone.out  # no name of an exception


def test_what_github_refuses_reaches_the_terminal_as_findings_only(
    hub: FakeGitHub,
) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "registry", "github", "audit-settings"],
        env=dict(os.environ) | hub.environment("alice"),
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, "N041" in done.stdout) == (1, True), done
    assert done.stderr == ""


# Keys.


def test_a_maintainer_enrols_a_contributor(
    by: Callable[..., Done], hub: FakeGitHub, tmp_path: Path
) -> None:
    done = by("trust", "add", saved(tmp_path, NEWCOMER))
    assert done.code == 0, done
    assert files(hub) == {NEWCOMER.path: NEWCOMER.trust_file()}
    assert "next: two maintainers other than the author approve" in done.out
    assert NEWCOMER.entries[0].fingerprint in (hub.pull(1).issue.body or "")
    assert accepted(hub, 7, [public_line(NEWCOMER.key)])
    assert "as it was" in by("trust", "add", saved(tmp_path, NEWCOMER)).out


def test_a_key_that_the_account_does_not_publish_is_not_enrolled(
    by: Callable[..., Done], hub: FakeGitHub, tmp_path: Path
) -> None:
    hub.drop_key("alice", public_line(NEWCOMER.key))
    done = by("trust", "add", saved(tmp_path, NEWCOMER))
    assert (done.code, "K024" in done.out) == (1, True), done
    # The name counts for nothing: another account has it now.
    hub.rename("alice", "alice-old")
    hub.add_user("alice", 4343, [public_line(NEWCOMER.key)])
    done = by("trust", "add", saved(tmp_path, NEWCOMER))
    assert (done.code, "K024" in done.out) == (1, True), done
    gone = Person.new(99, "nobody")
    done = by("trust", "add", saved(tmp_path, gone))
    assert (done.code, "N010" in done.out) == (1, True), done
    assert hub.main.pulls == []


def test_what_is_no_new_contributor_is_not_enrolled(
    by: Callable[..., Done], hub: FakeGitHub, tmp_path: Path
) -> None:
    merged = by("trust", "add", saved(tmp_path, Person.new(42)))
    assert (merged.code, "T045" in merged.out) == (1, True), merged
    broken = tmp_path / "broken.yaml"
    broken.write_bytes(NEWCOMER.trust_file() + b"\n")
    done = by("trust", "add", broken)
    assert (done.code, "K006" in done.out) == (1, True), done
    stolen = Person(4242, "alice").with_key(Person.new(42).key)
    done = by("trust", "add", saved(tmp_path, stolen))
    assert (done.code, "K021" in done.out) == (1, True), done
    assert hub.main.pulls == []


def test_without_a_token_github_is_not_asked_for_keys(
    run: Callable[..., Done], tmp_path: Path
) -> None:
    done = run("trust", "add", saved(tmp_path, NEWCOMER))
    assert (done.code, "L082" in done.out) == (1, True), done
    assert "K024" in done.out  # a warning: nobody was asked
    assert "cat > registry/trust/4242.yaml" in done.out


def test_a_key_is_rotated(
    by: Callable[..., Done], hub: FakeGitHub, tmp_path: Path
) -> None:
    person = Person.new(42).with_key(private_key("newer"))
    done = by("trust", "rotate", saved(tmp_path, person))
    assert done.code == 0, done
    assert files(hub) == {person.path: person.trust_file()}
    body = hub.pull(1).issue.body or ""
    assert person.entries[1].fingerprint in body
    assert person.entries[0].fingerprint not in body
    assert accepted(hub, 7)


def test_what_is_no_rotation_is_refused(
    by: Callable[..., Done], hub: FakeGitHub, tmp_path: Path
) -> None:
    same = by("trust", "rotate", saved(tmp_path, Person.new(42)))
    assert (same.code, "T049" in same.out) == (1, True), same
    unknown = by("trust", "rotate", saved(tmp_path, NEWCOMER))
    assert (unknown.code, "T046" in unknown.out) == (1, True), unknown
    alone = Person.new(42).with_key(private_key("newer"))
    alone = alone.changed(1, {"endorsement": None})
    refused = by("trust", "rotate", saved(tmp_path, alone))
    assert (refused.code, "K023" in refused.out) == (1, True), refused
    assert hub.main.pulls == []


def test_a_key_is_revoked_once(by: Callable[..., Done], hub: FakeGitHub) -> None:
    done = by(*REVOKE, *LOST)
    assert done.code == 0, done
    content = files(hub)
    path = "registry/trust/42.yaml"
    assert set(content) == {path}
    revoked = read_trust(content[path], path).keys[0].revoked
    assert revoked is not None
    assert revoked.reason == "lost"
    assert "K029" in done.out  # by another than its owner
    assert KEY in (hub.pull(1).issue.body or "")
    # A second run a moment later has another time in the file, and changes nothing.
    assert "as it was" in by(*REVOKE, *LOST).out
    assert files(hub) == content
    assert "updated" in by(*REVOKE, "--reason", "compromised").out
    assert open_pulls(hub) == [1]


def test_a_checkout_that_is_behind_revokes_what_is_merged_now(
    by: Callable[..., Done], hub: FakeGitHub, tmp_path: Path
) -> None:
    person = Person.new(42).with_key(private_key("newer"))
    by("trust", "rotate", saved(tmp_path, person))
    hub.merge(1, "power")
    done = by(*REVOKE, *LOST)
    assert done.code == 0, done
    read = read_trust(files(hub, 2)[person.path], person.path)
    assert [key.revoked is not None for key in read.keys] == [True, False]


def test_what_cannot_be_revoked_is_refused(run: Callable[..., Done]) -> None:
    unknown = run(*REVOKE[:-1], "SHA256:none", *LOST)
    assert (unknown.code, "L067" in unknown.out) == (1, True), unknown
    nobody = run(*REVOKE[:3], 4242, *REVOKE[4:], *LOST)
    assert (nobody.code, "L067" in nobody.out) == (1, True), nobody
    assert run(*REVOKE, "--reason", "whim").code == 2
    assert run(*REVOKE, *LOST, "--since", "2999-01-01").code == 2
    unclear = run(*REVOKE, *LOST, "--since", "yesterday")
    assert (unclear.code, "YYYY-MM-DD" in unclear.out) == (2, True), unclear
    assert "time data" not in unclear.out


# Keys that end.


def test_keys_that_leave_their_owner_without_any_are_listed(
    run: Callable[..., Done], checkout: Path
) -> None:
    def write(person: Person) -> None:
        (checkout / person.path).write_bytes(person.trust_file())

    quiet = run("trust", "expiring")
    assert (quiet.code, "0 keys" in quiet.out) == (0, True), quiet
    write(Person.new(42).changed(0, {"not_after": "2026-02-01T00:00:00Z"}))
    done = run("trust", "expiring", "--json")
    document = json.loads(done.out)
    assert (done.code, document["errors"], document["warnings"]) == (0, 0, 1)
    (found,) = document["findings"]
    assert (found["code"], found["path"]) == ("T048", "registry/trust/42.yaml")


def listed(*people: Person, now: int = NOW, days: int = 30) -> list[tuple[str, str]]:
    from registry.gate.expiry import expiring

    simulated = Simulator()
    for person in people:
        simulated.enrol(person)
    found = expiring(simulated.tree(), now, days)
    assert {one.severity for one in found} <= {"warning"}
    return [(one.code, one.path) for one in found]


def at(day: int) -> dict[str, str]:
    """An end so many days from now."""
    from registry.gate.trust_changes import instant

    return {"not_after": instant(NOW + day * 86_400)}


def test_only_an_end_without_a_successor_is_told() -> None:
    one, path = Person.new(42), "registry/trust/42.yaml"
    assert listed(one) == []
    assert listed(one.changed(0, at(31))) == []
    assert listed(one.changed(0, at(29))) == [("T047", path)]
    assert listed(one.changed(0, at(29)), days=20) == []
    assert listed(one.changed(0, at(-1))) == [("T048", path)]
    two = one.with_key(private_key("newer"))
    assert listed(two.changed(0, at(-1))) == []
    assert listed(two.changed(0, at(-1)).changed(1, at(5))) == [("T047", path)]
    assert listed(two.changed(0, at(-9)).changed(1, at(-1))) == [("T048", path)] * 2
    assert listed(two.changed(0, at(3)).changed(1, at(5))) == [("T047", path)] * 2


def test_what_was_decided_is_not_told_again() -> None:
    one = Person.new(42).changed(0, at(-1)).revoked(0, "2026-06-01T00:00:00Z")
    assert listed(one) == []
    founding = Person.new(0, "founding").changed(0, at(-1))
    assert listed(founding) == []
    both = Person.new(42).with_key(private_key("newer")).changed(1, at(5))
    assert listed(both.revoked(0, "2026-06-01T00:00:00Z")) == [
        ("T047", "registry/trust/42.yaml")
    ]


def test_the_reasons_offered_are_those_that_trust_files_know() -> None:
    known = get_args(Revocation.model_fields["reason"].annotation)
    assert [one.value for one in Why] == list(known)
