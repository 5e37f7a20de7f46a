"""The ways to put the clocks of several traces on one."""

from __future__ import annotations

from enum import StrEnum

__all__ = ["Align"]


class Align(StrEnum):
    """How the clocks of files are put on one."""

    NONE = "none"
    ZERO = "zero"
    WALL = "wall"
    MARKER = "marker"
    OFFSET = "offset"
