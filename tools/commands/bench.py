"""`powerkit bench`: run experiments, compare variants, repeat them over a matrix."""

from __future__ import annotations

import typer

from tools.commands.after_dashes import CommandAfterDashes
from tools.commands.bench_comparing import compare
from tools.commands.bench_listing import list_runs, plot, report, schema
from tools.commands.bench_matrix import matrix
from tools.commands.bench_running import run

__all__ = ["app"]

app = typer.Typer(
    no_args_is_help=True,
    add_completion=False,
    help="Run experiments, compare and repeat them.",
    rich_markup_mode=None,
)
app.command("run", cls=CommandAfterDashes)(run)
app.command("compare", cls=CommandAfterDashes)(compare)
app.command("matrix", cls=CommandAfterDashes)(matrix)
app.command("list")(list_runs)
app.command("plot")(plot)
app.command("report")(report)
app.command("schema")(schema)
