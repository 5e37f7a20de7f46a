"""The same measurement is found again, whole, moved about or in part."""

from __future__ import annotations

import random
import time
from dataclasses import dataclass, field

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from registry.documents.canonical import sha256
from registry.documents.findings import Severity
from registry.documents.manifest import Manifest
from registry.documents.sketch import sketch
from registry.documents.strict_csv import write_table
from registry.gate.duplicates import check_duplicates, shared_rows
from tests.simulators.bundles import levels_bundle

TEMPLATE = levels_bundle().manifest


@dataclass
class Shelf:
    """Manifests of made-up tables."""

    manifests: dict[str, Manifest] = field(default_factory=dict)

    def add(self, dataset: str, frame: pl.DataFrame, contributor: int = 1) -> None:
        content = write_table(frame, "levels")
        entry = TEMPLATE.file("levels.csv")
        assert entry is not None
        described = entry.model_copy(
            update={
                "sha256": sha256(content),
                "rows": frame.height,
                "sketch": sketch(frame),
            }
        )
        plan = TEMPLATE.file("runs.csv")
        update = {
            "dataset": dataset,
            "contributor": contributor,
            "files": (described, plan),
        }
        self.manifests[dataset] = TEMPLATE.model_copy(update=update)

    def check(self, *candidates: str) -> list[tuple[str, str, str]]:
        found = check_duplicates(self.manifests, candidates or self.manifests)
        return [(one.path, one.code, one.what) for one in found]


def table(rows: int, seed: int = 0) -> pl.DataFrame:
    chance = random.Random(seed)
    watts = [round(100 + 300 * chance.random(), 4) for _ in range(rows)]
    return pl.DataFrame({"run": range(rows), "wall_watts": watts})


def test_the_same_bytes_under_another_name() -> None:
    shelf = Shelf()
    shelf.add("old", table(11))
    shelf.add("new", table(11), contributor=2)
    shelf.add("other", table(11, seed=1))
    assert shelf.check("new") == [
        (
            "datasets/new/levels.csv",
            "D001",
            "the same bytes are in datasets/old, of another contributor",
        )
    ]
    assert shelf.check("other") == []
    assert shelf.check("missing") == []


def test_a_pair_is_told_once_if_both_are_asked_for() -> None:
    shelf = Shelf()
    shelf.add("a", table(11))
    shelf.add("b", table(11))
    assert [path for path, *_ in shelf.check()] == ["datasets/b/levels.csv"]
    assert [path for path, *_ in shelf.check("a")] == ["datasets/a/levels.csv"]


@pytest.mark.parametrize("rows", [11, 500])
def test_rows_in_another_order(rows: int) -> None:
    shelf = Shelf()
    shelf.add("old", table(rows))
    moved = table(rows).sample(fraction=1.0, shuffle=True, seed=3)
    shelf.add("new", moved.with_columns(run=pl.int_range(pl.len()) + 7))
    ((_, code, what),) = shelf.check("new")
    which = "the rows" if rows < 64 else "all sampled rows"
    assert (code, what) == ("D002", f"{which} are those of datasets/old")


@pytest.mark.parametrize(
    ("rows", "code", "severity"),
    [(11, "D003", Severity.WARNING), (500, "D002", Severity.ERROR)],
)
def test_one_row_changed(rows: int, code: str, severity: Severity) -> None:
    """In a long table the sample of rows does not even see the change."""
    shelf = Shelf()
    shelf.add("old", table(rows))
    other = pl.when(pl.col("run") == 5).then(321.0).otherwise("wall_watts")
    shelf.add("new", table(rows).with_columns(wall_watts=other))
    (found,) = check_duplicates(shelf.manifests, ["new"])
    assert (found.code, found.severity) == (code, severity)
    assert "datasets/old" in found.what


@pytest.mark.parametrize("rows", [11, 500])
def test_a_part_of_another_dataset(rows: int) -> None:
    shelf = Shelf()
    shelf.add("old", table(rows))
    shelf.add("new", table(rows).head(rows * 3 // 4))
    ((_, code, _),) = shelf.check("new")
    assert code == "D003"


def test_a_third_in_common_is_no_copy() -> None:
    shelf = Shelf()
    shelf.add("old", table(600))
    mixed = pl.concat([table(600).head(200), table(400, seed=9)])
    shelf.add("new", mixed.with_columns(run=pl.int_range(pl.len())))
    assert shelf.check("new") == []


def test_few_rows_may_be_equal_by_chance() -> None:
    shelf = Shelf()
    flat = table(11).with_columns(wall_watts=pl.lit(100.0))
    shelf.add("old", flat)
    shelf.add("new", flat.with_columns(run=pl.col("run") + 1))
    assert shelf.check("new") == []


def test_many_copies_are_all_told() -> None:
    shelf = Shelf()
    for number in range(5):
        frame = table(40).with_columns(run=pl.col("run") + number)
        shelf.add(f"copy-{number}", frame)
    assert len(shelf.check()) == 10
    assert len(shelf.check("copy-0")) == 4


def test_the_cost_grows_with_the_registry_not_with_its_square() -> None:
    """Thousands of datasets that share one row, all checked: still seconds."""
    common = [f"{number:016x}" for number in range(2)]
    entry = TEMPLATE.file("levels.csv")
    assert entry is not None
    manifests = {}
    for number in range(4000):
        digest = sha256(str(number).encode())
        own = [sha256(f"{number}/{row}".encode())[:16] for row in range(9)]
        described = entry.model_copy(
            update={"sha256": digest, "sketch": tuple(sorted(common + own))}
        )
        name = f"d{number:05}"
        manifests[name] = TEMPLATE.model_copy(
            update={"dataset": name, "files": (described,)}
        )
    began = time.process_time()
    assert check_duplicates(manifests, manifests) == []
    assert time.process_time() - began < 10


def test_a_manifest_without_measurements_is_passed_over() -> None:
    plan = TEMPLATE.file("runs.csv")
    bare = TEMPLATE.model_copy(update={"files": (plan,)})
    assert check_duplicates({"a": bare}, ["a"]) == []


@settings(max_examples=30, deadline=None)
@given(st.integers(20, 300), st.floats(0, 1), st.integers(0, 9))
def test_the_estimate_is_near_the_truth(rows: int, share: float, seed: int) -> None:
    common = round(rows * share)
    first = [sha256(f"{seed}/{row}".encode())[:16] for row in range(rows)]
    other = [sha256(f"{seed}+{row}".encode())[:16] for row in range(rows - common)]
    sketches = [tuple(sorted(s)[:64]) for s in (first, first[:common] + other)]
    assert abs(shared_rows(*sketches) - common / rows) < 0.35
    assert shared_rows(sketches[0], sketches[0]) == 1.0
    assert shared_rows((), sketches[0]) == 0.0
