"""Downloading a release: the folder that was published comes out, or nothing."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from typer.testing import CliRunner

from registry.cli import app
from registry.client import downloading
from registry.client.downloading import download
from registry.client.origins import NoRelease
from registry.documents.findings import RegistryError
from registry.publish.channels import publish
from tests.publish.conftest import contents
from tests.simulators.releases import SERIAL, make_release
from tests.simulators.web import Answer, served, serving

if TYPE_CHECKING:
    from collections.abc import Callable

run = CliRunner().invoke


def codes(place: str, out: Path) -> dict[str, str]:
    with pytest.raises(RegistryError) as caught:
        download(place, out)
    return {found.path: found.code for found in caught.value.findings}


def left(out: Path) -> list[str]:
    """What lies where the folder should be made, hidden parts too."""
    return sorted(path.name for path in out.parent.iterdir() if path.name != "state")


def test_from_a_folder(release: Path, tmp_path: Path) -> None:
    got = download(str(release), tmp_path / "new" / "copy")
    assert got.new
    assert contents(got.out) == contents(release)
    assert left(got.out) == ["copy"]


def test_from_a_web_server(release: Path, tmp_path: Path) -> None:
    with served(release) as url:
        got = download(url, tmp_path / "new" / "copy")
    assert contents(got.out) == contents(release)
    assert left(got.out) == ["copy"]


def test_from_a_channel(release: Path, tmp_path: Path) -> None:
    publish(release, f"dir:{tmp_path / 'channel'}")
    download(str(tmp_path / "channel"), tmp_path / "copy")
    assert contents(tmp_path / "copy") == contents(release)


def test_what_lies_there_whole_is_kept(
    release: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    download(str(release), tmp_path / "copy")
    monkeypatch.setattr(downloading, "collect", pytest.fail)
    assert not download(str(release), tmp_path / "copy").new


def test_what_lies_there_damaged_is_replaced(release: Path, tmp_path: Path) -> None:
    download(str(release), tmp_path / "copy")
    (tmp_path / "copy" / "held_out.jsonl").write_bytes(b"")
    (tmp_path / "copy" / "extra").write_bytes(b"")
    assert download(str(release), tmp_path / "copy").new
    assert contents(tmp_path / "copy") == contents(release)


def test_another_folder_is_not_overwritten(release: Path, tmp_path: Path) -> None:
    (tmp_path / "thesis").mkdir()
    (tmp_path / "thesis" / "chapter.txt").write_bytes(b"mine")
    assert codes(str(release), tmp_path / "thesis") == {"thesis": "R020"}
    assert contents(tmp_path / "thesis") == {"chapter.txt": b"mine"}


def test_every_problem_is_told_and_nothing_is_left(
    release: Path, tmp_path: Path
) -> None:
    index = json.loads((release / "index.json").read_bytes())
    nested = next(a["path"] for a in index["assets"] if a["path"].endswith("0.json"))
    swapped = {
        f"/{nested}": b"x",
        "/std_v0.7.11.zip": b"x" * 10_000_000,
        "/RELEASE_NOTES.md": None,
    }

    def answer(path: str) -> Answer:
        body = swapped.get(path, b"")
        if path not in swapped:
            file = release / path.lstrip("/")
            return (200, {}, file.read_bytes()) if file.is_file() else (404, {}, b"")
        return (404, {}, b"") if body is None else (200, {}, body)

    out = tmp_path / "new" / "copy"
    with serving(answer) as url:
        found = codes(url, out)
    assert found == {
        nested: "R013",
        "std_v0.7.11.zip": "R041",
        "RELEASE_NOTES.md": "R012",
    }
    assert left(out) == []


def test_a_download_that_is_interrupted_leaves_the_older_release(
    release: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    old = tmp_path / "old"
    make_release(old, serial=SERIAL - 1)
    before = contents(old)

    def killed(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(downloading, "collect", killed)
    with pytest.raises(KeyboardInterrupt):
        download(str(release), old)
    assert contents(old) == before
    assert left(old) == ["old"]


def test_a_busy_server_is_asked_again(release: Path, tmp_path: Path) -> None:
    asked: dict[str, int] = {}

    def answer(path: str) -> Answer:
        asked[path] = asked.get(path, 0) + 1
        file = release / path.lstrip("/")
        if not file.is_file():
            return 404, {}, b""
        if path != "/index.json" and asked[path] == 1:
            return 503, {}, b"busy"
        if path != "/index.json" and asked[path] == 2:
            return 200, {"Content-Length": str(file.stat().st_size)}, b"{"
        return 200, {}, file.read_bytes()

    with serving(answer) as url:
        download(url, tmp_path / "copy")
    assert contents(tmp_path / "copy") == contents(release)
    assert asked["/RELEASE_NOTES.md"] == 3


def test_a_pinned_digest_is_demanded(release: Path, tmp_path: Path) -> None:
    with pytest.raises(RegistryError) as caught:
        download(str(release), tmp_path / "copy", digest="r-0000000000000000")
    assert caught.value.findings[0].code == "R046"
    assert not (tmp_path / "copy").exists()


def nowhere_in(folder: Path) -> str:
    return str(folder / "none")


def empty_web(folder: Path) -> str:
    return "web"


@pytest.mark.parametrize("place", [nowhere_in, empty_web])
def test_no_release_yet(place: Callable[[Path], str], tmp_path: Path) -> None:
    with serving(lambda _: (404, {}, b"")) as url:
        named = url if place is empty_web else place(tmp_path)
        with pytest.raises(NoRelease):
            download(named, tmp_path / "copy")
        arguments = ["download", named, "--out", str(tmp_path / "copy")]
        done = run(app, [*arguments, "--if-any"])
        assert (done.exit_code, done.stdout.count("no release yet")) == (0, 1)
        done = run(app, [*arguments, "--if-any", "--json"])
        assert json.loads(done.stdout)["tag"] is None
        assert isinstance(run(app, arguments).exception, RegistryError)
    assert not (tmp_path / "copy").exists()


@pytest.mark.parametrize("status", [401, 500, 302])
def test_if_any_hides_no_trouble(status: int, tmp_path: Path) -> None:
    answer = (status, {"Location": "file:///etc"}, b"")
    with serving(lambda _: answer) as url:
        arguments = ["download", url, "--out", str(tmp_path / "copy"), "--if-any"]
        assert isinstance(run(app, arguments).exception, RegistryError)


def test_the_command_tells_what_it_did(release: Path, tmp_path: Path) -> None:
    arguments = ["download", str(release), "--out", str(tmp_path / "copy")]
    first = run(app, arguments)
    assert first.exit_code == 0
    assert f"files in {tmp_path}" in first.stdout.replace("\n", "")
    again = json.loads(run(app, [*arguments, "--json"]).stdout)
    assert (again["new"], again["serial"]) == (False, SERIAL)
    assert again["folder"] == str(tmp_path / "copy")


def test_the_copy_is_a_release_to_build_on(release: Path, tmp_path: Path) -> None:
    """What was downloaded can be published again, byte for byte."""
    download(str(release), tmp_path / "copy")
    done = publish(tmp_path / "copy", f"dir:{tmp_path / 'channel'}")
    shutil.rmtree(tmp_path / "copy")
    assert contents(done.folder) == contents(release)
