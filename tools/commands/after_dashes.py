"""Commands that end in `-- CMD...`: what follows the dashes is another program's.

Without this, click would put the words of that program among our own arguments.
"""

from __future__ import annotations

from typing import Any, Final

import typer
from typer.core import TyperCommand

__all__ = ["CommandAfterDashes", "after_dashes"]

_KEY: Final = "tools.commands.after_dashes"


class CommandAfterDashes(TyperCommand):
    """A subcommand that takes another command after `--`.

    @app.command(cls=CommandAfterDashes)
    def run(ctx: typer.Context, …) -> None:
        command = after_dashes(ctx)
    """

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Set the other command aside, then read our own arguments."""
        if "--" in args:
            at = args.index("--")
            ctx.meta[_KEY] = tuple(args[at + 1 :])
            args = args[:at]
        rest: list[str] = super().parse_args(ctx, args)
        return rest

    def collect_usage_pieces(self, ctx: Any) -> list[str]:
        """Show in the usage line that a command may follow."""
        return [*super().collect_usage_pieces(ctx), "[-- CMD...]"]


def after_dashes(ctx: typer.Context) -> tuple[str, ...] | None:
    """The words after `--`, or None without `--`.

    Raises:
        typer.BadParameter: nothing follows the dashes.
    """
    words: tuple[str, ...] | None = ctx.meta.get(_KEY)
    if words == ():
        raise typer.BadParameter("a command must follow --")
    return words
