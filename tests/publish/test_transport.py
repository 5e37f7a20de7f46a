"""The nested files of a release as one zip, and back: nothing else comes out."""

from __future__ import annotations

import io
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from registry.documents.canonical import sha256
from registry.documents.findings import RegistryError
from registry.publish.index import Asset
from registry.publish.integrity import open_folder
from registry.publish.transport import PACKED, pack, packed, packed_bytes, unpack
from tests.publish.conftest import contents
from tests.simulators.releases import make_release

FILES = {"models/a.json": b"{}\n", "models/b/c.zip": b"PK" * 900, "withheld/d": b""}


def assets_of(files: dict[str, bytes]) -> tuple[Asset, ...]:
    return packed(
        Asset(path=path, bytes=len(data), sha256=sha256(data))
        for path, data in files.items()
    )


def write(folder: Path, files: dict[str, bytes]) -> Path:
    for path, data in files.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_bytes(data)
    return folder


def zipped(folder: Path, assets: tuple[Asset, ...]) -> bytes:
    target = io.BytesIO()
    pack(folder, assets, target)
    return target.getvalue()


@pytest.fixture
def whole(tmp_path: Path) -> bytes:
    return zipped(write(tmp_path / "source", FILES), assets_of(FILES))


def refused(data: bytes, out: Path) -> str:
    with pytest.raises(RegistryError) as caught:
        unpack(io.BytesIO(data), assets_of(FILES), out)
    (found,) = caught.value.findings
    assert found.code == "R071"
    return found.what


def test_what_is_packed_comes_out_again(whole: bytes, tmp_path: Path) -> None:
    unpack(io.BytesIO(whole), assets_of(FILES), tmp_path / "out")
    assert contents(tmp_path / "out") == FILES


def test_a_release_comes_out_again(tmp_path: Path) -> None:
    make_release(tmp_path / "release")
    index, _ = open_folder(tmp_path / "release")
    chosen = packed(index.assets)
    assert {asset.path.partition("/")[0] for asset in chosen} == {"models"}
    data = zipped(tmp_path / "release", chosen)
    unpack(io.BytesIO(data), chosen, tmp_path / "out")
    nested = {p: d for p, d in contents(tmp_path / "release").items() if "/" in p}
    assert contents(tmp_path / "out") == nested


def test_its_size_is_known_before(whole: bytes) -> None:
    assert len(whole) == packed_bytes(assets_of(FILES))
    assert packed_bytes(()) == len(zipped(Path(), ()))


def test_its_bytes_depend_on_the_files_alone(whole: bytes, tmp_path: Path) -> None:
    other = write(tmp_path / "other", dict(reversed(FILES.items())))
    (other / "models" / "a.json").chmod(0o600)
    assert zipped(other, assets_of(FILES)) == whole


def test_others_read_it(whole: bytes, tmp_path: Path) -> None:
    with zipfile.ZipFile(io.BytesIO(whole)) as archive:
        assert archive.testzip() is None
        assert {name: archive.read(name) for name in archive.namelist()} == FILES
    (tmp_path / PACKED).write_bytes(whole)
    listed = subprocess.run(
        [sys.executable, "-m", "zipfile", "--test", str(tmp_path / PACKED)],
        check=True,
        capture_output=True,
        text=True,
    )
    assert "Done testing" in listed.stdout


def test_an_empty_file_travels_too() -> None:
    empty = Asset(path="empty.jsonl", bytes=0, sha256=sha256(b""))
    full = Asset(path="full.jsonl", bytes=1, sha256=sha256(b"x"))
    assert packed([full, empty]) == (empty,)


@pytest.mark.parametrize("count", [1, 65_536])
def test_more_than_a_zip_can_hold_is_refused(count: int) -> None:
    huge = Asset(path="a/b", bytes=2**32 if count == 1 else 1, sha256="0" * 64)
    with pytest.raises(RegistryError) as caught:
        packed_bytes([huge] * count)
    assert caught.value.findings[0].code == "R070"


def test_b5_every_changed_byte_is_refused(whole: bytes, tmp_path: Path) -> None:
    for at in range(len(whole)):
        if 100 < at < 1800 and at % 50:
            continue  # the middle of one file
        bad = bytearray(whole)
        bad[at] ^= 1
        refused(bytes(bad), tmp_path / str(at))


def test_b5_every_truncation_is_refused(whole: bytes, tmp_path: Path) -> None:
    for cut in range(1, len(whole), 37):
        refused(whole[:-cut], tmp_path / str(cut))


def test_b5_trailing_data_is_refused(whole: bytes, tmp_path: Path) -> None:
    assert "follows" in refused(whole + b"x", tmp_path / "out")


def archive(*members: tuple[str | zipfile.ZipInfo, bytes], **options: int) -> bytes:
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w", **options) as made:  # type: ignore[arg-type]
        for name, data in members:
            made.writestr(name, data)
    return target.getvalue()


def linked(name: str) -> zipfile.ZipInfo:
    entry = zipfile.ZipInfo(name)
    entry.create_system = 3
    entry.external_attr = 0o120777 << 16
    return entry


HOSTILE = {
    "bomb": archive(
        ("models/a.json", b"\0" * 10_000_000), compression=zipfile.ZIP_DEFLATED
    ),
    "link": archive((linked("models/a.json"), b"/etc/passwd")),
    "absolute": archive(("/srv/evil", b"x")),
    "parent": archive(("../evil", b"x")),
    "extra": archive(*FILES.items(), ("evil", b"x")),
    "missing": archive(*list(FILES.items())[:-1]),
    "order": archive(*reversed(FILES.items())),
    "deflated": archive(*FILES.items(), compression=zipfile.ZIP_DEFLATED),
    "dated": archive(*FILES.items()),
    "nothing": b"",
    "no zip": b"<html>" * 1000,
}


@pytest.mark.parametrize("kind", HOSTILE)
def test_b5_hostile_archives_write_nothing_elsewhere(kind: str, tmp_path: Path) -> None:
    out = tmp_path / "in" / "out"
    refused(HOSTILE[kind], out)
    written = {path for path in contents(tmp_path) if not path.startswith("in/out/")}
    assert written == set()
    assert set(contents(out)) <= set(FILES)


def test_b5_a_member_that_is_there_twice_is_refused(
    whole: bytes, tmp_path: Path
) -> None:
    with pytest.warns(UserWarning, match="Duplicate"):
        twice = archive(*FILES.items(), ("models/a.json", b"{}\n"))
    refused(twice, tmp_path / "out")


def test_b5_an_encrypted_member_is_refused(whole: bytes, tmp_path: Path) -> None:
    bad = bytearray(whole)
    bad[6] |= 1
    assert "header" in refused(bytes(bad), tmp_path / "out")


def test_b5_a_lying_size_is_refused(whole: bytes, tmp_path: Path) -> None:
    bad = bytearray(whole)
    bad[22:26] = (2**31).to_bytes(4, "little")
    assert "header" in refused(bytes(bad), tmp_path / "out")


def test_b5_no_file_is_written_over(whole: bytes, tmp_path: Path) -> None:
    out = write(tmp_path / "out", {"models/a.json": b"mine"})
    with pytest.raises(FileExistsError):
        unpack(io.BytesIO(whole), assets_of(FILES), out)
    assert contents(out) == {"models/a.json": b"mine"}
