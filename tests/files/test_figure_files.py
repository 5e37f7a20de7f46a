"""Figures are files of the kind that their name says, equal for equal figures."""

from __future__ import annotations

from pathlib import Path

import pytest

from registry.documents.findings import RegistryError, Severity, code
from tools.files.figures import ENDINGS, refuse_ending, write_figure

ODD = code("X971", Severity.ERROR, "A figure's name says no format.", "Rename it.")
BEGINS = {".svg": b"<?xml", ".png": b"\x89PNG", ".pdf": b"%PDF"}


def drawn(path: Path) -> bytes:
    from matplotlib.figure import Figure

    figure = Figure(figsize=(2, 2))
    figure.add_subplot().plot([1, 2], [3, 4])
    write_figure(figure, path)
    return path.read_bytes()


@pytest.mark.parametrize("ending", ENDINGS)
def test_equal_figures_are_equal_files(tmp_path: Path, ending: str) -> None:
    first = drawn(tmp_path / f"a{ending.upper()}")
    assert first.startswith(BEGINS[ending])
    assert drawn(tmp_path / f"b{ending}") == first
    assert len(list(tmp_path.iterdir())) == 2


@pytest.mark.parametrize("name", ["a.gif", "a", ".svg"])
def test_other_endings_are_refused(name: str) -> None:
    with pytest.raises(RegistryError, match="X971"):
        refuse_ending(Path(name), ODD)


@pytest.mark.parametrize("name", ["a.svg", "a.b.PDF"])
def test_endings_count_in_any_case(name: str) -> None:
    refuse_ending(Path(name), ODD)
