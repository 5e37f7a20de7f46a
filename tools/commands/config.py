"""`powerkit config`: which settings apply, whose they are, and where they may stand."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from tools.commands.groups import group
from tools.options import Json

if TYPE_CHECKING:
    from collections.abc import Iterable

    from tools.settings.keys import Value

__all__ = ["app", "import_", "path", "schema", "show"]

app = group("Show settings and where they are from.")


@app.command()
def show(
    *,
    origin: Annotated[
        bool, typer.Option("--origin", help="Say where each value is from.")
    ] = False,
    json_output: Json = False,
) -> None:
    """Print every setting as it applies now, in the form of a file of settings."""
    from tools.settings.resolved import all_settings

    found = all_settings()
    if json_output:
        document = {
            "schema": "settings/1",
            "settings": {
                one.key.name: {"value": _plain(one.value), "origin": one.origin}
                for one in found
            },
        }
        typer.echo(json.dumps(document, indent=2))
        return
    values = {one.key.name: one.value for one in found}
    notes = {one.key.name: one.origin for one in found} if origin else {}
    typer.echo("\n".join(_file(values, notes)))


@app.command()
def path(*, json_output: Json = False) -> None:
    """List where a file of settings is looked for; the first one is used alone."""
    import os

    from tools.settings.settings_file import places

    found = places(os.environ)
    if json_output:
        rows = [
            {
                "why": place.why,
                "path": None if place.path is None else str(place.path),
                "state": place.state.value,
            }
            for place in found
        ]
        typer.echo(
            json.dumps({"schema": "settings-places/1", "places": rows}, indent=2)
        )
        return
    for place in found:
        named = "none is named" if place.path is None else str(place.path)
        typer.echo(f"{place.state.value:<11}  {place.why:<27}  {named}")


@app.command()
def schema() -> None:
    """Print the JSON Schema of a file of settings."""
    from tools.settings.schema import settings_schema

    typer.echo(json.dumps(settings_schema(), indent=2))


@app.command("import")
def import_(
    file: Annotated[
        Path,
        typer.Argument(exists=True, dir_okay=False, help="TRIMS Tools' YAML file."),
    ],
    *,
    json_output: Json = False,
) -> None:
    """Print the settings of TRIMS Tools' file as ours; name those without meaning."""
    import os

    from tools.settings.trims import import_settings

    found = import_settings(file, os.environ)
    if json_output:
        document = {
            "schema": "settings-import/1",
            "settings": {name: _plain(value) for name, value in found.settings.items()},
            "without_meaning": found.without_meaning,
        }
        typer.echo(json.dumps(document, indent=2))
        return
    typer.echo("\n".join(_file(found.settings, {})))
    for name, why in found.without_meaning.items():
        typer.echo(f"left out {_shown(name)}: {why}", err=True)


def _file(values: dict[str, Value], notes: dict[str, str]) -> Iterable[str]:
    """Lines of a file of settings; what is unset stands in a comment."""
    from tools.settings.keys import written
    from tools.settings.settings_file import SCHEMA

    yield f"schema: {SCHEMA}"
    for name, value in values.items():
        text = written(_public(value))
        line = f"# {name} is unset" if text is None else f"{name}: {text}"
        note = _shown(notes[name]) if name in notes else ""
        yield f"{line}  # {note}" if note else line


def _plain(value: Value) -> Any:
    public = _public(value)
    return str(public) if isinstance(public, Path) else public


def _public(value: Value) -> Value:
    """A value without secrets."""
    from tools.settings.redaction import redacted

    if isinstance(value, str) and "://" in value and len(value.split()) == 1:
        return redacted(value)
    return value


def _shown(text: str) -> str:
    from registry.documents.findings import shown

    return shown(text, 200)
