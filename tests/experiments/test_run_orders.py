"""What runs in which order, before anything starts."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from registry.documents.findings import RegistryError
from tools.experiments.launching import prepare
from tools.experiments.loads import popularity
from tools.experiments.orders import compared, targets
from tools.experiments.record import Init
from tools.experiments.sides import paired_targets
from tools.experiments.spec import Load, Spec, spec_of
from tools.load.making import make_plan
from tools.load.plan import write_plan

MODELS = ["vgg16", "alexnet", "large_alexnet", "resnet"]


def spec(**fields: Any) -> Spec:
    models = {"name": "model", "command": ["run", "{item}"], "items": MODELS}
    return spec_of({"name": "x", "workloads": [models]} | fields, "test")


def items(chosen: Spec) -> list[str | None]:
    return [order.target.item for order in prepare(chosen).orders if not order.warm_up]


def test_each_in_turn_as_often_as_wanted() -> None:
    orders = prepare(spec(iterations=2, warm_up=1)).orders
    first = [(o.target.item, o.iteration, o.warm_up) for o in orders[:3]]
    assert first == [("vgg16", 1, True), ("vgg16", 1, False), ("vgg16", 2, False)]
    assert len(orders) == len(MODELS) * 3


def test_warm_ups_come_first_where_runs_go_side_by_side() -> None:
    orders = prepare(spec(iterations=2, warm_up=1, concurrency=3)).orders
    flags = [order.warm_up for order in orders]
    assert flags == [True] * 4 + [False] * 8


@pytest.mark.parametrize(
    ("models", "chosen"),
    [
        (["alexnet"], ["alexnet"]),
        (["alexnet,resnet"], ["alexnet", "resnet"]),
        (["alexnet", "vgg"], ["vgg16", "alexnet"]),
        (["net"], ["alexnet", "large_alexnet", "resnet"]),
        (["^large_"], ["large_alexnet"]),
        (["."], MODELS),
    ],
)
def test_all_models_that_match_are_used(models: list[str], chosen: list[str]) -> None:
    assert items(spec(models=models)) == chosen


def test_a_model_that_matches_nothing_is_refused() -> None:
    with pytest.raises(RegistryError) as refused:
        prepare(spec(models=["alexnet,gpt,("]))
    assert len(refused.value.findings) == 2
    assert {one.code for one in refused.value.findings} == {"Q005"}


@pytest.mark.parametrize(
    ("part", "count"), [(1, 4), (0.5, 2), (0.51, 3), (75, 3), (100, 4), (2, 1)]
)
def test_a_share_of_the_models_by_name(part: float, count: int) -> None:
    assert (
        sorted(str(one) for one in items(spec(models_percentage=part)))
        == (sorted(MODELS)[:count])
    )


def test_variants_have_their_own_environment_and_init() -> None:
    chosen = spec(
        env={"A": "all", "B": "all"},
        variants={
            "one": {"env": {"B": "one"}},
            "two": {"init": "lazy", "command": "other {item}"},
        },
    )
    by_name = {target.variant: target for target in targets(chosen)}
    assert by_name["one"].environment == {"A": "all", "B": "one"}
    assert by_name["one"].init is Init.EAGER
    assert by_name["two"].init is Init.LAZY
    assert by_name["two"].command == ("other", "{item}")


def test_a_distribution_decides_how_often_each_runs() -> None:
    chosen = spec(iterations=200, load={"distribution": "Pareto", "params": [1, 1]})
    launch = prepare(chosen)
    counted = Counter(order.target.item for order in launch.orders)
    assert sum(counted.values()) == 200
    assert counted["vgg16"] > counted["resnet"]
    assert launch.parameters["distribution"] == "Pareto"
    assert launch.parameters["distribution_params"] == "1,1"
    again = prepare(chosen)
    assert [o.target.item for o in again.orders] == [
        o.target.item for o in launch.orders
    ]
    weights = launch.document()["load"]["items"]
    assert sum(one["weight"] for one in weights) == pytest.approx(1)


def test_iterations_count_each_item_by_itself() -> None:
    chosen = spec(iterations=9, load={"distribution": "uniform", "max_per_item": 3})
    seen: dict[str | None, list[int]] = {}
    for order in prepare(chosen).orders:
        seen.setdefault(order.target.item, []).append(order.iteration)
    assert all(numbers == list(range(1, len(numbers) + 1)) for numbers in seen.values())
    assert max(map(len, seen.values())) <= 3


def test_a_plan_decides_the_order(tmp_path: Path) -> None:
    path = tmp_path / "plan.jsonl"
    plan = make_plan(["alexnet", "vgg16"], "uniform", requests=6, seed=3)
    write_plan(plan, path)
    found = items(spec(load={"plan": str(path)}))
    assert found == [one.item for one in plan.requests]


def test_a_plan_of_other_items_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "plan.jsonl"
    write_plan(make_plan(["alexnet", "gpt"], "none"), path)
    with pytest.raises(RegistryError, match='B031 there is no item "gpt"'):
        prepare(spec(load={"plan": str(path)}))


def test_trims_names_of_distributions_mean_the_same_here() -> None:
    for name in ("exp", "exponential", "Weibull", "POISSON", "pareto", "uniform"):
        chosen = spec(
            iterations=5,
            load={"distribution": name, "trims_compatible": True, "seed": 1},
        )
        assert len(prepare(chosen).orders) == 5
    assert popularity(Load(distribution="pareto", params=(1, 1.5))) == "pareto:1,1.5"


@given(
    rounds=st.integers(1, 6),
    warm_up=st.integers(0, 2),
    seed=st.integers(0, 99),
    interleave=st.booleans(),
)
def test_a_comparison_runs_each_variant_once_a_round(
    rounds: int, warm_up: int, seed: int, *, interleave: bool
) -> None:
    chosen = spec(variants={"baseline": {}, "candidate": {}})
    pairs = paired_targets(chosen, None, "baseline", "candidate")
    orders = compared(
        pairs, rounds=rounds, warm_up=warm_up, seed=seed, interleave=interleave
    )
    keys = Counter(
        (o.target.label, o.target.variant, o.warm_up, o.iteration) for o in orders
    )
    assert set(keys.values()) == {1}
    assert len(orders) == 2 * len(MODELS) * (rounds + warm_up)
    measured = [order for order in orders if not order.warm_up]
    assert all(order.repeat == order.iteration for order in measured)
    if interleave:
        assert [o.repeat for o in measured] == sorted(o.repeat for o in measured)


def test_the_order_within_rounds_is_random_and_of_the_seed() -> None:
    chosen = spec(variants={"baseline": {}, "candidate": {}})
    pairs = paired_targets(chosen, None, "baseline", "candidate")

    def firsts(seed: int) -> list[str]:
        orders = compared(pairs, rounds=20, warm_up=0, seed=seed, interleave=True)
        return [order.target.variant for order in orders[::2]]

    assert firsts(1) == firsts(1)
    assert firsts(1) != firsts(2)
    baseline = len(MODELS) * 20 // 2
    assert all(firsts(seed).count("baseline") == baseline for seed in range(9))


def test_two_experiments_are_paired_by_name() -> None:
    pairs = paired_targets(spec(), spec(env={"A": "b"}), "x", "y")
    assert [one.variant for one in pairs[0]] == ["baseline", "candidate"]
    assert [one.label for one in pairs[0]] == ["model/vgg16"] * 2
    other = spec_of(
        {"name": "y", "workloads": [{"name": "else", "command": "a"}]}, "test"
    )
    with pytest.raises(RegistryError, match="B063"):
        paired_targets(spec(), other, "x", "y")
    with pytest.raises(RegistryError, match="B062 concurrency is not the same"):
        paired_targets(spec(), spec(concurrency=2), "x", "y")
    with pytest.raises(RegistryError, match='B061 "x" is none of none'):
        paired_targets(spec(), None, "x", "y")
