"""Errors come from blocks that the fit never saw, and are not flattered."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from registry.modelling import evaluate as module
from registry.modelling.blocks import groups, load_blocks, protocols, time_blocks
from registry.modelling.evaluate import (
    SPREAD,
    choose,
    component_error,
    evaluate,
    half_width,
    hold_out,
)
from registry.modelling.fits.trainers import FITS, Trainer
from registry.modelling.model import CURVE, LINEAR, TREES, Linear, predict_rows
from registry.modelling.table import Floats, Table
from tests.simulators.tables import levels, recording, table


def servers(count: int, spread: float = 0.0) -> Table:
    made = levels()
    scale = 1 + spread * np.arange(count)
    return replace(
        made,
        values=np.tile(made.values, (count, 1)),
        watts=np.concatenate([made.watts * s for s in scale]),
        weight=np.ones(11 * count),
        load=np.tile(made.load, count),
        machine=np.repeat(np.arange(count), 11),
        workload=np.zeros(11 * count, dtype=np.int64),
        block=np.tile(made.block, count),
    )


def test_what_is_held_out() -> None:
    one = recording()
    assert protocols(one) == ("workload", "time-block")
    assert protocols(replace(one, workload=one.workload * 0)) == ("time-block",)
    assert protocols(levels()) == ("load-block",)
    assert protocols(servers(2)) == ("server",)
    assert protocols(levels(rows=1)) == ("none",)


@pytest.mark.parametrize("trainer", [LINEAR, TREES, CURVE])
@pytest.mark.parametrize("made", [recording(), levels(), servers(3, 0.1)])
def test_no_row_is_predicted_by_a_fit_that_saw_its_block(
    trainer: str, made: Table, monkeypatch: pytest.MonkeyPatch
) -> None:
    protocol = protocols(made)[0]
    group = groups(made, protocol)
    where = {watts: at for at, watts in enumerate(made.watts)}
    spied: list[tuple[set[int], set[int]]] = []
    true = FITS[trainer]

    def guess(train: Table, choice: object, test: Table) -> Floats:
        seen = {int(group[where[w]]) for w in train.watts}
        asked = {int(group[where[w]]) for w in test.watts}
        spied.append((seen, asked))
        return true.guess(train, choice, test)

    monkeypatch.setattr(
        module, "FITS", {trainer: Trainer(true.choices, true.fit, guess)}
    )
    held = hold_out(made, trainer, protocol)
    assert len(set(made.watts.tolist())) == len(made)
    assert all(not seen & asked for seen, asked in spied if len(asked) == 1)
    outer = [asked for seen, asked in spied if len(seen) + len(asked) == held.folds]
    assert set().union(*outer) == set(range(held.folds))


def test_blocks_are_contiguous() -> None:
    assert time_blocks(10).tolist() == [0, 0, 1, 1, 2, 2, 3, 3, 4, 4]
    load = np.array([0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0])
    found = load_blocks(load)
    assert sorted(found.tolist()) == found.tolist()
    assert set(found.tolist()) == {0, 1, 2, 3, 4}
    rerun = load_blocks(np.concatenate([load, load * 1.003]))
    assert rerun[:11].tolist() == rerun[11:].tolist()


def test_at_most_ten_groups_of_servers() -> None:
    made = servers(25)
    assert set(groups(made, "server").tolist()) == set(range(10))
    assert set(groups(made, "server", 3).tolist()) == {0, 1, 2}


def test_a_model_that_is_no_better_than_a_constant_is_found_out() -> None:
    chance = np.random.default_rng(2)
    made = replace(recording(), watts=100 + chance.normal(0, 10, 300))
    found = evaluate(made, TREES)
    assert found.error.mae > 0.99 * found.error.baseline_mae


def test_the_reported_error_is_that_of_the_worse_protocol() -> None:
    made = recording()
    both = [hold_out(made, LINEAR, protocol) for protocol in protocols(made)]
    worst = max(float(np.abs(h.watts - made.watts).mean()) for h in both)
    found = evaluate(made, LINEAR)
    assert found.error.mae == pytest.approx(worst, rel=1e-5)
    assert found.error.mae_low <= found.error.mae <= found.error.mae_high
    assert found.error.mae <= found.error.rmse <= found.error.worst
    assert found.error.p95 <= found.error.worst


def test_servers_that_differ_raise_the_error() -> None:
    alike, apart = servers(3, 0.0001), servers(3, 0.2)
    assert evaluate(alike, LINEAR).error.mae < evaluate(apart, LINEAR).error.mae / 2


def test_few_servers_promise_no_more_than_servers_of_a_class_differ() -> None:
    for count in (1, 2, 18):
        made = servers(count, 0.0001)
        found = evaluate(made, CURVE).error
        assert found.p95 >= SPREAD * float(made.watts.mean())
        assert found.worst >= found.p95
    many = evaluate(servers(19, 0.0001), CURVE).error
    assert many.p95 < 1


def test_without_blocks_there_is_no_error_to_report() -> None:
    with pytest.raises(ValueError, match="held out"):
        evaluate(levels(rows=1), LINEAR)


@given(
    held=st.lists(st.floats(0, 100), min_size=1, max_size=60),
    own=st.lists(st.floats(0, 100), min_size=1, max_size=60),
)
def test_the_half_width_covers_what_it_says(
    held: list[float], own: list[float]
) -> None:
    width = half_width(np.array(held), np.array(own))
    for misses in (held, own):
        assert np.mean(np.array(misses) <= width) >= 0.95
    if max(len(held), len(own)) < 20:
        assert width == max(*held, *own)


def test_percentages_leave_out_rows_without_power() -> None:
    made = levels(idle=0.0)
    held = hold_out(made, LINEAR, "load-block")
    found = component_error(made, Linear(0.0, {}), held)
    assert found.mape is not None
    assert np.isfinite(found.mape)
    nothing = replace(made, watts=made.watts * 0)
    flat = hold_out(nothing, LINEAR, "load-block")
    assert component_error(nothing, None, flat).mape is None


def test_the_simplest_choice_wins_where_blocks_cannot_tell() -> None:
    chance = np.random.default_rng(0)
    made = recording(600)
    cycles = made.columns()["cpu_cycles"]
    watts = 100 + 150 * cycles / 1e11 + chance.normal(0, 5, 600)
    choice = choose(replace(made, watts=watts), LINEAR)
    assert choice.without == ("cache_miss", "cpu_instructions")


def test_a_needed_feature_is_chosen() -> None:
    choice = choose(recording(600), LINEAR)
    assert "cache_miss" not in choice.without


def test_rows_of_a_server_with_many_rows_weigh_no_more() -> None:
    made = table(np.array([100.0] * 8 + [200.0] * 2), cpu_cycles=np.array([1.0] * 10))
    made.weight[:] = [0.625] * 8 + [2.5] * 2
    made.machine[:] = [0] * 8 + [1] * 2
    found = evaluate(made, LINEAR)
    assert found.error.mae == pytest.approx(100.0)
    assert predict_rows(found.part, made.columns(), 10)[0] in (100.0, 200.0)
