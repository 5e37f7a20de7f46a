"""Near copies, which digests of tables and rows do not show."""

from __future__ import annotations

import csv
import random
from typing import TYPE_CHECKING

import numpy as np
import pytest

from registry.documents.manifest import read_manifest
from registry.gate.duplicates import check_duplicates
from registry.gate.withdrawal import Withdrawal, withdrawal_bytes
from registry.modelling.extract import extract
from registry.review.copies import copies_section, match
from registry.review.page import plain
from registry.review.servers import Server, server_of
from tests.simulators.bundles import read_bundle
from tests.simulators.machines import (
    Machine,
    level_tables,
    points,
    sample_tables,
)
from tests.simulators.registry import Simulator, small

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.review.conftest import Review

LEVELS = {"profile": "load-levels", "workloads": ["idle", "ssj2008"]}


def altered(table: bytes, column: str, change: Callable[[float], str]) -> bytes:
    """Change every value of a column."""
    lines = [line.split(",") for line in table.decode().splitlines()]
    at = lines[0].index(column)
    for line in lines[1:]:
        line[at] = change(float(line[at]))
    return ("\n".join(",".join(line) for line in lines) + "\n").encode()


def shuffled(table: bytes) -> bytes:
    head, *rows = table.decode().splitlines()
    random.Random(7).shuffle(rows)
    return ("\n".join([head, *rows]) + "\n").encode()


CHANGES = {
    "one per cent more": lambda watts: f"{1.01 * watts:.3f}",
    "a thousandth of a watt": lambda watts: f"{watts + 0.001:.3f}",
    "both": lambda watts: f"{0.987 * watts - 0.432:.3f}",
    "rounded again": lambda watts: f"{1.037 * watts:.1f}",
}


@pytest.mark.parametrize("how", CHANGES)
def test_a_scaled_moved_shuffled_copy_is_shown(review: Review, how: str) -> None:
    """B12, what the gate's own check lets pass: it compares digests of rows."""
    changed = small()
    changed.enrol(99)
    tables = {
        name: changed.files[f"datasets/server-a/{name}"]
        for name in ("levels.csv", "runs.csv")
    }
    tables["levels.csv"] = shuffled(
        altered(tables["levels.csv"], "wall_watts", CHANGES[how])
    )
    changed.add_bundle("copied", 99, Machine("copied", seed=3), tables, **LEVELS)
    manifests = {
        name: read_manifest(changed.files[path], path)
        for name in ("server-a", "copied")
        for path in (f"datasets/{name}/manifest.json",)
    }
    assert not check_duplicates(manifests, {"copied"})
    packet = review(changed, author=None)
    part = packet.section("copies")
    assert part is not None
    assert part.facts["copies"] == ["server-a"]
    assert "server-a" in plain(part.notes[0])
    assert "near copy" in plain(part.notes[0])
    glance = packet.section("glance")
    assert glance is not None
    assert any("near copy" in plain(p) for p in glance.blocks[0].points)


@pytest.mark.parametrize(("by", "copies"), [(99, ["server-a"]), (42, [])])
def test_withdrawn_bundles_count_for_others(
    review: Review, by: int, copies: list[str]
) -> None:
    merged = small()
    gone = Withdrawal.model_validate(
        {"schema": "withdrawn/1", "day": "2026-06-01", "reason": "privacy"}
    )
    merged.files["datasets/server-a/WITHDRAWN.yaml"] = withdrawal_bytes(gone)
    changed = merged.copy()
    if by == 99:
        changed.enrol(99)
    tables = {
        name: changed.files[f"datasets/server-a/{name}"]
        for name in ("levels.csv", "runs.csv")
    }
    tables["levels.csv"] = altered(tables["levels.csv"], "wall_watts", CHANGES["both"])
    changed.add_bundle("copied", by, Machine("copied", seed=3), tables, **LEVELS)
    part = review(changed, merged, author=None).section("copies")
    assert part is not None
    assert part.facts["copies"] == copies


def recording(seed: int, change: Callable[[float], str] | None = None) -> Server:
    machine = Machine("server-a", seed=seed)
    tables = sample_tables(machine, points(4, ("fp", "membw")), 12)
    if change is not None:
        tables["samples.csv"] = altered(tables["samples.csv"], "wall_watts", change)
    simulated = Simulator()
    simulated.enrol(42)
    usual = {"profile": "timeseries", "workloads": ["fp", "idle", "int", "membw"]}
    simulated.add_bundle("server-a", 42, machine, tables, **usual)
    return server_of(extract(read_bundle(simulated, "server-a")), 42)


def test_a_scaled_recording_is_a_copy_and_another_recording_is_none() -> None:
    first = recording(1)
    found = match(recording(1, CHANGES["both"]), first)
    assert found is not None
    assert found.copied
    assert found.scale == pytest.approx(0.987, abs=1e-4)
    assert found.offset == pytest.approx(-0.432, abs=0.01)
    other = match(recording(2), first)
    assert other is not None
    assert not other.copied


def test_servers_of_one_model_are_no_copies() -> None:
    """Simulated servers differ by noise only; even so none is called a copy."""
    servers = []
    for seed in range(12):
        simulated = Simulator()
        simulated.enrol(42)
        machine = Machine("server-a", seed=seed)
        simulated.add_bundle("server-a", 42, machine, level_tables(machine), **LEVELS)
        bundle = read_bundle(simulated, "server-a")
        servers.append(server_of(extract(bundle), 42))
    pairs = [
        match(one, other) for at, one in enumerate(servers) for other in servers[:at]
    ]
    assert len(pairs) == 66
    assert not [pair for pair in pairs if pair is None or pair.copied]


def test_too_few_values_say_nothing() -> None:
    server = recording(1)
    few = Server("few", "m", "c", 1, {}, server.values[:5], 5)
    flat = Server("flat", "m", "c", 1, {}, server.values[:1].repeat(20), 20)
    assert match(few, server) is None
    assert match(flat, flat) is None
    section = copies_section(few, [server])
    assert section.facts == {"copies": []}


def test_published_results_are_no_copies_but_for_one_pair(shared_data: Path) -> None:
    """The bounds, against every published SPECpower result in the data.

    Results 00121 and 00122 of 2009 have ten of eleven levels in common to the watt.
    """
    levels: dict[str, list[float]] = {}
    path = shared_data / "specpower" / "specpower_levels.csv"
    with path.open(newline="") as file:
        for row in csv.DictReader(file):
            levels.setdefault(row["result_id"], []).append(float(row["avg_power_w"]))
    servers = [
        Server(name, name, "c", 0, {}, np.sort(np.array(watts)), len(watts))
        for name, watts in sorted(levels.items())
    ]
    # each against its forty nearest in time: those are of one maker and generation
    copied = {
        (one.dataset, other.dataset)
        for at, one in enumerate(servers)
        for other in servers[max(0, at - 40) : at]
        if (found := match(one, other)) is not None and found.copied
    }
    assert copied == {("power_ssj2008-20090220-00122", "power_ssj2008-20090220-00121")}
