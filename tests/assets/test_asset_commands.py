"""`powerkit assets`, `publish` and `fetch` as people and programs call them."""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.simulators.commands import Done
from tests.simulators.file_server import FileServer
from tools.assets.gathering import gather
from tools.assets.library import Choice, open_library
from tools.assets.locks import read_lock

Command = Callable[..., Done]
ROOT = Path(__file__).resolve().parents[2]
FILES = {"/a": b"abc", "/b": b"defg", "/c": b"h"}


@pytest.fixture
def manifests(tmp_path: Path, web: FileServer, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Two manifests of ours and one of TRIMS, whose files the web has."""
    web.files.update(FILES)
    folder = tmp_path / "manifests"
    folder.mkdir()
    for name, paths in {"one": ["/a", "/b"], "two": ["/c"]}.items():
        files = "".join(
            f"- path: part{path}\n"
            f"  urls: ['{web.url('/gone')}', '{web.url(path)}']\n"
            f"  sha256: {hashlib.sha256(FILES[path]).hexdigest()}\n"
            f"  bytes: {len(FILES[path])}\n"
            for path in paths
        )
        (folder / f"{name}.yaml").write_text(
            f"schema: asset-manifest/1\nname: {name}\nlicence: CC0-1.0\nfiles:\n{files}"
        )
    (folder / "theirs.yml").write_text(
        "name: theirs\nversion: 1.0\nlicense: MIT\nhidden: true\n"
        f"model: {{base_url: '{web.url('')}', graph_path: a, weights_path: b,"
        f" graph_checksum: {hashlib.md5(b'abc', usedforsecurity=False).hexdigest()}}}\n"
    )
    monkeypatch.setenv("POWERKIT_ASSETS_MANIFESTS", str(folder))
    monkeypatch.setenv("POWERKIT_ASSETS_DIRECTORY", str(tmp_path / "kept"))
    return folder


def lock_of(manifests: Path, digests: dict[str, str]) -> Path:
    """A lock beside manifests."""
    path = manifests / "assets.lock.json"
    files = {name: {"sha256": one, "bytes": 3} for name, one in digests.items()}
    path.write_text(json.dumps({"schema": "asset-lock/1", "files": files}))
    return path


def test_what_others_record_meanwhile_stays(powerkit: Command, manifests: Path) -> None:
    library = open_library(manifests)
    mine, others = "theirs_1.0/model.symbol", "other_1.0/model.symbol"
    lock = lock_of(manifests, {others: "0" * 64})
    chosen = library.chosen(Choice(("theirs",)))
    done = gather(library, chosen, manifests.parent / "kept", record=True)
    assert done.findings == ()
    assert set(read_lock(lock)) == {others, mine, "theirs_1.0/model.params"}
    lock_of(manifests, {mine: "0" * 64})
    again = gather(library, chosen, manifests.parent / "kept", record=True)
    assert [one.what for one in again.findings] == [
        f"{mine} was recorded with another digest"
    ]
    assert read_lock(lock)[mine].sha256 == "0" * 64


def test_a_disk_that_is_full_leaves_the_lock_as_it_was(
    powerkit: Command, manifests: Path
) -> None:
    lock = lock_of(manifests, {"other_1.0/model.symbol": "0" * 64})
    before = lock.read_bytes()
    limit = f"ulimit -f 0; exec {sys.executable} -m tools assets fetch theirs --record"
    kept = manifests.parent / "kept" / "theirs_1.0"
    kept.mkdir(parents=True)
    (kept / "model.symbol").write_bytes(b"abc")
    (kept / "model.params").write_bytes(b"defg")
    done = subprocess.run(
        ["sh", "-c", limit],
        env=os.environ | {"PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stdout[:11]) == (1, "error U001 ")
    assert lock.read_bytes() == before
    assert list(manifests.glob(".*")) == []


def test_findings_do_not_stand_among_the_rows_of_a_table_for_programs(
    powerkit: Command, manifests: Path
) -> None:
    done = powerkit("assets", "verify", "one", "--format", "csv")
    assert done.code == 1
    assert done.out.startswith("canonical_name,")
    assert done.err.startswith("error A031 ")


def states(done: Done) -> dict[str, str]:
    rows = json.loads(done.out)["assets"]
    return {row["canonical_name"]: row["state"] for row in rows}


def test_fetch_list_and_verify(
    powerkit: Command, manifests: Path, tmp_path: Path
) -> None:
    absent = powerkit("assets", "list", "--json")
    assert states(absent) == {"one_latest": "absent", "two_latest": "absent"}
    done = powerkit("assets", "fetch")
    assert (done.code, done.err) == (0, "")
    assert done.out.splitlines()[-1] == "3 files are here, 8 bytes fetched"
    kept = tmp_path / "kept"
    assert (kept / "one_latest" / "part" / "b").read_bytes() == b"defg"
    again = powerkit("assets", "fetch", "--json")
    outcomes = [file["outcome"] for file in json.loads(again.out)["files"]]
    assert outcomes == ["present"] * 3
    assert powerkit("assets", "verify").code == 0
    (kept / "one_latest" / "part" / "b").write_bytes(b"DEFG")
    assert states(powerkit("assets", "list", "--json"))["one_latest"] == "present"
    done = powerkit("assets", "verify", "--json")
    assert done.code == 1
    assert states(done) == {"one_latest": "corrupt", "two_latest": "present"}
    (one,) = json.loads(done.out)["findings"]
    assert one["code"] == "A030"
    (kept / "one_latest" / "part" / "b").unlink()
    assert states(powerkit("assets", "list", "--json"))["one_latest"] == "partial"
    done = powerkit("assets", "verify")
    assert done.code == 1
    assert "A031" in done.out
    assert "1 of 2 files are missing" in done.out
    (kept / "one_latest" / "part" / "a").write_bytes(b"ab")
    assert states(powerkit("assets", "list", "--json"))["one_latest"] == "corrupt"


def test_nothing_here_is_a_finding_only_if_it_was_named(
    powerkit: Command, manifests: Path
) -> None:
    assert powerkit("assets", "verify").code == 0
    done = powerkit("assets", "verify", "two")
    assert done.code == 1
    assert "1 of 1 files are missing" in done.out


def test_any_failure_is_exit_1_and_all_are_listed(
    powerkit: Command, manifests: Path, web: FileServer, tmp_path: Path
) -> None:
    del web.files["/b"]
    web.files["/c"] = b"X"
    done = powerkit("assets", "fetch")
    assert done.code == 1
    assert done.out.count("error A015") == 4  # two mirrors of each of two files
    assert "HTTP 404 Not Found" in done.out
    assert "its SHA-256 is " in done.out
    assert done.out.splitlines()[-1] == (
        "1 files are here, 3 bytes fetched; 4 problems"
    )
    left = [path.name for path in (tmp_path / "kept").rglob("*") if path.is_file()]
    assert left == ["a"]
    asked = json.loads(powerkit("assets", "fetch", "--json").out)
    assert len(asked["findings"]) == 4


def test_digests_that_nobody_says_are_recorded_on_request_only(
    powerkit: Command, manifests: Path, web: FileServer, tmp_path: Path
) -> None:
    done = powerkit("assets", "fetch", "theirs")
    assert done.code == 1
    assert done.out.count("error A032") == 2
    assert web.requests == []
    done = powerkit("assets", "fetch", "theirs", "--record")
    assert done.code == 0
    assert f"recorded: 2 digests in {manifests / 'assets.lock.json'}" in done.out
    assert states(powerkit("assets", "verify", "theirs", "--json")) == {
        "theirs_1.0": "present"
    }
    (tmp_path / "kept" / "theirs_1.0" / "model.params").unlink()
    web.files["/b"] = b"gfed"
    done = powerkit("assets", "fetch", "theirs", "--record")
    assert done.code == 1
    assert "its SHA-256 is " in done.out
    web.files["/a"] = b"cba"
    (manifests / "assets.lock.json").unlink()
    (tmp_path / "kept" / "theirs_1.0" / "model.symbol").unlink()
    done = powerkit("assets", "fetch", "theirs", "--record")
    assert "its MD5 is " in done.out
    ours = powerkit("assets", "convert", manifests / "theirs.yml")
    assert (ours.code, "no SHA-256 of model.symbol is known" in ours.out) == (1, True)


def test_what_is_kept_without_a_digest_is_not_called_right(
    powerkit: Command, manifests: Path, tmp_path: Path
) -> None:
    assert powerkit("assets", "fetch", "theirs", "--record").code == 0
    (manifests / "assets.lock.json").unlink()
    done = powerkit("assets", "verify", "theirs", "--json")
    assert (done.code, states(done)) == (1, {"theirs_1.0": "unknown"})
    assert {one["code"] for one in json.loads(done.out)["findings"]} == {"A032"}


def test_tables_and_choices(powerkit: Command, manifests: Path) -> None:
    done = powerkit("assets", "list", "--hidden", "--format", "csv")
    head, *rows = done.out.splitlines()
    assert head.startswith("canonical_name,name,version,state,bytes,bytes_here,files")
    assert rows[1] == "theirs_1.0,theirs,1.0,absent,,0,2,MIT,hidden"
    table = powerkit("assets", "list", "--models", "tw").out
    assert table.splitlines()[1].split() == [
        *("two_latest", "two", "latest", "absent", "1", "0", "1", "CC0-1.0")
    ]
    assert powerkit("assets", "list", "-f", "md").out.startswith("| canonical_name |")
    assert powerkit("assets", "list", "--models", "[").code == 2
    assert powerkit("assets", "list", "onee").out.startswith("error A028")


def test_without_manifests_the_setting_is_named(powerkit: Command) -> None:
    done = powerkit("assets", "list")
    assert done.code == 2
    assert "assets_manifests" in done.err


def test_the_schema_of_manifests_accepts_what_we_accept(
    powerkit: Command, manifests: Path
) -> None:
    import jsonschema
    import yaml

    schema = json.loads(powerkit("assets", "schema").out)
    value = yaml.safe_load((manifests / "one.yaml").read_text())
    jsonschema.validate(value, schema)
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(value | {"sha": 1}, schema)


def test_publish_and_fetch(powerkit: Command, tmp_path: Path) -> None:
    (tmp_path / "t.json").write_bytes(b"{}")
    planned = powerkit("publish", "t.json", "--to", "out", "--dry-run", "--json")
    (thing,) = json.loads(planned.out)["things"]
    assert (thing["state"], (tmp_path / "out").exists()) == (
        "would be published",
        False,
    )
    done = powerkit(
        *("publish", "t.json", "--to", "out", "--prefix", "p"),
        *("--type", "trace", "--description", "An empty one."),
    )
    digest = hashlib.sha256(b"{}").hexdigest()
    url = f"out/p/{digest}/t.json"
    assert done.out == f"published: {url} (2 bytes, 2 sent)\n"
    again = powerkit("publish", "t.json", "--to", "out", "--prefix", "p")
    assert again.out == f"present: {url} (2 bytes, 0 sent)\n"
    got = powerkit("fetch", url, "--out", "back")
    assert got.out.splitlines() == [
        "fetched: back/t.json (2 bytes)",
        f"sha256: {digest}",
        "description: An empty one.",
    ]
    document = json.loads(powerkit("fetch", url, "--out", "back", "--json").out)
    assert (document["outcome"], document["published"]["type"]) == ("present", "trace")


def test_publish_fails_with_what_succeeded(powerkit: Command, tmp_path: Path) -> None:
    for name in ("a", "b"):
        (tmp_path / name).write_text(name)
    assert powerkit("publish", "a", "--to", "out").code == 0
    (kept,) = (path for path in (tmp_path / "out").rglob("a"))
    kept.write_text("A")
    done = powerkit("publish", "a", "b", "--to", "out")
    assert done.code == 1
    assert "error A004" in done.out
    assert done.out.splitlines()[-1].startswith("published: out/")
    assert powerkit("publish", "a", "--to", "out", "--json").code == 1
    assert powerkit("publish", "nothing", "--to", "out").code == 1


def test_publish_goes_where_the_settings_say(
    powerkit: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "a").write_text("a")
    assert powerkit("publish", "a").code == 2
    monkeypatch.setenv("POWERKIT_PUBLISH_URL", str(tmp_path / "store"))
    monkeypatch.setenv("POWERKIT_PUBLISH_PREFIX", "mine")
    assert powerkit("publish", "a").code == 0
    assert (tmp_path / "store" / "mine").is_dir()


def test_passwords_are_never_printed(
    powerkit: Command, tmp_path: Path, web: FileServer
) -> None:
    (tmp_path / "a").write_text("a")
    url = web.url("/x?sig=hidden").replace("//", "//me:hidden@")
    for arguments in (("fetch", url), ("publish", "a", "--to", url)):
        done = powerkit(*arguments)
        assert done.code == 1
        assert "hidden" not in done.out + done.err


def test_help_loads_nothing_heavy() -> None:
    program = (
        "import sys; from tools import cli\n"
        "for group in ('assets', 'publish', 'fetch', 'config'):\n"
        "    sys.argv = ['powerkit', group, '--help']\n"
        "    try: cli.main()\n"
        "    except SystemExit: pass\n"
        "heavy = {'fsspec', 'requests', 'yaml', 'rich.console', 'polars', 'numpy'}\n"
        "print(sorted(heavy & set(sys.modules)), file=sys.stderr)"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert done.stderr.strip() == "[]"
    assert done.stdout.count("Usage: powerkit") == 4
