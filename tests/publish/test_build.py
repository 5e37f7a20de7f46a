"""Building a release from a registry: what changes, what stays, what is refused."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from registry.documents.findings import RegistryError
from registry.documents.yaml_writer import write_yaml
from registry.publish.integrity import check_folder, open_folder
from registry.publish.release import BuildResult, build_release, plan_release
from tests.publish.conftest import contents
from tests.simulators.machines import Machine
from tests.simulators.registry import Simulator

GENERIC = "acpi/AbsPower/BPFOnly/SGDRegressorTrainer_0"


def codes(error: RegistryError) -> set[str]:
    return {finding.code for finding in error.findings}


def test_a_release_is_what_its_index_says(built: Path) -> None:
    index, data = open_folder(built / "release")
    assert check_folder(built / "release", index, data) == []
    assert index.serial == 0
    assert index.commit is None
    assert {entry.key for entry in index.classes} == {
        "generic",
        "xeon-gold-6248r-2s-48c-384g",
        "xeon-gold-6130-2s-32c-192g",
    }
    assert {bundle.dataset for bundle in index.bundles} == {"server-a", "server-b"}
    generic = next(model for model in index.models if model.id == GENERIC)
    assert generic.bundles == ("server-a", "server-b")
    assert generic.error.protocol == "server"


def test_every_class_is_compared_with_the_generic_one(built: Path) -> None:
    index, _ = open_folder(built / "release")
    own = [model for model in index.models if model.class_key != "generic"]
    compared = [model for model in own if model.comparison is not None]
    assert all(m.comparison is None for m in index.models if m not in own)
    assert compared
    assert all(m.comparison.rows > 0 for m in compared if m.comparison)


def test_sha256sum_agrees(built: Path) -> None:
    command = ["sha256sum", "--check", "--strict", "--quiet", "SHA256SUMS"]
    subprocess.run(command, cwd=built / "release", check=True, capture_output=True)


def test_the_notes_name_classes_errors_and_commands(built: Path) -> None:
    notes = (built / "release" / "RELEASE_NOTES.md").read_text("utf-8")
    for part in (
        "an uncommitted work tree",
        "2 server classes and the generic class, from 2 signed bundles",
        "`CDLA-Permissive-2.0` (2)",
        "`xeon-gold-6248r-2s-48c-384g`",
        "registry rebuild --compare",
        "sha256sum --check SHA256SUMS",
        "power_curves.svg",
    ):
        assert part in notes


def test_nothing_tells_where_or_when_it_was_built(built: Path) -> None:
    for name, data in contents(built / "release").items():
        for trace in (str(built).encode(), b"/home/", b"/root", b"localhost"):
            assert trace not in data, name


def test_a_second_build_does_nothing(built: Path) -> None:
    before = {path: path.stat().st_mtime_ns for path in (built / "release").rglob("*")}
    result = build_release(built, built / "release")
    assert isinstance(result, BuildResult)
    assert (result.changed, result.fitted) == (False, 0)
    assert result.reused == len(result.index.models)
    assert before == {
        path: path.stat().st_mtime_ns for path in (built / "release").rglob("*")
    }


def test_a_build_that_does_nothing_loads_nothing_heavy(built: Path) -> None:
    code = (
        "import sys; from pathlib import Path;"
        "from registry.publish.release import build_release;"
        "root = Path(sys.argv[1]);"
        "assert not build_release(root, root / 'release').changed;"
        "heavy = {'matplotlib', 'great_expectations', 'xgboost', 'sklearn', 'joblib'};"
        "assert not heavy & set(sys.modules), heavy & set(sys.modules)"
    )
    command = [sys.executable, "-c", code, str(built)]
    subprocess.run(command, check=True, capture_output=True)


def test_another_folder_gets_the_same_bytes(built: Path, tmp_path: Path) -> None:
    result = build_release(built, tmp_path / "other", since=built / "release")
    assert (result.changed, result.fitted) == (True, 0)
    assert contents(tmp_path / "other") == contents(built / "release")


def test_with_and_without_reuse_the_bytes_are_the_same(
    built: Path, simulated: Simulator, tmp_path: Path
) -> None:
    grown = simulated.copy()
    grown.add_levels("server-c", 42, Machine("server-c", seed=9))
    root = grown.write(tmp_path / "grown")
    shutil.copytree(built / "release", tmp_path / "before")
    plan = plan_release(root, since=tmp_path / "before")
    result = build_release(root, tmp_path / "reusing", since=tmp_path / "before")
    fresh = build_release(root, tmp_path / "fresh", jobs=2)
    assert 0 < result.fitted < fresh.fitted
    assert result.reused == fresh.fitted - result.fitted
    assert result.tag == fresh.tag
    assert contents(tmp_path / "reusing") == contents(tmp_path / "fresh")
    changed = {order.class_key for order in plan.fit}
    assert changed == {"generic", "xeon-gold-6248r-2s-48c-384g"}
    old, _ = open_folder(tmp_path / "before")
    new, _ = open_folder(tmp_path / "fresh")
    digests = {asset.path: asset.sha256 for asset in old.assets}
    for asset in new.assets:
        if "6130" in asset.path:
            assert digests[asset.path] == asset.sha256


def test_withdrawn_data_leaves_models_and_is_told(
    simulated: Simulator, built: Path, tmp_path: Path
) -> None:
    less = simulated.copy()
    less.files["datasets/server-b/WITHDRAWN.yaml"] = write_yaml(
        {"schema": "withdrawn/1", "day": "2026-06-01", "reason": "measurement-error"}
    )
    root = less.write(tmp_path / "less")
    result = build_release(root, tmp_path / "out", since=built / "release")
    assert result.dropped
    assert all("server-b" not in model.bundles for model in result.index.models)
    assert result.index.withdrawn[0].dataset == "server-b"
    notes = (tmp_path / "out" / "RELEASE_NOTES.md").read_text("utf-8")
    assert "| `server-b` | 2026-06-01 | measurement-error |" in notes


def test_a_damaged_file_of_the_earlier_release_is_not_taken_over(
    built: Path, tmp_path: Path
) -> None:
    shutil.copytree(built / "release", tmp_path / "damaged")
    victim = next((tmp_path / "damaged").glob("*SGDRegressorTrainer_0.json"))
    victim.write_bytes(victim.read_bytes().replace(b"6", b"7", 1))
    with pytest.raises(RegistryError) as caught:
        build_release(built, tmp_path / "out", since=tmp_path / "damaged")
    assert codes(caught.value) == {"R021"}
    assert not (tmp_path / "out").exists()
    assert not list(tmp_path.glob(".out*"))


def test_a_missing_file_of_the_earlier_release_is_told(
    built: Path, tmp_path: Path
) -> None:
    shutil.copytree(built / "release", tmp_path / "damaged")
    (tmp_path / "damaged" / "held_out.jsonl").unlink()
    with pytest.raises(RegistryError) as caught:
        build_release(built, tmp_path / "out", since=tmp_path / "damaged")
    assert codes(caught.value) == {"R021"}


def test_a_release_that_lost_a_file_is_built_again(built: Path, tmp_path: Path) -> None:
    shutil.copytree(built / "release", tmp_path / "out")
    (tmp_path / "out" / "SHA256SUMS").unlink()
    result = build_release(built, tmp_path / "out")
    assert (result.changed, result.fitted) == (True, 0)
    assert contents(tmp_path / "out") == contents(built / "release")


def test_a_release_of_other_code_is_not_reused(built: Path, tmp_path: Path) -> None:
    shutil.copytree(built / "release", tmp_path / "old")
    path = tmp_path / "old" / "index.json"
    value = json.loads(path.read_bytes())
    value["code"]["artifacts"] = "0" * 64
    text = json.dumps(value, sort_keys=True, separators=(",", ":"))
    path.write_text(text + "\n", "utf-8")
    plan = plan_release(built, since=tmp_path / "old")
    assert plan.fit
    assert not plan.reuse


def test_a_foreign_folder_is_not_overwritten(built: Path, tmp_path: Path) -> None:
    (tmp_path / "photos").mkdir()
    (tmp_path / "photos" / "me.jpg").write_bytes(b"precious")
    with pytest.raises(RegistryError) as caught:
        build_release(built, tmp_path / "photos", since=built / "release")
    assert codes(caught.value) == {"R020"}
    assert (tmp_path / "photos" / "me.jpg").read_bytes() == b"precious"


def test_an_unreadable_release_in_the_way_is_replaced(
    built: Path, tmp_path: Path
) -> None:
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "index.json").write_bytes(b"{}")
    with pytest.raises(RegistryError) as caught:
        build_release(built, tmp_path / "new", since=tmp_path / "out")
    assert codes(caught.value) == {"R010"}
    assert build_release(built, tmp_path / "out").changed
    assert contents(tmp_path / "out") == contents(built / "release")


def test_a_build_killed_between_its_renames_is_put_back(
    built: Path, tmp_path: Path
) -> None:
    shutil.copytree(built / "release", tmp_path / ".out.replaced")
    result = build_release(built, tmp_path / "out")
    assert not result.changed
    assert contents(tmp_path / "out") == contents(built / "release")


def test_a_commit_gives_serial_arrivals_and_expiry(
    simulated: Simulator, tmp_path: Path
) -> None:
    one = Simulator(
        {k: v for k, v in simulated.files.items() if "server-b" not in k},
        dict(simulated.people),
    )
    repo = tmp_path / "repo"
    first = one.commit(repo, when=1_780_000_000)
    result = build_release(repo, tmp_path / "out")
    index = result.index
    assert index.commit == first
    assert index.serial == 1_780_000_000
    assert index.created == "2026-05-28T20:26:40Z"
    assert index.expires == 1_780_000_000 + 365 * 24 * 3600
    assert [bundle.arrived for bundle in index.bundles] == [1_780_000_000]
    notes = (tmp_path / "out" / "RELEASE_NOTES.md").read_text("utf-8")
    assert "The newest data came on 2026-05-28: 1 bundle in" in notes
    (repo / "specs" / "stray.yaml").write_bytes(b"x: 1\n")
    assert not build_release(repo, tmp_path / "out", rev="HEAD").changed
    dirty = build_release(repo, tmp_path / "dirty", since=tmp_path / "out")
    assert dirty.index.commit is None
    assert dirty.fitted == 0
