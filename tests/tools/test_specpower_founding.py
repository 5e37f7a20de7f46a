"""The committed founding bundles: signed, complete, and of the chosen servers only."""

from __future__ import annotations

import json
import re
import subprocess
import time
from collections import Counter
from pathlib import Path

import pytest

from registry.documents.classkey import class_key
from registry.documents.findings import Severity
from registry.documents.manifest import Manifest, read_manifest
from registry.documents.names import NAMESPACE_BUNDLE
from registry.documents.spec import HardwareSpec, read_spec
from registry.documents.trust import FOUNDING, read_trust
from registry.gate.allowed_signers import allowed_signers
from registry.gate.directory_tree import directory_tree
from registry.gate.git_tree import arrivals
from registry.gate.privacy import check_texts, spec_texts
from tools.importers.sources import read_ids

ROOT = Path(__file__).resolve().parents[2]
IDS = read_ids(
    (ROOT / "tools/importers/founding_ids.txt").read_text("ascii"), "founding_ids.txt"
)
BUNDLES = [ROOT / "datasets" / f"ssj2008-{id_}" for id_ in IDS]


def manifest_of(folder: Path) -> Manifest:
    return read_manifest((folder / "manifest.json").read_bytes(), "manifest.json")


def spec_of(folder: Path) -> HardwareSpec:
    path = f"specs/{folder.name}.yaml"
    return read_spec((ROOT / path).read_bytes(), path)


def test_every_listed_result_is_a_bundle_with_a_spec() -> None:
    assert len(IDS) == len(set(IDS)) >= 40
    names = {path.name for path in ROOT.glob("datasets/ssj2008-*")}
    assert names == {folder.name for folder in BUNDLES}
    assert names == {path.stem for path in ROOT.glob("specs/ssj2008-*.yaml")}


def test_ssh_keygen_accepts_every_bundle(tmp_path: Path) -> None:
    allowed = tmp_path / "allowed_signers"
    allowed.write_text(allowed_signers(directory_tree(ROOT)))
    came = arrivals(ROOT, "HEAD") if (ROOT / ".git").exists() else {}
    for folder in BUNDLES:
        at = time.gmtime(came.get(folder.name, time.time()))
        content = (folder / "manifest.json").read_bytes()
        command = ["ssh-keygen", "-Y", "verify", "-f", str(allowed), "-I", "0"]
        command += ["-n", NAMESPACE_BUNDLE, "-s", str(folder / "manifest.json.sig")]
        command += ["-O", f"verify-time={time.strftime('%Y%m%d%H%M%SZ', at)}"]
        done = subprocess.run(command, input=content, capture_output=True, check=False)
        assert done.returncode == 0, (folder.name, done.stderr)
    command[-1] = "verify-time=20200101000000Z"
    early = subprocess.run(command, input=content, capture_output=True, check=False)
    assert early.returncode != 0, "the key must not be trusted before it was made"
    command[-1] = f"verify-time={time.strftime('%Y%m%d%H%M%SZ', at)}"
    other = content.replace(b'"version":1,', b'"version":2,')
    done = subprocess.run(command, input=other, capture_output=True, check=False)
    assert done.returncode != 0, "another manifest must not pass"


def test_the_founding_contributor_has_one_key() -> None:
    path = f"registry/trust/{FOUNDING}.yaml"
    contributor = read_trust((ROOT / path).read_bytes(), path)
    assert contributor.id == FOUNDING
    assert len(contributor.keys) == 1
    assert "PRIVATE" not in (ROOT / path).read_text("ascii")


@pytest.mark.parametrize("folder", BUNDLES, ids=lambda folder: folder.name)
def test_a_manifest_cites_its_source(folder: Path) -> None:
    manifest = manifest_of(folder)
    assert manifest.contributor == FOUNDING
    assert manifest.licence == "LicenseRef-published-facts"
    assert manifest.profile == "load-levels"
    assert manifest.workloads == ("idle", "ssj2008")
    assert manifest.measured.first == manifest.measured.last
    source = manifest.source
    assert source is not None
    assert source.kind == "spec-ssj2008"
    assert manifest.measured.last <= source.published
    assert source.id.removeprefix("power_") == folder.name


def test_watts_of_several_nodes_say_so() -> None:
    shared = 0
    for folder in BUNDLES:
        spec = spec_of(folder)
        header = (folder / "levels.csv").read_text("ascii").splitlines()[0]
        several = spec.nodes.count > 1
        assert spec.nodes.shared_power is several
        assert header == ("run,chassis_watts" if several else "run,wall_watts")
        shared += several
    assert shared >= 6


def test_servers_are_of_many_vendors_years_and_classes() -> None:
    specs = [spec_of(folder) for folder in BUNDLES]
    assert len({spec.system.vendor for spec in specs}) >= 12
    makers = Counter(spec.cpu.vendor for spec in specs)
    assert makers.keys() == {"intel", "amd"}
    assert min(makers.values()) >= 12
    years = {manifest_of(folder).measured.first[:4] for folder in BUNDLES}
    assert {"2008", "2012", "2017", "2019", "2021"} <= years
    groups = [n for n in Counter(map(class_key, specs)).values() if n > 1]
    assert len(groups) >= 5
    assert max(groups) >= 3


def test_specs_hold_no_serials_hosts_and_sites() -> None:
    words = re.compile(
        r"serial|s/n|p/n|part|slot|host|\bTX\b|, USA|test location", re.IGNORECASE
    )
    for folder in BUNDLES:
        spec = spec_of(folder)
        texts = spec_texts(spec)
        assert check_texts("spec", texts) == []
        assert [text for text in texts.values() if words.search(text)] == []


def test_levels_and_runs_have_idle_and_ten_loads() -> None:
    for folder in BUNDLES:
        runs = (folder / "runs.csv").read_text("ascii").splitlines()[1:]
        targets = [line.split(",")[2] for line in runs]
        tenths = ["1", *(f"0.{n}" for n in range(9, 0, -1)), "0"]
        assert targets == tenths
        assert [line.split(",")[1] for line in runs] == ["ssj2008"] * 10 + ["idle"]


def test_the_gate_has_nothing_to_say_of_the_manifests() -> None:
    from registry.gate.duplicates import check_duplicates

    manifests = {folder.name: manifest_of(folder) for folder in BUNDLES}
    found = check_duplicates(manifests, manifests)
    assert [one for one in found if one.severity is Severity.ERROR] == []
    again = json.loads((BUNDLES[0] / "manifest.json").read_bytes())
    copy = Manifest.model_validate(again | {"dataset": "copy"})
    assert check_duplicates({**manifests, "copy": copy}, ["copy"]) != []
