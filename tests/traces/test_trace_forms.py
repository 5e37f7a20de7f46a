"""Every form in which programs write Chrome traces is read, and nothing else is."""

from __future__ import annotations

import gzip
import json
import zlib
from pathlib import Path
from typing import Any

import pytest

from registry.documents.findings import RegistryError
from tests.simulators.chrome_traces import read, slice_, write
from tools.traces import limits
from tools.traces.reading import Found, decoded, pieces

A, B = slice_("a", 0, 2), slice_("b", 3, 4)
TEXT = json.dumps([A, B])
INNER = TEXT[1:-1]

FORMS = {
    "array": (TEXT, "array", False),
    "array in lines": (TEXT.replace("}, {", "},\n{"), "array", False),
    "array, indented": (json.dumps([A, B], indent=3), "array", False),
    "space before": ("\n \t\r\n" + TEXT, "array", False),
    "byte order mark": ("\ufeff" + TEXT, "array", False),
    "no end": ("[" + INNER, "array", True),
    "comma and no end": ("[" + INNER + ",\n", "array", True),
    "comma before the end": ("[" + INNER + ",]", "array", False),
    "padded with zeros": (TEXT + "\0\0\0\n", "array", False),
    "object": ('{"traceEvents":' + TEXT + "}", "object", False),
    "object, comma before the end": (
        '{"traceEvents":[' + INNER + ",]}",
        "object",
        False,
    ),
    "object, no end": ('{"traceEvents":' + TEXT, "object", True),
    "object, array not closed": ('{"traceEvents":[' + INNER, "object", True),
    "events not first": (
        '{"m":{"traceEvents":[{"ph":"X"}]},"s":"]}","traceEvents":' + TEXT + "}",
        "object",
        False,
    ),
    "keys behind": (
        '{"traceEvents":' + TEXT + ',"k":[{"a":1},{"b":2}]}',
        "object",
        False,
    ),
}


@pytest.mark.parametrize("name", FORMS)
def test_every_form_gives_the_same_events(tmp_path: Path, name: str) -> None:
    text, container, unterminated = FORMS[name]
    for path in (tmp_path / "t.json", tmp_path / "t.gz"):
        events, found = read(write(path, text.encode()))
        assert events == [A, B]
        assert (found.container, found.unterminated) == (container, unterminated)
        assert (found.events, found.bad_events, found.corrupt) == (2, 0, 0)
        assert found.whole is not unterminated
        assert found.compressed is (path.suffix == ".gz")


@pytest.mark.parametrize("size", [1, 7, 64, 1000])
def test_blocks_may_end_anywhere(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, size: int
) -> None:
    odd = slice_('ä},{"\\', 1, 2, args={"list": [{"x": "]}"}, {"y": [{}]}], "é": "😀"})
    events = [odd | {"ts": ts} for ts in range(20)]
    path = write(tmp_path / "t.json", events, after={"x": [{"a": 1}, {"b": 2}]})
    path.write_text(json.dumps(json.loads(path.read_text()), ensure_ascii=False))
    monkeypatch.setattr(limits, "BLOCK_BYTES", size)
    monkeypatch.setattr(limits, "SALVAGE_BYTES", max(size, 16))
    seen, found = read(path)
    assert seen == events
    assert found.whole
    assert found.metadata == {"after": {"x": [{"a": 1}, {"b": 2}]}}
    assert found.bytes_read == found.file_bytes == path.stat().st_size


def test_other_keys_are_kept_wherever_they_stand(tmp_path: Path) -> None:
    text = '{"displayTimeUnit":"ns","traceEvents":' + TEXT + ',"otherData":{"n":[1]}}'
    _, found = read(write(tmp_path / "t.json", text.encode()))
    assert found.metadata == {"displayTimeUnit": "ns", "otherData": {"n": [1]}}


def test_other_keys_that_are_too_large_are_left_out_and_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(limits, "METADATA_BYTES", 10_000)
    large = json.dumps({"x": ['"]}\\', {"y": "z" * 20_000}]})
    text = '{"large":' + large + ',"small":1,"traceEvents":' + TEXT + "}"
    events, found = read(write(tmp_path / "t.json", text.encode()))
    assert events == [A, B]
    assert found.metadata == {"small": 1}
    assert found.metadata_left_out == ["large"]
    assert not found.whole


def test_values_are_exact(tmp_path: Path) -> None:
    args = {"big": 2**64 + 1, "more": 2**200, "exponent": 1e300}
    event = slice_("a", 0, 1, args=args) | {"ts": "2.5", "pid": "worker"}
    events, _ = read(write(tmp_path / "t.json", [event]))
    assert events == [event]


