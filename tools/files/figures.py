"""Writes figures as files: whole, and the same bytes for the same figure."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from registry.documents.findings import Code, RegistryError, finding
from tools.files.writing import whole

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["ENDINGS", "refuse_ending", "write_figure"]

ENDINGS: Final = (".svg", ".png", ".pdf")
"""The endings that say in which format a figure is written."""

_DATES: Final[dict[str, dict[str, Any]]] = {
    "svg": {"Date": None},
    "pdf": {"CreationDate": None},
}


def refuse_ending(path: Path, code: Code) -> None:
    """Make sure that a name says a format.

    Raises:
        RegistryError: of the code, it ends with none of `ENDINGS`.
    """
    if path.suffix.lower() not in ENDINGS:
        what = f'"{path.suffix}" is unknown'
        raise RegistryError(finding(code, str(path), what))


def write_figure(figure: Figure, path: Path) -> None:
    """Write a figure in the format that its name's ending says.

    Raises:
        OSError: it cannot be written.
    """
    from matplotlib import rc_context  # noqa: PLC0415  takes a while to load

    kind = path.suffix.lower().lstrip(".")
    # Without a salt of ours the identities in an SVG are random.
    salted = rc_context({"svg.hashsalt": "powerkit"})
    with whole(path) as part, part.open("xb") as file, salted:
        figure.savefig(file, format=kind, metadata=_DATES.get(kind))
