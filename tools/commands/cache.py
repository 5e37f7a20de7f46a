"""`powerkit cache`: which models stay in memory under a plan of requests."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from tools.commands.cache_tables import Cell, print_cells
from tools.commands.forms import Form
from tools.commands.groups import group
from tools.options import Json

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from tools.caches.policies import Policy
    from tools.caches.scenario import Scenario
    from tools.caches.simulation import Tier
    from tools.caches.sweeps import Axis, Value
    from tools.load.requests import Plan

__all__ = ["app", "simulate"]

app = group("Simulate eviction of models from memory.")

HEAT_MAP = ("share=0.1:1.0:0.1", "concurrency=1:10")
"""What TRIMS's experiment of that name varies (scripts/dist_heatmap.csv)."""


@app.callback()
def _group() -> None:
    """Keep `simulate` a subcommand, since others may follow."""


@app.command()
def simulate(
    plan: Annotated[
        Path,
        typer.Argument(
            metavar="PLAN", help="A plan of `load plan`.", exists=True, dir_okay=False
        ),
    ],
    policy: Annotated[
        str,
        typer.Option(
            help="never, lru, lcu (or lfu), fifo, flush, all, optimal; several with"
            " commas between them."
        ),
    ] = "lru",
    capacity: Annotated[
        str,
        typer.Option(
            metavar="BYTES|SHARE",
            help="Memory for kept items: 2GiB, or 0.8 or 80% of --memory-bytes, or of"
            " what all items need.",
        ),
    ] = "0.8",
    memory_bytes: Annotated[
        str | None, typer.Option(metavar="BYTES", help="The memory there is: 16GiB.")
    ] = None,
    cpu_capacity: Annotated[
        str | None,
        typer.Option(
            metavar="BYTES|SHARE",
            help="The host's memory for copies, or a share of all sizes; no limit.",
        ),
    ] = None,
    sizes: Annotated[
        Path | None,
        typer.Option(
            help="Bytes by name, CSV or JSON; else those of the plan.",
            exists=True,
            dir_okay=False,
        ),
    ] = None,
    estimation_rate: Annotated[
        float,
        typer.Option(
            min=0.0001, max=1000, help="What sizes are multiplied by to get memory."
        ),
    ] = 1.0,
    estimate_with_internal_memory: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Bytes by name that a framework takes beside an item; they are added.",
            exists=True,
            dir_okay=False,
        ),
    ] = None,
    tiers: Annotated[
        str | None,
        typer.Option(help="gpu,cpu,disk or gpu,disk or cpu,disk, fastest first."),
    ] = None,
    concurrency: Annotated[
        int | None,
        typer.Option(
            "--concurrency",
            "--concurrent",
            min=1,
            max=10000,
            help="Requests at a time; as the closed plan says, or 1.",
        ),
    ] = None,
    sweep: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME=VALUES",
            help="Vary capacity, share (of items), concurrency or estimation-rate:"
            " capacity=0.1:1.0:0.1 or concurrency=1,5,10; again for a grid.",
        ),
    ] = None,
    plot: Annotated[
        Path | None,
        typer.Option(
            help="A picture of the sweep: .svg, .png or .pdf.", dir_okay=False
        ),
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", help="Write there instead.", dir_okay=False),
    ] = None,
    form: Annotated[
        Form | None,
        typer.Option("--format", "-f", help="By default table; csv for a sweep."),
    ] = None,
    *,
    persist_cpu: Annotated[
        bool | None,
        typer.Option(help="Keep a copy in the host's memory: tiers gpu,cpu,disk."),
    ] = None,
    persist_cpu_only: Annotated[
        bool,
        typer.Option("--persist-cpu-only", help="Keep items there only: cpu,disk."),
    ] = False,
    per_item: Annotated[
        bool, typer.Option("--per-item", help="A row for each item, too.")
    ] = False,
    heat_map: Annotated[
        bool,
        typer.Option(
            "--heat-map", help="Vary share and concurrency as TRIMS's heat map does."
        ),
    ] = False,
    json_output: Json = False,
) -> None:
    """Say how often items are in memory, what is moved, and what must leave.

    \b
    never    nothing leaves; what does not fit is not kept
    lru      asked for longest ago leaves first
    lcu      least commonly used: asked for least often since the start; then lru
    fifo     loaded longest ago leaves first
    flush    all leave when the new one does not fit
    all      all leave with every miss
    optimal  asked for again latest leaves: a bound that knows the future

    Requests are taken to last equally long: the items of the last N requests are in
    use and do not leave. What does not fit then is served, but not kept.
    """  # noqa: D301  click wants the character itself
    from tools.caches.policies import read_policies
    from tools.caches.scenario import Scenario
    from tools.caches.sizes import known_sizes, read_capacity, read_sizes
    from tools.caches.sweeps import grid, read_axis
    from tools.load.plan import read_plan

    policies = _usage("--policy", read_policies, policy)
    texts = [*(sweep or ()), *(HEAT_MAP if heat_map else ())]
    axes = [_usage("--sweep", read_axis, text) for text in texts]
    cells = _usage("--sweep", lambda all_: list(grid(all_)), axes)
    if plot is not None:
        _refuse_plot(plot, axes)
    memory = None if memory_bytes is None else _bytes("--memory-bytes", memory_bytes)
    share = _usage("--capacity", read_capacity, capacity)
    copies = None
    if cpu_capacity is not None:
        copies = _usage("--cpu-capacity", read_capacity, cpu_capacity)
    kept_in = _tiers(tiers, persist_cpu, persist_cpu_only=persist_cpu_only)
    read = read_plan(plan)
    names = [item.name for item in read.items]
    told = {} if sizes is None else read_sizes(sizes)
    internal = None
    if estimate_with_internal_memory is not None:
        internal = read_sizes(estimate_with_internal_memory)
    scenario = Scenario(
        names,
        known_sizes(names, [item.bytes for item in read.items], told),
        internal,
        read.requests.drawn.tolist(),
        concurrency or _concurrency(read),
        estimation_rate,
        kept_in,
        share,
        memory,
        copies,
    )
    outcomes = _simulated(scenario, policies, cells, hidden=json_output)
    if plot is not None:
        _plot(plot, axes, policies, outcomes)
    form = Form.JSON if json_output else form or (Form.CSV if axes else Form.TABLE)
    print_cells(outcomes, scenario, plan, form, per_item=per_item, output=output)


