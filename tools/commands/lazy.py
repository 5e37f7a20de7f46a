"""Groups of subcommands that load when somebody calls them.

`powerkit --help` lists every group by the text in a table, so that a module with many
options costs its time only to whoever uses it.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any, Final, NamedTuple

import typer

from tools.commands.groups import ListingGroup

__all__ = ["LAZY", "Lazy", "LazyGroup"]


class Lazy(NamedTuple):
    """A subcommand: the module whose `app` it is, and its line in the help."""

    module: str
    about: str


LAZY: Final[dict[str, Lazy]] = {
    "trace": Lazy("tools.commands.trace", "Read, combine and summarise Chrome traces."),
    "load": Lazy("tools.commands.load", "Plan and run load on a system under test."),
    "bench": Lazy("tools.commands.bench", "Run experiments, compare and repeat them."),
    "workload": Lazy("tools.commands.workload", "Workloads that come with the kit."),
    "service": Lazy(
        "tools.commands.service", "Build, start and watch a server under test."
    ),
    "cache": Lazy("tools.commands.cache", "Simulate eviction of models from memory."),
    "monitor": Lazy("tools.commands.monitor", "Watch power and use while CMD runs."),
    "doctor": Lazy(
        "tools.commands.doctor", "Tell what of this machine disturbs measurements."
    ),
    "assets": Lazy("tools.commands.assets", "Fetch models and data by manifests."),
    "publish": Lazy("tools.commands.publish", "Copy results to a URL, by digest."),
    "fetch": Lazy("tools.commands.fetch", "Copy published results here, verified."),
    "config": Lazy("tools.commands.config", "Show settings and where they are from."),
}


class LazyGroup(ListingGroup):
    """A group that imports its subcommands by name."""

    def list_commands(self, ctx: Any) -> list[str]:
        """Names of all subcommands: those at hand, then the lazy ones."""
        return [*super().list_commands(ctx), *LAZY]

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """The subcommand of that name, imported now if it was not yet."""
        if cmd_name not in LAZY:
            return super().get_command(ctx, cmd_name)
        app: typer.Typer = import_module(LAZY[cmd_name].module).app
        return typer.main.get_command(app)

    def about(self, ctx: Any, name: str) -> str | None:
        """What the table says of a lazy subcommand, which is not imported for that."""
        if name in LAZY:
            return LAZY[name].about
        return super().about(ctx, name)