def test_strings_and_empty_objects_among_events_are_told_apart(tmp_path: Path) -> None:
    path = write(tmp_path / "t.json", [A, "text", {}, 7, None, [A], B])
    events, found = read(path)
    assert events == [A, {}, B]
    assert found.not_objects == 4
    assert found.bad_events == 0


def test_a_trace_without_events_is_one(tmp_path: Path) -> None:
    for text in (b"[]", b"[ ", b'{"traceEvents":[]}', b'{"traceEvents":[],"a":1}'):
        assert read(write(tmp_path / "t.json", text))[0] == []
    only = [{"ph": "M", "name": "process_name", "pid": 1, "args": {"name": "x"}}]
    assert read(write(tmp_path / "t.json", only))[0] == only


def test_several_gzip_members_are_one_text(tmp_path: Path) -> None:
    path = tmp_path / "t.json.gz"
    half = len(TEXT) // 2
    parts = [gzip.compress(part.encode()) for part in (TEXT[:half], "", TEXT[half:])]
    path.write_bytes(b"".join(parts) + b"\0" * 512)
    assert read(path)[0] == [A, B]


def test_a_gzip_member_may_begin_between_two_reads(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    half = len(TEXT) // 2
    first, second = (gzip.compress(one.encode()) for one in (TEXT[:half], TEXT[half:]))
    path = tmp_path / "t.json.gz"
    path.write_bytes(first + second)
    # The mark of a file is read first, then so much at a time.
    monkeypatch.setattr(limits, "COMPRESSED_BLOCK_BYTES", len(first) - 1)
    seen, found = read(path)
    assert seen == [A, B]
    assert found.whole
    assert found.file_bytes == len(first + second)


def test_what_stands_behind_a_gzip_member_is_told(tmp_path: Path) -> None:
    path = tmp_path / "t.json.gz"
    path.write_bytes(gzip.compress(TEXT.encode()) + b"other text")
    seen, found = read(path)
    assert seen == [A, B]
    assert (found.corrupt, found.corrupt_at) == (1, [len(TEXT.encode())])


def test_a_gzip_file_that_is_cut_or_damaged_gives_what_it_can(tmp_path: Path) -> None:
    events = [slice_(f"name {n * 7919 % 1000}", n, 1) for n in range(20_000)]
    whole = gzip.compress(json.dumps(events).encode())
    path = tmp_path / "t.json.gz"
    path.write_bytes(whole[: len(whole) // 2])
    seen, found = read(path)
    assert 1000 < len(seen) < 20_000
    assert seen == events[: len(seen)]
    assert found.unterminated
    damaged = bytearray(whole)
    damaged[len(whole) // 2] ^= 0xFF
    path.write_bytes(damaged)
    seen, found = read(path)
    assert len(seen) > 1000
    assert found.unterminated
    assert found.corrupt


def test_what_gzip_may_unpack_to_is_bounded(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "bomb.json.gz"
    path.write_bytes(zlib.compress(b"[" + b" " * 4_000_000, wbits=31))
    monkeypatch.setattr(limits, "UNPACKED_FREE_BYTES", limits.MIB)
    assert refused(path) == ("V004", "bytes unpack to more than 500 times as many")
    monkeypatch.setattr(limits, "UNPACKED_FREE_BYTES", limits.GIB)
    monkeypatch.setattr(limits, "UNPACKED_BYTES", 3 * limits.MIB)
    assert refused(path) == ("V004", "it unpacks to more than 3145728 bytes")


REFUSED: dict[str, tuple[bytes, str, str]] = {
    "nothing": (b"", "V001", "nothing but space"),
    "space": (b" \n\t ", "V001", "nothing but space"),
    "ftrace": (b"# tracer: nop\n#\n", "V002", "an ftrace log, as systrace writes it"),
    "atrace": (b"TRACE:\n# tracer: nop\n", "V002", "an ftrace log, as atrace"),
    "systrace": (b"<!DOCTYPE html>\n<html>", "V002", "an HTML or XML page"),
    "fuchsia": (b"\x10\x00\x04FxT\x16\x00" + b"\0" * 9, "V002", "a Fuchsia trace"),
    "perfetto": (b"\x0a\x8c\x01\x12\x00", "V002", "a Perfetto trace (protobuf)"),
    "sqlite": (b"SQLite format 3\x00" + b"\0" * 99, "V002", "an SQLite database"),
    "zip": (b"PK\x03\x04" + b"\0" * 30, "V002", "a ZIP archive"),
    "zstandard": (b"\x28\xb5\x2f\xfd1234", "V002", "compressed with Zstandard"),
    "gzip twice": (gzip.compress(TEXT.encode()), "V002", "gzip inside gzip"),
    "UTF-16": (TEXT.encode("utf-16"), "V002", "UTF-16 text"),
    "binary": (b"\x7fELF\x00\x01", "V002", "binary data"),
    "text": (b"hello", "V002", "text, but no JSON"),
    "Cloud Trace": (
        b'{"traces":[{"spans":[]}]}',
        "V003",
        "a Cloud Trace list of spans",
    ),
    "OpenTelemetry": (b'{"resourceSpans":[]}', "V003", "an OpenTelemetry list"),
    "CPU profile": (
        b'{"nodes":[],"startTime":1,"endTime":2,"samples":[]}',
        "V003",
        "a V8 CPU profile",
    ),
    "speedscope": (b'{"$schema":"x","profiles":[]}', "V003", "a speedscope profile"),
    "one event": (
        json.dumps(A).encode(),
        "V003",
        "an event without an array around it",
    ),
    "object": (b'{"a":1,"b":2}', "V003", 'an object with the keys "a", "b"'),
    "empty object": (b"{}", "V003", "an empty object, and has no `traceEvents`"),
    "events are no array": (b'{"traceEvents":{}}', "V003", 'the keys "traceEvents"'),
    "broken object": (b'{"a":1,b}', "V003", "broken JSON from byte 7 on"),
    "array of others": (b'[{"a":1},{"b":2}]', "V003", "none has a phase"),
    "array of numbers": (b"[1,2,3]", "V003", "none has a phase"),
    "array of nothing": (b"[garbage", "V003", "none has a phase"),
    "many keys": (
        ("{" + ",".join(f'"{n}":0' for n in range(2000)) + "}").encode(),
        "V003",
        "an object with more than 1000 keys",
    ),
}


def refused(path: Path) -> tuple[str, str]:
    with pytest.raises(RegistryError) as caught:
        list(pieces(path, Found()))
    (one,) = caught.value.findings
    assert one.path == str(path)
    return one.code, one.what.removeprefix(f"{path.stat().st_size} ")


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_no_trace_is_refused_with_a_reason(tmp_path: Path, name: str) -> None:
    data, code, reason = REFUSED[name]
    path = tmp_path / "file"
    path.write_bytes(gzip.compress(data) if name == "gzip twice" else data)
    said = refused(path)
    assert said[0] == code
    assert reason in said[1]


def test_all_published_traces_are_read_whole(shared_data: Path) -> None:
    folder = shared_data / "chrome_traces"
    unterminated = []
    for path in sorted(folder.rglob("*.json*")):
        events, found = read(path)
        assert (found.events, found.bad_events, found.corrupt) == (len(events), 0, 0)
        assert events
        if found.unterminated:
            unterminated.append(path.name)
        else:
            data = path.read_bytes()
            value = json.loads(gzip.decompress(data) if found.compressed else data)
            listed = value if isinstance(value, list) else value["traceEvents"]
            assert events == listed
            others = {} if isinstance(value, list) else value
            assert found.metadata == {
                key: one for key, one in others.items() if key != "traceEvents"
            }
    assert unterminated == [
        "simple-partial-trailing-comma.json",
        "simple-partial-whitespace.json",
        "simple-partial.json",
    ]


def test_a_decoder_of_ones_own_may_refuse_single_events(tmp_path: Path) -> None:
    def decode(data: bytes) -> list[Any]:
        events: list[Any] = json.loads(data)
        if any(event["name"] == "b" for event in events):
            raise ValueError
        return events

    found = Found()
    path = write(tmp_path / "t.json", [A, B, A])
    batches = list(decoded(path, found, decode))
    assert [event for batch in batches for event in batch] == [A, A]
    assert (found.events, found.bad_events) == (2, 1)


def test_pieces_are_arrays_of_about_a_block(tmp_path: Path) -> None:
    events = [slice_(f"n{n}", n, 1) for n in range(40_000)]
    path = write(tmp_path / "t.json", events)
    found = Found()
    parts = list(pieces(path, found))
    assert len(parts) >= 2
    assert max(map(len, parts)) <= 1.1 * limits.MIB
    assert [event for part in parts for event in json.loads(part)] == events
    assert found.events == 40_000
