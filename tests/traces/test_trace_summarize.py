"""`powerkit trace summarize`: what it reads, prints, notes and refuses."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.simulators.commands import Done
from tests.traces.summarised import one_of, write

Powerkit = Callable[..., Done]


def test_a_summary_says_everything(powerkit: Powerkit, tmp_path: Path) -> None:
    file = write(tmp_path / "a.json.gz", displayTimeUnit="ns")
    one = one_of(powerkit("trace", "summarize", file, "--json"))
    assert [row["name"] for row in one["statistics"]] == ["step", "load", "late"]
    assert one["statistics"][1] == {
        "name": "load",
        "count": 2,
        "incomplete": 0,
        "total_ns": 400_000,
        "self_ns": 400_000,
        "min_ns": 100_000,
        "mean_ns": 200_000.0,
        "median_ns": 200_000.0,
        "p95_ns": pytest.approx(290_000),
        "p99_ns": pytest.approx(298_000),
        "max_ns": 300_000,
    }
    assert one["statistics"][0]["self_ns"] == 600_000
    assert one["statistics"][2]["incomplete"] == 1
    assert one["statistics"][2]["max_ns"] is None
    assert [(row["name"], row["total_ns"]) for row in one["asynchronous"]] == [
        ("read", 3000)
    ]
    assert one["counters"] == [
        {
            "process": "trainer (1)",
            "counter": "gpu_0_watts",
            "series": "value",
            "count": 2,
            "least": 50.0,
            "mean": 100.0,
            "greatest": 100.0,
            "last": 50.0,
            "integral": 200.0,
            "joules": 200.0,
        }
    ]
    assert one["instants"] == [{"name": "mark", "count": 1}]
    (input_,) = one["inputs"]
    assert input_["compressed"] is True
    assert (input_["first_ns"], input_["last_ns"]) == (0, 2_000_000)
    assert input_["phases"]["X"] == 3
    assert input_["odd"]["unclosed"] == 1
    assert input_["flows"]["without_end"] == 1
    assert input_["damage"]["bad_events"] == 0


def test_tables_are_for_people(powerkit: Powerkit, tmp_path: Path) -> None:
    file = write(tmp_path / "a.json")
    done = powerkit("trace", "summarize", file, "--tree", "--detailed", "--top", 2)
    assert (done.code, done.err) == (0, "")
    text = done.out
    assert f"{file}: 12 events (1 more: --top)" in text
    assert "step" in text
    assert "1.000" in text  # milliseconds
    assert "  load" in text
    assert "slices (3 more: --format json or csv)" in text
    assert "trainer (1)" in text
    assert "odd: unclosed=1" in text
    assert "flows: starts=1, flows=1, without_end=1" in text


def test_a_foreign_name_cannot_move_the_cursor(
    powerkit: Powerkit, tmp_path: Path
) -> None:
    event = {"ph": "X", "name": "\x1b[2J\u202ename", "ts": 0, "dur": 1}
    file = write(tmp_path / "a.json", [event])
    for form in ("table", "md"):
        done = powerkit("trace", "summarize", file, "--format", form)
        assert "name" in done.out
        assert "\x1b" not in done.out
        assert "\u202e" not in done.out


@pytest.mark.parametrize(
    ("by", "want"),
    [
        ("name", {"step": 600_000, "load": 400_000, "late": 0}),
        ("category", {"py": 600_000, "io": 400_000}),
        ("process", {"trainer (1)": 1_000_000, "3": 0}),
    ],
)
def test_slices_are_grouped(
    powerkit: Powerkit, tmp_path: Path, by: str, want: dict[str, int]
) -> None:
    file = write(tmp_path / "a.json")
    one = one_of(powerkit("trace", "summarize", file, "--by", by, "--json"))
    assert {row["name"]: row["self_ns"] for row in one["statistics"]} == want


@pytest.mark.parametrize(
    ("sort", "first"), [("total", "step"), ("self", "step"), ("count", "load")]
)
def test_the_greatest_is_first(
    powerkit: Powerkit, tmp_path: Path, sort: str, first: str
) -> None:
    file = write(tmp_path / "a.json")
    one = one_of(
        powerkit("trace", "summarize", file, "--sort", sort, "--top", 1, "--json")
    )
    assert [row["name"] for row in one["statistics"]] == [first]
    assert one["statistics_left_out"] == 2


def test_detailed_has_every_slice(powerkit: Powerkit, tmp_path: Path) -> None:
    """TRIMS keeps twelve names, the last of each; here are all, with their self."""
    file = write(tmp_path / "a.json")
    one = one_of(powerkit("trace", "summarize", file, "--detailed", "--json"))
    assert len(one["events"]) == 5
    assert one["events"][1] == {
        "input": 0,
        "name": "load",
        "category": "io",
        "start_ns": 10_000,
        "duration_ns": 300_000,
        "self_ns": 300_000,
        "depth": 1,
        "process": "trainer (1)",
        "thread": "main (2)",
        "asynchronous": False,
        "incomplete": False,
    }
    late = next(row for row in one["events"] if row["name"] == "late")
    assert late["incomplete"] is True
    done = powerkit("trace", "summarize", file, "--detailed", "--format", "csv")
    rows = list(csv.DictReader(io.StringIO(done.out)))
    assert [row["name"] for row in rows] == [row["name"] for row in one["events"]]
    assert rows[1]["self_ns"] == "300000"
    assert rows[1]["input"] == str(file)


def test_runs_are_told_by_the_metadata(powerkit: Powerkit, tmp_path: Path) -> None:
    known = {
        "run_id": "r1",
        "model_name": "alexnet",
        "experiment_description": "cold",
        "iteration": 2,
        "end_to_end_process_time": 123,
        "end_to_end_time": 100,
        "upr_enabled": True,
        "eager_mode": False,
        "eager_mode_async": False,
        "hostname": "h",
        "server": {"eviction_policy": "lru", "estimation_rate": 1.0},
        "input": {"not": "kept"},
    }
    events = [{"ph": "X", "name": "predict", "ts": 0, "dur": 1}]
    one = write(tmp_path / "1.json", events, otherData=known)
    two = write(
        tmp_path / "2.json",
        events,
        experiment_description="top",
        otherDatas=[{"run_id": "r2"}, {"run_id": "r3", "init_time": "t"}, 5],
    )
    summary = one_of(powerkit("trace", "summarize", "--together", one, two, "--json"))
    del known["input"]
    assert summary["runs"] == [
        {"input": 0} | known,
        {"input": 1, "run_id": "r2", "experiment_description": "top"},
        {
            "input": 1,
            "run_id": "r3",
            "init_time": "t",
            "experiment_description": "top",
        },
    ]


def test_runs_of_a_combined_trace_are_kept(powerkit: Powerkit, tmp_path: Path) -> None:
    events = [{"ph": "X", "name": "predict", "ts": 0, "dur": 1}]
    for name in ("a", "b"):
        write(tmp_path / f"{name}.json", events, otherData={"model_name": name})
    both = tmp_path / "both.json"
    inputs = (tmp_path / "a.json", tmp_path / "b.json")
    assert powerkit("trace", "combine", *inputs, "-o", both).code == 0
    summary = one_of(powerkit("trace", "summarize", both, "--json"))
    assert [run["model_name"] for run in summary["runs"]] == ["a", "b"]


def test_a_summary_is_of_each_path_or_of_all(
    powerkit: Powerkit, tmp_path: Path
) -> None:
    one, two = write(tmp_path / "1.json"), write(tmp_path / "2.json")
    apart = json.loads(powerkit("trace", "summarize", one, two, "--json").out)
    assert [len(each["inputs"]) for each in apart["summaries"]] == [1, 1]
    assert [each["statistics"][1]["count"] for each in apart["summaries"]] == [2, 2]
    assert not apart["summaries"][0]["calls"]
    deep = one_of(powerkit("trace", "summarize", "--deep", one, two, "--json"))
    assert len(deep["inputs"]) == 2
    assert deep["statistics"][1]["count"] == 4
    calls = [(each["depth"], each["name"], each["count"]) for each in deep["calls"]]
    assert calls == [(0, "step", 2), (1, "load", 4), (0, "late", 2), (0, "read", 2)]
    by = ("--by", "process", "--together")
    both = one_of(powerkit("trace", "summarize", *by, one, two, "--json"))
    names = {each["name"] for each in both["statistics"]}
    assert names == {"trainer (1)", "3", f"{two}: trainer (1)", f"{two}: 3"}


def test_a_folder_is_its_traces(powerkit: Powerkit, tmp_path: Path) -> None:
    runs = tmp_path / "runs"
    (runs / "deep").mkdir(parents=True)
    write(runs / "a.json")
    write(runs / "deep" / "b.json.gz")
    write(runs / "combined-1.json")
    write(runs / "summary.json")
    write(runs / ".a.json.1f2e.part.json")  # being written, or left behind
    (runs / "run.json").write_text('{"schema": "run/1"}')
    (runs / "samples.csv").write_text("a,b\n")
    done = powerkit("trace", "summarize", runs, "--json")
    assert done.code == 0
    (one,) = json.loads(done.out)["summaries"]
    names = [Path(each["path"]).name for each in one["inputs"]]
    assert names == ["a.json", "b.json.gz"]
    assert [Path(each).name for each in one["derived_left_out"]] == [
        "combined-1.json",
        "summary.json",
    ]
    (refused,) = one["refused"]
    assert Path(refused["path"]).name == "run.json"
    assert refused["code"] == "V033"
    assert "warning V033" in done.err
    assert "run.json" in done.err


def test_output_goes_to_a_file_whole(powerkit: Powerkit, tmp_path: Path) -> None:
    file, out = write(tmp_path / "a.json"), tmp_path / "out.csv"
    out.write_text("before")
    done = powerkit("trace", "summarize", file, "-o", out)
    assert (done.code, done.out, done.err) == (0, "", "")
    rows = list(csv.DictReader(io.StringIO(out.read_text())))
    assert [(row["name"], row["asynchronous"]) for row in rows] == [
        ("step", "False"),
        ("load", "False"),
        ("late", "False"),
        ("read", "True"),
    ]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.json", "out.csv"]
    powerkit("trace", "summarize", file, "-o", tmp_path / "out.md")
    assert "| name | count |" in (tmp_path / "out.md").read_text()
    powerkit("trace", "summarize", file, "-o", tmp_path / "out.txt")
    assert "total ms" in (tmp_path / "out.txt").read_text()


def test_what_is_read_is_not_written(powerkit: Powerkit, tmp_path: Path) -> None:
    file = write(tmp_path / "a.json")
    before = file.read_bytes()
    done = powerkit("trace", "summarize", file, "-o", file)
    assert done.code == 2
    assert "would be read and written" in done.err
    done = powerkit("trace", "summarize", file, "-o", tmp_path / "no" / "out.json")
    assert done.code == 2
    assert "does not exist" in done.err
    assert file.read_bytes() == before


def test_all_that_is_refused_is_named(powerkit: Powerkit, tmp_path: Path) -> None:
    good, empty = write(tmp_path / "a.json"), tmp_path / "empty"
    empty.mkdir()
    done = powerkit("trace", "summarize", good, tmp_path / "none.json", empty)
    assert done.code == 1
    assert "V032" in done.out
    assert "none.json: it does not exist" in done.out
    assert "empty: no file in it ends in .json or .json.gz" in done.out

    text, other = tmp_path / "text.json", tmp_path / "other.json"
    text.write_text("# tracer: nop\n")
    other.write_text('{"spans": []}')
    out = tmp_path / "out.json"
    done = powerkit("trace", "summarize", good, text, other, "-o", out)
    assert done.code == 1
    assert "text.json" in done.out
    assert "other.json" in done.out
    assert not out.exists()


def test_a_folder_without_any_trace_is_refused(
    powerkit: Powerkit, tmp_path: Path
) -> None:
    folder = tmp_path / "runs"
    folder.mkdir()
    (folder / "run.json").write_text('{"schema": "run/1"}')
    done = powerkit("trace", "summarize", folder)
    assert done.code == 1
    assert "V034" in done.out
    assert "none of its 1 files is a trace" in done.out
    write(folder / "combined-a.json")
    (folder / "run.json").unlink()
    done = powerkit("trace", "summarize", folder)
    assert done.code == 1
    assert "all its 1 files are made of other traces" in done.out
