"""Recorded arrivals: tables, lists, plans and Chrome traces, to the nanosecond."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from registry.documents.findings import RegistryError
from tests.load.outcomes import outcome
from tools.load.arrival_traces import instant_ns, read_arrivals
from tools.load.arrivals import Replay, parse_arrivals
from tools.load.plan import make_plan, write_plan

AZURE = """TIMESTAMP,ContextTokens,GeneratedTokens
2023-11-16 18:15:46.6805900,374,44
2023-11-16 18:15:50.9951690,396,109
2023-11-16 18:15:51.2300000,879,55
"""


def read(
    tmp_path: Path, text: str | bytes, options: str = "", name: str = "t"
) -> list[int]:
    path = tmp_path / name
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    replay = parse_arrivals(f"trace:{path}{options}").replay
    assert replay is not None
    return read_arrivals(replay)[0].tolist()


def refused(
    tmp_path: Path, text: str | bytes, options: str = ""
) -> tuple[str, int | None]:
    with pytest.raises(RegistryError) as error:
        read(tmp_path, text, options)
    found = error.value.findings[0]
    assert found.code == "Q010"
    return found.what, found.line


def test_a_table_with_dates_and_seven_digits(tmp_path: Path) -> None:
    assert read(tmp_path, AZURE) == [0, 4_314_579_000, 4_549_410_000]


@pytest.mark.parametrize(
    ("text", "options", "times"),
    [
        ("0.5\n1.25\n3\n", "", [0, 750_000_000, 2_500_000_000]),
        ("0.5\n1.25\n3\n", ",origin=keep", [500_000_000, 1_250_000_000, 3 * 10**9]),
        ("5\n6\n", ",unit=us,origin=keep", [5000, 6000]),
        ("a,time_ms\nx,5\ny,6.5\n", "", [0, 1_500_000]),
        ("Timestamp,Model\n5,x\n261,y\n", "", [0, 256 * 10**9]),
        ("when,x\n1,2\n2,3\n", ",column=when,unit=ms", [0, 1_000_000]),
        ("t_ns\n7\n9\n", ",origin=keep", [7, 9]),
        (
            '{"timestamp": 27482, "x": []}\n{"timestamp": 30535}\n',
            ",unit=ms",
            [0, 3_053_000_000],
        ),
        ('{"when_us": 1.5}\n\n{"when_us": "2.5"}\n', ",column=when_us", [0, 1000]),
        ('\ufefftime,p\n1,"two\nlines"\n2,x\n', "", [0, 10**9]),
        ("time\n1700000000.123456789\n1700000000.123456790\n", "", [0, 1]),
        ("time\n2024-02-29T00:00:00Z\n2024-02-29T02:00:01+02:00\n", "", [0, 10**9]),
    ],
)
def test_forms(tmp_path: Path, text: str, options: str, times: list[int]) -> None:
    assert read(tmp_path, text, options) == times


def test_times_are_sorted_and_that_is_told(tmp_path: Path) -> None:
    path = tmp_path / "trace.csv"
    path.write_text("time\n3\n1\n2\n")
    times, facts = read_arrivals(Replay(path))
    assert times.tolist() == [0, 10**9, 2 * 10**9]
    assert facts["sorted"] is True
    assert facts["file"] == "trace.csv"
    assert facts["origin_ns"] == 10**9
    assert len(facts["sha256"]) == 64


def test_a_plan_is_replayed_as_it_is(tmp_path: Path) -> None:
    first = make_plan(["a", "b"], "equal", "poisson:rate=9", requests=20, seed=1)
    write_plan(first, tmp_path / "first.jsonl")
    again = make_plan(["x"], "equal", f"trace:{tmp_path / 'first.jsonl'}")
    assert again.requests.times == first.requests.times
    assert again.header.arrivals.replay is not None
    assert again.header.arrivals.replay["form"] == "load-plan/1"


def test_a_plan_has_as_many_requests_as_are_asked_for(tmp_path: Path) -> None:
    path = tmp_path / "times,with comma"
    path.write_text("0\n1\n2\n3\n")
    trace = f"trace:{path}"
    assert len(make_plan(["x"], "equal", trace).requests) == 4
    assert len(make_plan(["x"], "equal", trace, requests=3).requests) == 3
    assert len(make_plan(["x"], "equal", trace, duration=1.5).requests) == 2
    with pytest.raises(RegistryError) as error:
        make_plan(["x"], "equal", trace, requests=5)
    assert error.value.findings[0].what == "the trace has 4 arrivals, not 5"


@pytest.mark.parametrize("packed", [False, True])
def test_events_of_a_chrome_trace(tmp_path: Path, packed: bool) -> None:
    events = [
        {"name": "request", "ph": "X", "ts": 1700000000000.25, "dur": 3, "pid": 1},
        {"name": "other", "ph": "X", "ts": 5, "dur": 3, "pid": 1},
        {"name": "request", "ph": "B", "ts": "1700000000002.5", "pid": 1},
        {"name": "request", "ph": "E", "ts": 1700000000003, "pid": 1},
    ]
    data = json.dumps(events).encode()
    packed_data = gzip.compress(data) if packed else data
    assert read(tmp_path, packed_data, ",event=request") == [0, 2250]


@pytest.mark.parametrize(
    ("text", "options", "what", "line"),
    [
        ("", "", "no column that is known for times; columns: none", 1),
        ("a,b\n1,2\n", "", "no column that is known for times; columns: a, b", 1),
        ("a,b\n1,2\n", ",column=c", "no column of that name; columns: a, b", 1),
        ("time\n", "", "there is no arrival in it", None),
        ("time\n1\nx\n", "", "no time: x", 3),
        ("time,a\n1,2\n,3\n", "", "no time: nothing", 3),
        ("time\nnan\n", "", "no time: nan", 2),
        ("time\n1e999999999\n", "", "no time: 1e999999999", 2),
        ("time\n2024-02-30 00:00:00\n", "", "no time: 2024-02-30 00:00:00", 2),
        (
            "time\n0\n1e8\n",
            "",
            "times from 0 to 100000000000000000 ns are no sched",
            None,
        ),
        (
            "-5\n1\n",
            ",origin=keep",
            "times from -5000000000 to 1000000000 ns are",
            None,
        ),
        ('{"time": 1}\n{\n', "", "no time: {", 2),
        ('{"time": 1}\n[]\n', "", "no time: []", 2),
        (b"time\n\xff\n", "", "no table in UTF-8: ", None),
        ("time\n" + "1" * 300_000, "", "more than 262144 bytes in a line", 2),
        ('time\n"1\n', "", "no table in UTF-8: unexpected end of data", None),
        ("[]", ",event=x", "there is no arrival in it", None),
        (
            '[{"name":"x","ph":"i"}]',
            ",event=x",
            "an event x has no time: {'name'",
            None,
        ),
    ],
)
def test_what_cannot_be_replayed(
    tmp_path: Path, text: str | bytes, options: str, what: str, line: int | None
) -> None:
    told, where = refused(tmp_path, text, options)
    assert told.startswith(what)
    assert where == line


def test_a_closed_plan_has_no_times(tmp_path: Path) -> None:
    write_plan(make_plan(["a"]), tmp_path / "closed.jsonl")
    what, _ = refused(tmp_path, (tmp_path / "closed.jsonl").read_bytes())
    assert what == "the plan is a closed load, which has no times"


def test_bad_rows_are_told_up_to_a_hundred(tmp_path: Path) -> None:
    with pytest.raises(RegistryError) as error:
        read(tmp_path, "time\n" + "x\n" * 1000)
    assert len(error.value.findings) == 100


@given(text=st.text(max_size=40), unit=st.sampled_from(["s", "ms", "us", "ns"]))
def test_no_text_of_an_instant_raises(text: str, unit: str) -> None:
    found = instant_ns(text, unit)
    assert found is None or isinstance(found, int)


@given(st.integers(0, 2**62))
def test_whole_nanoseconds_stay_exact(number: int) -> None:
    whole, rest = divmod(number, 10**9)
    assert instant_ns(f"{whole}.{rest:09}", "s") == number
    assert instant_ns(str(number), "ns") == number


@given(
    data=st.binary(max_size=120)
    | st.text(alphabet='time,\n"{}[]: 0123456789-.e', max_size=80).map(str.encode),
    column=st.sampled_from([None, "time", "x"]),
    event=st.sampled_from([None, "x"]),
)
def test_no_trace_raises_anything_but_findings(
    data: bytes, column: str | None, event: str | None, scratch: Path
) -> None:
    path = scratch.with_suffix(".trace")
    path.write_bytes(data)
    found, findings = outcome(lambda: read_arrivals(Replay(path, column, None, event)))
    assert (found is None) is bool(findings)


@pytest.mark.skipif(not Path("/dev/zero").exists(), reason="no endless file here")
def test_an_endless_file_is_refused() -> None:
    with pytest.raises(RegistryError) as error:
        read_arrivals(Replay(Path("/dev/zero")))
    assert "bytes in a line" in error.value.findings[0].what
