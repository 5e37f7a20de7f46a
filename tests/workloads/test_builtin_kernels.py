"""What built-in workloads compute is right, and the same for equal seeds."""

from __future__ import annotations

import time
from typing import Any

import numpy as np
import pytest

from tools.workloads.catalogue import read_workload
from tools.workloads.work import Conditions, Work


def ready(text: str, seed: int = 3) -> Any:
    chosen = read_workload(text)
    work: Work = chosen.builtin.load()(chosen.values, Conditions(seed=seed))
    work.prepare()
    work.initialise()
    return work


@pytest.mark.parametrize("kind", ["float32", "float64"])
def test_a_product(kind: str) -> None:
    work = ready(f"numpy:matmul:20:{kind}")
    assert work.iterate() == 2 * 20**3
    assert work.c.dtype == work.a.dtype == kind
    assert work.c == pytest.approx(np.einsum("ij,jk->ik", work.a, work.b), rel=1e-5)
    assert sum(work.holds.values()) == 3 * work.a.nbytes


def test_a_transform() -> None:
    work = ready("numpy:fft:16")
    assert work.iterate() == 5 * 16 * 4
    n = np.arange(16)
    waves = np.exp(-2j * np.pi * np.outer(n, n) / 16)
    assert work.y == pytest.approx(waves @ work.x)


def test_sorting() -> None:
    work = ready("numpy:sort:1000")
    before = work.x.copy()
    assert [work.iterate() for _ in range(2)] == [1000, 1000]
    assert (np.diff(work.y) >= 0).all()
    assert sorted(before) == list(work.y)
    assert (work.x == before).all()


def test_random_numbers_go_on() -> None:
    work = ready("numpy:random:1000")
    assert work.iterate() == 1000
    first = work.x.copy()
    work.iterate()
    assert not (work.x == first).any()


def test_a_copy() -> None:
    work = ready("memory:copy:1")
    assert work.iterate() == 2 << 20
    assert (work.y == work.x).all()
    assert work.x.nbytes == 1 << 20


def test_a_sleep(monkeypatch: pytest.MonkeyPatch) -> None:
    slept: list[float] = []
    monkeypatch.setattr(time, "sleep", slept.append)
    assert ready("sleep:0.5").iterate() == 1
    assert slept == [0.5]


@pytest.mark.parametrize(
    ("text", "error"),
    [
        ("sklearn:hist-gradient-boosting:300:4:10", 0.5),
        ("sklearn:ridge:300:4", 0.9),
    ],
)
def test_models_learn_what_can_be_learnt(text: str, error: float) -> None:
    work = ready(text)
    assert work.iterate() == 1
    rest = np.var(work.y - work.predicted) / np.var(work.y)
    assert 0 < rest < error
    again = ready(text)
    again.iterate()
    assert (again.predicted == work.predicted).all()


def test_clusters() -> None:
    work = ready("sklearn:kmeans:200:3:clusters=5")
    assert work.iterate() == 1
    assert set(work.predicted) == set(range(5))
    assert work.model.cluster_centers_.shape == (5, 3)


@pytest.mark.parametrize(
    ("text", "data"),
    [
        ("numpy:matmul:8", "a"),
        ("numpy:fft:8", "x"),
        ("numpy:sort:8", "x"),
        ("memory:copy:1", "x"),
        ("sklearn:ridge:64:3", "x"),
    ],
)
def test_equal_seeds_give_equal_data(text: str, data: str) -> None:
    one, same, other = (getattr(ready(text, seed), data) for seed in (1, 1, 2))
    assert (one == same).all()
    assert not (one == other).all()
