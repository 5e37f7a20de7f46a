"""`powerkit load`: plan load, look at a plan, run it on a system under test."""

from __future__ import annotations

import json
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TypedDict

import typer

from tools.commands.forms import Form, Format
from tools.commands.groups import group
from tools.commands.load_running import run
from tools.dialogue import next_step

if TYPE_CHECKING:
    from tools.load.items import Item
    from tools.load.requests import Plan

__all__ = ["app", "plan", "show"]

app = group("Plan and run load on a system under test.")


class Weights(StrEnum):
    """Where a distribution's weights come from."""

    QUANTILE = "quantile"
    DRAWN = "drawn"


class Wanted(TypedDict):
    """The options of a plan apart from its items: those of `make_plan`."""

    popularity: str
    arrivals: str
    requests: int | None
    duration: float | None
    max_per_item: int | None
    covering: bool
    seed: int
    shuffle_ranks: bool
    drawn_weights: bool
    trims_compatible: bool


@app.command()
def plan(
    items: Annotated[
        str,
        typer.Option(
            help="What can be asked for, the most popular first: a file (text, CSV,"
            " JSON, YAML), names with commas between them, or a number."
        ),
    ],
    models: Annotated[
        str | None,
        typer.Option(
            help="Only these items: names or regular expressions, with commas."
        ),
    ] = None,
    models_percentage: Annotated[
        str | None,
        typer.Option(
            help="Only the first part of the items by name, rounded up: a fraction up"
            " to 1, or percent."
        ),
    ] = None,
    popularity: Annotated[
        str | None,
        typer.Option(
            help="How often: zipf:s, pareto:xm,alpha, uniform:min,max,"
            " exponential:rate, weibull:k,lambda, poisson:lambda, lognormal:mu,sigma,"
            " equal, weights:FILE, or none:times (each item so many times in turn)."
            " Parameters by name or all in this order. By default equal if there are"
            " --requests or a --duration, else none."
        ),
    ] = None,
    arrivals: Annotated[
        str | None,
        typer.Option(
            help="When: closed:concurrency=N,think=S (the default with N=1),"
            " poisson:rate=R, gamma:rate=R,burstiness=B, constant:rate=R,"
            " onoff:rate=R,on=S,off=S, offline, or"
            " trace:FILE[,column=C][,unit=U][,event=E][,origin=first|keep]."
        ),
    ] = None,
    concurrent: Annotated[
        int | None,
        typer.Option(
            "--concurrent",
            "--concurrency",
            help="The same as --arrivals closed:concurrency=N.",
        ),
    ] = None,
    requests: Annotated[
        int | None, typer.Option("--requests", "-n", help="How many requests.")
    ] = None,
    duration: Annotated[
        float | None, typer.Option(help="Or how many seconds arrivals go on.")
    ] = None,
    max_per_item: Annotated[
        int | None, typer.Option(help="The most requests of one item; it redraws.")
    ] = None,
    seed: Annotated[int, typer.Option(help="Of every random choice.")] = 0,
    weights: Annotated[
        Weights,
        typer.Option(
            help="Of n items, the one of rank i weighs what the distribution exceeds"
            " with probability (i - 0.5) / n; or n values are drawn and sorted."
        ),
    ] = Weights.QUANTILE,
    output: Annotated[
        Path, typer.Option("--output", "-o", help="The plan's file.")
    ] = Path("plan.jsonl"),
    *,
    cover: Annotated[
        bool, typer.Option("--cover", help="Every item at least once.")
    ] = False,
    shuffle_ranks: Annotated[
        bool,
        typer.Option(
            "--shuffle-ranks", help="Give ranks to items by the seed, not by order."
        ),
    ] = False,
    trims_compatible: Annotated[
        bool,
        typer.Option(
            "--trims-compatible",
            help="Draw as TRIMS does: one random weight an item, an alias table,"
            " capped draws skipped; not its random numbers.",
        ),
    ] = False,
    json_output: Annotated[
        bool, typer.Option("--json", help="Print the statistics as JSON.")
    ] = False,
) -> None:
    """Write a plan of requests: which item, and when."""
    from tools.load.plan import make_plan, write_plan

    if arrivals is not None and concurrent is not None:
        raise typer.BadParameter("give either --arrivals or --concurrent")
    workers = 1 if concurrent is None else concurrent
    drawn = requests is not None or duration is not None
    wanted = Wanted(
        popularity=popularity or ("equal" if drawn else "none"),
        arrivals=arrivals or f"closed:concurrency={workers}",
        requests=requests,
        duration=duration,
        max_per_item=max_per_item,
        covering=cover,
        seed=seed,
        shuffle_ranks=shuffle_ranks,
        drawn_weights=weights is Weights.DRAWN,
        trims_compatible=trims_compatible,
    )
    made = make_plan(_items(items, models, models_percentage, wanted), **wanted)
    write_plan(made, output)
    _print(made, Form.JSON if json_output else Form.TABLE)
    if not json_output:
        typer.echo(f"\nwritten to {output}")
        next_step(f"powerkit load run {output} --sut cmd:PROGRAM, or a web address")


@app.command()
def show(
    plan: Annotated[Path, typer.Argument(help="A plan's file.")],
    form: Format = Form.TABLE,
    *,
    json_output: Annotated[
        bool, typer.Option("--json", help="The same as --format json.")
    ] = False,
) -> None:
    """Print what a plan holds: weights, entropy, counts, rate and gaps."""
    from tools.load.plan import read_plan

    _print(read_plan(plan), Form.JSON if json_output else form)


def _items(
    items: str, models: str | None, percentage: str | None, wanted: Wanted
) -> tuple[Item, ...]:
    """The items that were asked for.

    Raises:
        RegistryError: the problems of the items and those of all other options.
    """
    from registry.documents.findings import RegistryError
    from tools.load.items import read_items, select
    from tools.load.ordering import read_order

    try:
        return select(read_items(items), models, percentage)
    except RegistryError as error:
        try:
            read_order(["any"], **wanted)
        except RegistryError as other:
            raise RegistryError([*error.findings, *other.findings]) from None
        raise


def _print(made: Plan, form: Form) -> None:
    from tools.load import plan_text
    from tools.load.plan_statistics import statistics

    facts = statistics(made)
    if form is Form.JSON:
        typer.echo(json.dumps(facts, indent=2))
    elif form is Form.CSV:
        typer.echo(plan_text.as_csv(facts), nl=False)
    elif form is Form.MD:
        typer.echo(plan_text.as_markdown(facts), nl=False)
    else:
        typer.echo("\n".join(plan_text.as_lines(facts)))


app.command()(run)
