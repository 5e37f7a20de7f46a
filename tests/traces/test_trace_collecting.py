"""The garbage collector runs rarely while traces are read, and as before afterwards."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.simulators.chrome_traces import slice_, write
from tests.traces.joining import joined
from tools.traces import collecting, reading
from tools.traces.collecting import rarely_collected
from tools.traces.summaries import Summary


def test_the_collector_is_as_before_whatever_ends_the_block() -> None:
    before = gc.get_threshold()
    with rarely_collected():
        assert gc.get_threshold()[0] == collecting._THRESHOLD
    assert gc.get_threshold() == before
    with pytest.raises(ValueError, match="invalid literal"), rarely_collected():
        int("not a number")
    assert gc.get_threshold() == before


def test_a_collector_that_is_off_stays_off() -> None:
    before = gc.get_threshold()
    try:
        gc.set_threshold(0)
        with rarely_collected():
            assert gc.get_threshold()[0] == 0
    finally:
        gc.set_threshold(*before)


@pytest.mark.parametrize("module", ["gathering", "combining"])
def test_traces_are_read_with_few_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, module: str
) -> None:
    seen = []

    def decoded(*given: Any) -> Iterator[list[Any]]:
        seen.append(gc.get_threshold()[0])
        return reading.decoded(*given)

    monkeypatch.setattr(f"tools.traces.{module}.decoded", decoded)
    if module == "gathering":
        Summary().add(write(tmp_path / "a.json", [slice_("a", 0, 1)]))
    else:
        joined(tmp_path, [slice_("a", 0, 1)])
    assert seen == [collecting._THRESHOLD]
