"""The trace of a run: spans that nest, waits, errors, and lanes that never overlap."""

from __future__ import annotations

from collections import Counter, defaultdict
from pathlib import Path
from typing import Any

from tests.load.test_open_loop import ran
from tests.load.virtual_time import EPOCH_NS, Server
from tools.load.plan import make_plan
from tools.load.request_trace import write_trace
from tools.load.scenarios import Limits
from tools.traces.reading import Found, events


def traced(tmp_path: Path, **options: Any) -> tuple[list[dict[str, Any]], Found]:
    plan = make_plan(["a", "b"], "zipf", "poisson:rate=50", requests=200, seed=1)
    target = Server(0.05, places=9, error=lambda n: "broken" if n == 7 else None)
    run, _ = ran(plan, target, Limits(**options))
    write_trace(plan, run, tmp_path / "trace.json.gz")
    found = Found()
    return list(events(tmp_path / "trace.json.gz", found)), found


def test_every_request_is_a_span_of_its_service(tmp_path: Path) -> None:
    spans, found = traced(tmp_path)
    services = [event for event in spans if event["name"] == "service"]
    assert len(services) == 200
    assert {event["ph"] for event in services} == {"X"}
    assert [event["args"]["i"] for event in services] == list(range(200))
    assert {round(event["dur"]) for event in services} == {50_000}
    assert [e["args"]["error"] for e in services if "error" in e["args"]] == ["broken"]
    assert found.whole
    begun = EPOCH_NS + 5 * 10**9
    assert found.metadata["baseTimeNanoseconds"] == begun


def test_spans_of_one_lane_never_overlap(tmp_path: Path) -> None:
    spans, _ = traced(tmp_path)
    ends: dict[int, float] = defaultdict(float)
    lanes = set()
    for event in sorted(spans, key=lambda event: event.get("ts", -1)):
        if event["name"] != "service":
            continue
        assert event["ts"] >= ends[event["tid"]] - 0.01
        ends[event["tid"]] = event["ts"] + event["dur"]
        lanes.add(event["tid"])
    names = {
        event["tid"]: event["args"]["name"]
        for event in spans
        if event["name"] == "thread_name"
    }
    assert names == {lane: f"lane {lane}" for lane in lanes}
    assert 2 < len(lanes) < 15


def test_waits_are_asynchronous_spans(tmp_path: Path) -> None:
    spans, _ = traced(tmp_path, in_flight=1)
    waits = [event for event in spans if event["name"] == "queue"]
    assert Counter(event["ph"] for event in waits) == {
        "b": len(waits) // 2,
        "e": len(waits) // 2,
    }
    longest: dict[int, float] = defaultdict(float)
    for event in waits:
        assert isinstance(event["id"], int)
        longest[event["id"]] += event["ts"] if event["ph"] == "e" else -event["ts"]
    assert max(longest.values()) > 1_000_000  # 200 × 50 ms in 4 s: seconds of waiting
    assert {event["tid"] for event in spans if event["name"] == "service"} == {0}


def test_a_request_without_an_answer_is_an_instant(tmp_path: Path) -> None:
    plan = make_plan(["a"], "equal", "constant:rate=10", requests=20)
    run, _ = ran(plan, Server(1e6, places=99), Limits(time_limit=1.02))
    write_trace(plan, run, tmp_path / "trace.json")
    found = list(events(tmp_path / "trace.json", Found()))
    lost = [event for event in found if event["name"] == "no answer"]
    assert [event["ts"] for event in lost] == [100_000 * n for n in range(1, 11)]
    assert not [event for event in found if event["name"] == "service"]
