"""Files appear whole or not at all, and leave nothing else behind."""

from __future__ import annotations

import os
import resource
import stat
from pathlib import Path

import pytest

from tools.files.writing import whole, write_whole


def names(folder: Path) -> list[str]:
    return [one.name for one in folder.iterdir()]


def test_the_old_file_stays_until_the_new_one_is_whole(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    write_whole(path, "old")
    with whole(path) as part:
        part.write_text("new")
        assert path.read_text() == "old"
        assert part.parent == tmp_path
        assert part.name.startswith(".a.json.")
    assert path.read_text() == "new"
    assert names(tmp_path) == ["a.json"]


def broken_off(part: Path, error: type[BaseException]) -> None:
    part.write_text("half")
    raise error


@pytest.mark.parametrize("error", [OSError, KeyboardInterrupt])
def test_nothing_is_left_of_a_failure(
    tmp_path: Path, error: type[BaseException]
) -> None:
    path = tmp_path / "a.json"
    write_whole(path, "old")
    with pytest.raises(error), whole(path) as part:
        broken_off(part, error)
    assert path.read_text() == "old"
    assert names(tmp_path) == ["a.json"]


def test_a_failure_before_anything_is_written_is_the_one_that_is_raised(
    tmp_path: Path,
) -> None:
    with pytest.raises(ZeroDivisionError), whole(tmp_path / "a"):
        raise ZeroDivisionError
    assert names(tmp_path) == []


def test_texts_are_utf_8_and_bytes_stay(tmp_path: Path) -> None:
    write_whole(tmp_path / "text", "µ\r\n")
    write_whole(tmp_path / "bytes", b"\xff\x00")
    assert (tmp_path / "text").read_bytes() == b"\xc2\xb5\r\n"
    assert (tmp_path / "bytes").read_bytes() == b"\xff\x00"


def test_its_mode_is_that_of_any_new_file(tmp_path: Path) -> None:
    plain = tmp_path / "plain"
    plain.touch()
    write_whole(tmp_path / "whole", "")
    modes = [
        stat.S_IMODE((tmp_path / one).stat().st_mode) for one in ("plain", "whole")
    ]
    assert modes[0] == modes[1]


@pytest.mark.parametrize("name", ["x" * 255, "é" * 127, "x" + "é" * 127])
def test_the_longest_names_can_be_written(tmp_path: Path, name: str) -> None:
    write_whole(tmp_path / name, "long")
    assert names(tmp_path) == [name]


def test_two_writers_do_not_meet(tmp_path: Path) -> None:
    path = tmp_path / "a"
    with whole(path) as one, whole(path) as other:
        one.write_text("one")
        other.write_text("other")
    assert path.read_text() == "one"


@pytest.mark.parametrize("kind", ["pipe", "folder"])
def test_what_is_no_plain_file_is_not_replaced(tmp_path: Path, kind: str) -> None:
    path = tmp_path / "a"
    os.mkfifo(path) if kind == "pipe" else path.mkdir()
    with pytest.raises(FileExistsError, match="it is no plain file"):
        write_whole(path, "x")
    assert not path.is_file()
    assert names(tmp_path) == ["a"]


def test_a_folder_that_is_missing_is_not_made(tmp_path: Path) -> None:
    path = tmp_path / "no" / "a"
    with pytest.raises(FileNotFoundError) as refused:
        write_whole(path, "x")
    assert refused.value.filename == str(path)
    assert names(tmp_path) == []


def test_an_error_of_another_file_keeps_its_name(tmp_path: Path) -> None:
    other = tmp_path / "other"
    with pytest.raises(FileNotFoundError) as refused, whole(tmp_path / "a"):
        other.stat()
    assert refused.value.filename == str(other)


def test_a_name_that_was_taken_by_a_folder_since_is_the_one_in_the_error(
    tmp_path: Path,
) -> None:
    path = tmp_path / "a"
    with pytest.raises(IsADirectoryError) as refused, whole(path) as part:
        taken(part, path)
    assert refused.value.filename == str(path)
    assert names(tmp_path) == ["a"]


def taken(part: Path, path: Path) -> None:
    part.write_text("x")
    path.mkdir()


def test_a_full_disk_is_told_of_by_the_file_that_was_meant(tmp_path: Path) -> None:
    usual = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1000, usual[1]))
    try:
        with pytest.raises(OSError, match="File too large") as refused:
            write_whole(tmp_path / "a", b"0" * 100_000)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, usual)
    assert refused.value.filename == str(tmp_path / "a")
    assert names(tmp_path) == []
