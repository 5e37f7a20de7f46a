"""`powerkit bench`: run experiments, compare variants, repeat them over a matrix."""

from __future__ import annotations

from tools.commands.after_dashes import CommandAfterDashes
from tools.commands.bench_comparing import compare
from tools.commands.bench_exporting import tables
from tools.commands.bench_listing import list_runs, plot, report, schema
from tools.commands.bench_matrix import matrix
from tools.commands.bench_running import run
from tools.commands.groups import group

__all__ = ["app"]

app = group("Run experiments, compare and repeat them.")
app.command("run", cls=CommandAfterDashes)(run)
app.command("compare", cls=CommandAfterDashes)(compare)
app.command("matrix", cls=CommandAfterDashes)(matrix)
app.command("list")(list_runs)
app.command("plot")(plot)
app.command("report")(report)
app.command("tables")(tables)
app.command("schema")(schema)
