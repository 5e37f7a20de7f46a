"""Traces are written whole or not at all, and read back as they were."""

from __future__ import annotations

import errno
import gzip
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec import Raw

from tests.simulators.chrome_traces import read, slice_
from tools.traces.writing import TraceWriter, microseconds, microseconds_text

JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3)
    ),
    max_leaves=8,
)


@given(
    events=st.lists(st.dictionaries(st.text(max_size=4), JSON, max_size=4), max_size=6)
)
@settings(max_examples=40)
def test_what_is_written_is_read(
    tmp_path_factory: pytest.TempPathFactory, events: list[dict[str, Any]]
) -> None:
    path = tmp_path_factory.getbasetemp() / "written.json"
    with TraceWriter(path) as trace:
        trace.write(events)
        trace.raw(json.dumps(events).encode())
        trace.write(iter(events))
    assert read(path)[0] == events * 3
    value = json.loads(path.read_bytes())
    assert value["traceEvents"] == events * 3
    assert trace.events == 2 * len(events)


def test_other_keys_may_be_told_at_the_end(tmp_path: Path) -> None:
    path = tmp_path / "new" / "folder" / "t.json"
    others = {"a": 1, "traceEvents": "no", "displayTimeUnit": "ms"}
    with TraceWriter(path, metadata={"b": 2}) as trace:
        trace.write([slice_("x", 0, 1)])
        trace.metadata |= others
    assert json.loads(path.read_text()) == {
        "traceEvents": [slice_("x", 0, 1)],
        "displayTimeUnit": "ms",
        "a": 1,
        "b": 2,
    }


def test_the_unit(tmp_path: Path) -> None:
    for unit in ("ns", "ms"):
        with TraceWriter(tmp_path / "t", display_time_unit=unit):
            pass
        assert json.loads((tmp_path / "t").read_text()) == {
            "traceEvents": [],
            "displayTimeUnit": unit,
        }


def test_one_event_is_one_line(tmp_path: Path) -> None:
    path = tmp_path / "t.json"
    with TraceWriter(path) as trace:
        trace.write([{"args": Raw(b'[{"a":"}\\n{"},{}]')}, {"name": "}\n{"}])
    assert path.read_text().splitlines()[1:3] == [
        '{"args":[{"a":"}\\n{"},{}]},',
        '{"name":"}\\n{"}',
    ]


@pytest.mark.parametrize("name", ["t.json", "t.json.gz"])
def test_nothing_is_left_if_something_fails(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    path.write_text("old")

    def failing() -> Iterator[dict[str, Any]]:
        yield from [slice_("x", 0, 1)] * 50_000
        raise RuntimeError

    with pytest.raises(RuntimeError), TraceWriter(path) as trace:
        trace.write(failing())
    assert path.read_text() == "old"
    assert [one.name for one in tmp_path.iterdir()] == [name]


@pytest.mark.parametrize("name", ["full.json", "full.json.gz"])
def test_nothing_is_left_on_a_full_disk(tmp_path: Path, name: str) -> None:
    """The limit for the size of a file fails as a full disk does."""
    program = (
        "import resource, sys\n"
        "from pathlib import Path\n"
        "from tools.traces.writing import TraceWriter\n"
        "for size in (0, 7, 60):\n"
        "    resource.setrlimit(resource.RLIMIT_FSIZE, (size, -1))\n"
        "    try:\n"
        "        with TraceWriter(Path(sys.argv[1])) as out:\n"
        "            out.write([{'name': str(i)} for i in range(9)])\n"
        "    except OSError as error:\n"
        "        print(error.strerror, error.filename)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program, str(tmp_path / name)],
        capture_output=True,
        text=True,
        check=True,
    )
    told = f"{os.strerror(errno.EFBIG)} {tmp_path / name}"
    assert done.stdout.splitlines() == [told] * 3
    assert list(tmp_path.iterdir()) == []


def test_gzip_holds_neither_name_nor_time(tmp_path: Path) -> None:
    path = tmp_path / "secret-name.json.gz"
    with TraceWriter(path) as trace:
        trace.write([slice_("x", 0, 1)])
    assert b"secret-name" not in path.read_bytes()
    assert path.read_bytes()[4:8] == b"\0\0\0\0"
    assert json.loads(gzip.decompress(path.read_bytes()))["traceEvents"]


@pytest.mark.parametrize(
    ("ns", "us", "text"),
    [
        (0, 0, b"0.000"),
        (1500, 1.5, b"1.500"),
        (-1, -0.001, b"-0.001"),
        (-1500, -1.5, b"-1.500"),
        (2000, 2, b"2.000"),
        (1_700_000_000_123_456_789, 1_700_000_000_123_456.8, b"1700000000123456.789"),
    ],
)
def test_times(ns: int, us: float, text: bytes) -> None:
    assert microseconds(ns) == us
    assert microseconds_text(ns) == text


def test_a_pipe_or_device_is_not_replaced(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    with pytest.raises(FileExistsError, match="no plain file"), TraceWriter(pipe):
        pass
    assert pipe.is_fifo()
    assert list(tmp_path.iterdir()) == [pipe]
