"""Files from mirrors that fail in every way that mirrors do."""

from __future__ import annotations

import fcntl
import hashlib
import os
import random
import resource
import subprocess
import sys
from collections import namedtuple
from collections.abc import Iterator
from pathlib import Path

import pytest

from registry.documents.findings import Finding, RegistryError
from tests.assets.waiting import Waits, quick
from tests.simulators.file_server import FileServer
from tools.assets.downloading import Fetched, Outcome, Wanted, download, part_of
from tools.assets.sources import SourceError, read_small

DATA = random.Random(4).randbytes(300_000)
DIGEST = hashlib.sha256(DATA).hexdigest()
NOWHERE = "http://127.0.0.1:9/m.onnx"  # the discard port, which nobody serves


@pytest.fixture
def target(tmp_path: Path) -> Path:
    return tmp_path / "kept" / "m.onnx"


@pytest.fixture
def served(web: FileServer) -> Iterator[FileServer]:
    web.files["/m.onnx"] = DATA
    return web


def fetched(
    *urls: str, target: Path, waits: Waits | None = None, **more: int
) -> Fetched:
    wanted = Wanted(urls, DIGEST, more.get("bytes"))
    return download(wanted, target, patience=quick(waits))


def refused(*urls: str, target: Path, **more: int) -> tuple[Finding, ...]:
    with pytest.raises(RegistryError) as refusal:
        fetched(*urls, target=target, **more)
    return refusal.value.findings


def left(target: Path) -> list[str]:
    return sorted(path.name for path in target.parent.rglob("*"))


def test_a_file_of_the_web(served: FileServer, target: Path) -> None:
    got = fetched(served.url("/m.onnx"), target=target, bytes=len(DATA))
    assert (got.outcome, got.bytes, got.sha256) == (
        Outcome.FETCHED,
        len(DATA),
        DIGEST,
    )
    assert target.read_bytes() == DATA
    assert left(target) == ["m.onnx"]
    again = fetched(served.url("/m.onnx"), target=target)
    assert (again.outcome, again.url) == (Outcome.PRESENT, "")
    assert len(served.requests) == 1


def test_a_connection_that_breaks_goes_on_where_it_broke(
    served: FileServer, target: Path
) -> None:
    served.cut["/m.onnx"] = [100_000, 50_000]
    waits = Waits()
    fetched(served.url("/m.onnx"), target=target, waits=waits)
    assert target.read_bytes() == DATA
    asked = served.ranges("/m.onnx")
    assert asked == [None, "bytes=100000-", "bytes=150000-"]
    assert waits.seconds == [0.5, 1.0]


def test_a_server_that_stalls_is_left_and_asked_again(
    served: FileServer, target: Path
) -> None:
    served.stall["/m.onnx"] = [65_536]
    fetched(served.url("/m.onnx"), target=target)
    assert target.read_bytes() == DATA
    assert served.ranges("/m.onnx") == [None, "bytes=65536-"]


def test_a_server_without_ranges_is_asked_from_the_start(
    served: FileServer, target: Path
) -> None:
    served.has_ranges = False
    served.cut["/m.onnx"] = [100_000]
    fetched(served.url("/m.onnx"), target=target)
    assert target.read_bytes() == DATA
    assert served.ranges("/m.onnx") == [None, "bytes=100000-"]


def test_a_size_that_is_not_told_beforehand(served: FileServer, target: Path) -> None:
    served.chunked.add("/m.onnx")
    served.cut["/m.onnx"] = [1000]
    fetched(served.url("/m.onnx"), target=target)
    assert target.read_bytes() == DATA
    assert served.ranges("/m.onnx")[0] is None
    assert len(served.ranges("/m.onnx")) == 2


def test_the_next_run_goes_on_too(served: FileServer, target: Path) -> None:
    served.cut["/m.onnx"] = [1000, 1000, 1000]
    (one,) = refused(served.url("/m.onnx"), target=target)
    assert one.code == "A015"
    kept = "the connection broke (3000 bytes are kept for the next time)"
    assert one.what.endswith(kept)
    assert left(target) == [part_of(target, DIGEST).name]
    fetched(served.url("/m.onnx"), target=target)
    assert target.read_bytes() == DATA
    assert served.ranges("/m.onnx")[-1] == "bytes=3000-"
    assert left(target) == ["m.onnx"]


def test_what_was_left_of_another_file_is_thrown_away(
    served: FileServer, target: Path
) -> None:
    target.parent.mkdir()
    part_of(target, DIGEST).write_bytes(b"x" * 5000)
    fetched(served.url("/m.onnx"), target=target)
    assert target.read_bytes() == DATA
    assert served.ranges("/m.onnx") == ["bytes=5000-", None]
    target.unlink()
    part_of(target, DIGEST).write_bytes(b"x" * (len(DATA) + 1))
    fetched(served.url("/m.onnx"), target=target, bytes=len(DATA))
    assert target.read_bytes() == DATA
    target.unlink()
    part_of(target, DIGEST).write_bytes(b"x" * (len(DATA) + 1))
    fetched(served.url("/m.onnx"), target=target)  # the server says 416
    assert target.read_bytes() == DATA


