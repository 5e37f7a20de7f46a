"""`powerkit trace combine` and `validate`, as people and programs call them."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.simulators.chrome_traces import read, rows, slice_, write
from tests.simulators.commands import Done

Powerkit = Callable[..., Done]


@pytest.fixture
def runs(tmp_path: Path) -> Path:
    folder = tmp_path / "runs"
    (folder / "deep").mkdir(parents=True)
    write(folder / "a.json", [slice_("a", 5, 1)])
    write(folder / "b.json.gz", [slice_("b", 7, 1)])
    write(folder / "deep" / "c.json", [slice_("c", 9, 1)])
    write(folder / "combined-1.json", [slice_("no", 0, 1)])
    write(folder / "deep" / "summary-1.json", [slice_("no", 0, 1)])
    (folder / "run.json").write_text('{"schema":"run/1"}')
    (folder / "notes.txt").write_text("x")
    return folder


def test_files_are_combined(powerkit: Powerkit, runs: Path, tmp_path: Path) -> None:
    out = tmp_path / "new" / "out.json"
    done = powerkit("trace", "combine", runs / "a.json", runs / "b.json.gz", "-o", out)
    assert (done.code, done.err) == (0, "")
    assert rows(out, "name", "ts", "pid") == [("a", 5, 1), ("b", 7, 2)]
    assert f"{out}: 8 events of 2 files" in done.out
    assert "renumbered" in done.out


def test_a_folder_means_its_traces_and_says_what_it_passed_over(
    powerkit: Powerkit, runs: Path
) -> None:
    out = runs / "all.json"
    for _ in range(2):  # the second time, the output is in the folder
        done = powerkit("trace", "combine", runs, "-o", out, "--json")
        assert done.code == 0
        assert [name for (name,) in rows(out, "name")] == ["a", "b", "c"]
    told = json.loads(done.out)
    assert told["schema"] == "trace-combine/1"
    assert {(Path(one["path"]).name, one["reason"]) for one in told["passed_over"]} == {
        ("all.json", "is the output"),
        ("combined-1.json", "is made of other traces"),
        ("summary-1.json", "is made of other traces"),
        (
            "run.json",
            'V003: it is an object with the keys "schema", and has no `traceEvents`',
        ),
    }
    assert [one["label"] for one in told["files"]] == ["a", "b", "c"]


def test_a_pattern_that_no_shell_replaced(powerkit: Powerkit, runs: Path) -> None:
    out = runs.parent / "out.json"
    done = powerkit("trace", "combine", f"{runs}/**/[ac].json", "-o", out)
    assert done.code == 0
    assert [name for (name,) in rows(out, "name")] == ["a", "c"]


def test_a_file_that_is_named_is_used_whatever_it_is_called(
    powerkit: Powerkit, runs: Path
) -> None:
    out = runs.parent / "out.json"
    path = runs / "combined-1.json"
    done = powerkit("trace", "combine", path, path, "-o", out)
    assert done.code == 0
    assert rows(out, "name") == [("no",)]
    assert f"passed over: {path} is named twice" in done.out


def test_the_output_is_no_input(powerkit: Powerkit, runs: Path) -> None:
    link = runs.parent / "link.json"
    link.symlink_to(runs / "a.json")
    done = powerkit("trace", "combine", runs / "a.json", "-o", link)
    assert done.code == 1
    assert "error V024" in done.out
    assert read(runs / "a.json")[0] == [slice_("a", 5, 1)]


def test_the_first_file_may_be_left_out(powerkit: Powerkit, runs: Path) -> None:
    out = runs.parent / "out.json"
    done = powerkit("trace", "combine", runs, "--skip-first", "-o", out)
    assert done.code == 0
    assert [name for (name,) in rows(out, "name")] == ["b", "c"]
    assert f"{runs / 'a.json'} is the first file, which --skip-first leaves" in done.out
    alone = powerkit("trace", "combine", runs / "a.json", "--skip-first", "-o", out)
    assert alone.code == 1
    assert "error V025" in alone.out


def test_labels(powerkit: Powerkit, runs: Path) -> None:
    out = runs.parent / "out.json"
    files = (runs / "a.json", runs / "b.json.gz")
    labels = ("--label", "first", "--label", "first")
    done = powerkit("trace", "combine", *files, *labels, "-o", out, "--json")
    told = [one["label"] for one in json.loads(done.out)["files"]]
    assert told == ["first", "first #2"]
    named = {
        event["args"]["name"]
        for event in read(out)[0]
        if event["name"] == "process_name"
    }
    assert named == {"first / 1", "first #2 / 1"}


def test_files_of_one_name_are_told_apart_by_their_folders(
    powerkit: Powerkit, tmp_path: Path
) -> None:
    paths = []
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        paths.append(
            write(tmp_path / name / "trace.pt.trace.json", [slice_("a", 5, 1)])
        )
    done = powerkit("trace", "combine", *paths, "-o", tmp_path / "o", "--json")
    told = [one["label"] for one in json.loads(done.out)["files"]]
    assert told == ["one/trace", "two/trace"]


def test_everything_that_is_counted_is_told(powerkit: Powerkit, tmp_path: Path) -> None:
    text = json.dumps(
        [
            slice_("x", 1, 5),
            slice_("old", 2, 2, cat="ignore"),
            slice_("old", 3, 4),
            "text",
            slice_("z", 9, 1),
        ]
    ).replace('"z"', '"z""')
    path = write(tmp_path / "t.json", text.encode())
    options = ("--adjust", "--rename", "old=new", "-o", tmp_path / "o.json")
    done = powerkit("trace", "combine", path, *options, "--json")
    assert done.code == 0
    told = json.loads(done.out)
    (one,) = told["files"]
    wanted = {
        "events": 3,
        "written": 5,
        "ignored": 1,
        "unmatched_ignored": 0,
        "taken_out_ns": 2000,
        "offset_ns": -1000,
        "renamed": 1,
        "bad_events": 1,
        "not_objects": 1,
        "processes": 1,
        "renumbered": 0,
    }
    assert {key: one[key] for key in wanted} == wanted
    assert [one["code"] for one in told["findings"]] == ["V006", "V007"]
    assert {one["severity"] for one in told["findings"]} == {"warning"}
    assert rows(tmp_path / "o.json", "name", "ts", "dur") == [
        ("x", 0, 3),
        ("new", 1, 3),
    ]
    shown = powerkit("trace", "combine", path, *options)
    assert "taken" in shown.out
    assert "warning V006" in shown.err


@pytest.mark.parametrize(
    ("options", "what"),
    [
        (("--align", "marker"), "--align marker needs --marker"),
        (("--align", "offset"), "--align offset needs --offset"),
        (("--align", "zero", "--marker", "x"), "--marker is for --align marker only"),
        (("--marker", "x", "--offset", "1"), "give either --marker or --offset"),
        (("--offset", "soon"), "--offset 'soon' is no time"),
        (("--offset", "1", "--offset", "2"), "once for each file: 2 for 1 files"),
        (("--label", "a", "--label", "b"), "once for each file: 2 for 1 files"),
        (("--take-out",), "--take-out needs --ignore-category"),
        (("--align", "sideways"), "sideways"),
    ],
)
def test_options_that_do_not_agree(
    powerkit: Powerkit, runs: Path, options: tuple[str, ...], what: str
) -> None:
    out = runs.parent / "out.json"
    done = powerkit("trace", "combine", runs / "a.json", "-o", out, *options)
    assert done.code == 2
    assert what in " ".join(done.err.replace("│", " ").split())
    assert not out.exists()


def test_an_input_that_is_not_there(powerkit: Powerkit, tmp_path: Path) -> None:
    done = powerkit("trace", "combine", tmp_path / "no.json", "-o", tmp_path / "o")
    assert done.code == 1
    assert "V032" in done.out


def test_a_sound_trace_is_valid(powerkit: Powerkit, runs: Path) -> None:
    done = powerkit("trace", "validate", runs / "a.json", runs / "b.json.gz", "--json")
    assert done.code == 0
    told = json.loads(done.out)
    assert told["schema"] == "trace-validate/1"
    assert told["valid"]
    assert told["findings"] == []
    assert [one["phases"] for one in told["files"]] == [{"X": 1}, {"X": 1}]
    assert [one["compressed"] for one in told["files"]] == [False, True]


def test_every_problem_of_a_trace_is_told(powerkit: Powerkit, tmp_path: Path) -> None:
    thread = {"pid": 1, "tid": 1}
    events = [
        {"name": "a", "ts": 1} | thread,
        {"ph": "X", "name": "b", "dur": 1} | thread,
        {"ph": "X", "name": "c", "ts": 1} | thread,
        slice_("d", 5, -1),
        {"ph": "E", "ts": 0} | thread,
        {"ph": "B", "name": "e", "ts": 2} | thread,
        slice_("f", 10, 5, tid=2),
        slice_("g", 12, 9, tid=2),
        {"ph": "s", "id": 1, "name": "h", "cat": "h", "ts": 1} | thread,
        {"ph": "f", "id": 2, "name": "h", "cat": "h", "ts": 1} | thread,
        {"ph": "C", "name": "i", "ts": 1, "args": {"x": "y"}} | thread,
        slice_("j", 9.1e12, 1, tid=3),
    ]
    path = write(tmp_path / "t.json", events)
    done = powerkit("trace", "validate", path, "--json")
    assert done.code == 1
    told = json.loads(done.out)
    assert not told["valid"]
    assert {
        (one["code"], one["severity"]): one["what"] for one in told["findings"]
    } == {
        ("V011", "warning"): "they reach 9.1e+06 s",
        ("V012", "error"): "1 events without a known phase",
        ("V013", "error"): "1 events without a time",
        (
            "V014",
            "error",
        ): "1 complete events without a duration, 1 with a negative one",
        (
            "V015",
            "warning",
        ): "1 ends where nothing was open, 1 beginnings without an end",
        ("V016", "warning"): "1 slices outlive the one that they begin in",
        ("V017", "warning"): "1 arrows without a start, 1 arrows without an end",
        ("V018", "warning"): "1 values of counters",
    }


def test_all_files_are_validated_whatever_the_first_is(
    powerkit: Powerkit, runs: Path
) -> None:
    (runs / "0.json").write_text("")
    write(runs / "empty.json", [])
    done = powerkit("trace", "validate", runs)
    assert done.code == 1
    assert f"error V001 {runs / '0.json'}" in done.out
    assert f"error V003 {runs / 'run.json'}" in done.out
    assert f"warning V019 {runs / 'empty.json'}" in done.out
    told = json.loads(powerkit("trace", "validate", runs, "--json").out)
    assert [Path(one["path"]).name for one in told["files"]] == [
        "a.json",
        "b.json.gz",
        "c.json",
        "empty.json",
    ]
    assert not told["valid"]
