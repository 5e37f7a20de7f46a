"""Rows P1, P2, P3, P4, P5 and P7 of the threat model: releases and who uses them."""

from __future__ import annotations

import ast
import json
import shutil
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from registry.client import as_lines, fetch, open_release, rebuild_and_compare
from registry.documents.findings import RegistryError
from registry.documents.yaml_writer import write_yaml
from registry.publish.index import index_bytes
from registry.publish.integrity import open_folder
from registry.publish.notes import notes_bytes
from registry.publish.release import build_release
from tests.simulators import models as made
from tests.simulators.machines import Machine
from tests.simulators.registry import ARRIVED, Simulator
from tests.simulators.releases import SERIAL, make_release, poison

if TYPE_CHECKING:
    from collections.abc import Iterator

FORBIDDEN = {"pickle", "cPickle", "_pickle", "dill", "cloudpickle", "shelve", "marshal"}
LOADERS = {"load", "dump", "Memory"}


@pytest.fixture(autouse=True)
def state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    file = tmp_path / "seen.json"
    monkeypatch.setenv("REGISTRY_STATE", str(file))
    return file


@pytest.fixture(scope="module")
def registry_built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A repository of two servers of one class, and its release."""
    simulated = Simulator()
    simulated.enrol(42)
    for name in ("server-a", "server-b"):
        simulated.add_levels(name, 42, Machine(name, seed=len(name)))
    root = tmp_path_factory.mktemp("attacked")
    simulated.commit(root / "repo")
    build_release(root / "repo", root / "release")
    return root


def imports(path: Path) -> Iterator[tuple[str, str]]:
    """List (module, name) of everything that a file imports or calls by import."""
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        match node:
            case ast.Import(names=names):
                yield from ((alias.name, "") for alias in names)
            case ast.ImportFrom(module=str(module), names=names):
                yield from ((module, alias.name) for alias in names)
            case ast.Attribute(value=ast.Name(id=module), attr=name):
                yield module, name
            case ast.Call(func=ast.Name(id="__import__" | "import_module")):
                yield "import", ast.unparse(node)


def test_p1_nothing_of_ours_unpickles(repository: Path) -> None:
    for folder in ("registry", "tools"):
        for path in (repository / folder).rglob("*.py"):
            for module, name in imports(path):
                top = module.partition(".")[0]
                assert top not in FORBIDDEN, path
                assert not (top == "joblib" and name in LOADERS), path
                assert not (top in {"numpy", "np"} and name == "load"), path
                assert not (top in {"pandas", "pd"} and name == "read_pickle"), path
                assert top != "import" or "import_module" in name, path


def test_p1_joblib_only_runs_fits(repository: Path) -> None:
    users = {
        path.relative_to(repository).as_posix()
        for path in (repository / "registry").rglob("*.py")
        if any(module.startswith("joblib") for module, _ in imports(path))
    }
    assert users <= {"registry/modelling/build.py"}


def test_p1_no_release_holds_a_pickle(tmp_path: Path) -> None:
    make_release(tmp_path / "release")
    for path in (tmp_path / "release").rglob("*"):
        if path.is_file():
            assert path.suffix not in {".pkl", ".pickle", ".joblib", ".npy"}
            assert not path.read_bytes().startswith(
                (b"\x80\x02", b"\x80\x04", b"\x80\x05")
            )


def test_p2_an_old_index_is_refused(tmp_path: Path) -> None:
    folder = tmp_path / "release"
    make_release(folder, serial=SERIAL + 100)
    open_release(str(folder))
    shutil.rmtree(folder)
    make_release(folder, serial=SERIAL)
    with pytest.raises(RegistryError) as caught:
        open_release(str(folder))
    assert [finding.code for finding in caught.value.findings] == ["R042"]


@pytest.mark.parametrize("cut", [1, 100])
def test_p2_a_truncated_file_is_refused(tmp_path: Path, cut: int) -> None:
    make_release(tmp_path / "release")
    for path in sorted((tmp_path / "release").rglob("*")):
        if not path.is_file():
            continue
        whole = path.read_bytes()
        path.write_bytes(whole[:-cut])
        with pytest.raises(RegistryError) as caught:
            open_release(str(tmp_path / "release"))
        assert any(
            finding.path.endswith(path.name) for finding in caught.value.findings
        )
        path.write_bytes(whole)
    open_release(str(tmp_path / "release"))


def test_p2_a_flipped_byte_is_refused_before_it_is_parsed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from registry.client import fetching

    folder = tmp_path / "release"
    make_release(folder)
    name = "acpi-AbsPower-BPFOnly-SGDRegressorTrainer_0.json"
    opened = open_release(str(folder))
    data = bytearray((folder / name).read_bytes())
    data[len(data) // 2] ^= 1
    (folder / name).write_bytes(bytes(data))
    monkeypatch.setattr(fetching, "misreadings", pytest.fail)
    with pytest.raises(RegistryError) as caught:
        opened.read(name)
    assert caught.value.findings[0].code == "R013"
    with pytest.raises(RegistryError):
        fetch(str(folder), number=0)


def test_p2_another_models_file_is_refused(tmp_path: Path) -> None:
    folder = tmp_path / "release"
    make_release(folder)
    generic = folder / "acpi-AbsPower-BPFOnly-SGDRegressorTrainer_0.json"
    other = folder / "rapl-sysfs-AbsPower-BPFOnly-SGDRegressorTrainer_0.json"
    generic.write_bytes(other.read_bytes())
    with pytest.raises(RegistryError) as caught:
        open_release(str(folder))
    assert caught.value.findings[0].path == generic.name


def test_p2_an_expired_release_is_a_warning(tmp_path: Path) -> None:
    index = make_release(tmp_path / "release")
    assert index.expires is not None
    opened = open_release(str(tmp_path / "release"), now=index.expires + 1)
    assert [finding.code for finding in opened.warnings] == ["R045"]


def test_p3_one_changed_coefficient_is_found_by_rebuilding(
    registry_built: Path, tmp_path: Path
) -> None:
    """All digests and statements are right: only the rebuild can tell."""
    folder = tmp_path / "release"
    shutil.copytree(registry_built / "release", folder)
    index, _ = open_folder(folder)
    name = "acpi-AbsPower-BPFOnly-SGDRegressorTrainer_0.json"
    value = json.loads((folder / name).read_bytes())
    value["platform"]["All_Weights"]["Bias_Weight"] *= 1.01
    text = json.dumps(value, sort_keys=True, separators=(",", ":")) + "\n"
    poison(folder, index, {name: text.encode()})
    open_release(str(folder))  # nothing looks wrong
    found = rebuild_and_compare(registry_built / "repo", str(folder))
    assert {finding.path for finding in found.findings} == {
        name,
        "index.json",
        "provenance.jsonl",
        "SHA256SUMS",
    }
    assert {finding.code for finding in found.findings} == {"R060"}


def test_p4_a_mirror_is_found_by_a_pinned_digest(tmp_path: Path) -> None:
    make_release(tmp_path / "release")
    tag = open_release(str(tmp_path / "release")).tag
    make_release(tmp_path / "mirror", [made.model(mae=9.0)])
    with pytest.raises(RegistryError) as caught:
        open_release(str(tmp_path / "mirror"), digest=tag)
    assert caught.value.findings[0].code == "R046"


@pytest.mark.parametrize(
    "text",
    [
        "<script>alert(1)</script>",
        "<img src=x onerror=alert(1)>",
        "](javascript:alert(1))",
        "[click](https://evil.example)",
        "a | b | c",
        "=cmd()",
        "@everyone #1",
    ],
)
def test_p5_no_text_becomes_markup_in_the_notes(tmp_path: Path, text: str) -> None:
    bad = made.withheld(made.model(number=111111111, key="class-1"), text)
    index = make_release(tmp_path / "release", [made.model()])
    entry = index.models[0].model_copy(
        update={"id": str(bad.id), "status": "withheld", "why": text, "files": ()}
    )
    notes = notes_bytes(
        index.model_copy(update={"models": (*index.models, entry)}), drawing=False
    ).decode()
    row = next(line for line in notes.splitlines() if "_111111111" in line)
    assert text not in row
    assert row.count("|") == 3
    assert not set("<>[]@=") & set(row)


def test_p5_the_index_takes_no_markup_as_a_name(tmp_path: Path) -> None:
    index = make_release(tmp_path / "release")
    value = json.loads(index_bytes(index))
    value["classes"][1]["key"] = "<script>"
    text = json.dumps(value, sort_keys=True, separators=(",", ":")) + "\n"
    (tmp_path / "release" / "index.json").write_text(text, "utf-8")
    with pytest.raises(RegistryError) as caught:
        open_release(str(tmp_path / "release"))
    assert caught.value.findings[0].code == "R010"


def test_p7_withdrawn_data_leaves_every_model(
    registry_built: Path, tmp_path: Path
) -> None:
    root = tmp_path / "repo"
    shutil.copytree(
        registry_built / "repo", root, ignore=shutil.ignore_patterns(".git")
    )
    (root / "datasets" / "server-b" / "WITHDRAWN.yaml").write_bytes(
        write_yaml({"schema": "withdrawn/1", "day": "2026-06-01", "reason": "privacy"})
    )
    out = tmp_path / "release"
    result = build_release(root, out, since=registry_built / "release")
    assert result.fitted
    for model in result.index.models:
        assert "server-b" not in model.bundles
    provenance = (out / "provenance.jsonl").read_bytes()
    assert b"server-b" not in provenance
    assert (
        b"`server-b` | 2026-06-01 | privacy" in (out / "RELEASE_NOTES.md").read_bytes()
    )
    lines = as_lines(fetch(str(out), number=0))
    assert "note    server-b was withdrawn (privacy)" in lines


def test_p7_data_of_a_stolen_key_leaves_every_model(tmp_path: Path) -> None:
    """A revocation from before the arrival takes the bundle out, and it is told."""
    simulated = Simulator()
    for number, name in ((42, "server-a"), (43, "server-b")):
        simulated.enrol(number)
        simulated.add_levels(name, number, Machine(name, seed=number))
    simulated.commit(tmp_path / "repo")
    first = build_release(tmp_path / "repo", tmp_path / "first")
    simulated.enrol(simulated.people[43].revoked(0, "2026-02-01T00:00:00Z"))
    simulated.commit(tmp_path / "repo", when=ARRIVED + 60)
    second = build_release(tmp_path / "repo", tmp_path / "second", since=first.out)
    assert [one.dataset for one in second.index.bundles] == ["server-a"]
    (gone,) = second.index.withdrawn
    assert (gone.dataset, gone.day, gone.reason) == (
        "server-b",
        "2026-02-01",
        "key-revoked",
    )
    assert all("server-b" not in model.bundles for model in second.index.models)
    assert b"server-b" not in (second.out / "provenance.jsonl").read_bytes()
