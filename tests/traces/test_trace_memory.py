"""`powerkit trace memory`: live memory by what allocates and frees it."""

from __future__ import annotations

import csv
import io
import json
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from registry.documents.findings import RegistryError
from tests.simulators.commands import Done
from tools.traces.allocations import Calls
from tools.traces.memory import Change, MemoryRow, MemoryUse, read_memory
from tools.traces.reading import Found, events

Powerkit = Callable[..., Done]
Event = dict[str, Any]


def alloc(ts: float, size: Any, ptr: Any = None, **more: Any) -> Event:
    args = {"size": size} | ({} if ptr is None else {"ptr": ptr})
    event = {"ph": "X", "cat": "memory", "name": "cudaMalloc", "ts": ts, "dur": 1}
    return {"pid": 1, "tid": 1} | event | {"args": args} | more


def free(ts: float, ptr: Any, **more: Any) -> Event:
    args = {} if ptr is None else {"ptr": ptr}
    event = {"ph": "X", "cat": "memory", "name": "cudaFree", "ts": ts, "dur": 1}
    return {"pid": 1, "tid": 1} | event | {"args": args} | more


def torch(ts: float, size: int, addr: int, **more: Any) -> Event:
    args = {"Bytes": size, "Addr": addr, "Device Type": 1, "Device Id": 0} | more
    return {
        "ph": "i",
        "cat": "cpu_instant_event",
        "name": "[memory]",
        "ts": ts,
        "pid": 7,
        "tid": 1,
        "args": args,
    }


def write(path: Path, events: list[Event], **metadata: Any) -> Path:
    path.write_text(json.dumps({"traceEvents": events} | metadata))
    return path


def followed(tmp_path: Path, events: list[Event], **options: Any) -> MemoryUse:
    return read_memory(write(tmp_path / "m.json", events), Calls(**options))


def test_peak_leak_and_total_differ(tmp_path: Path) -> None:
    """TRIMS sums up the allocations; what was live at once is less."""
    events = [
        alloc(1, 100, "0x10"),
        alloc(2, 50, "0x20"),
        free(3, 16),
        alloc(4, 70, "0x30"),
        free(5, "0x20"),
    ]
    (row,) = followed(tmp_path, events[::-1]).rows  # in any order of the file
    assert row == MemoryRow(
        process="1",
        device="",
        allocations=3,
        total_bytes=220,
        peak_bytes=150,
        peak_ns=2000,
        leaked_bytes=70,
        leaked_allocations=1,
        frees=2,
    )


def test_frees_that_match_nothing_change_nothing(tmp_path: Path) -> None:
    events = [alloc(1, 100, 16), free(2, 17), free(3, 16), free(4, 16), free(5, None)]
    (row,) = followed(tmp_path, events).rows
    assert (row.frees, row.unmatched_frees, row.leaked_bytes) == (4, 3, 0)
    assert row.peak_bytes == 100


def test_an_address_that_is_allocated_twice_is_counted(tmp_path: Path) -> None:
    events = [alloc(1, 100, 16), alloc(2, 30, 16), alloc(3, 1, 32)]
    (row,) = followed(tmp_path, events).rows
    assert (row.double_allocations, row.peak_bytes, row.leaked_bytes) == (1, 100, 31)
    assert (row.leaked_allocations, row.total_bytes) == (2, 131)


def test_sizes_may_be_negative_or_missing(tmp_path: Path) -> None:
    events = [
        alloc(1, 100, 16),
        alloc(2, -100, 16),
        alloc(3, -5, 99),
        alloc(4, None, 17),
        alloc(5, "12", 18),
        alloc(6, "0x10", 19),
        alloc(7, 2.0, 20),
        alloc(8, 2.5, 21),
        alloc(9, 2**70, 22),
        alloc(10, [1], 23),
        alloc("x", 1, 24),  # type: ignore[arg-type]
    ]
    use = followed(tmp_path, events)
    (row,) = use.rows
    assert (row.negative_sizes, row.without_size, row.unmatched_frees) == (2, 4, 1)
    assert (row.allocations, row.total_bytes, row.leaked_bytes) == (4, 130, 30)
    assert use.without_time == 1


