"""Results are never mixed, and never deleted unless all that goes is known as ours."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from registry.documents.findings import RegistryError
from tests.experiments.experiment_samples import sample_run, stored
from tools.experiments.folders import (
    MARKER,
    Reuse,
    experiment_folder,
    host_label,
    is_marked,
    new_run_id,
    open_folder,
    output_name,
    remove_ours,
)
from tools.experiments.occupancy import in_use
from tools.files.writing import part_beside


def opened(base: Path, reuse: Reuse = Reuse.REFUSE) -> Path:
    folder = base / "host" / "x"
    open_folder(folder, base, reuse)
    return folder


def everything(base: Path) -> set[Path]:
    return set(base.rglob("*"))


def test_a_name_or_the_hour(tmp_path: Path) -> None:
    now = datetime(2026, 5, 4, 3, 2)  # noqa: DTZ001  any zone
    hour = experiment_folder(tmp_path, "host", None, now)
    assert hour == tmp_path.resolve() / "host" / "2026-05-04-03"
    assert experiment_folder(tmp_path, "host", "a/b") == tmp_path / "host" / "a" / "b"


@pytest.mark.parametrize(
    "name",
    ["/etc", "..", "a/../b", "", "a//b", ".hidden", "a b", "a/b/c/d/e", "x.", "-r"],
)
def test_a_name_stays_below(name: str) -> None:
    with pytest.raises(RegistryError, match="B010"):
        output_name(name)


@settings(max_examples=40)
@given(st.text(max_size=30))
def test_any_name_stays_below(name: str) -> None:
    try:
        path = output_name(name)
    except RegistryError:
        return
    assert not path.is_absolute()
    assert ".." not in path.parts


@settings(max_examples=40)
@given(st.text(max_size=300))
def test_any_host_has_a_label(name: str) -> None:
    assert len(output_name(host_label(name)).parts) == 1


def test_runs_have_names_of_their_own() -> None:
    assert len({new_run_id() for _ in range(1000)}) == 1000


def test_a_folder_with_runs_is_refused_unless_told_otherwise(tmp_path: Path) -> None:
    folder = opened(tmp_path)
    stored(folder, sample_run())
    before = everything(tmp_path)
    with pytest.raises(RegistryError, match="B011"):
        opened(tmp_path)
    assert everything(tmp_path) == before
    opened(tmp_path, Reuse.APPEND)
    assert everything(tmp_path) == before


def test_overwriting_deletes_what_is_ours(tmp_path: Path) -> None:
    folder = opened(tmp_path)
    (run,) = stored(folder, sample_run())
    for name in ("stdout", "stderr", "samples.csv", "trace.json.gz", "result.json"):
        (folder / run.run_id / name).write_text("old")
    (folder / "combined.json.gz").write_text("old")
    for path in (folder / "plan.jsonl", folder / run.run_id / "run.json"):
        part_beside(path).write_text("half of what a power cut interrupted")
    inner = folder / "row"
    open_folder(inner, tmp_path, Reuse.REFUSE)
    stored(inner, sample_run(1))
    opened(tmp_path, Reuse.OVERWRITE)
    assert everything(folder) == {folder / MARKER}
    assert is_marked(folder)


def foreign_file(folder: Path, run: Path) -> None:
    (folder / "thesis.tex").write_text("three years of work")


def foreign_file_in_a_run(folder: Path, run: Path) -> None:
    (run / "notes.txt").write_text("mine")


def foreign_folder(folder: Path, run: Path) -> None:
    (folder / "photos").mkdir()


def folder_in_a_run(folder: Path, run: Path) -> None:
    (run / "stdout").unlink(missing_ok=True)
    (run / "stdout").mkdir()


def link_to_elsewhere(folder: Path, run: Path) -> None:
    (folder / "combined.json").symlink_to(folder.parent.parent / "precious")


def link_in_a_run(folder: Path, run: Path) -> None:
    (run / "stdout").symlink_to(folder.parent.parent / "precious")


def run_behind_a_link(folder: Path, run: Path) -> None:
    away = folder.parent.parent / "elsewhere"
    run.rename(away)
    run.symlink_to(away)


def no_marker(folder: Path, run: Path) -> None:
    (folder / MARKER).unlink()


def marker_of_another(folder: Path, run: Path) -> None:
    (folder / MARKER).write_text('{"schema": "other/1"}')


def marker_is_a_link(folder: Path, run: Path) -> None:
    (folder / MARKER).rename(folder.parent / "marker")
    (folder / MARKER).symlink_to(folder.parent / "marker")


@pytest.mark.parametrize(
    "harm",
    [
        foreign_file,
        foreign_file_in_a_run,
        foreign_folder,
        folder_in_a_run,
        link_to_elsewhere,
        link_in_a_run,
        run_behind_a_link,
        no_marker,
        marker_of_another,
        marker_is_a_link,
    ],
)
def test_nothing_is_deleted_if_anything_is_foreign(
    tmp_path: Path, harm: object
) -> None:
    (tmp_path / "precious").write_text("keep me")
    folder = opened(tmp_path)
    (run,) = stored(folder, sample_run())
    harm(folder, folder / run.run_id)  # type: ignore[operator]
    before = everything(tmp_path)
    with pytest.raises(RegistryError, match="B012"):
        opened(tmp_path, Reuse.OVERWRITE)
    assert everything(tmp_path) == before
    assert (tmp_path / "precious").read_text() == "keep me"


@pytest.mark.parametrize("reuse", list(Reuse))
def test_no_way_leads_through_a_link(tmp_path: Path, reuse: Reuse) -> None:
    base, away = tmp_path / "base", tmp_path / "away"
    folder = away / "x"
    open_folder(folder, away, Reuse.REFUSE)
    base.mkdir()
    (base / "host").symlink_to(away)
    with pytest.raises(RegistryError, match="B013"):
        opened(base, reuse)
    assert is_marked(folder)


def test_a_link_itself_is_never_taken_for_the_folder(tmp_path: Path) -> None:
    folder = opened(tmp_path)
    link = tmp_path / "link"
    link.symlink_to(folder)
    with pytest.raises(RegistryError, match="B013"):
        remove_ours(link)
    assert is_marked(folder)


def test_what_a_record_lists_is_ours_too(tmp_path: Path) -> None:
    folder = opened(tmp_path)
    listed = {"path": "profile.txt", "bytes": 1, "sha256": "0" * 64}
    (run,) = stored(folder, sample_run(files=(listed,)))
    (folder / run.run_id / "profile.txt").write_text("p")
    opened(tmp_path, Reuse.OVERWRITE)
    assert not (folder / run.run_id).exists()


def test_a_foreign_folder_is_not_added_to(tmp_path: Path) -> None:
    folder = tmp_path / "host" / "x"
    folder.mkdir(parents=True)
    (folder / "thesis.tex").write_text("three years of work")
    with pytest.raises(RegistryError, match="B012"):
        opened(tmp_path, Reuse.APPEND)
    assert not (folder / MARKER).exists()


def test_what_is_in_use_is_not_deleted(tmp_path: Path) -> None:
    folder = opened(tmp_path)
    inner = folder / "row"
    open_folder(inner, tmp_path, Reuse.REFUSE)
    (run,) = stored(inner, sample_run())
    with in_use(inner), in_use(inner):
        with pytest.raises(RegistryError, match="B014"):
            opened(tmp_path, Reuse.OVERWRITE)
        with pytest.raises(RegistryError, match="B014"):
            remove_ours(inner)
        assert (inner / run.run_id / "run.json").is_file()
    opened(tmp_path, Reuse.OVERWRITE)
    assert everything(folder) == {folder / MARKER}
