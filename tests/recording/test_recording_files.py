"""Recordings as CSV: exact, strict, bounded; and as counter events."""

from __future__ import annotations

import json
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from registry.documents.findings import RegistryError
from tests.recording.conftest import SECOND, FakeClock, Scripted, energy, record, series
from tools.readings.series import Kind, Missing
from tools.recording import files
from tools.recording.monitor import Monitor, Opened, Recording, read_recording


def sample() -> Recording:
    """Three rows of a gauge, a counter that turns and something that fails."""
    clock = FakeClock(0)
    columns = [
        series("gpu_0_celsius", unit="celsius", decimals=0),
        energy("rapl_package_0_joules_total", decimals=6, wraps=True, modulus=10**7),
        series("gpu_0_watts"),
    ]
    values = iter([[-3, 9_999_999, None], [4, 1, None], [5, 2, 2**62]])
    source = Scripted(columns, lambda _: next(values), lambda: clock.pass_(0.000_001))
    source.gaps.note("gpu_0_watts", "permission denied", 2)
    missing = (Missing("nvml", "", "no driver", "install it"),)
    monitor = Monitor(Opened((source,), missing), 50_000_000, clock)
    for number in range(3):
        clock.now = clock.start + number * 50_000_000
        monitor.sample()
    return monitor.recording


def test_the_text(tmp_path: Path) -> None:
    sample().write_csv(tmp_path / "a.csv")
    header, names, *rows = (tmp_path / "a.csv").read_text().splitlines()
    assert header.startswith("# {")
    facts = json.loads(header[2:])
    assert facts["schema"] == "recording/1"
    assert facts["columns"][1]["modulus"] == 10**7
    assert names == (
        "time_seconds,gpu_0_celsius,rapl_package_0_joules_total,gpu_0_watts,"
        "read_scripted_offset_seconds,read_scripted_seconds"
    )
    assert rows == [
        "0.000000000,-3,9.999999,,0.000000000,0.000001000",
        "0.050000000,4,0.000001,,0.000000000,0.000001000",
        "0.100000000,5,0.000002,4611686018427387.904,0.000000000,0.000001000",
    ]


def test_it_is_read_back_whole(tmp_path: Path) -> None:
    recording = sample()
    recording.write_csv(tmp_path / "a.csv")
    assert [one.name for one in tmp_path.iterdir()] == ["a.csv"]
    assert read_recording(tmp_path / "a.csv") == recording
    assert read_recording(tmp_path / "a.csv").summary() == recording.summary()


def test_an_empty_recording(tmp_path: Path) -> None:
    recording = Monitor([Scripted([series()], lambda _: [1])], 5).recording
    recording.write_csv(tmp_path / "a.csv")
    assert read_recording(tmp_path / "a.csv") == recording


def test_nothing_is_left_of_a_file_that_cannot_be_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(_: Recording) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(files, "_lines", broken)
    (tmp_path / "a.csv").write_text("what was there")
    with pytest.raises(OSError, match="No space"):
        sample().write_csv(tmp_path / "a.csv")
    assert (tmp_path / "a.csv").read_text() == "what was there"
    assert len(list(tmp_path.iterdir())) == 1


def changed(
    tmp_path: Path, old: bytes, new: bytes
) -> list[tuple[str, int | None, str]]:
    """What is found after a change of the file."""
    path = tmp_path / "a.csv"
    sample().write_csv(path)
    data = path.read_bytes()
    assert old in data
    path.write_bytes(data.replace(old, new, 1))
    with pytest.raises(RegistryError) as refused:
        read_recording(path)
    return [(one.code, one.line, one.what) for one in refused.value.findings]


