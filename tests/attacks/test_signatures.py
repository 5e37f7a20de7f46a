"""Attacks on signatures and identities: threat-model.md S1 to S8, S10, S12, S13."""

from __future__ import annotations

import base64
from typing import TYPE_CHECKING

import pytest

from registry.documents.findings import RegistryError
from registry.documents.names import NAMESPACE_BUNDLE, NAMESPACE_ENROL
from registry.gate import sshsig
from registry.gate.allowed_signers import allowed_signers
from registry.gate.signing import public_line, sign
from tests.gate import ssh_keygen
from tests.simulators.gate import Proposals, found, verified
from tests.simulators.people import Person, private_key
from tests.simulators.registry import ARRIVED, NOW, Simulator, run_git, small

if TYPE_CHECKING:
    from pathlib import Path

A = "datasets/server-a/manifest.json"
SIG = A + ".sig"
REVOKED = "2026-07-01T00:00:00Z"
"""After the usual arrival (28 May 2026), before the usual present."""


def test_s1_missing_and_malformed_signatures() -> None:
    simulated = small()
    del simulated.files[SIG]
    assert found(verified(simulated)) == [("S007", SIG)]
    for text in (
        b"",
        b"-----BEGIN SSH SIGNATURE-----\n",
        simulated.files["registry/trust/42.yaml"],
    ):
        simulated.files[SIG] = text
        assert found(verified(simulated)) == [("S001", SIG)]


def test_s1_every_flipped_bit_of_a_signature_is_refused() -> None:
    simulated = small()
    good, data = simulated.files[SIG], simulated.files[A]
    assert sshsig.verify(good, data, NAMESPACE_BUNDLE, SIG)
    for at in range(len(good)):
        for bit in range(8):
            flipped = bytearray(good)
            flipped[at] ^= 1 << bit
            with pytest.raises(RegistryError) as caught:
                sshsig.verify(bytes(flipped), data, NAMESPACE_BUNDLE, SIG)
            assert {one.path for one in caught.value.findings} == {SIG}


@pytest.mark.parametrize("namespace", ["git", "file", NAMESPACE_ENROL, "bundle"])
def test_s2_signatures_for_another_purpose(namespace: str) -> None:
    simulated = small()
    simulated.sign("server-a", namespace=namespace)
    assert found(verified(simulated)) == [("S003", SIG)]


def test_s3_a_bundle_of_another_registry() -> None:
    simulated = small()
    simulated.edit("server-a", lambda value: value.update(registry="another"))
    assert found(verified(simulated)) == [("M003", A)]


@pytest.fixture
def proposals(tmp_path: Path) -> Proposals:
    return Proposals(tmp_path / "repo", small())


def test_s4_an_old_version_cannot_come_back(proposals: Proposals) -> None:
    first = small()
    second = small()
    second.bump("server-a")
    second.reseal("server-a")
    assert found(proposals.check(second)) == []
    proposals.merge(second)
    again = first.copy()
    codes = found(proposals.check(again))
    assert ("S016", A) in codes
    third = second.copy()
    third.bump("server-a")
    third.edit("server-a", lambda value: value.update(version=7))
    assert found(proposals.check(third)) == [("S016", A)]
    third = second.copy()
    third.bump("server-a")
    third.edit("server-a", lambda value: value.update(previous="0" * 64))
    assert found(proposals.check(third)) == [("S016", A)]


def test_s4_two_changes_that_claim_the_same_version(proposals: Proposals) -> None:
    """The second is refused when the first is merged (W10)."""
    second = small()
    second.bump("server-a")
    second.reseal("server-a")
    late = second.copy()
    late.edit("server-a", lambda value: value.update(licence="CC0-1.0"))
    late.record(proposals.repo, "late", "main")
    proposals.merge(second)
    assert ("S016", A) in found(proposals.check_branch("late"))


def test_s5_nobody_submits_anothers_bundle(proposals: Proposals) -> None:
    changed = small()
    changed.add_levels("server-d", 42)
    path = "datasets/server-d/manifest.json"
    assert found(proposals.check(changed, author=42)) == []
    assert found(proposals.check(changed, author=43)) == [("S015", path)]


