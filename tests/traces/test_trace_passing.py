"""Events that need no change are written as they stand; all others as before."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.simulators.chrome_traces import arrow, read, rows, slice_
from tests.traces.joining import joined
from tools.traces.passing import Passed, Passing
from tools.traces.shapes import Shape

LINE = (
    '{ "tid":1,"pid":1, "ph":"X","ts":1.50,"dur":2E0,"zz":{"pid":2},"name":"\\u0061"}'
)

EVENTS = st.fixed_dictionaries(
    {"ph": st.sampled_from("XBECibesfM"), "ts": st.integers(0, 9)},
    optional={
        "pid": st.sampled_from([0, 1, 1.0, 2, "1", "gpu", -1, 2**33, None, True]),
        "tid": st.sampled_from([1, "main"]),
        "name": st.sampled_from(["a", "process_name"]),
        "id": st.sampled_from([1, "0x1f", "one", 2**60]),
        "bind_id": st.sampled_from([3, "0x3"]),
        "id2": st.sampled_from([{"local": 1}, {"global": "0x1"}]),
        "sf": st.just(1),
        "args": st.just({"pid": 9, "ph": "s"}),
    },
)

PLAIN = st.fixed_dictionaries(
    {"ph": st.sampled_from("XBECibesf"), "pid": st.sampled_from([1, 2])},
    optional={"id": st.sampled_from([1, "0x1f", "one", 2**60]), "ts": st.just(5)},
)
SOME = st.lists(EVENTS, max_size=6) | st.lists(PLAIN, max_size=6)


def keeps(pid: int) -> bool:
    return pid == 1


def test_events_without_a_change_keep_their_text() -> None:
    array = f"[{LINE},{LINE},{LINE},{json.dumps(arrow('s', '0x1', 0))},{LINE}]"
    batch = Passing(Shape(), keeps).decode(array.encode())
    assert type(batch) is Passed
    assert [bytes(event) for event in batch[1:3]] == [LINE.encode()] * 2
    # The last event's time is told to the metadata, the others' identities change.
    assert [batch[at].ph for at in (0, 3, 4)] == ["X", "s", "X"]
    assert [event.id for event in batch.linked] == ["0x1"]


@pytest.mark.parametrize(
    "other",
    [
        '{"ph":"X","pid":2}',
        '{"ph":"X","pid":1.5}',
        '{"ph":"X","pid":"1"}',
        '{"ph":"X"}',
        '{"ph":"M","pid":1}',
        '{"ph":"X","pid":1,"bind_id":1}',
        '{"ph":"X","pid":1,"id2":{}}',
        '{"ph":"X","pid":1,"sf":1}',
        '{"ph":"X","pid":1,"esf":1}',
        '{"ph":"X",\n"pid":\n1\n,\n"ts":\n1}',
    ],
)
def test_events_with_one_that_changes_are_taken_apart(other: str) -> None:
    passing = Passing(Shape(), keeps)
    array = f"[{LINE},{other},{LINE}]".encode()
    sound = f"[{LINE},{LINE}]".encode()
    assert type(passing.decode(array)) is list
    # What hindered one batch is not looked for in the next one.
    assert type(passing.decode(sound)) is list
    assert type(passing.decode(sound)) is Passed


@settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(SOME, SOME)
def test_the_result_is_that_of_taking_all_events_apart(
    tmp_path: Path, first: list[dict[str, Any]], second: list[dict[str, Any]]
) -> None:
    def result() -> list[dict[str, Any]]:
        return read(joined(tmp_path, [slice_("a", 0, 1), *first], second).output)[0]

    quick = result()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Passing, "decode", lambda self, array: self._shape.decode(array))
        assert quick == result()


def test_processes_get_their_numbers_in_the_order_of_the_file(tmp_path: Path) -> None:
    events = [slice_("a", 0, 1, 5), slice_("a", 0, 1, 3)]
    done = joined(tmp_path, events, events)
    assert rows(done.output, "pid") == [(5,), (3,), (1,), (2,)]
