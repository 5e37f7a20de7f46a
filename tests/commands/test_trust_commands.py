"""registry trust: one file in one pull request, and what happens next."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, get_args

from registry.documents.trust import Revocation, read_trust
from registry.gate.revoking import Why
from registry.gate.signing import public_line
from tests.commands.proposed import accepted, files, open_pulls
from tests.simulators.commands import Done
from tests.simulators.github import FakeGitHub
from tests.simulators.people import Person, private_key

if TYPE_CHECKING:
    from collections.abc import Callable

KEY = Person.new(42).entries[0].fingerprint
REVOKE = ("trust", "revoke", "--contributor", 42, "--fingerprint", KEY)
LOST = ("--reason", "lost")
NEWCOMER = Person.new(4242, "alice")


def saved(tmp_path: Path, person: Person) -> Path:
    file = tmp_path / f"{person.id}.yaml"
    file.write_bytes(person.trust_file())
    return file


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


def test_the_reasons_offered_are_those_that_trust_files_know() -> None:
    known = get_args(Revocation.model_fields["reason"].annotation)
    assert [one.value for one in Why] == list(known)
