"""Records of runs: one for each, found without an index, refused with all reasons."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from registry.documents.findings import RegistryError
from tests.experiments.experiment_samples import sample_run, stored
from tools.experiments.record import Run, read_run, read_runs


def test_a_record_comes_back_as_it_was(tmp_path: Path) -> None:
    run = sample_run(phases={"init": 0.5}, problems=("late",), item="alexnet")
    stored(tmp_path, run)
    (back,) = read_runs(tmp_path)
    assert back.model_copy(update={"folder": None}) == run
    assert back.folder == tmp_path / run.run_id
    assert json.loads((back.folder / "run.json").read_text())["schema"] == "run/1"


def test_runs_are_found_below_in_the_order_of_their_starts(tmp_path: Path) -> None:
    one, two, three = (sample_run(number) for number in range(3))
    stored(tmp_path / "host" / "b", two)
    stored(tmp_path / "host" / "a" / "row", three, one)
    assert [run.iteration for run in read_runs(tmp_path)] == [1, 2, 3]


def test_links_are_not_followed(tmp_path: Path) -> None:
    stored(tmp_path / "elsewhere", sample_run())
    stored(tmp_path / "here", sample_run(1))
    (tmp_path / "here" / "link").symlink_to(tmp_path / "elsewhere")
    assert len(read_runs(tmp_path / "here")) == 1


def test_what_counts(tmp_path: Path) -> None:
    assert sample_run().accepted
    assert not sample_run(returncode=1).accepted
    assert not sample_run(returncode=None).accepted
    assert not sample_run(timed_out=True).accepted
    assert not sample_run(problems=("no trace",)).accepted


def test_all_that_is_wrong_is_told_at_once(tmp_path: Path) -> None:
    good, changed, cut = stored(tmp_path, *(sample_run(n) for n in range(3)))
    record = tmp_path / changed.run_id / "run.json"
    value = json.loads(record.read_text()) | {"iteration": -1, "colour": "red"}
    del value["init"]
    record.write_text(json.dumps(value))
    (tmp_path / cut.run_id / "run.json").write_text('{"schema": "run/1"')
    with pytest.raises(RegistryError) as refused:
        read_runs(tmp_path)
    found = {(one.code, one.what.partition(":")[0]) for one in refused.value.findings}
    assert {("B003", "colour"), ("B004", "init"), ("B005", "iteration")} <= found
    assert "B002" in {code for code, _ in found}
    assert all(good.run_id not in one.path for one in refused.value.findings)


def test_a_folder_without_runs_is_refused(tmp_path: Path) -> None:
    with pytest.raises(RegistryError, match="B007 there is no run"):
        read_runs(tmp_path)


def test_no_record_names_a_folder_outside(tmp_path: Path) -> None:
    (run,) = stored(tmp_path, sample_run())
    record = tmp_path / run.run_id / "run.json"
    value = json.loads(record.read_text())
    value["files"] = [{"path": "../../secret", "bytes": 1, "sha256": "0" * 64}]
    record.write_text(json.dumps(value))
    with pytest.raises(RegistryError, match="B005"):
        read_run(tmp_path / run.run_id)


@settings(max_examples=40)
@given(data=st.binary(max_size=200) | st.just(b"[" * 100_000) | st.just(b"NaN"))
def test_any_bytes_are_a_record_or_findings(
    tmp_path_factory: pytest.TempPathFactory, data: bytes
) -> None:
    folder = tmp_path_factory.mktemp("run")
    (folder / "run.json").write_bytes(data)
    with pytest.raises(RegistryError):
        read_run(folder)


@settings(max_examples=40)
@given(
    st.dictionaries(
        st.sampled_from(sorted(Run.model_fields)) | st.text(max_size=5),
        st.none()
        | st.integers()
        | st.floats()
        | st.text(max_size=9)
        | st.lists(st.none()),
        max_size=6,
    )
)
def test_any_fields_are_a_record_or_findings(
    tmp_path_factory: pytest.TempPathFactory, changes: dict[str, object]
) -> None:
    folder = tmp_path_factory.mktemp("run")
    value = sample_run().model_dump(mode="json", by_alias=True) | changes
    (folder / "run.json").write_text(json.dumps(value))
    try:
        run = read_run(folder)
    except RegistryError:
        return
    assert run.folder == folder
