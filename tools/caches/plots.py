"""Sweeps as pictures: a line for each policy, or a heat map for each."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from registry.documents.findings import RegistryError, Severity, code, finding
from tools.caches.policies import Policy
from tools.caches.sweeps import Axis
from tools.files.figures import refuse_ending, write_figure

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["drawn", "save_plot"]

F052 = code(
    "F052",
    Severity.ERROR,
    "A plot cannot be written.",
    "Name a file that ends in .svg, .png or .pdf, in a folder that you may write to.",
)


def drawn(
    axes: Sequence[Axis], policies: Sequence[Policy], ratios: Sequence[float]
) -> Figure:
    """Draw hit ratios.

    Args:
        axes: one or two things that vary.
        policies: the policies, which vary fastest.
        ratios: the hit ratio of each cell and policy, the axes' order first.
    """
    import numpy as np  # noqa: PLC0415  slow imports
    from matplotlib.figure import Figure as NewFigure  # noqa: PLC0415

    shape = [len(axis.values) for axis in axes]
    cube = np.asarray(ratios, dtype=float).reshape(*shape, len(policies))
    if len(axes) == 1:
        figure = NewFigure(figsize=(6, 4), layout="constrained")
        _lines(figure.subplots(), axes[0], policies, cube)
        return figure
    figure = NewFigure(figsize=(4 * len(policies), 4), layout="constrained")
    panels = figure.subplots(1, len(policies), squeeze=False)[0]
    image: Any = None
    for number, policy in enumerate(policies):
        image = _map(panels[number], axes, policy, cube[:, :, number])
    figure.colorbar(image, ax=list(panels), label="hit ratio")
    return figure


def save_plot(figure: Figure, path: Path) -> None:
    """Write a picture whole or not at all.

    Raises:
        RegistryError: F052, its name has another ending, or it cannot be written.
    """
    refuse_ending(path, F052)
    try:
        write_figure(figure, path)
    except OSError as error:
        what = error.strerror or "it cannot be written"
        raise RegistryError([finding(F052, str(path), what)]) from None


def _lines(panel: Any, axis: Axis, policies: Sequence[Policy], cube: Any) -> None:
    for number, policy in enumerate(policies):
        panel.plot(axis.values, cube[:, number], marker=".", label=policy.value)
    panel.set(xlabel=axis.name, ylabel="hit ratio", ylim=(-0.02, 1.02))
    panel.legend()


def _map(panel: Any, axes: Sequence[Axis], policy: Policy, values: Any) -> Any:
    image = panel.imshow(
        values.T, origin="lower", aspect="auto", vmin=0, vmax=1, cmap="viridis"
    )
    for axis, set_ticks in ((axes[0], panel.set_xticks), (axes[1], panel.set_yticks)):
        every = max(1, len(axis.values) // 10)
        places = range(0, len(axis.values), every)
        set_ticks(places, [f"{axis.values[place]:g}" for place in places])
    panel.set(xlabel=axes[0].name, ylabel=axes[1].name, title=policy.value)
    return image
