"""Attacks by files and their names: threat-model.md B1 to B7, B12 and B14."""

from __future__ import annotations

import io
import json
import os
import tarfile
import zipfile
from typing import TYPE_CHECKING, Any

import pytest

from registry.documents import limits
from registry.gate.directory_tree import directory_tree
from registry.gate.git_tree import git_tree
from registry.gate.verify import verify_registry
from tests.simulators.gate import found, verified
from tests.simulators.registry import NOW, Simulator, run_git, small

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

BAD_NAMES = [
    "../../etc/passwd",
    "/etc/passwd",
    "..",
    ".",
    "",
    "a/../b.csv",
    "./samples.csv",
    "a//b.csv",
    "c:/windows/a.csv",
    "c:a.csv",
    "\\\\host\\share\\a.csv",
    "a\\b.csv",
    "samples.csv.",
    "samples.csv ",
    " samples.csv",
    "con",
    "con.csv",
    "prn.csv",
    "aux.csv",
    "nul.csv",
    "com1.csv",
    "com9",
    "lpt1.csv",
    "lpt9.csv",
    "a\0.csv",
    "a\n.csv",
    "a\r.csv",
    "a\t.csv",
    "a\x1b[31m.csv",
    "a\u202e.csv",
    "a\u200db.csv",
    "a\ufeff.csv",
    "\u0430dmin.csv",
    "e\u0301.csv",
    "é.csv",
    "Data.csv",
    ".gitattributes",
    ".git",
    ".gitmodules",
    ".hidden",
    "-rf",
    "_a.csv",
    "$(id)`.csv",
    "a%0A::error::x",
    "<img src=x onerror=...>",
    "@all",
    "a" * 65,
    "a/b/c/d/e.csv",
    "\udcff.csv",
]


@pytest.mark.parametrize("name", BAD_NAMES, ids=range(len(BAD_NAMES)))
def test_b1_names_in_the_tree(name: str) -> None:
    simulated = small()
    path = f"datasets/server-a/{name}"
    simulated.files[path] = b"x"
    report = verified(simulated)
    (one,) = [one for one in report.findings if one.severity == "error"]
    assert one.code == "T010"
    assert one.path.isprintable()
    assert one.path.startswith("datasets/server-a/")


