"""Combining traces: nothing shared that was apart, nothing lost or changed."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from registry.documents.findings import RegistryError
from tests.simulators.chrome_traces import arrow, named, read, rows, slice_, write
from tests.traces.joining import PLAIN, joined
from tools.traces.combining import combine


def names(path: Path) -> dict[int, dict[str, Any]]:
    """What metadata events say of each process."""
    told: dict[int, dict[str, Any]] = {}
    for event in read(path)[0]:
        if event["ph"] == "M" and event["name"].startswith("process_"):
            (value,) = event["args"].values()
            told.setdefault(event["pid"], {})[event["name"]] = value
    return told


def test_each_process_has_a_number_of_its_own(tmp_path: Path) -> None:
    first = [slice_("x", 0, 1, pid) for pid in (1, 10_001, "7", 7)]
    second = [slice_("y", 0, 1, pid) for pid in (1, 2, "gpu", -3, 2**40)]
    done = joined(tmp_path, first, second)
    pids = [pid for (pid,) in rows(done.output, "pid")]
    assert pids[:4] == [1, 10_001, 7, 7]  # kept where free; "7" is 7
    assert pids[4:] == [2, 3, 4, 5, 6]
    assert [part.processes for part in done.parts] == [3, 5]
    assert [part.renumbered for part in done.parts] == [0, 5]


def test_a_number_that_is_free_is_kept_in_later_files(tmp_path: Path) -> None:
    done = joined(tmp_path, [slice_("x", 0, 1, 5)], [slice_("y", 0, 1, 6)])
    assert rows(done.output, "pid") == [(5,), (6,)]


def test_processes_are_named_and_ordered_by_file(tmp_path: Path) -> None:
    first = [
        slice_("x", 0, 1, 1),
        named("process_name", 1, "python"),
        named("process_labels", 1, "GPU 0"),
        named("process_sort_index", 1, 5),
        slice_("x", 0, 1, 2),
        named("process_sort_index", 2, -1),
    ]
    second = [slice_("y", 0, 1, 1), slice_("y", 1, 1, "spans")]
    done = joined(tmp_path, first, second)
    assert names(done.output) == {
        1: {
            "process_name": "a / python",
            "process_labels": "a,GPU 0",
            "process_sort_index": 1,
        },
        2: {
            "process_name": "a / 2",
            "process_labels": "a",
            "process_sort_index": 0,
        },
        3: {
            "process_name": "b / 1",
            "process_labels": "b",
            "process_sort_index": 2,
        },
        4: {
            "process_name": "b / spans",
            "process_labels": "b",
            "process_sort_index": 3,
        },
    }


def test_processes_say_what_a_run_of_trims_was(tmp_path: Path) -> None:
    others = {"otherData": {"model_name": "alexnet", "hostname": "a", "git": {}}}
    done = joined(tmp_path, [slice_("x", 0, 1)], iteration=3, **others)
    labels = names(done.output)[1]["process_labels"]
    assert labels == "a,model_name=alexnet,hostname=a,iteration=3"


def test_metadata_events_are_told_once_the_last_one_counting(tmp_path: Path) -> None:
    old = named("thread_name", 1, "old", tid=1, ts=99)
    events = [old, slice_("x", 5, 1), old | {"args": {"name": "new"}}]
    events += [
        old | {"tid": 2},
        slice_("x", 7, 1),
        named("process_name", 1, "p", tid=3),
    ]
    events += [named("process_name", 1, "q", tid=4)]
    done = joined(tmp_path, events)
    metadata = [event for event in read(done.output)[0] if event["ph"] == "M"]
    threads = [event for event in metadata if event["name"] == "thread_name"]
    assert [(one["tid"], one["args"]["name"]) for one in threads] == [
        (1, "new"),
        (2, "old"),
    ]
    assert {event["ts"] for event in metadata} == {7}  # the last, so order stays
    assert names(done.output)[1]["process_name"] == "a / q"
    assert done.parts[0].repeated_names == 2


def test_a_thread_that_is_not_named_stays_that_of_its_process(tmp_path: Path) -> None:
    lone = {"ph": "i", "ts": 1, "pid": 1}
    done = joined(tmp_path, [slice_("x", 0, 1)], [lone, slice_("y", 0, 1), {"ph": "i"}])
    assert rows(done.output, "pid", "tid")[1:] == [(2, 1), (2, 1), (0, None)]


def test_arrows_stay_inside_their_file(tmp_path: Path) -> None:
    events = [
        arrow("s", 1, 0),
        arrow("f", "0x1", 1),
        arrow("s", "abc", 2),
        arrow("f", "abc", 3),
    ]
    events += [
        arrow("b", 2**60, 4),
        arrow("e", 2**60, 5),
        arrow("N", 9, 6),
        arrow("C", 9, 7),
    ]
    done = joined(tmp_path, events, events)
    ids = [id_ for (id_,) in rows(done.output, "id")]
    first, second = ids[:8], ids[8:]
    for one in (first, second):
        assert one[0] == one[1]
        assert one[2] == one[3]
        assert one[4] == one[5]
        assert one[6:] == [9, 9]  # of an object and a counter: within a process
    assert not set(first[:6]) & set(second[:6])
    assert all(isinstance(id_, int) and 0 <= id_ < 2**53 for id_ in ids)
    assert [part.relinked for part in done.parts] == [6, 6]


def test_identities_of_other_forms(tmp_path: Path) -> None:
    events = [
        slice_("x", 0, 1, bind_id="0x5", flow_out=True, id=3),
        {
            "ph": "b",
            "cat": "c",
            "name": "n",
            "id2": {"global": "0x5"},
            "ts": 0,
            "pid": 1,
        },
        {
            "ph": "b",
            "cat": "c",
            "name": "n",
            "id2": {"local": "0x5"},
            "ts": 0,
            "pid": 1,
        },
        {"ph": "b", "cat": "c", "name": "n", "id2": None, "ts": 0, "pid": 1},
        {"ph": "b", "cat": "c", "name": "n", "id": None, "ts": 0, "pid": 1},
    ]
    done = joined(tmp_path, events, events)
    told = rows(done.output, "bind_id", "id", "id2")
    assert told[0] == (5, 3, None)
    assert told[1] == (None, None, {"global": 5})
    assert told[2] == told[7] == (None, None, {"local": "0x5"})
    assert told[5][0] == told[6][2]["global"] != 5


def test_files_of_one_run_may_share_ids(tmp_path: Path) -> None:
    how = replace(PLAIN, link_ids=True)
    done = joined(tmp_path, [arrow("s", "0x1", 0)], [arrow("f", "0x1", 1)], how=how)
    assert rows(done.output, "id") == [("0x1",), ("0x1",)]
    assert done.parts[0].relinked == 0


def test_stack_frames_of_each_file_are_its_own(tmp_path: Path) -> None:
    frames = {"1": {"name": "main"}, "2": {"name": "f", "parent": 1}}
    events = [slice_("x", 0, 1, sf=2, esf="1")]
    done = joined(tmp_path, events, events, stackFrames=frames)
    assert rows(done.output, "sf", "esf") == [("0/2", "0/1"), ("1/2", "1/1")]
    assert read(done.output)[1].metadata["stackFrames"] == {
        "0/1": {"name": "main"},
        "0/2": {"name": "f", "parent": "0/1"},
        "1/1": {"name": "main"},
        "1/2": {"name": "f", "parent": "1/1"},
    }


def test_what_is_not_rewritten_stays_as_it_is(tmp_path: Path) -> None:
    text = (
        '[{"ph":"X","ts":1.10,"dur":2.5e1,"pid":1,"tid":"t","odd key":[1 ,2],'
        '"tts":5,"args":{"n":18446744073709551617,"f":1.000,"s":"\\u00e9"}},'
        '{"cat":"\\u00e4","ph":"?","pid":1}]'
    )
    done = joined(tmp_path, text.encode())
    lines = done.output.read_text().splitlines()
    assert lines[1] == (
        '{"ph":"X","tid":"t","ts":1.10,"dur":2.5e1,'
        '"args":{"n":18446744073709551617,"f":1.000,"s":"\\u00e9"},"pid":1,'
        '"odd key":[1 ,2],"tts":5},'
    )
    assert lines[2] == '{"ph":"?","cat":"\\u00e4","pid":1},'


def test_the_result_tells_what_it_is_made_of(tmp_path: Path) -> None:
    first = write(
        tmp_path / "a.json", [slice_("x", 0, 1)], schemaVersion=1, displayTimeUnit="ns"
    )
    second = write(
        tmp_path / "b.json.gz",
        [slice_("y", 0, 1), slice_("y", 2, 1)],
        otherData={"h": 2},
    )
    done = joined(tmp_path, first, second)
    told = read(done.output)[1].metadata
    sources = told["otherData"]["sources"]
    assert [one["label"] for one in sources] == ["a", "b"]
    assert [one["file"] for one in sources] == ["a.json", "b.json.gz"]
    assert [one["events"] for one in sources] == [1, 2]
    assert [one["offset_ns"] for one in sources] == [0, 0]
    assert sources[0]["metadata"] == {"schemaVersion": 1, "displayTimeUnit": "ns"}
    assert sources[1]["metadata"] == {"otherData": {"h": 2}}
    assert told["displayTimeUnit"] == done.display_time_unit == "ns"


@pytest.mark.parametrize(
    ("first", "second", "result"),
    [
        ("ms", "ms", "ms"),
        ("ms", None, "ms"),
        (None, None, "ms"),
        ("ns", "ns", "ns"),
        ("ns", "ms", "ns"),
    ],
)
def test_the_display_unit(
    tmp_path: Path, first: str | None, second: str | None, result: str
) -> None:
    paths = []
    for name, unit in (("a.json", first), ("b.json", second)):
        others = {"x": 1} if unit is None else {"displayTimeUnit": unit}
        paths.append(write(tmp_path / name, [slice_("x", 0, 1)], **others))
    assert joined(tmp_path, *paths).display_time_unit == result


def test_a_combined_trace_can_be_combined_again(tmp_path: Path) -> None:
    events = [slice_("x", 0, 1), arrow("s", 1, 0), arrow("f", 1, 1)]
    (tmp_path / "inner").mkdir()
    inner = joined(tmp_path / "inner", events, events)
    done = joined(tmp_path, inner.output, events)
    assert {told["process_name"] for told in names(done.output).values()} == {
        "a / a / 1",
        "a / b / 1",
        "b / 1",
    }
    ids = {id_ for id_, phase in rows(done.output, "id", "ph") if phase == "s"}
    assert len(ids) == 3
    (source, _) = read(done.output)[1].metadata["otherData"]["sources"]
    assert len(source["metadata"]["otherData"]["sources"]) == 2


def test_a_compressed_result(tmp_path: Path) -> None:
    path = write(tmp_path / "a.json", [slice_("x", 0, 1)])
    for name in ("one.json.gz", "two.json.gz"):
        combine([(path, "a")], tmp_path / name, PLAIN)
    seen, found = read(tmp_path / "one.json.gz")
    assert found.compressed
    assert seen[0]["name"] == "x"
    one, two = (
        (tmp_path / name).read_bytes() for name in ("one.json.gz", "two.json.gz")
    )
    assert one == two


def test_sorted_traces_are_merged_by_time(tmp_path: Path) -> None:
    how = replace(PLAIN, sort=True)
    first = [
        slice_("a1", 0, 1),
        {"ph": "i", "name": "a2", "pid": 1},
        slice_("a3", 4, 1),
    ]
    second = [slice_("b1", "0", 1), slice_("b2", 3, 1), slice_("b3", 4, 1)]
    done = joined(tmp_path, first, second, [], how=how)
    order = [name for (name,) in rows(done.output, "name")]
    assert order == ["a1", "a2", "b1", "b2", "a3", "b3"]
    assert [part.written for part in done.parts] == [6, 6, 0]


def test_a_trace_that_is_not_sorted_cannot_be_merged(tmp_path: Path) -> None:
    how = replace(PLAIN, sort=True)
    unsorted = [slice_("x", 5, 1), slice_("y", 4, 1)]
    with pytest.raises(RegistryError, match="V023"):
        joined(tmp_path, unsorted, unsorted, how=how)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.json", "b.json"]


def test_nothing_is_written_if_an_input_is_no_trace(tmp_path: Path) -> None:
    (tmp_path / "out.json").write_text("old")
    good = write(tmp_path / "a.json", [slice_("x", 0, 1)])
    bad, worse = write(tmp_path / "b.json", b""), write(tmp_path / "c.json", b"text")
    with pytest.raises(RegistryError) as caught:
        joined(tmp_path, good, bad, worse)
    assert [one.code for one in caught.value.findings] == ["V001", "V002"]
    assert (tmp_path / "out.json").read_text() == "old"


def test_damage_is_counted_and_the_rest_combined(tmp_path: Path) -> None:
    text = json.dumps([slice_("x", 0, 1), slice_("y", 2, 1)]).replace('"y"', '"y""')
    done = joined(tmp_path, text.encode(), [slice_("z", 0, 1)])
    assert [name for (name,) in rows(done.output, "name")] == ["x", "z"]
    assert [part.found.bad_events for part in done.parts] == [1, 0]


def test_times_that_viewers_cannot_hold_are_told(tmp_path: Path) -> None:
    late = [slice_("x", 9_000_000_000_001, 1)]
    assert joined(tmp_path, late, [slice_("y", 8.9e12, 1)]).parts[0].late
    done = joined(tmp_path, late, late, how=replace(PLAIN, zero=True))
    assert not any(part.late for part in done.parts)
    moved = replace(PLAIN, offsets_ns=(9 * 10**15,))
    assert joined(tmp_path, [slice_("y", 1, 1)], how=moved).parts[0].late
