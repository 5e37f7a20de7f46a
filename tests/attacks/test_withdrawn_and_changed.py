"""Attacks by what the gate looks at less closely: withdrawals, dates, others' keys."""

from __future__ import annotations

import base64
from typing import TYPE_CHECKING, Any

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

from registry.documents import canonical
from registry.documents.findings import RegistryError
from registry.documents.sshkey import parse_public_key
from registry.documents.trust import Contributor, read_trust, trust_bytes
from registry.gate.identifiers import identifiers
from registry.gate.ssh_wire import pack_string
from registry.gate.withdrawal import Withdrawal, withdrawal_bytes
from tests.simulators.gate import Proposals, found, verified
from tests.simulators.people import Person
from tests.simulators.registry import Simulator, small

if TYPE_CHECKING:
    from pathlib import Path

ENDED = withdrawal_bytes(
    Withdrawal.model_validate(
        {"schema": "withdrawn/1", "day": "2026-09-01", "reason": "request"}
    )
)


@pytest.fixture
def proposals(tmp_path: Path) -> Proposals:
    return Proposals(tmp_path / "repo", small())


def strange(dataset: str) -> Simulator:
    """A withdrawn bundle of a stranger, whose table is no table at all."""
    changed = small()
    changed.people[99] = Person.new(99)
    changed.add_levels(dataset, 99)
    content = b"the diary of Jane Roe\n"
    changed.files[f"datasets/{dataset}/levels.csv"] = content

    def describe(manifest: dict[str, Any]) -> None:
        (entry,) = (one for one in manifest["files"] if one["path"] == "levels.csv")
        entry |= {"bytes": len(content), "sha256": canonical.sha256(content)}

    changed.edit(dataset, describe)
    changed.files[f"datasets/{dataset}/WITHDRAWN.yaml"] = ENDED
    return changed


def test_w12_nothing_enters_as_withdrawn(proposals: Proposals) -> None:
    changed = strange("server-x")
    codes = found(proposals.check(changed, author=99))
    assert ("T027", "datasets/server-x/WITHDRAWN.yaml") in codes
    assert ("S010", "datasets/server-x/manifest.json.sig") in codes


def test_s5_a_withdrawn_bundle_still_has_an_owner() -> None:
    changed = strange("server-x")
    assert found(verified(changed)) == [("S010", "datasets/server-x/manifest.json.sig")]
    again = small()
    again.files["datasets/server-a/WITHDRAWN.yaml"] = ENDED
    again.sign("server-a", again.people[43].key)
    assert found(verified(again)) == [("S011", "datasets/server-a/manifest.json.sig")]


def test_w12_a_broken_bundle_is_withdrawn_by_a_real_withdrawal(tmp_path: Path) -> None:
    broken = small()
    broken.files["datasets/server-a/manifest.json"] = b"{}"
    merged = Proposals(tmp_path / "broken", broken)
    path = "datasets/server-a/WITHDRAWN.yaml"
    changed = broken.copy()
    changed.files[path] = ENDED
    assert found(merged.check(changed)) == []
    changed.files[path] = b"anything: at all\n"
    assert {where for _, where in found(merged.check(changed))} == {path}


def test_s5_a_broken_merged_bundle_is_not_up_for_grabs(tmp_path: Path) -> None:
    broken = small()
    broken.files["datasets/server-a/manifest.json"] = b"{}"
    merged = Proposals(tmp_path / "broken", broken)
    changed = small()
    changed.add_levels("server-a", 43)
    codes = found(merged.check(changed, author=43))
    assert ("T033", "datasets/server-a/manifest.json") in codes


def test_b12_withdrawn_data_comes_back_by_its_owner_only(tmp_path: Path) -> None:
    ended = small()
    ended.files["datasets/server-a/WITHDRAWN.yaml"] = ENDED
    merged = Proposals(tmp_path / "ended", ended)
    for contributor, codes in ((42, set()), (43, {"D001"})):
        changed = ended.copy()
        changed.add_levels("server-d", contributor)
        for table in ("levels.csv", "runs.csv"):
            content = ended.files[f"datasets/server-a/{table}"]
            changed.files[f"datasets/server-d/{table}"] = content
        changed.reseal("server-d")
        checked = found(merged.check(changed, author=contributor))
        assert {code for code, _ in checked} == codes


def test_s10_what_was_not_measured_yet_is_refused(proposals: Proposals) -> None:
    for last, codes in (
        ("2026-09-22", []),  # already there in the east
        ("2026-09-23", ["M026"]),
        ("9999-12-31", ["M026"]),
    ):
        changed = small()
        changed.add_levels("server-d", 42, measured={"from": "2026-03-01", "to": last})
        assert [code for code, _ in found(proposals.check(changed))] == codes


@pytest.mark.parametrize("what", ["login", "not_after", "revoked"])
def test_s11_a_change_of_anothers_trust_is_shown(
    what: str, proposals: Proposals
) -> None:
    changed, path = small(), "registry/trust/42.yaml"
    value = read_trust(changed.files[path], path).model_dump(mode="json")
    if what == "login":
        value["login"] = "somebody-famous"
    else:
        end = "2026-06-01T00:00:00Z"
        revoked = {"at": end, "reason": "lost"}
        ends = {"not_after": "2036-06-01T00:00:00Z", "revoked": revoked}
        value["keys"][0][what] = ends[what]
    changed.files[path] = trust_bytes(Contributor.model_validate(value))
    assert proposals.check(changed).findings == ()
    report = proposals.check(changed, author=43)
    assert found(report) == []
    assert found(report, errors=False) == [("K029", path)]


@pytest.mark.parametrize(
    "point",
    [
        b"\x00" * 32,
        b"\x01" + b"\x00" * 31,
        b"\x01" + b"\x00" * 30 + b"\x80",
        b"\xec" + b"\xff" * 30 + b"\x7f",
        b"\xed" + b"\xff" * 30 + b"\xff",
        bytes.fromhex(
            "26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05"
        ),
        bytes.fromhex(
            "c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a"
        ),
    ],
)
def test_s9_a_key_that_nobody_holds_cannot_be_enrolled(point: bytes) -> None:
    blob = pack_string(b"ssh-ed25519") + pack_string(point)
    with pytest.raises(RegistryError, match="K010"):
        parse_public_key("ssh-ed25519 " + base64.b64encode(blob).decode())


def test_s9_such_a_key_signs_anything() -> None:
    neutral = b"\x01" + b"\x00" * 31
    Ed25519PublicKey.from_public_bytes(neutral).verify(neutral + bytes(32), b"any")


@pytest.mark.parametrize(
    "text", ["db01.corp.internal", "1.2.joes-laptop.local", "node-7.prod"]
)
def test_b14_no_host_hides_in_a_version(text: str) -> None:
    assert [one.kind for one in identifiers(text, version=True)] == ["host"]


@pytest.mark.parametrize("text", ["1.0.dev", "1.0.post1.dev", "2.8.1.lan", "U30.com"])
def test_b14_versions_are_no_hosts(text: str) -> None:
    kinds = [one.kind for one in identifiers(text, version=True)]
    assert kinds == []


@pytest.mark.parametrize(
    "path", ["Datasets/server-a/levels.csv", "SPECS/x.yaml", "REGISTRY"]
)
def test_b4_a_folder_that_differs_by_case_is_no_other_folder(
    path: str, proposals: Proposals
) -> None:
    changed = small()
    changed.files[path] = b"x"
    assert {where for _, where in found(proposals.check(changed))} == {path}