def test_wrong_bytes_leave_nothing_and_the_next_mirror_is_asked(
    served: FileServer, target: Path
) -> None:
    served.files["/bad"] = DATA[:-1] + b"\0"
    (one,) = refused(served.url("/bad"), target=target)
    found = hashlib.sha256(served.files["/bad"]).hexdigest()
    assert one.what == f"{served.url('/bad')}: its SHA-256 is {found}, not {DIGEST}"
    assert not target.parent.exists()
    got = fetched(served.url("/bad"), served.url("/m.onnx"), target=target)
    assert got.url == served.url("/m.onnx")
    assert left(target) == ["m.onnx"]


def test_mirrors_are_tried_in_order_and_each_failure_is_told(
    served: FileServer, target: Path
) -> None:
    urls = (NOWHERE, served.url("/gone"), served.url("/m.onnx"))
    assert fetched(*urls, target=target).url == urls[2]
    target.unlink()
    findings = refused(*urls[:2], "file:///nowhere/m", "what://x/y", target=target)
    assert [one.what.rpartition(": ")[2] for one in findings] == [
        "no connection",
        "HTTP 404 Not Found",
        "there is no such file",
        'nobody knows "what://"',
    ]
    assert {one.path for one in findings} == {str(target)}


def test_a_pipe_is_not_waited_for(tmp_path: Path, target: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    (one,) = refused(str(tmp_path / "pipe"), target=target)
    assert one.what.endswith(": it is neither a file nor a folder")
    (tmp_path / "link").symlink_to(tmp_path / "m.onnx")
    (tmp_path / "m.onnx").write_bytes(DATA)
    assert fetched(str(tmp_path / "link"), target=target).bytes == len(DATA)


def test_a_part_of_one_mirror_and_the_rest_of_another_are_told_apart(
    served: FileServer, target: Path
) -> None:
    served.files["/other"] = b"y" * len(DATA)
    served.cut["/other"] = [1000] * 3
    fetched(served.url("/other"), served.url("/m.onnx"), target=target)
    assert target.read_bytes() == DATA
    assert served.ranges("/m.onnx") == ["bytes=3000-", None]


def test_a_busy_server_is_waited_for_as_it_asks_but_not_for_ever(
    served: FileServer, target: Path
) -> None:
    served.status["/m.onnx"] = [503, 429]
    served.headers["/m.onnx"] = {"Retry-After": "3600"}
    waits = Waits()
    fetched(served.url("/m.onnx"), target=target, waits=waits)
    assert waits.seconds == [30.0, 30.0]
    target.unlink()
    served.headers.clear()
    served.status["/m.onnx"] = [500, 502, 504]
    (one,) = refused(served.url("/m.onnx"), target=target)
    assert one.what.endswith("HTTP 504 Gateway Timeout")


def test_a_redirect_to_another_host_gets_no_password(
    served: FileServer, target: Path
) -> None:
    served.moved["/here"] = served.url("/m.onnx", host="localhost")
    url = served.url("/here").replace("//", "//me:secret@")
    got = fetched(url, target=target)
    assert target.read_bytes() == DATA
    (_, _, told), (_, _, leaked) = served.requests
    assert told is not None
    assert leaked is None
    assert "secret" not in got.url
    served.moved["/loop"] = served.url("/loop")
    target.unlink()
    (one,) = refused(served.url("/loop"), target=target)
    assert one.what.endswith("more than 5 redirects")
    assert len(served.ranges("/loop")) == 6


def test_sizes_that_cannot_be_are_refused_at_once(
    served: FileServer, target: Path
) -> None:
    (one,) = refused(served.url("/m.onnx"), target=target, bytes=7)
    assert one.what.endswith("it has 300000 bytes, not 7")
    assert not target.parent.exists()


def test_bytes_come_as_they_are_stored(served: FileServer, target: Path) -> None:
    served.headers["/m.onnx"] = {"Content-Encoding": "gzip"}
    fetched(served.url("/m.onnx"), target=target)
    assert target.read_bytes() == DATA
    assert served.encodings == ["identity"]


def test_a_server_that_gives_another_part_is_asked_from_the_start(
    served: FileServer, target: Path
) -> None:
    served.shifted.add("/m.onnx")
    served.cut["/m.onnx"] = [1000]
    waits = Waits()
    fetched(served.url("/m.onnx"), target=target, waits=waits)
    assert target.read_bytes() == DATA
    assert served.ranges("/m.onnx") == [None, "bytes=1000-", None]


def test_a_file_that_is_shorter_than_was_said(served: FileServer, target: Path) -> None:
    served.chunked.add("/m.onnx")
    size = len(DATA) + 9
    (one,) = refused(served.url("/m.onnx"), target=target, bytes=size)
    assert f"it ended after {len(DATA)} of {size} bytes" in one.what


def test_something_else_in_the_way_stays(served: FileServer, target: Path) -> None:
    target.parent.mkdir()
    target.write_bytes(b"mine")
    (one,) = refused(served.url("/m.onnx"), target=target)
    assert (one.code, one.what) == (
        "A014",
        "it is a file of 4 bytes with another digest",
    )
    assert target.read_bytes() == b"mine"
    target.unlink()
    target.mkdir()
    assert refused(served.url("/m.onnx"), target=target)[0].what == "it is no file"


def test_two_programs_do_not_write_one_file(served: FileServer, target: Path) -> None:
    target.parent.mkdir()
    with part_of(target, DIGEST).open("ab") as other:
        fcntl.flock(other, fcntl.LOCK_EX)
        (one,) = refused(served.url("/m.onnx"), target=target)
    assert (one.code, one.what) == ("A013", "another program writes it now")


def test_a_folder_that_cannot_be_made_is_a_finding(
    served: FileServer, tmp_path: Path
) -> None:
    (tmp_path / "file").touch()
    target = tmp_path / "file" / "m.onnx"
    (one,) = refused(served.url("/m.onnx"), target=target)
    assert (one.code, one.path) == ("A019", str(target))


def test_room_is_looked_for_before_anything_is_written(
    served: FileServer, target: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    usage = namedtuple("usage", "total used free")(9, 9, 1000)  # noqa: PYI024
    monkeypatch.setattr("shutil.disk_usage", lambda _: usage)
    (one,) = refused(served.url("/m.onnx"), target=target)
    assert one.code == "A012"
    assert one.what == "m.onnx: 300000 bytes are needed and 1000 are free"
    assert not target.parent.exists()


def test_a_disk_that_fills_up_meanwhile_is_told(
    served: FileServer, target: Path
) -> None:
    """The kernel's limit for the size of a file fails as a full disk does."""
    program = (
        "import resource, signal, sys\n"
        "from pathlib import Path\n"
        "from registry.documents.findings import RegistryError\n"
        "from tools.assets.downloading import Wanted, download\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000))\n"
        "try: download(Wanted((sys.argv[1],), sys.argv[2]), Path(sys.argv[3]))\n"
        "except RegistryError as e: print([(f.code, f.what) for f in e.findings])"
    )
    assert resource.RLIMIT_FSIZE is not None
    arguments = (served.url("/m.onnx"), DIGEST, str(target))
    done = subprocess.run(
        [sys.executable, "-c", program, *arguments],
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.strip() == "[('A012', 'm.onnx: the disk is full')]"
    assert not target.parent.exists()


def test_an_md5_tells_accidents_where_no_sha256_is_known(
    served: FileServer, target: Path
) -> None:
    right = hashlib.md5(DATA, usedforsecurity=False).hexdigest()
    got = download(
        Wanted((served.url("/m.onnx"),), None, md5=right), target, patience=quick()
    )
    assert got.sha256 == DIGEST
    target.unlink()
    wrong = Wanted((served.url("/m.onnx"),), None, md5="0" * 32)
    with pytest.raises(RegistryError, match=f"its MD5 is {right}, not 0000"):
        download(wrong, target, patience=quick())


def test_a_file_of_unknown_digest_never_goes_on_from_another(
    served: FileServer, target: Path
) -> None:
    served.cut["/m.onnx"] = [1000]
    download(Wanted((served.url("/m.onnx"),), None), target, patience=quick())
    assert target.read_bytes() == DATA
    assert served.ranges("/m.onnx") == [None, None]


def test_any_file_system_is_a_mirror(tmp_path: Path, target: Path, store: str) -> None:
    import fsspec

    fsspec.filesystem("memory").pipe_file("/bucket/m.onnx", DATA)
    target.parent.mkdir()
    part_of(target, DIGEST).write_bytes(DATA[:1000])
    fetched(f"{store}/m.onnx", target=target)
    assert target.read_bytes() == DATA
    (tmp_path / "there").write_bytes(DATA)
    target.unlink()
    assert fetched(str(tmp_path / "there"), target=target).bytes == len(DATA)
    target.unlink()
    (one,) = refused(f"{store}", target=target)
    assert one.what.endswith("it names no file in a folder")


@pytest.mark.parametrize("url", ["http://[", "http://", "http:///x", "https://a b/"])
def test_a_url_that_is_none_fails_at_once(url: str, target: Path) -> None:
    waits = Waits()
    with pytest.raises(RegistryError) as refusal:
        fetched(url, target=target, waits=waits)
    assert [one.code for one in refusal.value.findings] == ["A015"]
    assert waits.seconds == []


def test_small_files_are_read_whole_or_known_to_be_missing(web: FileServer) -> None:
    web.files["/small"] = b"0123456789"
    web.status["/small"] = [503]
    assert read_small(web.url("/small"), 20, quick()) == b"0123456789"
    assert read_small(web.url("/small"), 5, quick()) == b"012345"
    assert read_small(web.url("/none"), 5, quick()) is None
    web.status["/small"] = [503] * 3
    with pytest.raises(SourceError, match="HTTP 503"):
        read_small(web.url("/small"), 5, quick())
