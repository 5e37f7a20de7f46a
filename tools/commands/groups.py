"""Groups of subcommands that are listed with whole sentences at any width."""

from __future__ import annotations

from typing import Any, Final

import typer
from typer.core import TyperGroup

__all__ = ["ListingGroup", "group"]

# Longer than any first sentence: a list that is cut off says what it does not.
_LIMIT: Final = 300


class ListingGroup(TyperGroup):
    """A group that folds long lines of its list instead of cutting them off."""

    def about(self, ctx: Any, name: str) -> str | None:
        """The first sentence of a subcommand's help; None for one that there is not."""
        command = self.get_command(ctx, name)
        return None if command is None else command.get_short_help_str(limit=_LIMIT)

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """Write the list of subcommands, each with what it is about."""
        rows = [
            (name, about)
            for name in self.list_commands(ctx)
            if (about := self.about(ctx, name)) is not None
        ]
        with formatter.section("Commands"):
            formatter.write_dl(rows)


def group(about: str) -> typer.Typer:
    """A group of subcommands, as all of `powerkit` are.

    Args:
        about: what its help says first.
    """
    return typer.Typer(
        cls=ListingGroup,
        no_args_is_help=True,
        add_completion=False,
        help=about,
        rich_markup_mode=None,
    )