def _simulated(
    scenario: Scenario,
    policies: Sequence[Policy],
    cells: Sequence[dict[str, Value]],
    *,
    hidden: bool,
) -> list[Cell]:
    from registry.gate.progress import progress_line
    from tools.caches.simulation import simulate as run

    found = []
    with progress_line(hidden=hidden) as progress:
        for number, values in enumerate(cells, 1):
            demand, memory = scenario.at(values)
            for policy in policies:
                progress(f"simulating {policy}: {number} of {len(cells)}")
                found.append(Cell(values, demand, run(demand, memory, policy)))
    return found


def _plot(
    path: Path, axes: Sequence[Axis], policies: Sequence[Policy], cells: Sequence[Cell]
) -> None:
    from tools.caches.plots import drawn, save_plot

    ratios = [cell.outcome.tiers[0].hit_ratio for cell in cells]
    known = [float("nan") if ratio is None else ratio for ratio in ratios]
    save_plot(drawn(axes, policies, known), path)


def _refuse_plot(path: Path, axes: Sequence[Axis]) -> None:
    from tools.files.figures import ENDINGS

    if len(axes) not in {1, 2}:
        raise typer.BadParameter("--plot needs one or two things that vary: --sweep")
    if path.suffix.lower() not in ENDINGS:
        raise typer.BadParameter("--plot: the name must end in .svg, .png or .pdf")


def _tiers(
    text: str | None, persist_cpu: bool | None, *, persist_cpu_only: bool
) -> tuple[Tier, ...]:
    """The tiers that options name; they must not contradict each other."""
    from tools.caches.simulation import TIERS

    said: list[tuple[Tier, ...]] = []
    if persist_cpu_only:
        said.append(("cpu", "disk"))
    if persist_cpu is not None and not persist_cpu_only:
        said.append(("gpu", "cpu", "disk") if persist_cpu else ("gpu", "disk"))
    if text is not None:
        names = tuple(part.strip().lower() for part in text.split(","))
        known = [one for one in TIERS if one == names]
        if not known:
            raise typer.BadParameter(
                "--tiers: it must be gpu,cpu,disk or gpu,disk or cpu,disk"
            )
        said += known
    if len(set(said)) > 1:
        raise typer.BadParameter("--tiers and --persist-cpu contradict each other")
    return said[0] if said else TIERS[0]


def _concurrency(plan: Plan) -> int:
    """How many workers a closed plan has; requests of an open one come one by one."""
    if not plan.closed:
        return 1
    return int(plan.header.arrivals.values.get("concurrency", 1))


def _bytes(option: str, text: str) -> int:
    from tools.caches.sizes import read_capacity

    amount = _usage(option, read_capacity, text)
    if not isinstance(amount, int):
        raise typer.BadParameter(f"{option}: it must be bytes, as 16GiB")
    return amount


def _usage(option: str, read: Callable[[Any], Any], value: Any) -> Any:
    try:
        return read(value)
    except ValueError as error:
        raise typer.BadParameter(f"{option}: {error}") from None