@pytest.mark.parametrize(
    ("old", "new", "code", "line", "what"),
    [
        (b"# {", b"{", "O020", 1, "its first line is not # and JSON"),
        (b"recording/1", b"recording/2", "O020", 1, "its first line: Invalid enum"),
        (b'"decimals":0', b'"decimals":"0"', "O020", 1, "its first line: Expected"),
        (b'"decimals":0', b'"decimals":99', "O020", 1, "the column gpu_0_celsius has"),
        (b'"modulus":10000000', b'"modulus":0', "O020", 1, "the column rapl_package_0"),
        (b'"name":"gpu_0_watts"', b'"name":"../x"', "O020", 1, "../x is no name"),
        (
            b'"name":"gpu_0_watts"',
            b'"name":"gpu_0_celsius"',
            "O020",
            1,
            "the column gpu_0_celsius appears twice",
        ),
        (b'"interval_ns":50000000', b'"interval_ns":0', "O020", 1, "its interval is"),
        (
            b'"sources":["scripted"]',
            b'"sources":["other"]',
            "O020",
            1,
            "its sources are not those of its columns",
        ),
        (b"\ntime_seconds,", b"\ntime,", "O020", 2, "the names of its columns are not"),
        (b"\n0.000000000,", b"\n0.5,", "O021", 3, "0.5 is no number of its column"),
        (b"\n0.000000000,", b"\n,", "O021", 3, "a time is missing"),
        (b"\n0.000000000,", b"\n0.000000001,", "O021", 3, "the first row is not at 0"),
        (b",-3,", b",-3,7,", "O021", 3, "7 cells where 6 belong"),
        (b",-3,", b",=1+1,", "O021", 3, "=1+1 is no number of its column"),
        (b",-3,", b",1_0,", "O021", 3, "1_0 is no number of its column"),
        (b",-3,", b",1e5,", "O021", 3, "1e5 is no number of its column"),
        (b",-3,", b",nan,", "O021", 3, "nan is no number of its column"),
        (b",-3,", b", 3,", "O021", 3, "3 is no number of its column"),
        (b",-3,", b",\xd9\xa3,", "O021", 3, "is no number of its column"),
        (b",-3,", b"," + b"9" * 21 + b",", "O021", 3, "a number is too long"),
        (b",-3,", b"," + b"9" * 19 + b",", "O021", 3, "a number is too large"),
        (b",9.999999,", b",9.99999,", "O021", 3, "9.99999 is no number of its column"),
        (b"\n0.05", b"\n0.50", "O021", 5, "its time is not after that of the row"),
    ],
)
def test_what_is_no_recording(
    tmp_path: Path, old: bytes, new: bytes, code: str, line: int, what: str
) -> None:
    ((found_code, found_line, found_what),) = changed(tmp_path, old, new)
    assert (found_code, found_line) == (code, line)
    assert what in found_what