def test_without_addresses_frees_match_by_size(tmp_path: Path) -> None:
    events = [
        alloc(1, 100),
        alloc(2, 100),
        free(3, None, args={"bytes": 100}),
        free(4, None, args={"bytes": 7}),
    ]
    (row,) = followed(tmp_path, events).rows
    assert (row.leaked_bytes, row.frees, row.unmatched_frees) == (100, 2, 1)


def test_a_size_may_stand_at_the_end_of_a_call(tmp_path: Path) -> None:
    call = {"pid": 1, "tid": 1, "name": "cudaMalloc", "cat": "memory"}
    events: list[Event] = [
        call | {"ph": "B", "ts": 1},
        call | {"ph": "E", "ts": 2, "args": {"size": 5, "ptr": 16}},
        call | {"ph": "B", "ts": 3, "args": {"size": 7, "ptr": 32}},
        call | {"ph": "E", "ts": 4, "args": {"size": 7, "ptr": 32}},  # said before
        call | {"ph": "B", "ts": 5},
        call | {"ph": "B", "name": "cudaFree", "ts": 6},
        call | {"ph": "E", "name": "cudaFree", "ts": 7, "args": {"ptr": 16}},
    ]
    use = followed(tmp_path, events)
    (row,) = use.rows
    assert (row.allocations, row.total_bytes, row.peak_ns) == (2, 12, 3000)
    assert (row.frees, row.unmatched_frees, row.leaked_bytes) == (1, 0, 7)
    assert use.without_end == 1


def test_memory_of_pytorch(tmp_path: Path) -> None:
    cpu = {"Device Type": 0, "Device Id": -1}
    events = [
        torch(1, 512, 16, **{"Total Allocated": 1512}),
        torch(2, 64, 16, **cpu),  # the same address, of other memory
        torch(3, -512, 16, **{"Total Allocated": 1000}),
        torch(4, -1000, 99, **{"Total Allocated": 0}),  # allocated before the trace
    ]
    names = [{"ph": "M", "name": "process_name", "pid": 7, "args": {"name": "python"}}]
    gpu, host = followed(tmp_path, events + names).rows
    assert (gpu.process, gpu.device, host.device) == ("python (7)", "cuda:0", "cpu")
    assert (gpu.peak_bytes, gpu.leaked_bytes, gpu.reported_peak_bytes) == (512, 0, 1512)
    assert (gpu.frees, gpu.unmatched_frees, gpu.negative_sizes) == (2, 1, 0)
    assert (host.leaked_bytes, host.reported_peak_bytes) == (64, None)


def test_processes_have_memory_of_their_own(tmp_path: Path) -> None:
    events = [alloc(1, 10, 16), alloc(2, 20, 16, pid="2"), free(3, 16, pid=2)]
    one, two = followed(tmp_path, events).rows
    assert (one.process, one.leaked_bytes, two.process) == ("1", 10, "2")
    assert (two.leaked_bytes, two.peak_bytes) == (0, 20)


def test_other_names_and_one_category(powerkit: Powerkit, tmp_path: Path) -> None:
    named = {"name": "my_alloc", "cat": "a,mine"}
    events = [alloc(1, 10, 16), alloc(2, 20, 17, **named), free(3, 17, name="my_free")]
    file = write(tmp_path / "a.json", events)
    options = ("--alloc", "my_alloc", "--free", "my_free", "--json")

    def rows(*more: object) -> list[tuple[int, int]]:
        done = powerkit("trace", "memory", file, *more)
        assert (done.code, done.err) == (0, "")
        document = json.loads(done.out)
        assert document["schema"] == "trace-memory/1"
        (trace,) = document["traces"]
        return [(one["total_bytes"], one["leaked_bytes"]) for one in trace["devices"]]

    assert rows("--json") == [(10, 10)]
    assert rows(*options) == [(20, 0)]
    assert rows(*options, "--category", "mine") == [(20, 20)]
    assert rows("--json", "--category", "memory") == [(10, 10)]
    assert rows("--json", "--category", "mem") == []
    done = powerkit("trace", "memory", file, "--alloc", "x", "--free", "x")
    assert done.code == 2
    assert "cannot be both" in done.err


