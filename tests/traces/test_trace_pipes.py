"""Traces that come through a pipe: read where once is enough, refused elsewhere."""

from __future__ import annotations

import gzip
import json
import os
import threading
from pathlib import Path

import pytest

from registry.documents.findings import RegistryError
from tests.simulators.chrome_traces import read, slice_
from tools.traces import limits
from tools.traces.combination import Combination
from tools.traces.combining import combine
from tools.traces.converting import convert_trace
from tools.traces.forms import Form
from tools.traces.publishing import describe
from tools.traces.validating import validate

A, B = slice_("a", 0, 2), slice_("b", 3, 4)
TEXT = json.dumps([A, B])


def piped(path: Path, data: bytes) -> Path:
    """A pipe that some bytes come through, once."""
    os.mkfifo(path)
    threading.Thread(target=path.write_bytes, args=[data], daemon=True).start()
    return path


@pytest.mark.parametrize("packed", [False, True])
def test_a_trace_may_come_through_a_pipe(tmp_path: Path, packed: bool) -> None:
    data = TEXT.encode() + b" " * limits.BLOCK_BYTES
    seen, found = read(piped(tmp_path / "t", gzip.compress(data) if packed else data))
    assert seen == [A, B]
    assert (found.bytes_read, found.whole) == (len(data), True)


def test_a_damaged_trace_through_a_pipe_is_not_read_again(tmp_path: Path) -> None:
    data = json.dumps([A, 0, B]).replace("0, {", "}, {", 1).encode()
    checked = validate(piped(tmp_path / "t", data))
    assert {one.code for one in checked.findings} == {"V006"}


def test_what_is_read_twice_may_be_no_pipe(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "t")
    with pytest.raises(RegistryError) as caught:
        combine([(tmp_path / "t", "t")], tmp_path / "out.json", Combination())
    assert [one.code for one in caught.value.findings] == ["V059"]
    with pytest.raises(RegistryError) as caught:
        describe(tmp_path / "t")
    assert [one.code for one in caught.value.findings] == ["V059"]
    with pytest.raises(RegistryError) as caught:
        convert_trace(tmp_path / "t", Form.PERFETTO, tmp_path / "out.json")
    assert [one.code for one in caught.value.findings] == ["V059"]
