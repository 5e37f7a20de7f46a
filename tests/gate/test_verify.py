"""Verifying whole registries and changes: order, scope of a run, what is left alone."""

from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from registry.documents.findings import RegistryError
from registry.gate import verify
from registry.gate.identity import read_keyring
from registry.gate.opening import open_bundle, open_manifest
from registry.gate.verify import verify_registry
from registry.gate.withdrawal import Withdrawal, read_withdrawal, withdrawal_bytes
from tests.simulators.gate import Proposals, found, verified
from tests.simulators.machines import Machine
from tests.simulators.people import private_key
from tests.simulators.registry import ARRIVED, NOW, Simulator, registry_of, small

if TYPE_CHECKING:
    from pathlib import Path

A = "datasets/server-a/"
WITHDRAWN = Withdrawal.model_validate(
    {"schema": "withdrawn/1", "day": "2026-09-01", "reason": "measurement-error"}
)


@pytest.fixture(scope="module")
def mixed() -> Simulator:
    simulated = small()
    simulated.add_samples("server-t", 43)
    return simulated


def test_a_sound_registry_has_no_findings(mixed: Simulator) -> None:
    seen: list[str] = []
    report = verified(mixed, expectations=True, progress=seen.append)
    assert report.findings == ()
    assert report.bundles == 4
    assert seen == ["server-a", "server-b", "server-c", "server-t"]
    assert list(report.expectation_results) == seen
    assert report.seconds > 0


def test_an_empty_registry_is_sound() -> None:
    report = verified(Simulator())
    assert (report.findings, report.bundles) == ((), 0)


def test_only_some_datasets() -> None:
    simulated = small()
    simulated.files[A + "runs.csv"] = b"broken"
    report = verified(simulated, only={"server-b"})
    assert (report.findings, report.bundles) == ((), 1)
    assert found(verified(simulated, only={"none"})) == [("T030", "datasets/none")]


def test_other_specs_are_read_too() -> None:
    simulated = small()
    unknown = Machine("alone").spec()
    unknown["cpu"]["microarchitecture"] = "nonesuch"  # type: ignore[index]
    simulated.add_spec(unknown)
    simulated.files["specs/broken.yaml"] = b"machine: broken\n"
    report = verified(simulated)
    assert ("H006", "specs/alone.yaml") in found(report, errors=False)
    assert {path for _, path in found(report)} == {"specs/broken.yaml"}


def test_class_numbers_that_collide(monkeypatch: pytest.MonkeyPatch) -> None:
    simulated = small()
    simulated.add_levels("server-d", 43, Machine("server-d", "AMD EPYC 7742", seed=3))
    monkeypatch.setattr(verify, "node_type", lambda _: 123_456_789)
    report = verified(simulated)
    assert [code for code, _ in found(report)] == ["T031"]


def test_findings_do_not_depend_on_the_order_of_files() -> None:
    simulated = small()
    for path in (A + "runs.csv", "specs/server-b.yaml", "registry/trust/43.yaml"):
        simulated.files[path] += b"x"
    first = verified(simulated).findings
    simulated.files = dict(reversed(simulated.files.items()))
    assert verified(simulated).findings == first
    assert len({one.path for one in first}) >= 3


def test_a_key_revoked_from_before_takes_merged_bundles_out_of_use() -> None:
    """A warning, since nobody can mend it; but a bundle that comes now is refused."""
    simulated = small()
    simulated.enrol(simulated.people[42].revoked(0, "2026-02-01T00:00:00Z"))
    report = verified(simulated)
    assert found(report) == []
    paths = [f"datasets/server-{one}/manifest.json.sig" for one in "ab"]
    assert found(report, errors=False) == [("S014", path) for path in paths]
    simulated.files["datasets/server-a/levels.csv"] += b"x"
    assert ("M023", "datasets/server-a/levels.csv") in found(verified(simulated))
    keyring, _ = read_keyring(simulated.tree())
    options = {"trust": keyring, "at": ARRIVED}
    with pytest.raises(RegistryError, match="S014"):
        open_manifest(simulated.tree(), "server-a", **options)
    signed = open_manifest(simulated.tree(), "server-a", **options, merged=True)
    assert signed.revoked == "2026-02-01T00:00:00Z"


def test_withdrawn_bundles_need_a_signature_but_no_valid_key() -> None:
    simulated = small()
    alice = simulated.people[42].revoked(0, "2026-02-01T00:00:00Z")
    simulated.enrol(alice)
    assert {code for code, _ in found(verified(simulated, arrivals={}))} == {"S014"}
    for name in ("server-a", "server-b"):
        path = f"datasets/{name}/WITHDRAWN.yaml"
        simulated.files[path] = withdrawal_bytes(WITHDRAWN)
    assert verified(simulated).findings == ()
    simulated.sign("server-a", private_key("anyone"))
    assert found(verified(simulated)) == [("S011", A + "manifest.json.sig")]
    simulated.files[A + "manifest.json.sig"] = simulated.files[
        "datasets/server-b/manifest.json.sig"
    ]
    simulated.files["datasets/server-b/levels.csv"] += b"x"
    assert found(verified(simulated)) == [
        ("S006", A + "manifest.json"),
        ("S004", A + "manifest.json.sig"),
        ("M023", "datasets/server-b/levels.csv"),
    ]


