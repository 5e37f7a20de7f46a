"""What is published: where, once, never over anything, and described last."""

from __future__ import annotations

import json
import os
import signal
import sys
import time
from pathlib import Path
from typing import Any

import fsspec
import pytest

from registry.documents.findings import RegistryError
from tests.assets.contents import DIGEST, findings_of, held
from tools.assets.downloading import Outcome
from tools.assets.fetching import fetch
from tools.assets.published import SUFFIX
from tools.assets.publishing import NotPublishedError, State, publish
from tools.assets.stores import asking


@pytest.fixture(params=["memory", "folder", "file"])
def place(request: pytest.FixtureRequest, tmp_path: Path, store: str) -> str:
    """The URL of an empty store."""
    kinds = {
        "memory": store,
        "folder": str(tmp_path / "out"),
        "file": f"file://{tmp_path}/a%20b/out",
    }
    return kinds[request.param]


def test_a_file_is_under_its_digest_and_described_beside_it(
    trace: Path, place: str
) -> None:
    said = {"id": "t-1", "type": "trace", "description": "Two ranks, aligned."}
    done = publish(
        [trace], place, prefix="traces/2026", metadata=said, clock=lambda: 1.8e9
    )
    (thing,) = done.things
    assert thing.state is State.PUBLISHED
    assert thing.url == f"{place}/traces/2026/{DIGEST}/trace.json.gz"
    assert (thing.files, thing.sent) == (1, 7)
    kept = held(place)
    key = f"/traces/2026/{DIGEST}/trace.json.gz"
    assert set(kept) == {key, key + SUFFIX}
    assert kept[key] == b"a trace"
    assert json.loads(kept[key + SUFFIX]) == {
        "schema": "published/1",
        "id": "t-1",
        "name": "trace.json.gz",
        "type": "trace",
        "bytes": 7,
        "sha256": DIGEST,
        "created": "2027-01-15T08:00:00Z",
        "description": "Two ranks, aligned.",
        "media_type": "application/gzip",
    }


def test_progress_is_told(run: Path, store: str) -> None:
    told: list[str] = []
    publish([run], store, progress=told.append)
    assert told[0] == "reading r-1"
    assert "logs/stdout: 6 of 6 bytes" in told
    assert told[-1] == "3 of 3 files: run.json"


def test_publishing_again_sends_nothing(trace: Path, run: Path, place: str) -> None:
    first = publish([trace, run], place)
    before = held(place)
    again = publish([trace, run], place, metadata={"description": "other words"})
    assert [thing.state for thing in again.things] == [State.PRESENT] * 2
    assert [thing.sent for thing in again.things] == [0, 0]
    assert [thing.url for thing in again.things] == [one.url for one in first.things]
    assert held(place) == before


def test_a_folder_comes_back_as_it_was(run: Path, place: str, tmp_path: Path) -> None:
    (thing,) = publish([run], place).things
    assert thing.files == 3
    assert thing.sidecar.media_type == "inode/directory"
    assert [file.path for file in thing.sidecar.files or ()] == [
        "empty",
        "logs/stdout",
        "run.json",
    ]
    got = fetch(thing.url, tmp_path / "back")
    assert (got.outcome, got.files, got.bytes) == (Outcome.FETCHED, 3, 8)
    assert (got.path / "logs" / "stdout").read_bytes() == b"hello\n"
    assert [path.name for path in (tmp_path / "back").iterdir()] == ["r-1"]
    again = fetch(thing.url + SUFFIX, tmp_path / "back")
    assert again.outcome is Outcome.PRESENT
    (got.path / "run.json").write_bytes(b"{ }")
    (one,) = findings_of(lambda: fetch(thing.url, tmp_path / "back"))
    assert (one.code, one.what) == ("A014", "it holds other files")


def test_other_bytes_are_never_overwritten(trace: Path, place: str) -> None:
    (thing,) = publish([trace], place).things
    fs, path = fsspec.core.url_to_fs(thing.url)
    for other in (b"A TRACE", b"shorter"[:3]):
        fs.pipe_file(path, other)
        (one,) = findings_of(lambda: publish([trace], place))
        assert (one.code, one.what) == ("A004", "other bytes are there")
        assert one.path == thing.url
        assert fs.cat_file(path) == other
    fs.pipe_file(path, b"a trace")
    fs.pipe_file(path + SUFFIX, b"{}")
    (one,) = findings_of(lambda: publish([trace], place))
    assert one.what == "a description is there that cannot be read"
    fs.pipe_file(path + SUFFIX, b"x")
    assert findings_of(lambda: publish([trace], place))[0].code == "A004"


