"""What `powerkit cache simulate` prints: a row for each tier, and for each item."""

from __future__ import annotations

import io
from contextlib import redirect_stdout
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import typer

from tools.commands.forms import Form
from tools.files.writing import write_whole

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tools.caches.scenario import Scenario
    from tools.caches.simulation import Demand, Outcome
    from tools.caches.sweeps import Value

__all__ = ["Cell", "print_cells"]


class Cell(NamedTuple):
    """One simulation: the values of what varies, what was asked, what came of it."""

    values: dict[str, Value]
    demand: Demand
    outcome: Outcome


def print_cells(
    cells: Sequence[Cell],
    scenario: Scenario,
    plan: Path,
    form: Form,
    *,
    per_item: bool,
    output: Path | None,
) -> None:
    """Print all simulations in one form, or write them to a file, whole or not."""
    from tools.commands.tables import print_table

    document = {
        "schema": "cache-simulation/1",
        "plan": str(plan),
        "items": len(scenario.names),
        "concurrency": scenario.concurrency,
        "estimation_rate": scenario.rate,
        "tiers": list(scenario.tiers),
        "outcomes": [_told(cell, scenario, per_item=per_item) for cell in cells],
    }
    title = f"{len(scenario.requests)} requests for {len(scenario.names)} items"
    title += f", {scenario.concurrency} at a time"
    text = io.StringIO()
    with redirect_stdout(text):
        print_table(
            [row for cell in cells for row in _rows(cell)], form, document, title=title
        )
        if per_item and form is not Form.JSON:
            print_table(
                [row for cell in cells for row in _item_rows(cell, scenario)], form, {}
            )
    if output is None:
        typer.echo(text.getvalue(), nl=False)
        return
    write_whole(output, text.getvalue())


def _rows(cell: Cell) -> list[dict[str, Any]]:
    """A row for each tier that keeps items."""
    return [
        dict(cell.values)
        | {
            "policy": cell.outcome.policy.value,
            "tier": tier.tier,
            "capacity_bytes": tier.capacity,
            "requests": tier.requests,
            "hits": tier.hits,
            "misses": tier.misses,
            "hit_ratio": tier.hit_ratio,
            "evictions": tier.evictions,
            "not_kept": tier.not_kept,
            "peak_bytes": tier.peak_bytes,
            "moved_bytes": tier.moved_bytes,
            "disk_bytes": cell.outcome.disk_bytes,
        }
        for tier in cell.outcome.tiers
    ]


def _item_rows(cell: Cell, scenario: Scenario) -> list[dict[str, Any]]:
    outcome, demand = cell.outcome, cell.demand
    return [
        dict(cell.values)
        | {
            "policy": outcome.policy.value,
            "item": name,
            "bytes": demand.sizes[number],
            "memory_bytes": demand.needs[number],
            "requests": int(outcome.requests[number]),
            "hits": int(outcome.hits[number]),
            "evictions": int(outcome.evictions[number]),
        }
        for number, name in enumerate(scenario.names)
    ]


def _told(cell: Cell, scenario: Scenario, *, per_item: bool) -> dict[str, Any]:
    own = {"policy", "disk_bytes", *cell.values}
    told: dict[str, Any] = {
        "values": cell.values,
        "policy": cell.outcome.policy.value,
        "disk_bytes": cell.outcome.disk_bytes,
        "tiers": [
            {name: value for name, value in row.items() if name not in own}
            for row in _rows(cell)
        ],
    }
    if per_item:
        told["items"] = [
            {name: value for name, value in row.items() if name not in own}
            for row in _item_rows(cell, scenario)
        ]
    return told
