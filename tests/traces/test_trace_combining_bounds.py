"""What combining traces must remember is bounded, and what it cannot is told."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from registry.documents.findings import RegistryError
from tests.simulators.chrome_traces import arrow, named, read, rows, slice_, write
from tests.traces.joining import PLAIN, joined
from tools.traces import limits


def test_what_many_files_tell_is_bounded(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(limits, "SOURCES_BYTES", 250)
    paths = [
        write(
            tmp_path / f"{n}.json",
            [slice_("x", 0, 1)],
            displayTimeUnit="ns",
            k="v" * 99,
        )
        for n in range(3)
    ]
    done = joined(tmp_path, *paths)
    assert [part.found.metadata_left_out for part in done.parts] == [[], [], ["k"]]
    sources = read(done.output)[1].metadata["otherData"]["sources"]
    assert sources[2]["metadata"] == {"displayTimeUnit": "ns"}


def test_how_many_files_are_merged_is_bounded(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(limits, "MERGED_INPUTS", 1)
    with pytest.raises(RegistryError, match="V027 2 files, at most 1 can be merged"):
        joined(tmp_path, [], [], how=replace(PLAIN, sort=True))


@pytest.mark.parametrize(
    ("limit", "events"),
    [
        ("PROCESSES", [slice_("x", 0, 1, pid) for pid in range(6)]),
        ("IDENTITIES", [arrow("s", f"text {n}", 0) for n in range(6)]),
    ],
)
def test_what_must_be_remembered_is_bounded(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, limit: str, events: list[Any]
) -> None:
    monkeypatch.setattr(limits, limit, 5)
    with pytest.raises(RegistryError, match="V020"):
        joined(tmp_path, events)
    assert not (tmp_path / "out.json").exists()


def test_more_names_than_can_be_remembered_are_written_as_they_are(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(limits, "NAMES", 2)
    events = [named("thread_name", 1, f"t{n}", tid=n) for n in range(5)]
    done = joined(tmp_path, events)
    seen = [event for event in read(done.output)[0] if event["name"] == "thread_name"]
    assert sorted(event["args"]["name"] for event in seen) == [
        "t0",
        "t1",
        "t2",
        "t3",
        "t4",
    ]


def test_events_with_too_many_different_keys_are_counted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(limits, "EVENT_KEYS", 20)
    monkeypatch.setattr("tools.traces.shapes.EVENT_KEYS", 20)
    odd = slice_("odd", 0, 1) | {f"key {n}": n for n in range(30)}
    done = joined(tmp_path, [slice_("x", 0, 1, k=1), odd, slice_("y", 0, 1)])
    assert [name for (name,) in rows(done.output, "name")] == ["x", "y"]
    assert done.parts[0].found.bad_events == 1
