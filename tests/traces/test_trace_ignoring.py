"""Events that are left out, with their time; events that get another name."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from registry.documents.findings import RegistryError
from tests.simulators.chrome_traces import read, rows, slice_, write
from tools.traces import limits
from tools.traces.alignment import Align
from tools.traces.combination import Combination, Combined
from tools.traces.combining import combine
from tools.traces.renaming import new_names

IGNORE = Combination(ignored=frozenset({"ignore"}))
TAKE = replace(IGNORE, take_out=True)


def only(folder: Path, how: Combination, events: list[Any]) -> Combined:
    return combine([(write(folder / "a.json", events), "a")], folder / "out.json", how)


def begin(name: str, ts: float, **more: Any) -> dict[str, Any]:
    return {"ph": "B", "name": name, "ts": ts, "pid": 1, "tid": 1} | more


def end(ts: float, **more: Any) -> dict[str, Any]:
    return {"ph": "E", "ts": ts, "pid": 1, "tid": 1} | more


def test_events_of_a_category_are_left_out(tmp_path: Path) -> None:
    events = [
        slice_("a", 0, 9),
        slice_("b", 1, 2, cat="ignore"),
        slice_("c", 4, 1, cat="other, ignore"),
        slice_("d", 5, 1, cat="ignored"),
        {"ph": "C", "name": "e", "ts": 6, "cat": "ignore", "pid": 1},
    ]
    done = only(tmp_path, IGNORE, events)
    assert rows(done.output, "name", "ts", "dur") == [("a", 0, 9), ("d", 5, 1)]
    assert (done.parts[0].ignored, done.parts[0].taken_out_ns) == (3, 0)


def test_an_end_without_a_category_belongs_to_its_beginning(tmp_path: Path) -> None:
    events = [
        begin("a", 0),
        begin("b", 1, cat="ignore"),
        begin("c", 2),
        end(3),
        end(4),
        end(5),
        begin("d", 6, cat="ignore"),
        begin("e", 7),
        end(8, name="d", cat="ignore"),
        end(9, name="e"),
    ]
    done = only(tmp_path, IGNORE, events)
    assert rows(done.output, "ph", "ts") == [
        ("B", 0),
        ("B", 2),
        ("E", 3),
        ("E", 5),
        ("B", 7),
        ("E", 9),
    ]
    assert done.parts[0].ignored == 4
    assert done.parts[0].unmatched_ignored == 0


def test_the_time_of_all_ignored_slices_is_taken_out(tmp_path: Path) -> None:
    """TRIMS took out the last one only."""
    events = [
        slice_("whole", 0, 100),
        begin("x", 5, cat="ignore"),
        end(15, cat="ignore"),
        slice_("between", 20, 10),
        slice_("y", 40, 20, cat="ignore", tid=2),
        slice_("z", 50, 20, cat="ignore"),  # overlaps: 40 to 70 in all
        slice_("begins in it", 45, 35),
        slice_("after", 80, 5),
        {"ph": "i", "name": "inside", "ts": 55, "pid": 1, "tid": 1},
    ]
    done = only(tmp_path, TAKE, events)
    assert rows(done.output, "name", "ts", "dur") == [
        ("whole", 0, 60),
        ("between", 10, 10),
        ("begins in it", 30, 10),
        ("after", 40, 5),
        ("inside", 30, None),
    ]
    assert done.parts[0].taken_out_ns == 40_000
    told = read(done.output)[1].metadata["otherData"]["sources"]
    assert told[0]["taken_out_ns"] == 40_000


def test_time_is_taken_out_before_clocks_are_aligned(tmp_path: Path) -> None:
    events = [slice_("x", 10, 5, cat="ignore"), slice_("y", 12, 8), slice_("z", 25, 1)]
    done = only(tmp_path, replace(TAKE, align=Align.ZERO), events)
    assert rows(done.output, "name", "ts", "dur") == [("y", 0, 5), ("z", 10, 1)]
    marked = replace(TAKE, align=Align.MARKER, marker="z")
    assert only(tmp_path, marked, events).parts[0].offset_ns == 0


def test_ignored_slices_without_partner_are_counted(tmp_path: Path) -> None:
    events = [
        end(1, cat="ignore"),
        begin("a", 2, cat="ignore"),
        slice_("b", 3, -1, cat="ignore"),
        slice_("c", 10, 1),
    ]
    done = only(tmp_path, TAKE, events)
    assert rows(done.output, "name", "ts") == [("c", 10)]
    assert done.parts[0].unmatched_ignored == 3
    assert done.parts[0].taken_out_ns == 0


@pytest.mark.parametrize(
    ("limit", "event"),
    [
        ("OPEN_SLICES", begin("a", 0)),
        ("IGNORED_SPANS", slice_("a", 0, 1, cat="ignore")),
    ],
)
def test_what_is_followed_is_bounded(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, limit: str, event: dict[str, Any]
) -> None:
    monkeypatch.setattr(limits, limit, 5)
    with pytest.raises(RegistryError, match="V021"):
        only(tmp_path, TAKE, [event] * 6)


def test_events_get_new_names(tmp_path: Path) -> None:
    how = Combination(names={"old": 'new "é"', "ä": "umlaut"})
    events = [slice_("old", 0, 1), begin("old", 2), end(3, name="old"), end(4)]
    events += [slice_("ä", 5, 1), slice_("older", 6, 1)]
    done = only(tmp_path, how, events)
    assert [name for (name,) in rows(done.output, "name")] == [
        'new "é"',
        'new "é"',
        'new "é"',
        None,
        "umlaut",
        "older",
    ]
    assert done.parts[0].renamed == 4


def test_new_names_of_options_and_of_a_file(tmp_path: Path) -> None:
    file = tmp_path / "names.yaml"
    file.write_text("# ours\nold: new\n'a b': c\n")
    assert new_names(["old=newer", "x=1=y"], file) == {
        "old": "newer",
        "a b": "c",
        "x=1": "y",
    }


def test_new_names_that_are_none(tmp_path: Path) -> None:
    file = tmp_path / "names.yaml"
    file.write_text("good: name\nbad:\n  - list\n")
    with pytest.raises(RegistryError) as caught:
        new_names(["nothing", "=x"], file)
    assert [(one.code, one.line, one.what) for one in caught.value.findings] == [
        ("V026", 2, "bad is no text"),
        ("V026", None, "nothing is no OLD=NEW"),
        ("V026", None, "=x is no OLD=NEW"),
    ]
