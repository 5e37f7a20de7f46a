"""`powerkit cache simulate` as people call it."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.simulators.commands import Done
from tools.load.plan import make_plan, write_plan
from tools.load.requests import Plan

Powerkit = Callable[..., Done]


@pytest.fixture
def powerkit(
    powerkit: Powerkit,
    no_settings: None,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> Powerkit:
    monkeypatch.chdir(tmp_path)
    return powerkit


@pytest.fixture
def plan(tmp_path: Path) -> Path:
    """Sixty requests for five items, two at a time."""
    path = tmp_path / "plan.jsonl"
    names = ["a", "b", "c", "d", "e"]
    made: Plan = make_plan(
        names, "zipf:s=1", "closed:concurrency=2", requests=60, seed=3
    )
    write_plan(made, path)
    (tmp_path / "sizes.csv").write_text("name,bytes\na,10\nb,20\nc,30\nd,40\ne,50\n")
    return path


def rows(done: Done) -> list[dict[str, str]]:
    assert done.code == 0, done.out
    return list(csv.DictReader(io.StringIO(done.out)))


def simulate(powerkit: Powerkit, plan: Path, *options: object) -> Done:
    return powerkit("cache", "simulate", plan, "--sizes", "sizes.csv", *options)


def test_several_policies_in_one_table(powerkit: Powerkit, plan: Path) -> None:
    policies = "never,lru,lfu,fifo,flush,all,optimal"
    told = rows(simulate(powerkit, plan, "--policy", policies, "-f", "csv"))
    assert [one["policy"] for one in told[::2]] == [
        *("never", "lru", "lcu", "fifo", "flush", "all", "optimal")
    ]
    assert {one["tier"] for one in told} == {"gpu", "cpu"}
    for one in told[::2]:
        assert int(one["hits"]) + int(one["misses"]) == 60
        assert one["capacity_bytes"] == "120"  # 0.8 of 150
        assert int(one["peak_bytes"]) <= 120
    done = simulate(powerkit, plan, "--policy", policies)
    assert done.out.startswith("60 requests for 5 items, 2 at a time\n")
    assert "hit_ratio" in done.out


def test_json_has_all(powerkit: Powerkit, plan: Path) -> None:
    done = simulate(powerkit, plan, "--json", "--per-item", "--capacity", "60")
    told = json.loads(done.out)
    assert told["schema"] == "cache-simulation/1"
    (outcome,) = told["outcomes"]
    gpu, cpu = outcome["tiers"]
    assert (gpu["capacity_bytes"], cpu["capacity_bytes"]) == (60, None)
    assert gpu["misses"] == cpu["requests"]
    items = outcome["items"]
    assert [one["item"] for one in items] == ["a", "b", "c", "d", "e"]
    assert sum(one["requests"] for one in items) == 60
    assert sum(one["hits"] for one in items) == gpu["hits"]
    assert sum(one["evictions"] for one in items) == gpu["evictions"]
    moved = sum(one["bytes"] * (one["requests"] - one["hits"]) for one in items)
    assert moved == gpu["moved_bytes"]


@pytest.mark.parametrize(
    ("options", "tiers"),
    [
        ((), ["gpu", "cpu"]),
        (("--persist-cpu",), ["gpu", "cpu"]),
        (("--no-persist-cpu",), ["gpu"]),
        (("--persist-cpu-only",), ["cpu"]),
        (("--tiers", "gpu,disk"), ["gpu"]),
        (("--tiers", "cpu, disk", "--persist-cpu-only"), ["cpu"]),
    ],
)
def test_tiers(
    powerkit: Powerkit, plan: Path, options: tuple[str, ...], tiers: list[str]
) -> None:
    told = rows(simulate(powerkit, plan, "-f", "csv", *options))
    assert [one["tier"] for one in told] == tiers


def test_memory_is_said_as_trims_says_it(powerkit: Powerkit, plan: Path) -> None:
    def capacity(*options: object) -> str:
        told = rows(simulate(powerkit, plan, "-f", "csv", *options))
        return told[0]["capacity_bytes"]

    assert capacity("--capacity", "0.5", "--memory-bytes", "1KiB") == "512"
    assert capacity("--capacity", "50%", "--estimation-rate", "2") == "150"
    Path("internal.json").write_text('{"a": 100, "z": 1}')
    internal = ("--estimate-with-internal-memory", "internal.json")
    assert capacity("--capacity", "1.0", *internal) == "250"
    told = rows(
        simulate(powerkit, plan, "-f", "csv", "--cpu-capacity", "50", *internal)
    )
    assert told[1]["capacity_bytes"] == "50"


def test_concurrency_is_the_plan_s_unless_said(powerkit: Powerkit, plan: Path) -> None:
    def at_a_time(*options: object) -> object:
        done = simulate(powerkit, plan, "--json", *options)
        return json.loads(done.out)["concurrency"]

    assert at_a_time() == 2
    assert at_a_time("--concurrency", 4) == 4
    write_plan(make_plan(["a"], "equal", "poisson:rate=5", requests=3, seed=1), plan)
    assert at_a_time() == 1


def test_a_sweep_is_csv_with_a_picture(powerkit: Powerkit, plan: Path) -> None:
    options = ("--sweep", "capacity=0.2:1.0:0.2", "--policy", "lru,optimal")
    told = rows(
        simulate(powerkit, plan, *options, "--plot", "x.svg", "--tiers", "gpu,disk")
    )
    assert [one["capacity"] for one in told[::2]] == ["0.2", "0.4", "0.6", "0.8", "1.0"]
    hits = [int(one["hits"]) for one in told if one["policy"] == "optimal"]
    assert hits == sorted(hits)
    assert Path("x.svg").read_text().startswith("<?xml")


def test_a_heat_map_of_share_and_concurrency(powerkit: Powerkit, plan: Path) -> None:
    told = rows(simulate(powerkit, plan, "--heat-map", "--tiers", "gpu,disk"))
    assert len(told) == 100
    assert {one["capacity_bytes"] for one in told} == {"120"}
    by_share = {one["share"]: int(one["requests"]) for one in told}
    assert by_share["1.0"] == 60
    assert by_share["0.2"] < by_share["0.4"] < 60
    assert [one["concurrency"] for one in told[:10]] == [str(i) for i in range(1, 11)]


def test_results_go_to_a_file(powerkit: Powerkit, plan: Path) -> None:
    done = simulate(powerkit, plan, "-f", "md", "-o", "out.md", "--per-item")
    assert (done.code, done.out) == (0, "")
    text = Path("out.md").read_text()
    assert text.startswith("| policy | tier |")
    assert "| lru | a | 10 | 10 |" in text


def test_unknown_sizes_are_a_finding(powerkit: Powerkit, plan: Path) -> None:
    done = powerkit("cache", "simulate", plan)
    assert done.code == 1
    assert done.out.count("error F051") == 5


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--policy", "mru"), "--policy: mru is none of"),
        (("--capacity", "much"), "--capacity: it must be bytes"),
        (("--memory-bytes", "0.5"), "--memory-bytes: it must be bytes"),
        (("--cpu-capacity", "x"), "--cpu-capacity: it must be bytes"),
        (("--tiers", "disk,gpu"), "--tiers: it must be"),
        (("--tiers", "gpu,disk", "--persist-cpu"), "contradict each other"),
        (("--sweep", "x=1"), "--sweep: it must be NAME=VALUES"),
        (("--sweep", "share=1", "--heat-map"), "each thing can vary once"),
        (("--plot", "x.svg"), "--plot needs one or two"),
        (("--plot", "x.txt", "--heat-map"), "must end in .svg"),
    ],
)
def test_a_wrong_call_is_a_usage_error(
    powerkit: Powerkit, plan: Path, options: tuple[Any, ...], said: str
) -> None:
    done = simulate(powerkit, plan, *options)
    assert (done.code, said in done.err) == (2, True)
