"""Committed bundles against the published figures, read without the importer."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest

from registry.documents.canonical import sha256
from registry.documents.spec import read_spec
from tools.bundles.draft import files
from tools.importers.sources import chosen, read_ids, read_sources
from tools.importers.specpower import draft_of

ROOT = Path(__file__).resolve().parents[2]
LIST = ROOT / "tools/importers/founding_ids.txt"
IDS = read_ids(LIST.read_text("ascii"), LIST.name)

Row = dict[str, str]


@pytest.fixture(scope="module")
def published(shared_data: Path) -> dict[str, list[Row]]:
    """Rows of the levels' table by result, in the order of the file."""
    rows: dict[str, list[Row]] = {}
    path = shared_data / "specpower" / "specpower_levels.csv"
    with path.open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            rows.setdefault(row["result_id"], []).append(row)
    return rows


def table(id_: str, name: str) -> list[Row]:
    path = ROOT / "datasets" / f"ssj2008-{id_}" / f"{name}.csv"
    with path.open(encoding="ascii", newline="") as file:
        return list(csv.DictReader(file))


def test_levels_are_the_published_ones(published: dict[str, list[Row]]) -> None:
    for id_ in IDS:
        rows = published[f"power_ssj2008-{id_}"]
        levels, runs = table(id_, "levels"), table(id_, "runs")
        watts = next(name for name in levels[0] if name.endswith("_watts"))
        assert [row["run"] for row in levels] == [row["run"] for row in runs]
        for told, level, run in zip(rows, levels, runs, strict=True):
            assert float(level[watts]) == float(told["avg_power_w"]), id_
            assert float(run["performance"]) == float(told["ssj_ops"]), id_
            target, actual = told["target_load_pct"], told["actual_load_pct"]
            assert float(run["load_target_ratio"]) * 100 == pytest.approx(float(target))
            reached = float(run["load_achieved_ratio"]) * 100
            assert reached == pytest.approx(float(actual), abs=1e-9)


def test_specs_are_of_one_node(published: dict[str, list[Row]]) -> None:
    for id_ in IDS:
        told = published[f"power_ssj2008-{id_}"][0]
        path = f"specs/ssj2008-{id_}.yaml"
        spec = read_spec((ROOT / path).read_bytes(), path)
        assert spec.cpu.cores == int(told["cores"])
        assert spec.cpu.sockets.populated == int(told["chips"])
        assert spec.logical_cpus == int(told["threads"])
        assert spec.memory.bytes == float(told["memory_gb"]) * 2**30
        assert spec.nodes.count == int(told["nodes"])
        levels = table(id_, "levels")
        if spec.nodes.count > 1:
            all_nodes = float(levels[0]["chassis_watts"])
            each = float(told["avg_power_w_per_node"])
            assert all_nodes / spec.nodes.count == pytest.approx(each, rel=1e-3)


def test_the_importer_still_makes_the_committed_bundles(shared_data: Path) -> None:
    sources = read_sources([shared_data / "specpower"], frozenset(IDS))
    results, problems = chosen(sources, IDS)
    assert problems == []
    for result in results:
        for path, content in files(draft_of(result, 0)).items():
            assert sha256((ROOT / path).read_bytes()) == sha256(content), path
