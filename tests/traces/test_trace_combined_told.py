"""What `trace combine` and `trace validate` print is short, and the same each time."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.simulators.commands import Done

SLICE = {"name": "a", "ph": "X", "ts": 1, "dur": 2, "pid": 1, "tid": 1}


def write_runs(folder: Path, count: int) -> None:
    for number in range(count):
        run = folder / f"run-{number}"
        run.mkdir(parents=True)
        (run / "trace.json").write_text(json.dumps([SLICE]), "utf-8")
        (run / "run.json").write_text('{"schema": "run/1"}', "utf-8")


def test_many_files_that_are_no_traces_are_counted_by_name(
    powerkit: Callable[..., Done], tmp_path: Path
) -> None:
    write_runs(tmp_path / "runs", 4)
    out = tmp_path / "out.json"
    done = powerkit("trace", "combine", tmp_path / "runs", "-o", out)
    assert "passed over, no traces: 4 x run.json; --json says why\n" in done.out
    assert done.out.count("passed over") == 1
    document = json.loads(
        powerkit("trace", "combine", tmp_path / "runs", "-o", out, "--json").out
    )
    assert len(document["passed_over"]) == 4
    assert all("V003" in one["reason"] for one in document["passed_over"])


def test_of_few_each_is_told(powerkit: Callable[..., Done], tmp_path: Path) -> None:
    write_runs(tmp_path / "runs", 1)
    done = powerkit("trace", "combine", tmp_path / "runs", "-o", tmp_path / "out.json")
    assert f"passed over: {tmp_path / 'runs/run-0/run.json'} V003" in done.out
    assert "of 1 file\n" in done.out


def test_phases_stand_by_how_many_there_are(
    powerkit: Callable[..., Done], tmp_path: Path
) -> None:
    begin = {"name": "b", "ph": "B", "ts": 1, "pid": 1, "tid": 1}
    end = begin | {"ph": "E", "ts": 2}
    path = tmp_path / "trace.json"
    path.write_text(json.dumps([begin, end, SLICE, SLICE]), "utf-8")
    assert " X:2 B:1 E:1 " in powerkit("trace", "validate", path).out