def test_forms(powerkit: Powerkit, tmp_path: Path) -> None:
    known = {"otherData": {"model_name": "alexnet"}}
    events = [alloc(1, 1000, 16), alloc(2, 234, 17), free(3, 16), free(4, 99)]
    one = write(tmp_path / "a.json", events, **known)
    two = write(tmp_path / "b.json", events[:1])

    text = powerkit("trace", "memory", one, two).out
    assert "alexnet" in text
    assert "1,234" in text
    assert f"{one}: process 1: most live at 0.002 ms" in text

    done = powerkit("trace", "memory", one, two, "--format", "csv")
    rows = list(csv.DictReader(io.StringIO(done.out)))
    assert [(row["file"], row["model"]) for row in rows] == [
        (str(one), "alexnet"),
        (str(two), ""),
    ]
    assert rows[0]["total_bytes"] == "1234"
    assert rows[0]["unmatched_frees"] == "1"
    assert rows[0]["reported_peak_bytes"] == ""

    done = powerkit("trace", "memory", one, two, "--format", "tsv")
    same = list(csv.DictReader(io.StringIO(done.out), dialect="excel-tab"))
    assert same == rows
    out = tmp_path / "out.md"
    assert powerkit("trace", "memory", one, "-f", "md", "-o", out).code == 0
    assert "| alexnet |" in out.read_text()

    none = write(tmp_path / "none.json", [{"ph": "X", "ts": 1, "dur": 1, "name": "a"}])
    text = powerkit("trace", "memory", none).out
    assert text == "no event allocates or frees memory\n"


CPP = """\
#include <cstddef>
#include <map>
#include <string>

static const std::map<std::string, size_t> model_internal_memory_usage = {
    {"a\\042\\134b\\077\\077/\\303\\274", 1234u},
    {"b", 1000u},
};
"""


def test_sizes_as_a_map_for_cpp(powerkit: Powerkit, tmp_path: Path) -> None:
    """TRIMS has its server estimate by this map."""
    known = {"otherData": {"model_name": 'a"\\b??/ü'}}
    events = [alloc(1, 1000, 16), free(2, 16), alloc(3, 234, 17)]
    one = write(tmp_path / "a.json", events, **known)
    again = write(tmp_path / "a2.json", events[:1], **known)
    two = write(tmp_path / "b.json", events[:1])
    command = ("trace", "memory", one, again, two, "--format", "cpp")
    assert powerkit(*command).out == CPP
    peaks = powerkit(*command, "--size", "peak").out
    assert peaks == CPP.replace("1234u", "1000u")
    leaked = powerkit(*command[:3], "--format", "cpp", "--size", "leaked").out
    assert ", 234u}" in leaked


@pytest.mark.skipif(shutil.which("c++") is None, reason="there is no C++ compiler")
def test_the_map_compiles(powerkit: Powerkit, tmp_path: Path) -> None:
    known = {"otherData": {"model_name": 'a"\\b??/ü1'}}
    file = write(tmp_path / "a.json", [alloc(1, 2**40, 16)], **known)
    source = powerkit("trace", "memory", file, "--format", "cpp").out
    source += (
        "#include <cstdio>\nint main() {\n"
        "  for (auto const &one : model_internal_memory_usage)\n"
        '    std::printf("%s %zu", one.first.c_str(), one.second);\n}\n'
    )
    (tmp_path / "a.cc").write_text(source)
    program = tmp_path / "program"
    subprocess.run(["c++", "-o", program, tmp_path / "a.cc"], check=True)
    done = subprocess.run([program], capture_output=True, check=True)
    assert done.stdout.decode() == f'a"\\b??/ü1 {2**40}'