def test_s5_nobody_continues_anothers_dataset(proposals: Proposals) -> None:
    changed = small()
    changed.bump("server-a")
    changed.edit("server-a", lambda value: value.update(contributor=43))
    assert found(proposals.check(changed, author=43)) == [("S017", A)]


def test_s6_nobody_signs_anothers_data_again(proposals: Proposals) -> None:
    changed = small()
    changed.add_levels("stolen", 43)
    for name in ("levels.csv", "runs.csv"):
        data = changed.files[f"datasets/server-a/{name}"]
        changed.files[f"datasets/stolen/{name}"] = data
    changed.reseal("stolen")
    codes = found(proposals.check(changed, author=43))
    assert "D001" in {code for code, _ in codes}
    changed = small()
    changed.sign("server-a", changed.people[43].key)
    assert ("S011", SIG) in found(verified(changed))


def newcomer() -> tuple[Simulator, Person]:
    """A registry to which 77 adds its trust file and its first bundle at once."""
    changed = small()
    person = changed.enrol(77)
    changed.add_levels("server-new", 77)
    return changed, person


def test_s7_a_first_contribution_needs_githubs_word(proposals: Proposals) -> None:
    changed, person = newcomer()
    trust, sig = person.path, "datasets/server-new/manifest.json.sig"
    published = [public_line(person.key) + " laptop", "ssh-dss AAAA other"]
    report = proposals.check(changed, author=77, published_keys=published)
    assert found(report, errors=False) == []
    for keys in (None, [], [public_line(private_key("other"))]):
        report = proposals.check(changed, author=77, published_keys=keys)
        assert found(report) == [("S010", sig), ("K024", trust)]
    report = proposals.check(changed, author=78, published_keys=published)
    assert ("K026", trust) in found(report)


def test_s7_a_new_key_is_not_used_in_the_same_change(proposals: Proposals) -> None:
    changed = small()
    person = changed.enrol(changed.people[42].with_key(private_key("second")))
    changed.add_levels("server-new", 42)
    published = [public_line(key) for key in person.keys]
    report = proposals.check(changed, author=42, published_keys=published)
    assert found(report) == [
        ("S011", "datasets/server-new/manifest.json.sig"),
        ("T021", "registry/trust/42.yaml"),
    ]


def test_s8_the_number_counts_not_the_login(proposals: Proposals) -> None:
    changed = small()
    squatter = Person(78, changed.people[42].login).with_key(private_key("squatter"))
    changed.enrol(squatter)
    changed.add_levels("server-new", 78)
    published = [public_line(squatter.key)]
    report = proposals.check(changed, author=78, published_keys=published)
    assert found(report) == []
    changed.edit("server-new", lambda value: value.update(contributor=42))
    changed.sign("server-new", squatter.key)
    report = proposals.check(changed, author=78, published_keys=published)
    sig = "datasets/server-new/manifest.json.sig"
    assert ("S011", sig) in found(report)
    assert ("S015", sig.removesuffix(".sig")) in found(report)


def test_s10_keys_count_at_the_time_of_arrival() -> None:
    simulated = small()
    early, late = {"server-a": ARRIVED}, {"server-a": NOW}
    only = {"only": {"server-a"}}
    alice = simulated.people[42]
    cases = [
        (alice.revoked(0, REVOKED), "S014"),
        (alice.changed(0, {"not_after": REVOKED}), "S013"),
    ]
    for person, code in cases:
        simulated.enrol(person)
        assert found(verified(simulated, arrivals=early, **only)) == []
        after = verified(simulated, arrivals=late, **only)
        assert found(after, errors=False) == [(code, SIG)]
        assert found(verified(simulated, arrivals={}, **only)) == [(code, SIG)]
    future = Person.new(42, added="2026-08-01T00:00:00Z")
    simulated.enrol(future)
    assert found(verified(simulated, arrivals=early, **only)) == [("S012", SIG)]
    assert found(verified(simulated, arrivals=late, **only)) == []