def test_a_file_that_was_cut(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    sample().write_csv(path)
    path.write_bytes(path.read_bytes()[:-1])
    with pytest.raises(RegistryError) as refused:
        read_recording(path)
    (told,) = refused.value.findings
    assert (told.code, told.line) == ("O021", 5)
    assert told.what == "the line does not end: the file was cut"


def test_problems_are_told_together_and_within_bounds(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    record([Scripted([series()], lambda _: [1])], 3).write_csv(path)
    path.write_bytes(path.read_bytes().replace(b",0.001,", b",x,"))
    with pytest.raises(RegistryError) as refused:
        read_recording(path)
    lines = [one.line for one in refused.value.findings]
    assert lines == [*range(3, 23), None]


def test_a_file_of_too_many_bytes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(files, "_FILE_BYTES", 100)
    sample().write_csv(tmp_path / "a.csv")
    with pytest.raises(RegistryError) as refused:
        read_recording(tmp_path / "a.csv")
    assert refused.value.findings[0].what == "it has more than 100 bytes"


def test_a_line_without_end(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    sample().write_csv(path)
    with path.open("ab") as file:
        file.write(b"1" * 600_000)
    with pytest.raises(RegistryError) as refused:
        read_recording(path)
    assert [one.code for one in refused.value.findings] == ["O020"]


def test_more_readings_than_there_is_room_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sample().write_csv(tmp_path / "a.csv")
    monkeypatch.setattr("tools.recording.recording.CELLS", 7)
    with pytest.raises(RegistryError) as refused:
        read_recording(tmp_path / "a.csv")
    assert refused.value.findings[0].code == "O020"
    assert "it holds more than" in refused.value.findings[0].what


@given(st.binary(max_size=200))
@settings(max_examples=50, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_any_bytes_are_read_or_refused(tmp_path: Path, data: bytes) -> None:
    path = tmp_path / "any.csv"
    path.write_bytes(data)
    with pytest.raises(RegistryError):
        read_recording(path)


@given(st.data())
@settings(max_examples=50, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_a_changed_file_is_read_or_refused(tmp_path: Path, data: st.DataObject) -> None:
    path = tmp_path / "changed.csv"
    sample().write_csv(path)
    content = bytearray(path.read_bytes())
    for _ in range(data.draw(st.integers(1, 4))):
        place = data.draw(st.integers(0, len(content) - 1))
        content[place : place + data.draw(st.integers(0, 3))] = data.draw(
            st.binary(max_size=3) | st.sampled_from([b"\n", b",", b"-", b".", b"[" * 9])
        )
    path.write_bytes(content)
    try:
        recording = read_recording(path)
    except RegistryError as error:
        refused = {one.code for one in error.findings}
    else:
        refused = set()
        recording.summary().document()
        list(recording.counter_events(1))
    assert refused <= {"O020", "O021"}


@given(
    st.lists(
        st.tuples(
            st.integers(1, 10**10),
            st.none() | st.integers(-(2**63) + 1, 2**63 - 1),
            st.none() | st.integers(0, 2**63 - 1),
        ),
        max_size=20,
    )
)
@settings(max_examples=50, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_what_is_written_is_read_back(
    tmp_path: Path, rows: list[tuple[int, int | None, int | None]]
) -> None:
    clock = FakeClock(0)
    values = iter([[first, second] for _, first, second in rows])
    columns = [series("a"), energy("b_joules_total", decimals=6)]
    monitor = Monitor([Scripted(columns, lambda _: next(values))], 10**9, clock)
    for passed, _, _ in rows:
        clock.now += passed
        monitor.sample()
    monitor.recording.write_csv(tmp_path / "r.csv")
    assert read_recording(tmp_path / "r.csv") == monitor.recording


def test_counter_events_of_a_gauge() -> None:
    recording = sample()
    name, *events = recording.counter_events(7)
    assert name == {
        "ph": "M",
        "pid": 7,
        "tid": 0,
        "name": "process_name",
        "args": {"name": "monitor"},
    }
    celsius = [one for one in events if one["name"] == "gpu_0_celsius"]
    assert [one["args"] for one in celsius] == [{"celsius": v} for v in (-3, 4, 5)]
    assert celsius[0]["ts"] == (recording.times_ns[0] + 500) / 1000
    assert {(one["ph"], one["pid"], one["tid"]) for one in events} == {("C", 7, 0)}
    # one that was read only once
    assert sum(one["name"] == "gpu_0_watts" for one in events) == 1


def test_counter_events_of_energy_are_watts_whose_area_is_the_energy() -> None:
    counter = energy(
        "rapl_package_0_joules_total",
        decimals=6,
        wraps=True,
        modulus=100 * 10**6,
        update_seconds=0.001,
        rate_maximum=40.0,
    )
    start = FakeClock(0).start

    def values(now: int) -> list[int]:
        seconds = (now - start) / SECOND
        return [round(10**6 * (90 + 20 * seconds)) % (100 * 10**6)]

    recording = record([Scripted([counter], values)], 2)
    events = list(recording.counter_events(1))[1:]
    assert {one["name"] for one in events} == {"rapl_package_0_watts"}
    area = 0.0
    for before, after in pairwise(events):
        watts = before["args"]["watts"]  # type: ignore[index]
        area += watts * (after["ts"] - before["ts"]) / 1e6  # type: ignore[operator]
    assert area == pytest.approx(40, rel=1e-6)
    assert events[-1]["ts"] == recording.times_ns[-1] / 1000


def test_counter_events_of_other_counters_are_rates() -> None:
    counter = series(
        "cpu_seconds_total", unit="seconds", kind=Kind.COUNTER, decimals=2, quantity="c"
    )
    start = FakeClock(0).start
    recording = record(
        [Scripted([counter], lambda now: [2 * (now - start) // 10_000_000])], 4
    )
    events = list(recording.counter_events(1))[1:]
    assert {one["name"] for one in events} == {"cpu_seconds_per_second"}
    for one in events:
        assert one["args"] == {"seconds per second": pytest.approx(2)}


def test_a_reset_makes_no_peak_in_events() -> None:
    start = FakeClock(0).start

    def values(now: int) -> list[int]:
        seconds = (now - start) / SECOND
        return [round(1000 * (100 * seconds if seconds < 5 else 1))]

    recording = record([Scripted([energy()], values)], 10)
    watts = [one["args"]["watts"] for one in list(recording.counter_events(1))[1:]]  # type: ignore[index]
    assert max(watts) == pytest.approx(100)
    assert min(watts) >= 0