@pytest.mark.parametrize("name", BAD_NAMES, ids=range(len(BAD_NAMES)))
@pytest.mark.parametrize("field", ["file", "spec", "dataset"])
def test_b1_names_in_the_manifest(
    name: str, field: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def change(value: dict[str, Any]) -> None:
        if field == "file":
            value["files"][0]["path"] = name
        elif field == "spec":
            value["spec"]["path"] = name if "/" in name else f"specs/{name}"
        else:
            value["dataset"] = name

    simulated = small()
    try:
        simulated.edit("server-a", change)
    except ValueError:  # canonical JSON cannot even hold this name
        value = simulated.manifest("server-a")
        change(value)
        text = json.dumps(value).encode()
        simulated.files["datasets/server-a/manifest.json"] = text
        simulated.sign("server-a")
    simulated.write(tmp_path)
    tree = directory_tree(tmp_path)
    opened: list[str] = []
    real = os.open

    def watched(path: Any, flags: int, *rest: Any, **named: Any) -> int:
        opened.append(os.fspath(path))
        return real(path, flags, *rest, **named)

    monkeypatch.setattr(os, "open", watched)
    report = verify_registry(tree, arrivals={}, now=NOW, expectations=False)
    monkeypatch.undo()
    inside = {part for path in small().files for part in path.split("/")}
    assert set(opened) - {str(tmp_path), *map(os.fspath, [tmp_path])} <= inside
    ours = [path for _, path in found(report)]
    assert "datasets/server-a/manifest.json" in ours


def test_b2_links_submodules_and_programs(tmp_path: Path) -> None:
    simulated = small()
    simulated.commit(tmp_path)
    (tmp_path / "datasets/server-a/x.csv").symlink_to("/etc/passwd")
    (tmp_path / "datasets/server-b/runs.csv").chmod(0o755)
    run_git(tmp_path, "add", "-A")
    head = run_git(tmp_path, "rev-parse", "HEAD").strip()
    odd = f"160000,{head},datasets/server-c/sub"
    run_git(tmp_path, "update-index", "--add", "--cacheinfo", odd)
    run_git(tmp_path, "commit", "-q", "-m", "odd")
    tree = git_tree(tmp_path, "HEAD")
    report = verify_registry(tree, arrivals={}, now=NOW, expectations=False)
    assert [one for one in found(report) if one[0] == "T011"] == [
        ("T011", "datasets/server-a/x.csv"),
        ("T011", "datasets/server-b/runs.csv"),
        ("T011", "datasets/server-c/sub"),
    ]
    pipe = tmp_path / "specs/pipe.yaml"
    os.mkfifo(pipe)
    folder = directory_tree(tmp_path)
    report = verify_registry(folder, arrivals={}, now=NOW, expectations=False)
    assert ("T011", "specs/pipe.yaml") in found(report)
    assert ("T011", "datasets/server-a/x.csv") in found(report)


def test_b2_roots_that_are_links(tmp_path: Path) -> None:
    small().write(tmp_path / "real")
    for root in ("datasets", "specs"):
        (tmp_path / root).symlink_to(tmp_path / "real" / root)
    (tmp_path / "registry").symlink_to(tmp_path / "real/registry")
    report = verify_registry(
        directory_tree(tmp_path), arrivals={}, now=NOW, expectations=False
    )
    assert {path for _, path in found(report)} == {"datasets", "specs", "registry"}


def test_b3_attributes_do_not_change_what_is_verified(tmp_path: Path) -> None:
    simulated = small()
    simulated.files[".gitattributes"] = b"*.csv ident eol=crlf\n"
    simulated.commit(tmp_path)
    run_git(tmp_path, "rm", "-q", "-r", "--cached", ".")
    run_git(tmp_path, "reset", "-q", "--hard")
    path = "datasets/server-a/runs.csv"
    assert b"\r\n" in (tmp_path / path).read_bytes()
    tree = git_tree(tmp_path, "HEAD")
    assert tree.read(path) == simulated.files[path]
    report = verify_registry(tree, arrivals={}, now=NOW, expectations=False)
    assert found(report) == []
    folder = verify_registry(
        directory_tree(tmp_path), arrivals={}, now=NOW, expectations=False
    )
    assert ("M023", path) in found(folder)


def test_b3_attributes_and_pointers_in_a_bundle() -> None:
    simulated = small()
    simulated.files["datasets/server-a/.gitattributes"] = b"*.csv -text\n"
    pointer = b"version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 1\n"
    simulated.files["datasets/server-b/levels.csv"] = pointer
    report = verified(simulated)
    assert ("T010", "datasets/server-a/.gitattributes") in found(report)
    heads = [one for one in report.findings if one.path.endswith("b/levels.csv")]
    assert any("LFS" in one.what for one in heads)


def test_b4_names_that_differ_by_case_only() -> None:
    simulated = small()
    simulated.files["datasets/Server-a/levels.csv"] = b"x"
    simulated.files["specs/SERVER-A.yaml"] = b"x"
    codes = found(verified(simulated))
    for path in ("datasets/server-a/levels.csv", "specs/server-a.yaml"):
        assert ("T012", path) in codes
    assert ("T010", "datasets/Server-a/levels.csv") in codes


def packed(kind: str) -> bytes:
    """An archive as an attacker would send it, small but large when unpacked."""
    out = io.BytesIO()
    if kind == "zip":
        with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
            archive.writestr("../../evil", bytes(200_000))
    else:
        with tarfile.open(fileobj=out, mode="w:gz") as archive:
            link = tarfile.TarInfo("/etc/passwd")
            link.type = tarfile.SYMTYPE
            link.linkname = "/etc/shadow"
            archive.addfile(link)
    return out.getvalue()


@pytest.mark.parametrize("kind", ["zip", "tar"])
@pytest.mark.parametrize("name", ["levels.csv", "bundle.zip"])
def test_b5_no_archive_is_ever_opened(kind: str, name: str) -> None:
    simulated = small()
    path = f"datasets/server-a/{name}"
    simulated.files[path] = packed(kind)
    if name == "levels.csv":
        with pytest.raises(Exception, match="C0"):
            simulated.reseal("server-a")
    assert path in {where for _, where in found(verified(simulated))}


FLOODS: dict[str, tuple[str, Callable[[Simulator], object]]] = {
    "file": (
        "T002",
        lambda one: one.files.update(
            {"datasets/server-a/levels.csv": bytes(limits.FILE_BYTES + 1)}
        ),
    ),
    "bundle": (
        "T014",
        lambda one: one.files.update(
            {f"datasets/server-a/{at}.csv": bytes(limits.FILE_BYTES) for at in range(3)}
        ),
    ),
    "files": (
        "T014",
        lambda one: one.files.update(
            {f"datasets/server-a/{at}.csv": b"x" for at in range(33)}
        ),
    ),
    "manifest": (
        "T002",
        lambda one: one.files.update(
            {"datasets/server-a/manifest.json": bytes(limits.JSON_BYTES + 1)}
        ),
    ),
    "signature": (
        "T002",
        lambda one: one.files.update(
            {"datasets/server-a/manifest.json.sig": bytes(20_000)}
        ),
    ),
    "spec": (
        "T002",
        lambda one: one.files.update(
            {"specs/server-a.yaml": bytes(limits.YAML_BYTES + 1)}
        ),
    ),
    "trust": (
        "T002",
        lambda one: one.files.update({"registry/trust/42.yaml": bytes(70_000)}),
    ),
}


@pytest.mark.parametrize("name", FLOODS)
def test_b6_floods_are_refused_before_they_are_read(name: str) -> None:
    code, flood = FLOODS[name]
    simulated = small()
    flood(simulated)
    tree = simulated.tree()
    real, read = tree.read, list[str]()
    large = {path for path, data in simulated.files.items() if len(data) > 16_000}

    def watched(path: str) -> bytes:
        read.append(path)
        return real(path)

    tree.read = watched  # type: ignore[method-assign]
    report = verify_registry(tree, arrivals={}, now=NOW, expectations=False)
    assert code in {one for one, _ in found(report)}
    assert not large & set(read)


def test_b7_the_folder_is_exactly_what_the_manifest_lists() -> None:
    simulated = small()
    files = simulated.files
    files["datasets/server-a/extra.csv"] = b"x\n"
    del files["datasets/server-b/runs.csv"]
    files["datasets/server-c/run.csv"] = files.pop("datasets/server-c/runs.csv")
    codes = found(verified(simulated))
    assert codes == [
        ("M021", "datasets/server-a/extra.csv"),
        ("M022", "datasets/server-b/runs.csv"),
        ("M021", "datasets/server-c/run.csv"),
        ("M022", "datasets/server-c/runs.csv"),
    ]


def test_b7_unknown_keys_are_refused() -> None:
    simulated = small()
    simulated.edit("server-a", lambda value: value.update(ignore_unsigned=True))
    assert found(verified(simulated)) == [
        ("M001", "datasets/server-a/manifest.json"),
    ]


def test_b7_what_the_manifest_says_of_a_table_is_recounted() -> None:
    for key, value in (("rows", 10), ("columns", ["run", "pdu_watts"]), ("sketch", [])):
        simulated = small()

        def change(
            manifest: dict[str, Any], key: str = key, value: Any = value
        ) -> None:
            entry = manifest["files"][0]
            entry[key] = value or ["0" * 16]

        simulated.edit("server-a", change)
        assert found(verified(simulated)) == [
            ("M024", "datasets/server-a/manifest.json"),
        ]


def test_b7_files_in_odd_places() -> None:
    simulated = small()
    for path in (
        "datasets/loose.csv",
        "datasets/server-a/deep/runs.csv",
        "specs/deep/server.yaml",
        "specs/server.json",
        "registry/trust/alice.yaml",
        "registry/trust/042.yaml",
        "registry/trust/deep/42.yaml",
    ):
        one = simulated.copy()
        one.files[path] = b"x"
        assert found(verified(one)) == [("T013", path)]
    own = ("datasets/README.md", "specs/schema.json", "specs/classes/x.yaml")
    simulated.files |= dict.fromkeys(own, b"x")
    assert found(verified(simulated)) == []


def test_b12_the_same_data_under_another_name() -> None:
    simulated = small()
    for name in ("levels.csv", "runs.csv"):
        copied = simulated.files[f"datasets/server-a/{name}"]
        simulated.files[f"datasets/server-c/{name}"] = copied
    simulated.reseal("server-c")
    codes = found(verified(simulated))
    assert "D001" in {code for code, _ in codes}


def test_b14_planted_identifiers_are_found() -> None:
    simulated = small()
    spec = simulated.files["specs/server-a.yaml"]
    simulated.files["specs/server-a.yaml"] = spec.replace(
        b"model: R740", b"model: 192.168.17.4"
    )
    simulated.reseal("server-a")
    assert "P" in {code[0] for code, _ in found(verified(simulated))}