def test_withdrawals_are_read_strictly() -> None:
    content = withdrawal_bytes(WITHDRAWN)
    assert read_withdrawal(content, "W") == WITHDRAWN
    bad = {
        b"schema: withdrawn/1\nday: 2026-09-01\nreason: request\n": "M033",
        content + b"who: me\n": "M030",
        b"schema: withdrawn/1\n": "M031",
        content.replace(b"measurement-error", b"because"): "M032",
    }
    for text, code in bad.items():
        with pytest.raises(RegistryError) as caught:
            read_withdrawal(text, "W")
        assert code in {one.code for one in caught.value.findings}


def test_a_loose_withdrawal_is_told_its_line() -> None:
    wrong = {
        b"schema: withdrawn/1\nday: 2026-09-01\nreason: request\n": 'day: "2026-09-01"',
        withdrawal_bytes(WITHDRAWN) + b"\n": "reason: measurement-error",
    }
    for text, line in wrong.items():
        with pytest.raises(RegistryError) as caught:
            read_withdrawal(text, "W")
        found = caught.value.findings[0]
        assert f"must be `{line}`" in found.what
        assert found.line == 2 + (line != 'day: "2026-09-01"')


def test_open_bundle_and_manifest() -> None:
    simulated = small()
    tree = simulated.tree()
    keyring, problems = read_keyring(tree)
    assert problems == ()
    bundle = open_bundle(tree, "server-a", trust=keyring, at=ARRIVED)
    signed = open_manifest(tree, "server-a", trust=keyring, at=ARRIVED)
    assert bundle.manifest == signed.manifest
    assert bundle.manifest_sha256 == signed.sha256
    assert bundle.spec.machine == "server-a"
    assert set(bundle.tables) == {"levels", "runs"}
    (owned,) = keyring.contributors[42].keys
    assert signed.fingerprint == owned.fingerprint
    for call in (open_bundle, open_manifest):
        with pytest.raises(RegistryError) as caught:
            call(tree, "server-a", trust=keyring, at=0)
        assert "S012" in {one.code for one in caught.value.findings}
        with pytest.raises(RegistryError):
            call(tree, "none", trust=keyring, at=ARRIVED)


def test_withdrawn_bundles_are_not_opened() -> None:
    simulated = small()
    simulated.files[A + "WITHDRAWN.yaml"] = withdrawal_bytes(WITHDRAWN)
    tree = simulated.tree()
    with pytest.raises(RegistryError, match="withdrawn"):
        open_bundle(tree, "server-a", trust=read_keyring(tree)[0], at=ARRIVED)


def test_expectations_are_loaded_only_when_they_run() -> None:
    program = (
        "import sys\n"
        "from tests.simulators.gate import verified\n"
        "from tests.simulators.registry import small\n"
        "assert verified(small()).findings == ()\n"
        "heavy = {'great_expectations', 'pandas', 'sklearn', 'github'}\n"
        "print(sorted(heavy & set(sys.modules)))\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert done.stdout == "[]\n"


def test_bundles_are_let_go_one_by_one(monkeypatch: pytest.MonkeyPatch) -> None:
    """Memory must not grow with the registry: no table outlives its bundle."""
    import gc
    import weakref

    alive: list[weakref.ref[object]] = []
    real = verify.examine

    def watched(*arguments: object, **named: object) -> object:
        gc.collect()
        assert sum(one() is not None for one in alive) <= 1
        examined = real(*arguments, **named)  # type: ignore[arg-type]
        assert examined.bundle is not None
        alive.append(weakref.ref(examined.bundle.tables["runs"]))
        return examined

    monkeypatch.setattr(verify, "examine", watched)
    assert verified(registry_of(6)).bundles == 6
    assert len(alive) == 6


def test_changes_run_expectations_for_the_candidate_only(tmp_path: Path) -> None:
    proposals = Proposals(tmp_path / "repo", small())
    changed = small()
    changed.add_samples("server-t", 42)
    report = proposals.check(changed, expectations=True)
    assert report.findings == ()
    assert list(report.expectation_results) == ["server-t"]


def test_a_broken_trust_file_is_not_replaced(tmp_path: Path) -> None:
    broken = small()
    broken.files["registry/trust/43.yaml"] = b"broken"
    proposals = Proposals(tmp_path / "repo", broken)
    changed = broken.copy()
    changed.enrol(43)
    path = "registry/trust/43.yaml"
    assert found(proposals.check(changed, author=43)) == [("K028", path)]


def test_enrolment_by_itself_warns_when_github_was_not_asked(tmp_path: Path) -> None:
    proposals = Proposals(tmp_path / "repo", small())
    changed = small()
    person = changed.enrol(77)
    report = proposals.check(changed, author=77)
    assert found(report) == []
    assert found(report, errors=False) == [("K024", person.path)]


NAMES = st.sampled_from(
    [*sorted(small().files), A + "WITHDRAWN.yaml", A + "x.csv", "specs/new.yaml",
     "registry/trust/44.yaml", "datasets/new/manifest.json", "README.md"]
)  # fmt: skip


@settings(
    max_examples=25,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(edits=st.dictionaries(NAMES, st.none() | st.binary(max_size=40), max_size=4))
def test_no_change_raises_anything(
    edits: dict[str, bytes | None], tmp_path: Path
) -> None:
    merged = small()
    proposals = Proposals(tmp_path / "repo", merged)
    changed = merged.copy()
    for path, content in edits.items():
        if content is None:
            changed.files.pop(path, None)
        else:
            changed.files[path] = content
    report = proposals.check(changed)
    touched = set(changed.files.items()) ^ set(merged.files.items())
    ours = {path for path, _ in touched if path != "README.md"}
    assert bool(found(report)) == bool(ours)
    assert verify_registry(changed.tree(), arrivals={}, now=NOW, expectations=False)
