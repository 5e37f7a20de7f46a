"""`powerkit load plan` and `show` as they are called."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.load.planned import Powerkit, planned
from tools.load.plan import read_plan

pytestmark = pytest.mark.usefixtures("folder")


def test_plan_writes_a_file_and_says_what_it_holds(powerkit: Powerkit) -> None:
    done = planned(
        powerkit,
        *("--items", "a,b,c", "--popularity", "zipf:s=1", "--arrivals"),
        *("poisson:rate=20", "--duration", "30", "--seed", "7", "-o", "p.jsonl"),
    )
    plan = read_plan(Path("p.jsonl"))
    lines = done.out.splitlines()
    assert lines[0] == "popularity   zipf:s=1, weights by quantile"
    assert lines[1] == "arrivals     poisson:rate=20"
    assert lines[2] == f"requests     {len(plan.requests)} with seed 7"
    assert lines[-2] == "written to p.jsonl"
    assert any(line.startswith("a       54.545%") for line in lines)
    assert 20 * 30 - 75 < len(plan.requests) < 20 * 30 + 75


def test_plan_again_gives_the_same_bytes(powerkit: Powerkit) -> None:
    for name in ("p.jsonl", "q.jsonl"):
        planned(
            powerkit,
            *("--items", 9, "--popularity", "pareto:1,1.5", "--weights", "drawn"),
            *("--shuffle-ranks", "-n", 50, "--concurrent", 4, "-o", name),
        )
    assert Path("p.jsonl").read_bytes() == Path("q.jsonl").read_bytes()


def test_all_options_of_a_plan(powerkit: Powerkit) -> None:
    done = planned(
        powerkit,
        *("--items", 20, "--models", "item-1.,item-20", "--models-percentage", "50"),
        *("--popularity", "weibull:k=0.5", "--requests", 20, "--max-per-item", 5),
        *("--cover", "--concurrent", 3, "--json"),
    )
    facts = json.loads(done.out)
    plan = read_plan(Path("plan.jsonl"))
    assert facts["schema"] == "load-statistics/1"
    assert [item["name"] for item in facts["counts"]] == [
        f"item-{n}" for n in range(10, 16)
    ]
    assert facts["items_asked_for"] == 6
    assert max(item["count"] for item in facts["counts"]) <= 5
    assert plan.header.arrivals.values == {"concurrency": 3.0, "think": 0.0}
    assert facts["schedule"] is None


def test_plan_like_trims(powerkit: Powerkit) -> None:
    done = planned(
        powerkit,
        *("--items", 37, "--popularity", "pareto:1,1", "-n", 500),
        *("--max-per-item", 20, "--trims-compatible"),
    )
    plan = read_plan(Path("plan.jsonl"))
    assert plan.header.trims_compatible
    assert f"skipped      {plan.header.skipped} draws, as TRIMS does" in done.out


def test_plan_without_a_popularity_is_every_item_in_turn(powerkit: Powerkit) -> None:
    planned(powerkit, "--items", "a,b")
    assert [one.item for one in read_plan(Path("plan.jsonl")).requests] == ["a", "b"]


def test_a_number_of_requests_is_drawn_from_all_items_alike(
    powerkit: Powerkit,
) -> None:
    planned(powerkit, "--items", "a,b", "--requests", 200)
    plan = read_plan(Path("plan.jsonl"))
    assert plan.header.popularity.kind == "equal"
    drawn = [one.item for one in plan.requests]
    assert len(drawn) == 200
    assert 60 < drawn.count("a") < 140


def test_every_problem_of_a_plan_is_told_at_once(powerkit: Powerkit) -> None:
    done = powerkit(
        *("load", "plan", "--items", "a,a,", "--popularity", "zipf:s=x"),
        *("--arrivals", "poisson:-1", "--requests", 0, "--json"),
    )
    assert done.code == 1
    codes = [found["code"] for found in json.loads(done.out)["findings"]]
    assert sorted(codes) == ["Q002", "Q002", "Q004", "Q004", "Q014"]
    assert not Path("plan.jsonl").exists()


def test_two_kinds_of_arrivals_are_a_wrong_call(powerkit: Powerkit) -> None:
    done = powerkit(
        *("load", "plan", "--items", 2, "--arrivals", "offline", "--concurrent", 2)
    )
    assert done.code == 2
    assert "give either --arrivals or --concurrent" in done.err


@pytest.mark.parametrize(
    ("form", "first"),
    [
        ("table", "popularity   zipf:s=1, weights by quantile"),
        ("csv", "name,weight,count,share"),
        ("md", "| name | weight | count | share |"),
        ("json", "{"),
    ],
)
def test_show_has_forms(powerkit: Powerkit, form: str, first: str) -> None:
    planned(powerkit, "--items", "a,b|c", "--popularity", "zipf:1", "-n", 10)
    done = powerkit("load", "show", "plan.jsonl", "--format", form)
    lines = done.out.splitlines()
    assert (done.code, lines[0]) == (0, first)
    if form == "md":
        assert lines[3].startswith("| b\\|c | 0.333333 | ")


def test_show_tells_rate_gaps_and_histogram(powerkit: Powerkit) -> None:
    planned(
        powerkit,
        *("--items", 50, "--popularity", "equal", "--arrivals", "constant:rate=4"),
        *("--duration", 10),
    )
    lines = powerkit("load", "show", "plan.jsonl").out.splitlines()
    assert "span         10 s" in lines
    assert "rate         4 ± 0.63 a second, 4 asked for" in lines
    assert "gaps         0.25 s on average, CV 0" in lines
    assert lines[-1] == f"{'9.5 s':>12}          2  {'#' * 40}"
    assert "effective    50 items by weight" in "\n".join(lines)
    facts = json.loads(powerkit("load", "show", "plan.jsonl", "--json").out)
    assert facts["entropy_nats"] == pytest.approx(3.91202)
    assert sum(facts["schedule"]["histogram"]) == 40


def test_show_refuses_what_is_no_plan(powerkit: Powerkit) -> None:
    Path("x").write_text("{}\n")
    done = powerkit("load", "show", "x")
    assert done.code == 1
    assert done.out.startswith("error Q009 x:1: the first line is no header")
