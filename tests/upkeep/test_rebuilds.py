"""Rebuilding every night: by the code of the release's commit, and by no other."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from registry.client.rebuilding import OTHER_CODE
from registry.documents.findings import RegistryError, Severity, code, finding
from registry.publish.integrity import open_folder
from registry.upkeep import rebuilds
from tests.simulators.machines import Machine
from tests.simulators.registry import Simulator, run_git
from tests.simulators.releases import poison
from tests.upkeep.conftest import codes, of

if TYPE_CHECKING:
    from tests.upkeep.conftest import World


def test_a_release_that_was_made_from_something_else_is_found(
    world: World, tmp_path: Path
) -> None:
    folder = tmp_path / "poisoned"
    shutil.copytree(world.release, folder)
    poison(folder, world.index, {"RELEASE_NOTES.md": b"# Trust me\n"})
    outcomes = world.watch(place=str(folder))
    assert of(outcomes, "release").status == "ok"  # it vouches for itself
    assert codes(of(outcomes, "rebuild")) == {"R060"}
    assert "RELEASE_NOTES.md" in {one.path for one in of(outcomes, "rebuild").findings}
    assert of(outcomes, "download").status == "skipped"


def other_code(*_: object, **__: object) -> Any:
    raise RegistryError(finding(OTHER_CODE, "index.json", "other code"))


class Command:
    """Stands in for the program of the release's own commit."""

    def __init__(self, status: int, printed: bytes) -> None:
        """Print something and end with a status."""
        self.status, self.printed = status, printed
        self.asked: list[tuple[list[str], Path, dict[str, str]]] = []

    def run(self, command: list[str], **options: Any) -> Any:
        self.asked.append((command, options["cwd"], options["env"]))
        assert (options["cwd"] / "datasets/server-a/manifest.json").is_file()
        assert not (options["cwd"] / "datasets/server-b").exists()

        class Done:
            returncode, stdout, stderr = self.status, self.printed, b"Trace\nlast\n"

        return Done


SAID = json.dumps(
    {
        "schema": "findings/1",
        "findings": [
            {
                "path": "a.json",
                "line": None,
                "code": "R060",
                "severity": "error",
                "what": "other",
                "fix": "no",
            }
        ],
    }
).encode()


@pytest.mark.parametrize(
    ("status", "printed", "expected"),
    [
        (0, b'{"findings": []}', set()),
        (1, SAID, {"R060"}),
        (0, SAID, {"R060", "R094"}),
        (1, b'{"findings": []}', {"R094"}),
        (2, b"usage", {"R094"}),
        (1, b'{"findings": [{"path": "x"}]}', {"R094"}),
        (3, b"[]", {"R094"}),
    ],
)
def test_other_code_rebuilds_with_the_code_of_the_commit(
    world: World,
    monkeypatch: pytest.MonkeyPatch,
    status: int,
    printed: bytes,
    expected: set[str],
) -> None:
    world.change()
    monkeypatch.setenv("GH_TOKEN", "secret")
    monkeypatch.setattr(rebuilds, "rebuild_and_compare", other_code)
    command = Command(status, printed)
    with monkeypatch.context() as patched:
        patched.setattr("subprocess.run", command.run)
        note, found = rebuilds.check_rebuild(world.situation())
    assert {one.code for one in found} == expected
    assert f"by the code of {world.index.commit[:12]}" in note
    ((words, _, environment),) = command.asked
    assert words[1:4] == ["-m", "registry", "rebuild"]
    assert "GH_TOKEN" not in environment


def test_a_program_without_an_end_is_stopped(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    def endless(command: list[str], **_: Any) -> Any:
        raise subprocess.TimeoutExpired(command, 1)

    monkeypatch.setattr(rebuilds, "rebuild_and_compare", other_code)
    with monkeypatch.context() as patched:
        patched.setattr("subprocess.run", endless)
        _, (found,) = rebuilds.check_rebuild(world.situation())
    assert found.code == "R094"
    assert "no end" in found.what


def test_code_of_a_commit_that_main_lacks_never_runs(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    run_git(world.root, "commit", "-q", "--amend", "-m", "another history")
    monkeypatch.setattr(rebuilds, "rebuild_and_compare", other_code)
    monkeypatch.setattr(rebuilds, "_run", lambda *_: pytest.fail("it ran"))
    assert codes(of(world.watch(), "rebuild")) == {"R091"}


def test_other_libraries_are_no_reason_to_run_anything_else(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refused(*_: object, **__: object) -> Any:
        raise RegistryError(finding(code("R998", Severity.ERROR, "x", "y"), "a", "b"))

    monkeypatch.setattr(rebuilds, "rebuild_and_compare", refused)
    monkeypatch.setattr(rebuilds, "_run", lambda *_: pytest.fail("it ran"))
    assert codes(of(world.watch(), "rebuild")) == {"R998"}


@pytest.fixture(scope="module")
def older(tmp_path_factory: pytest.TempPathFactory, repository: Path) -> Path:
    """A registry with its code, which is not quite ours, and a release made by it."""
    simulated = Simulator()
    simulated.enrol(42)
    simulated.add_levels("server-a", 42, Machine("server-a", seed=1))
    for path in sorted((repository / "registry").rglob("*")):
        name = path.relative_to(repository).as_posix()
        if path.is_file() and "/trust/" not in name and "__pycache__" not in name:
            simulated.files[name] = path.read_bytes()
    simulated.files["registry/modelling/energy.py"] += b"# as it was\n"
    folder = tmp_path_factory.mktemp("older")
    simulated.commit(folder / "repo")
    words = ["-m", "registry", "build", "--out", str(folder / "release")]
    subprocess.run([sys.executable, *words], cwd=folder / "repo", check=True)
    return folder


def test_an_older_program_builds_its_own_release_again(
    world: World, older: Path, tmp_path: Path
) -> None:
    """For true: the commit's own code, in a process of its own."""
    lines: list[str] = []
    situation = world.situation(
        place=str(older / "release"), root=older / "repo", progress=lines.append
    )
    note, found = rebuilds.check_rebuild(situation)
    assert found == []
    assert "by the code of " in note
    assert "building with the code of the release's commit" in lines
    folder = tmp_path / "poisoned"
    shutil.copytree(older / "release", folder)
    index, _ = open_folder(folder)
    poison(folder, index, {"RELEASE_NOTES.md": b"# Trust me\n"})
    _, found = rebuilds.check_rebuild(
        world.situation(place=str(folder), root=older / "repo")
    )
    assert {one.code for one in found} == {"R060"}