def test_another_size_is_seen_without_reading_back(
    trace: Path, store: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    (thing,) = publish([trace], store).things
    fs, path = fsspec.core.url_to_fs(thing.url)
    fs.pipe_file(path, b"longer than it was")
    monkeypatch.setattr("tools.assets.sending._digest", None)
    assert findings_of(lambda: publish([trace], store))[0].code == "A004"


def test_a_description_of_something_else_stays(
    trace: Path, store: str, tmp_path: Path
) -> None:
    other = tmp_path / "other.json"
    other.write_bytes(b"other")
    first, second = publish([trace, other], store).things
    fs, path = fsspec.core.url_to_fs(first.url)
    fs.pipe_file(path + SUFFIX, held(second.url + SUFFIX)[""])
    (one,) = findings_of(lambda: publish([trace], store))
    assert (one.code, one.what) == ("A004", "it describes something else")


def test_an_interrupted_folder_goes_on_and_is_described_last(
    run: Path, store: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    memory = type(fsspec.filesystem("memory"))
    put, names = memory.put_file, []

    def broken(self: Any, local: str, path: str, **more: Any) -> None:
        names.append(Path(local).name)
        if names[-1] == "run.json":
            raise OSError(5, "the line is dead", "s3://key:secret@bucket/x")
        put(self, local, path, **more)

    monkeypatch.setattr(memory, "put_file", broken)
    with pytest.raises(NotPublishedError) as refusal:
        publish([run], store, jobs=1)
    (one,) = refusal.value.findings
    assert (one.code, one.what) == ("A002", "the line is dead")
    assert refusal.value.published.things == ()
    assert not [name for name in held(store) if name.endswith(SUFFIX)]
    monkeypatch.undo()
    names.clear()
    (thing,) = publish([run], store).things
    assert (thing.state, thing.sent) == (State.PUBLISHED, 2)


@pytest.mark.parametrize(
    ("said", "shown"),
    [
        ('Invalid bucket name "u:p+w/x@b": it', 'Invalid bucket name "***@b": it'),
        ("no s3://u:pw@b/x here", "no s3://***@b/x here"),
        ("nobody at me@example.org: 5", "nobody at me@example.org: 5"),
        ("at 10:30 b@c", "at 10:30 b@c"),
    ],
)
def test_what_a_store_says_is_told_without_secrets(said: str, shown: str) -> None:
    with pytest.raises(RegistryError) as refusal, asking("x"):
        raise ValueError(said)
    assert refusal.value.findings[0].what == shown


def test_ctrl_c_ends_what_is_being_sent(
    trace: Path, store: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Not after the last byte of hours, and with nothing half sent."""
    memory = type(fsspec.filesystem("memory"))
    told: list[int] = []

    def slow(self: Any, local: str, path: str, **more: Any) -> None:
        time.sleep(0.1)  # until the others wait for this one
        os.kill(os.getpid(), signal.SIGINT)
        for number in range(500):
            told.append(number)
            more["callback"].relative_update(1)
            time.sleep(0.01)

    monkeypatch.setattr(memory, "put_file", slow)
    with pytest.raises(KeyboardInterrupt):
        publish([trace], store)
    assert 0 < len(told) < 400
    assert held(store) == {}


def test_what_fails_does_not_keep_back_the_rest(
    trace: Path, run: Path, store: str
) -> None:
    (thing,) = publish([trace], store).things
    fs, path = fsspec.core.url_to_fs(thing.url)
    fs.pipe_file(path, b"A TRACE")
    with pytest.raises(NotPublishedError) as refusal:
        publish([trace, run], store)
    assert [one.code for one in refusal.value.findings] == ["A004"]
    (other,) = refusal.value.published.things
    assert (other.path, other.state) == (run, State.PUBLISHED)


def test_a_store_that_changes_bytes_is_found_out(
    trace: Path, place: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    fs, _ = fsspec.core.url_to_fs(place)

    def spoil(self: Any, local: str, path: str, **_: Any) -> None:
        with fsspec.core.url_to_fs(place)[0].open(path, "wb") as file:
            file.write(Path(local).read_bytes().upper())

    monkeypatch.setattr(type(fs), "put_file", spoil)
    (one,) = findings_of(lambda: publish([trace], place))
    assert (one.code, one.what) == ("A005", "what was sent comes back different")
    assert held(place) == {}


def test_a_dry_run_asks_nothing_of_the_store(
    trace: Path, run: Path, monkeypatch: pytest.MonkeyPatch, place: str
) -> None:
    fs, _ = fsspec.core.url_to_fs(place)
    for name in ("info", "put_file", "pipe_file", "makedirs", "open"):
        monkeypatch.setattr(type(fs), name, None, raising=False)
    planned = publish([trace, run], place, dry_run=True)
    monkeypatch.undo()
    assert [thing.state for thing in planned.things] == [State.PLANNED] * 2
    assert [one.url for one in planned.things] == [
        one.url for one in publish([trace, run], place).things
    ]


def test_what_cannot_be_published_is_told_at_once(
    run: Path, tmp_path: Path, store: str
) -> None:
    (run / "way-out").symlink_to(tmp_path)
    (run / ".env").write_text("TOKEN=1")
    (run / "a:b").touch()
    os.mkfifo(run / "pipe")
    (tmp_path / "void").mkdir()
    missing = tmp_path / "missing.json"
    found = findings_of(
        lambda: publish([run, tmp_path / "void", missing], store, prefix="../up")
    )
    assert {(one.code, Path(one.path).name, one.what) for one in found} == {
        ("A003", "way-out", "it is a link, which may lead elsewhere"),
        (
            "A003",
            ".env",
            "its name: it begins with a dot, and hidden files are private",
        ),
        ("A003", "a:b", 'its name: it has one of / \\ : * ? " < > | # %'),
        ("A003", "pipe", "it is neither a file nor a folder"),
        ("A003", "void", "it is a folder without files"),
        ("A003", "missing.json", "No such file or directory"),
        (
            "A011",
            "prefix",
            "its name: it begins with a dot, and hidden files are private",
        ),
    }
    assert held(store) == {}


def test_folders_have_bounds(
    run: Path, store: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tools.assets.contents.FILES", 2)
    (one,) = findings_of(lambda: publish([run], store))
    assert one.what == "more than 2 files in a folder"
    monkeypatch.undo()
    deep = run.joinpath(*"abcdefghijklmnopq")
    deep.mkdir(parents=True)
    (one,) = findings_of(lambda: publish([run], store))
    assert one.what == "more than 16 folders in each other"
    monkeypatch.setattr("tools.assets.contents.FILE_BYTES", 3)
    found = findings_of(lambda: publish([run / "logs"], store))
    assert [one.what for one in found] == ["6 bytes; at most 3 are published"]


def test_a_link_that_is_named_is_followed(trace: Path, store: str) -> None:
    latest = trace.with_name("latest.json.gz")
    latest.symlink_to(trace)
    (thing,) = publish([latest], store).things
    assert (thing.sidecar.name, thing.sidecar.sha256) == ("latest.json.gz", DIGEST)


@pytest.mark.parametrize("where", ["description", "name", "path"])
@pytest.mark.parametrize("name", ["rack7", "Rack7.example.org", "carol"])
def test_names_of_machine_and_user_stay_here(
    where: str, name: str, run: Path, store: str
) -> None:
    said = {}
    if where == "description":
        said = {"description": f"Made at {name}, alone."}
    elif where == "name":
        run = run.rename(run.with_name(f"run-{name}"))
    else:
        (run / f"{name}.log").touch()
    (one,) = findings_of(lambda: publish([run], store, metadata=said))
    assert one.code == "A006"
    assert one.what.startswith("its description holds ")


@pytest.mark.parametrize(
    ("url", "what"),
    [
        ("nothing://x", 'nobody knows "nothing://"'),
        ("https://me:pw@example.org/x", "the web is read only"),
        ("simplecache::memory://x", "it is a chain of URLs"),
        ("s3://bucket/x?sig=hidden", "it has a query or a fragment"),
        ("", "it is no path and no URL"),
        ("a\nb", "it is no path and no URL"),
    ],
)
def test_urls_that_nothing_can_be_published_to(
    url: str, what: str, trace: Path
) -> None:
    (one,) = findings_of(lambda: publish([trace], url, dry_run=True))
    assert one.code == "A001"
    assert one.what.startswith(what)
    assert "pw" not in one.path + one.what
    assert "hidden" not in one.path + one.what


def test_a_missing_package_is_named_with_what_installs_it(
    trace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "s3fs", None)
    known = sys.modules["fsspec.registry"]._registry
    monkeypatch.delitem(known, "s3", raising=False)
    (one,) = findings_of(lambda: publish([trace], "s3://bucket"))
    assert one.fix == (
        "Install what it needs: pip install 'power-dataset-registry[s3]'"
    )


def test_metadata_are_those_that_are_declared(trace: Path, store: str) -> None:
    for said in ({"host": "x"}, {"id": "x"}):
        with pytest.raises(ValueError, match="an id is for one thing"):
            publish([trace, trace], store, metadata=said)
    (one,) = findings_of(lambda: publish([trace], store, metadata={"type": "A B"}))
    assert one.code == "A009"