def test_live_memory_is_a_counter(powerkit: Powerkit, tmp_path: Path) -> None:
    one = write(tmp_path / "a.json", [alloc(1, 10, 16), alloc(2, 5, 17), free(3, 16)])
    two = write(tmp_path / "b.json", [torch(1, 7, 16), torch(2.5, -7, 16)])
    out = tmp_path / "live.json.gz"
    done = powerkit("trace", "memory", one, two, "--counter", out, "--json")
    assert done.code == 0
    found = [
        (event["pid"], event["ph"], event.get("ts"), event["args"])
        for event in events(out, Found())
    ]
    assert found == [
        (1, "M", None, {"name": "a.json: process 1"}),
        (1, "C", 1, {"device bytes": 10}),
        (1, "C", 2, {"device bytes": 15}),
        (1, "C", 3, {"device bytes": 5}),
        (2, "M", None, {"name": "b.json: process 7"}),
        (2, "C", 1, {"cuda:0 bytes": 7}),
        (2, "C", 2.5, {"cuda:0 bytes": 0}),
    ]
    powerkit("trace", "memory", two, "--counter", out)
    assert {event["pid"] for event in events(out, Found())} == {7}


def test_refusals(
    powerkit: Powerkit, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = write(tmp_path / "a.json", [alloc(n, 1, n) for n in range(5)])
    live = tmp_path / "live.json"
    done = powerkit("trace", "memory", file, tmp_path / "none", "--counter", live)
    assert done.code == 1
    assert "V032" in done.out
    done = powerkit("trace", "memory", file, "--counter", file)
    assert done.code == 2
    assert "would be read and written" in done.err
    monkeypatch.setattr("tools.traces.memory.CALLS", 4)
    done = powerkit("trace", "memory", file, "--counter", live)
    assert done.code == 1
    assert "V031" in done.out
    assert "more than 4" in done.out
    assert [path.name for path in tmp_path.iterdir()] == ["a.json"]


steps = st.lists(
    st.tuples(st.booleans(), st.integers(1, 5), st.integers(1, 100)), max_size=30
)


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(steps)
def test_memory_is_what_a_dict_says(
    tmp_path: Path, steps: list[tuple[bool, int, int]]
) -> None:
    held: dict[int, int] = {}
    levels = [0]
    changes: list[Change] = []
    events = []
    unmatched = doubled = 0
    for ts, (frees, address, size) in enumerate(steps):
        events.append(free(ts, address) if frees else alloc(ts, size, hex(address)))
        if frees:
            unmatched += held.pop(address, None) is None
        else:
            doubled += address in held
            held[address] = size
        levels.append(sum(held.values()))
    file = write(tmp_path / "m.json", events)
    use = read_memory(file, Calls(), changed=changes.append)
    if not steps:
        assert use.rows == []
        return
    (row,) = use.rows
    assert row.leaked_bytes == levels[-1]
    assert row.leaked_allocations == len(held)
    assert row.peak_bytes == max(levels)
    assert (row.unmatched_frees, row.double_allocations) == (unmatched, doubled)
    assert row.allocations + row.frees == len(steps)
    assert [change.live for change in changes] == [
        level
        for (frees, _, _), before, level in zip(steps, levels, levels[1:], strict=False)
        if not frees or before != level
    ]


@settings(max_examples=50, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.lists(
        st.fixed_dictionaries(
            {
                "name": st.sampled_from(["cudaMalloc", "cudaFree", "[memory]"]),
                "ph": st.sampled_from("XBEib"),
                "ts": st.integers() | st.text(max_size=3),
                "args": st.dictionaries(
                    st.sampled_from(["size", "ptr", "Bytes", "Addr", "Device Id"]),
                    st.integers() | st.text(max_size=4) | st.none() | st.floats(),
                ),
            }
        )
    )
)
def test_whatever_is_allocated_is_followed(tmp_path: Path, events: list[Event]) -> None:
    file = tmp_path / "m.json"
    file.write_text(json.dumps(events))
    try:
        use = read_memory(file, Calls())
    except RegistryError:  # anything else fails the test
        return
    for row in use.rows:
        assert 0 <= row.leaked_bytes <= row.peak_bytes <= row.total_bytes