def test_s10_what_a_contributor_dates_does_not_count(proposals: Proposals) -> None:
    """The commit is dated 2001 and the data says March; the key is revoked since."""
    revoked = small()
    revoked.enrol(revoked.people[42].revoked(0, REVOKED))
    proposals.merge(revoked)
    changed = revoked.copy()
    changed.add_levels("server-d", 42)
    sig = "datasets/server-d/manifest.json.sig"
    assert found(proposals.check(changed)) == [("S014", sig)]


def test_s12_the_spec_is_part_of_what_is_signed() -> None:
    simulated = small()
    path = "specs/server-a.yaml"
    good = simulated.files[path]
    simulated.files[path] = good.replace(b"2933", b"2934")
    assert found(verified(simulated)) == [("M025", path)]
    simulated.files[path] = simulated.files["specs/server-b.yaml"]
    assert {where for _, where in found(verified(simulated))} == {path}
    del simulated.files[path]
    assert found(verified(simulated)) == [("T001", path)]


def test_s13_git_author_fields_are_no_identity(proposals: Proposals) -> None:
    changed = small()
    changed.add_levels("server-d", 42)
    proposals.check(changed)
    run_git(proposals.repo, "checkout", "-q", "change")
    author = ("--author", "person-42 <42+person-42@users.noreply.github.com>")
    message = ("-m", "Add data", "-m", "Signed-off-by: person-42")
    run_git(proposals.repo, "commit", "-q", "--amend", *author, *message)
    path = "datasets/server-d/manifest.json"
    assert found(proposals.check_branch(author=43)) == [("S015", path)]


def test_openssh_agrees_on_keys_and_times(tmp_path: Path) -> None:
    """Our verdict and that of ssh-keygen with our allowed_signers, case by case."""
    simulated = small()
    alice = simulated.people[42]
    people = {
        "plain": alice,
        "revoked": alice.revoked(0, REVOKED),
        "expired": alice.changed(0, {"not_after": REVOKED}),
        "later": Person.new(42, added=REVOKED),
        "never": alice.revoked(0, "2026-01-01T00:00:00Z"),
    }
    times = {ARRIVED: "20260528202640Z", NOW: "20260921141320Z"}
    signature, data = simulated.files[SIG], simulated.files[A]
    for name, person in people.items():
        simulated.enrol(person)
        lines = allowed_signers(simulated.tree())
        assert "*" not in lines
        for at, stamp in times.items():
            report = verified(simulated, arrivals={"server-a": at}, only={"server-a"})
            theirs = ssh_keygen.accepts(
                tmp_path, lines, signature, data, NAMESPACE_BUNDLE, when=stamp
            )
            assert theirs == (not report.findings), (name, at)
        assert not ssh_keygen.accepts(
            tmp_path, lines, signature, data, NAMESPACE_BUNDLE, principal="43"
        )


def test_allowed_signers_text() -> None:
    simulated = Simulator()
    person = Person.new(7).with_key(private_key("b"), added="2026-02-03T04:05:06Z")
    simulated.enrol(person.changed(0, {"not_after": "2027-01-01T00:00:00Z"}))
    first, second = map(public_line, person.keys)
    space = 'namespaces="bundle@power-dataset-registry"'
    until = 'valid-before="20270101000000Z"'
    assert allowed_signers(simulated.tree()) == (
        f'7 {space},valid-after="20260101000000Z",{until} {first}\n'
        f'7 {space},valid-after="20260203040506Z" {second}\n'
    )
    assert base64.b64decode(first.split()[1])
    assert sign(person.key, b"x", "git").startswith("-----BEGIN SSH SIGNATURE-----\n")


def test_allowed_signers_need_every_trust_file() -> None:
    simulated = small()
    simulated.files["registry/trust/43.yaml"] = b"broken"
    with pytest.raises(RegistryError) as caught:
        allowed_signers(simulated.tree())
    assert {one.path for one in caught.value.findings} == {"registry/trust/43.yaml"}
