"""Plans: golden bytes of seeds, the same after reading, refused when damaged."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from registry.documents.findings import RegistryError
from tests.load.outcomes import outcome
from tools.load.plan import Request, make_plan, read_plan, write_plan

GOLDEN = Path(__file__).parent / "golden"
NAMES = ["alexnet_1.0", "vgg16_1.0", "googlenet_1.0", "resnet50_1.0", 'a é "name"']
PLANS: dict[str, dict[str, Any]] = {
    "zipf-poisson-7": {
        "popularity": "zipf:s=1.1",
        "arrivals": "poisson:rate=20",
        "requests": 40,
        "seed": 7,
    },
    "pareto-gamma-8": {
        "popularity": "pareto:1,1.5",
        "arrivals": "gamma:rate=20,burstiness=0.5",
        "duration": 2.0,
        "seed": 8,
        "drawn_weights": True,
        "shuffle_ranks": True,
    },
    "weibull-onoff-9": {
        "popularity": "weibull:k=0.5,lambda=1",
        "arrivals": "onoff:rate=20,on=0.5,off=1",
        "requests": 40,
        "max_per_item": 10,
        "covering": True,
        "seed": 9,
    },
    "poisson-trims-10": {
        "popularity": "poisson:lambda=1",
        "arrivals": "closed:concurrency=4,think=0.1",
        "requests": 40,
        "max_per_item": 9,
        "trims_compatible": True,
        "seed": 10,
    },
    "lognormal-constant-0": {
        "popularity": "lognormal:mu=0,sigma=1",
        "arrivals": "constant:rate=3",
        "requests": 20,
    },
}


@pytest.mark.parametrize("name", PLANS)
def test_a_seed_gives_the_golden_plan(name: str, tmp_path: Path) -> None:
    write_plan(make_plan(NAMES, **PLANS[name]), tmp_path / "plan.jsonl")
    golden = GOLDEN / f"{name}.jsonl"
    assert (tmp_path / "plan.jsonl").read_bytes() == golden.read_bytes()


@pytest.mark.parametrize("name", PLANS)
def test_another_seed_gives_another_plan(name: str) -> None:
    golden = read_plan(GOLDEN / f"{name}.jsonl")
    other = make_plan(NAMES, **PLANS[name] | {"seed": 99})
    assert other.requests.drawn != golden.requests.drawn


@pytest.mark.parametrize("name", PLANS)
def test_a_plan_is_the_same_after_reading(name: str, tmp_path: Path) -> None:
    made = make_plan(NAMES, **PLANS[name])
    write_plan(made, tmp_path / "plan.jsonl")
    read = read_plan(tmp_path / "plan.jsonl")
    assert read.header == made.header
    assert list(read.requests) == list(made.requests)
    assert read.closed is made.closed


def test_the_file_is_what_the_readme_says(tmp_path: Path) -> None:
    plan = make_plan(["a", "b"], "zipf", "constant:rate=4", requests=2)
    write_plan(plan, tmp_path / "plan.jsonl")
    header, *lines = [
        json.loads(line) for line in (tmp_path / "plan.jsonl").read_text().splitlines()
    ]
    assert header["schema"] == "load-plan/1"
    assert header["seed"] == 0
    assert header["popularity"]["kind"] == "zipf"
    assert header["arrivals"] == {
        "kind": "constant",
        "values": {"rate": 4.0},
        "replay": None,
    }
    assert [item["name"] for item in header["items"]] == ["a", "b"]
    assert [(line["i"], line["t_ns"]) for line in lines] == [
        (0, 250_000_000),
        (1, 500_000_000),
    ]


def test_streams_are_apart() -> None:
    """Another schedule leaves the draws, and other draws leave the schedule."""
    first = make_plan(NAMES, "zipf", "poisson:rate=9", requests=50, seed=4)
    second = make_plan(NAMES, "zipf", "gamma:rate=9,burstiness=3", requests=50, seed=4)
    third = make_plan(NAMES, "pareto", "poisson:rate=9", requests=50, seed=4)
    shuffled = make_plan(
        NAMES, "zipf", "poisson:rate=9", requests=50, seed=4, shuffle_ranks=True
    )
    assert first.requests.drawn == second.requests.drawn
    assert first.requests.times == third.requests.times == shuffled.requests.times
    assert first.requests.times != second.requests.times


def test_requests_are_a_sequence() -> None:
    requests = make_plan(["a", "b"], "none:times=2").requests
    assert len(requests) == 4
    assert requests[-1] == Request(3, None, "b")
    assert requests[1:3] == [Request(1, None, "a"), Request(2, None, "b")]
    assert [request.i for request in requests] == [0, 1, 2, 3]
    with pytest.raises(IndexError):
        requests[4]


def test_nothing_is_left_of_a_plan_that_cannot_be_written(tmp_path: Path) -> None:
    target = tmp_path / "folder"
    target.mkdir()
    with pytest.raises(OSError):  # noqa: PT011 - a folder is no file
        write_plan(make_plan(["a"], "equal", requests=1), target)
    assert [path.name for path in tmp_path.iterdir()] == ["folder"]


def altered(tmp_path: Path, line: int, text: str | None) -> Path:
    """A plan in which one line is another, or is missing."""
    plan = make_plan(["a", "b"], "equal", "constant:rate=10", requests=5)
    path = tmp_path / "plan.jsonl"
    write_plan(plan, path)
    lines = path.read_text().splitlines()
    lines[line : line + 1] = [] if text is None else [text]
    path.write_text("\n".join(lines) + "\n")
    return path


@pytest.mark.parametrize(
    ("line", "text", "where", "what"),
    [
        (2, '{"i":1,"t_ns":2,"item":"c"}', 3, "no item is called c"),
        (2, '{"i":1,"t_ns":2,"item":"a"}', 3, "the time 2 ns is not from 100000000 on"),
        (2, '{"i":1,"t_ns":null,"item":"a"}', 3, "no time, though the arrivals are"),
        (
            2,
            '{"i":7,"t_ns":200000000,"item":"a"}',
            3,
            "the number is 7, 1 was expected",
        ),
        (2, '{"i":1,"t_ns":200000000}', 3, "no request: Object missing required field"),
        (2, '{"i":1,"t_ns":2e99,"item":"a"}', 3, "no request: Expected `int"),
        (
            2,
            '{"i":1,"t_ns":2,"item":"a","x":1}',
            3,
            "no request: Object contains unkno",
        ),
        (2, "[[[[", 3, "no request: "),
        (2, "x" * 5000, 3, "more than 4096 bytes; the rest is not read"),
        (5, None, None, "4 requests follow, the header says 5"),
        (0, "{}", 1, "the first line is no header of load-plan/1: "),
        (0, "", 1, "the first line is no header of load-plan/1: "),
        (
            0,
            '{"schema":"load-plan/2"}',
            1,
            "the first line is no header of load-plan/1",
        ),
    ],
)
def test_a_damaged_plan_is_refused(
    tmp_path: Path, line: int, text: str | None, where: int | None, what: str
) -> None:
    with pytest.raises(RegistryError) as refused:
        read_plan(altered(tmp_path, line, text))
    found = refused.value.findings[0]
    assert (found.code, found.line) == ("Q009", where)
    assert found.what.startswith(what)


@pytest.mark.parametrize(
    ("change", "what"),
    [
        (
            {"arrivals": {"kind": "offline", "values": {"\x1b[2J": 1}}},
            "offline has no parameter \\x1b[2J",
        ),
        (
            {"popularity": {"kind": "zipf", "values": {"x": 1}, "weights": "drawn"}},
            "zipf has no parameter x",
        ),
        ({"items": []}, "0 items, from 1 to 100000 are possible"),
        ({"requests": 10**8}, "100000000 requests, at most 10000000 are possible"),
        ({"duration_ns": 2**60}, "a duration of 1152921504606846976 ns"),
        ({"arrivals": {"kind": "x", "values": {}}}, "no kind of arrivals: x"),
        ({"arrivals": {"kind": "closed", "values": {}}}, "no concurrency: 0"),
        (
            {"arrivals": {"kind": "closed", "values": {"concurrency": 1.5}}},
            "no concurrency: 1.5",
        ),
        (
            {"arrivals": {"kind": "closed", "values": {"concurrency": 1, "think": -1}}},
            "no time to think: -1.0",
        ),
        (
            {"popularity": {"kind": "x", "values": {}, "weights": "file"}},
            "no popularity: x",
        ),
        (
            {"items": [{"name": "a", "weight": 1}, {"name": "a", "weight": 1}]},
            "a name is there twice: a",
        ),
        ({"items": [{"name": "a", "weight": -1}]}, "a has no weight from 0: -1"),
        ({"items": [{"name": " a", "weight": 1}]}, "a name is empty or has space"),
    ],
)
def test_a_header_that_contradicts_itself_is_refused(
    tmp_path: Path, change: dict[str, Any], what: str
) -> None:
    plan = make_plan(["a", "b"], "equal", "constant:rate=10", requests=5)
    path = tmp_path / "plan.jsonl"
    write_plan(plan, path)
    header, _, rest = path.read_text().partition("\n")
    path.write_text(json.dumps(json.loads(header) | change) + "\n" + rest)
    with pytest.raises(RegistryError) as refused:
        read_plan(path)
    found = refused.value.findings[0]
    assert (found.code, found.line) == ("Q009", 1)
    assert found.what.startswith(what)


def test_no_more_than_a_hundred_problems_are_told(tmp_path: Path) -> None:
    plan = make_plan(["a"], "equal", "constant:rate=10", requests=500)
    path = tmp_path / "plan.jsonl"
    write_plan(plan, path)
    header, _, rest = path.read_text().partition("\n")
    path.write_text(header + "\n" + rest.replace('"a"', '"b"'))
    with pytest.raises(RegistryError) as refused:
        read_plan(path)
    assert len(refused.value.findings) == 100


PIECES = st.one_of(
    st.binary(max_size=40),
    st.sampled_from(
        [b"\n", b"null", b'"a"', b"1e999", b"-1", b"{", b"}", b"[" * 50, b"\xff", b'"']
    ),
)


@given(data=st.data())
def test_no_bytes_of_a_plan_raise_anything_but_findings(
    data: st.DataObject, scratch: Path
) -> None:
    golden = (GOLDEN / "weibull-onoff-9.jsonl").read_bytes()
    for _ in range(data.draw(st.integers(1, 3))):
        start = data.draw(st.integers(0, len(golden)))
        end = data.draw(st.integers(start, min(len(golden), start + 60)))
        golden = golden[:start] + data.draw(PIECES) + golden[end:]
    scratch.write_bytes(golden)
    plan, findings = outcome(lambda: read_plan(scratch))
    assert (plan is None) is bool(findings)
    assert len(findings) <= 100
    if plan is not None:
        assert len(plan.requests) == plan.header.requests
