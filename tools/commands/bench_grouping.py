"""Options of `powerkit bench` in groups, which its subcommands share.

    @app.command()
    @grouped
    def run(context: typer.Context, conditions: Conditions) -> None: ...

Each field of a dataclass among the parameters becomes an option of its own.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from dataclasses import MISSING, fields, is_dataclass
from typing import Any, get_type_hints

__all__ = ["grouped"]


def grouped(function: Callable[..., None]) -> Callable[..., None]:
    """Make each field of a dataclass among the parameters a parameter of its own."""
    hints = get_type_hints(function, include_extras=True)
    groups: dict[str, type] = {}
    parameters: list[inspect.Parameter] = []
    for one in inspect.signature(function).parameters.values():
        kind = hints[one.name]
        if isinstance(kind, type) and is_dataclass(kind):
            groups[one.name] = kind
            parameters += _parameters(kind)
        else:
            keyword = inspect.Parameter.KEYWORD_ONLY
            parameters.append(one.replace(annotation=kind, kind=keyword))

    @functools.wraps(function)
    def spread(**values: Any) -> None:
        for name, kind in groups.items():
            own = {part.name: values.pop(part.name) for part in fields(kind)}
            values[name] = kind(**own)
        function(**values)

    spread.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    spread.__annotations__ = {}
    return spread


def _parameters(kind: type) -> list[inspect.Parameter]:
    hints = get_type_hints(kind, include_extras=True)
    return [
        inspect.Parameter(
            one.name,
            inspect.Parameter.KEYWORD_ONLY,
            default=inspect.Parameter.empty if one.default is MISSING else one.default,
            annotation=hints[one.name],
        )
        for one in fields(kind)
    ]
