"""Bundles that are checked where they lie, laid over a registry's checkout."""

from __future__ import annotations

from pathlib import Path

import pytest

from registry.documents.findings import RegistryError
from registry.gate.outcome import Report
from tests.simulators.registry import NOW, Simulator, small
from tools.bundles import check
from tools.bundles.check import OverlayTree, check_bundle


def codes(report: Report) -> set[str]:
    return {one.code for one in report.findings}


@pytest.fixture
def registry(tmp_path: Path) -> Path:
    """A registry without git."""
    return small().write(tmp_path / "registry")


@pytest.fixture
def proposed() -> Simulator:
    """A registry with one more bundle, server-d of contributor 42."""
    simulated = small()
    simulated.add_levels("server-d", 42)
    return simulated


@pytest.fixture(autouse=True)
def without_expectations(monkeypatch: pytest.MonkeyPatch) -> None:
    """Great Expectations takes seconds to load and is tried elsewhere."""
    whole = check.verify_registry

    def quick(*arguments: object, **options: object) -> Report:
        return whole(*arguments, **options, expectations=False)  # type: ignore[arg-type]

    monkeypatch.setattr(check, "verify_registry", quick)


def apart(proposed: Simulator, folder: Path, name: str = "server-d") -> Path:
    """Write one bundle, and its spec beside it, into a folder without a registry."""
    only = Simulator(
        {
            path: content
            for path, content in proposed.files.items()
            if path.startswith((f"datasets/{name}/", f"specs/{name}."))
        }
    )
    only.write(folder)
    return folder / "datasets" / name


def test_a_bundle_with_its_spec_beside_it(
    proposed: Simulator, registry: Path, tmp_path: Path
) -> None:
    folder = apart(proposed, tmp_path / "mine")
    report = check_bundle(folder, NOW, registry=registry)
    assert codes(report) == set()
    assert report.bundles == 1


def test_a_bundle_and_a_spec_that_lie_anywhere(
    proposed: Simulator, registry: Path, tmp_path: Path
) -> None:
    folder = apart(proposed, tmp_path / "mine").rename(tmp_path / "server-d")
    spec = (tmp_path / "mine" / "specs" / "server-d.yaml").rename(tmp_path / "s.yaml")
    assert codes(check_bundle(folder, NOW, registry=registry, spec=spec)) == set()
    assert codes(check_bundle(folder, NOW, registry=registry)) == {"T001"}


def test_a_copy_of_a_merged_bundle_is_seen(
    proposed: Simulator, registry: Path, tmp_path: Path
) -> None:
    for name in ("levels.csv", "runs.csv"):
        proposed.files[f"datasets/server-d/{name}"] = proposed.files[
            f"datasets/server-a/{name}"
        ]
    proposed.reseal("server-d")
    folder = apart(proposed, tmp_path / "mine")
    assert "D001" in codes(check_bundle(folder, NOW, registry=registry))


def test_a_broken_neighbour_is_not_this_bundles_fault(
    proposed: Simulator, registry: Path, tmp_path: Path
) -> None:
    (registry / "datasets" / "server-a" / "manifest.json").write_bytes(b"{}")
    folder = apart(proposed, tmp_path / "mine")
    assert codes(check_bundle(folder, NOW, registry=registry)) == set()


def test_links_and_foreign_files_are_seen_before_they_are_read(
    proposed: Simulator, registry: Path, tmp_path: Path
) -> None:
    folder = apart(proposed, tmp_path / "mine")
    (folder / "extra.csv").symlink_to("/etc/hostname")
    (folder / "runs.csv").chmod(0o755)
    report = check_bundle(folder, NOW, registry=registry)
    assert {one.path for one in report.findings if one.code == "T011"} == {
        "datasets/server-d/extra.csv",
        "datasets/server-d/runs.csv",
    }
    (folder / "extra.csv").unlink()
    (folder / "runs.csv").chmod(0o644)
    (folder / "inner").mkdir()
    assert "T011" in codes(check_bundle(folder, NOW, registry=registry))


def test_the_registry_may_be_where_we_stand(
    proposed: Simulator, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = apart(proposed, tmp_path / "mine")
    small().commit(tmp_path / "checkout")
    monkeypatch.chdir(tmp_path / "checkout" / "datasets" / "server-a")
    report = check_bundle(folder, NOW)
    assert (codes(report), report.bundles) == (set(), 1)


def test_a_folder_in_no_registry_is_a_finding(
    proposed: Simulator, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    folder = apart(proposed, tmp_path / "mine")
    with pytest.raises(RegistryError) as caught:
        check_bundle(folder, NOW)
    assert [one.code for one in caught.value.findings] == ["L065"]


def test_a_folder_without_a_manifest_is_a_finding(
    registry: Path, tmp_path: Path
) -> None:
    folder = tmp_path / "nothing"
    folder.mkdir()
    with pytest.raises(RegistryError) as caught:
        check_bundle(folder, NOW, registry=registry)
    assert [one.code for one in caught.value.findings] == ["T001"]


def test_an_overlay_hides_what_it_covers(tmp_path: Path) -> None:
    own = tmp_path / "own.csv"
    own.write_bytes(b"own\n")
    tree = OverlayTree(small().tree(), {"datasets/server-a/runs.csv": own})
    inside = [entry.path for entry in tree.entries("datasets/server-a/")]
    assert inside == ["datasets/server-a/runs.csv"]
    assert dict(tree.read_many(inside)) == {inside[0]: b"own\n"}
    assert tree.read("specs/server-a.yaml").startswith(b"schema: ")
    own.unlink()
    with pytest.raises(RegistryError) as caught:
        tree.read(inside[0])
    assert [one.code for one in caught.value.findings] == ["T001"]
