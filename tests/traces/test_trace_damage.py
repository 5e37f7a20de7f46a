"""Broken traces: what is whole is read, what is lost is counted, nothing hangs."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from registry.documents.findings import RegistryError
from tests.simulators.chrome_traces import read, slice_
from tools.traces import limits
from tools.traces.damage import damage, lines_of
from tools.traces.reading import Found, pieces

A, B, C = slice_("a", 0, 2), slice_("b", 3, 4), slice_("c", 8, 1)


def text(*values: object) -> str:
    return (
        "["
        + ",\n".join(
            value if isinstance(value, str) else json.dumps(value) for value in values
        )
        + "]"
    )


def load(path: Path, content: str | bytes) -> tuple[list[str], Found]:
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    seen, found = read(path)
    return [event["name"] for event in seen], found


def test_doubled_quotes_as_loadgen_writes_them(tmp_path: Path) -> None:
    # mlcommons-loadgen 6.0.17 puts texts into quotes that have quotes already.
    broken = (
        '{"name":"x","ph":"i","ts":1,"pid":1,"tid":1,"args":{"key":""loadgen_version"",'
        '"value":{"a":{"b":1}},"metadata":{"is_error":false}}}'
    )
    last = '{"name": "end", "args": {}}'
    names, found = load(tmp_path / "t", text(A, broken, B, broken, broken, C, last))
    assert names == ["a", "b", "c", "end"]
    assert (found.events, found.bad_events, found.salvaged) == (4, 3, 2)
    assert found.corrupt == 3
    assert not found.unterminated
    where = text(A, broken, B, broken).index(broken)
    assert found.corrupt_at[0] == where


BROKEN = '{"name":"x","ph":"X","ts":x,"args":{"l":[{"a":1},{"b":2},{"d":3}],"c":2}}'


def test_an_event_without_a_phase_behind_a_lost_one_is_counted(tmp_path: Path) -> None:
    odd = '{"name":"odd","ts":1}'
    for gap in (",", ", ", ",\n"):
        content = "[" + gap.join([json.dumps(A), BROKEN, odd, odd, json.dumps(C)]) + "]"
        names, found = load(tmp_path / "t", content)
        assert (names, found.bad_events, found.corrupt) == (["a", "c"], 3, 1), gap
    # The objects inside the lost event are parts of it.
    names, found = load(tmp_path / "t", "[" + ",".join([BROKEN, json.dumps(C)]) + "]")
    assert (names, found.bad_events) == (["c"], 1)


@pytest.mark.parametrize("last", [BROKEN, '{"name":"x","ph":"X","args":{"k":""v""}}'])
def test_keys_behind_a_lost_last_event_are_kept(tmp_path: Path, last: str) -> None:
    others = '"displayTimeUnit":"ns","otherData":{"k":[{"l":1}],"m":2}'
    content = (
        '{"traceEvents":[' + json.dumps(A) + ",\n" + last + "\n]," + others + "}\n"
    )
    names, found = load(tmp_path / "t", content)
    assert (names, found.bad_events, found.corrupt) == (["a"], 1, 1)
    assert found.metadata == json.loads("{" + others + "}")
    assert not found.unterminated
    # What only looks like other keys stands in the event.
    names, found = load(tmp_path / "t", content[: content.index("\n],")])
    assert (names, found.metadata) == (["a"], {})
    names, found = load(tmp_path / "t", content.replace(others, "").replace(",}", "}"))
    assert (names, found.metadata, found.unterminated) == (["a"], {}, False)


def test_many_objects_in_a_lost_event_hide_none_behind_it(tmp_path: Path) -> None:
    inner = ",".join('{"a":1}' for _ in range(50))
    broken = '{"name":"x","ph":"X","ts":x,"args":{"l":[' + inner + "]}}"
    names, found = load(tmp_path / "t", f"[{broken},{json.dumps(C)}]")
    assert (names, found.bad_events) == (["c"], 1)


def test_numbers_that_json_does_not_have_become_null(tmp_path: Path) -> None:
    values = '{"x": NaN, "y": [Infinity, -Infinity], "z": 1e999, "n": 1}'
    odd = '{"ph":"C","name":"odd","ts":1,"args":' + values + "}"
    path = tmp_path / "t"
    path.write_text(text(A, odd, B))
    seen, found = read(path)
    assert [event["name"] for event in seen] == ["a", "odd", "b"]
    assert seen[1]["args"] == {"x": None, "y": [None, None], "z": None, "n": 1}
    assert found.not_numbers == 1
    assert (found.bad_events, found.corrupt) == (0, 0)


def test_bytes_that_are_no_utf8_are_replaced_and_counted(tmp_path: Path) -> None:
    data = text(A | {"name": "é"}, B, C).replace('"b"', '"b\udcff\udcfe"')
    names, found = load(tmp_path / "t", data.encode("utf-8", "surrogateescape"))
    assert names == ["é", "b\ufffd\ufffd", "c"]
    assert (found.bad_utf8, found.bad_events) == (2, 0)


def test_half_a_surrogate_pair_is_replaced_and_counted(tmp_path: Path) -> None:
    content = (
        '{"k":"\\udfff","traceEvents":' + text(A, '{"ph":"X","name":"\\ud800"}') + "}"
    )
    names, found = load(tmp_path / "t", content)
    assert names == ["a", "\ufffd"]
    assert found.metadata == {"k": "\ufffd"}
    assert found.bad_utf8 == 2


def test_control_characters_in_names_are_taken(tmp_path: Path) -> None:
    names, found = load(tmp_path / "t", text(A, '{"ph":"X","name":"b\n\t"}', C))
    assert names == ["a", "b\n\t", "c"]
    assert found.bad_events == 0


def test_the_rest_of_a_lost_event_is_no_other_value(tmp_path: Path) -> None:
    mixed = '{"ph":"X","name":"lost","ts":1' + json.dumps(B) + ',"dur":5,"x":"y"}'
    names, found = load(tmp_path / "t", text(A, mixed, C))
    assert names == ["a", "b", "c"]
    assert (found.bad_events, found.corrupt, found.not_objects) == (1, 1, 0)


def test_a_file_that_ends_inside_an_event(tmp_path: Path) -> None:
    whole = text(A, B, C)
    names, found = load(tmp_path / "t", whole[: whole.index('"c"') + 1])
    assert names == ["a", "b"]
    assert found.unterminated
    assert (found.bad_events, found.corrupt) == (1, 0)


def test_a_file_that_ends_inside_other_keys(tmp_path: Path) -> None:
    names, found = load(tmp_path / "t", '{"traceEvents":' + text(A, B) + ',"k":{"a":')
    assert names == ["a", "b"]
    assert found.corrupt == 1
    assert found.metadata == {}


def test_broken_keys_before_the_events(tmp_path: Path) -> None:
    content = '{"k":{"a" 1},\n' + " " * 5000 + '"traceEvents" : ' + text(A, B) + "}"
    names, found = load(tmp_path / "t", content)
    assert names == ["a", "b"]
    assert found.corrupt == 1


def test_text_between_and_behind_events(tmp_path: Path) -> None:
    names, found = load(tmp_path / "t", text(A, "garbage", B) + "more " + text(C))
    assert names == ["a", "b", "c"]
    assert (found.bad_events, found.corrupt) == (1, 2)


def test_two_traces_in_one_file(tmp_path: Path) -> None:
    for first, second in (
        (text(A, B), text(C)),
        ('{"traceEvents":' + text(A, B) + "}", '{"traceEvents":' + text(C) + "}"),
    ):
        names, found = load(tmp_path / "t", first + "\n" + second)
        assert names == ["a", "b", "c"]
        assert found.corrupt_at == [len(first) + 1]


def test_missing_commas_lose_nothing(tmp_path: Path) -> None:
    content = text(A, B, C).replace(",\n", "\n")
    names, found = load(tmp_path / "t", content)
    assert names == ["a", "b", "c"]
    assert found.bad_events == 0


def test_an_event_that_nests_too_deeply_is_lost_alone(tmp_path: Path) -> None:
    deep = '{"ph":"X","name":"deep","args":' + '{"a":' * 5000 + "1" + "}" * 5001
    names, found = load(tmp_path / "t", text(A, deep, B))
    assert names == ["a", "b"]
    assert found.bad_events == 1


def test_an_event_that_is_too_long_is_lost_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(limits, "EVENT_BYTES", 100_000)
    large = B | {"args": {"image": "x" * 90_000}}
    larger = B | {"name": "larger", "args": {"image": "x" * 3_000_000}}
    names, found = load(tmp_path / "t", text(A, large, larger, C))
    assert names == ["a", "b", "c"]
    assert found.bad_events == 1


def test_damage_does_not_slow_the_rest(tmp_path: Path) -> None:
    """Broken lines in one block; all others are decoded as a whole."""
    many = [slice_(f"n{n}", n, 1) for n in range(20_000)]
    lines = [json.dumps(event) for event in many]
    lines[100] = lines[100].replace('"ph"', "ph")
    lines[101] = lines[101][:-1]
    names, found = load(tmp_path / "t", "[" + ",\n".join(lines) + "]")
    assert len(names) == 20_000 - 2
    assert (found.bad_events, found.salvaged) == (2, 1)
    assert found.events == 20_000 - 2


def test_every_problem_is_told_with_its_place(tmp_path: Path) -> None:
    path = tmp_path / "t.json"
    content = text(A, 7, '{"ph":bad}', '{"ph":"X","ts":NaN}').encode()
    path.write_bytes(content.replace(b'"a"', b'"\xff"'))
    found = Found()
    list(pieces(path, found))
    lines = lines_of(path, found.corrupt_at)
    said = damage(path, found, lines=lines)
    assert [(one.code, one.line) for one in said] == [
        ("V006", 3),
        ("V007", None),
        ("V008", None),
        ("V009", None),
    ]
    offset = path.read_bytes().index(b'{"ph":bad')
    assert said[0].what.startswith(f"corrupt at byte {offset}; 1 events are lost")


ADVERSARIES = {
    "nested objects": b'[{"ph":"X"},' + b'{"a":' * 60_000,
    "nested arrays": b'[{"ph":"X"},' + b"[" * 1_000_000,
    "braces": b'[{"ph":"X"},' + b'{"' * 100_000,
    "strings that look like events": b'[{"ph":"X"},{"a":"' + b'},{"' * 50_000,
    "a string without end": b'[{"ph":"X"},{"ph":"' + b"x" * 9_000_000,
    "commas": b'[{"ph":"X"}' + b"," * 5_000_000,
    "broken lines": b'[{"ph":"X"},\n' + b'{"ph":"X","a":""x"","b":{"c":2}},\n' * 5_000,
    "many ends": b'[{"ph":"X"}' + b"]" * 1_000_000,
    "many arrays": b'[{"ph":"X"}]' * 10_000,
    "many objects": b'{"traceEvents":[{"ph":"X"}]}' * 5_000,
    "a number of digits": b'[{"ph":"X","ts":' + b"9" * 2_000_000 + b"}]",
    "no text": b'[{"ph":"X","name":"' + b"\xff" * 300_000 + b'"}]',
    "a key without end": b'{"' + b"x" * 5_000_000,
    "keys that repeat": b'{"traceEvents":[{"ph":"X"}],' + b'"a":1,' * 900 + b'"b":',
}


@pytest.mark.parametrize("name", ADVERSARIES)
def test_no_text_takes_long(tmp_path: Path, name: str) -> None:
    path = tmp_path / "t"
    path.write_bytes(ADVERSARIES[name])
    begun = time.process_time()
    assert outcome(path, Found())[1] in {None, "V003"}
    assert time.process_time() - begun < 10  # a mebibyte takes a second at worst


FIRST = (
    b'[{"ph":"X","name":"a","ts":1,"dur":2,"pid":1,"tid":1,"args":{"x":[1,{"y":2}]}},\n'
    b'{"ph":"M","name":"process_name","pid":1,"args":{"name":"p"}},{"ph":"E","ts":4}]'
)
SECOND = (
    b'{"otherData":{"a":[1,2]},"traceEvents":[{"ph":"B","ts":1.5},{"ph":"E","ts":2e3}'
    b'\n,{"ph":"s","id":"0x1f","ts":-3}],"displayTimeUnit":"ns","stackFrames":{"1":{}}}'
)
SEEDS = (FIRST, SECOND)
TOKENS = st.sampled_from(
    [
        *(bytes([char]) for char in b'"{}[],:\\\xff\n\x00\xc3'),
        *(b"NaN", b"1e999", b"},{", b'{"ph":"X"}', b'"traceEvents":[', b"\\ud800"),
        *(b"9" * 5000, b"[" * 2000, b"]}", b"null"),
    ]
)


def outcome(path: Path, found: Found) -> tuple[list[Any], str | None]:
    """The pieces of a file, or the code of why there are none."""
    try:
        return [json.loads(piece) for piece in pieces(path, found)], None
    except RegistryError as error:
        return [], error.findings[0].code


EDITS = st.lists(
    st.tuples(
        st.integers(0, 400),
        st.integers(0, 30),
        st.one_of(TOKENS, st.binary(max_size=4), st.sampled_from(SEEDS)),
    ),
    min_size=1,
    max_size=6,
)


@given(
    seed=st.sampled_from(SEEDS), edits=EDITS, size=st.sampled_from([16, 100, 1 << 20])
)
@settings(max_examples=150)
def test_whatever_is_done_to_a_trace_it_is_read_or_refused(
    tmp_path_factory: pytest.TempPathFactory,
    seed: bytes,
    edits: list[tuple[int, int, bytes]],
    size: int,
) -> None:
    data = bytearray(seed)
    for at, cut, new in edits:
        data[at : at + cut] = new
    path = tmp_path_factory.getbasetemp() / "mutated"
    path.write_bytes(data)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(limits, "BLOCK_BYTES", size)
        patch.setattr(limits, "SALVAGE_BYTES", size)
        found = Found()
        parts, code = outcome(path, found)
        if code is None:
            assert sum(map(len, parts)) == found.events
            assert all(isinstance(event, dict) for part in parts for event in part)
            assert len(read(path)[0]) <= found.events


@given(data=st.binary(max_size=300))
def test_any_bytes_are_read_or_refused(
    tmp_path_factory: pytest.TempPathFactory, data: bytes
) -> None:
    path = tmp_path_factory.getbasetemp() / "bytes"
    for begin in (b"", b"[", b'{"traceEvents":[', b"\x1f\x8b"):
        path.write_bytes(begin + data)
        assert outcome(path, Found())[1] in {None, "V001", "V002", "V003"}


def test_the_end_of_a_sound_trace_never_costs_an_event(tmp_path: Path) -> None:
    """Cut anywhere, a trace gives all events that are whole before the cut."""
    whole = text(A, B, C)
    ends = [whole.index("}") + 1]
    while "}" in whole[ends[-1] :]:
        ends.append(whole.index("}", ends[-1]) + 1)
    for cut in range(ends[0], len(whole)):
        names, found = load(tmp_path / "t", whole[:cut])
        assert len(names) == sum(end <= cut for end in ends)
        assert found.unterminated
