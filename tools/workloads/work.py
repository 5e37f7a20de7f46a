"""What a workload of the kit is: data, things made ready, and one iteration after it.

A workload is opened, gets its data, is made ready, and then repeats one iteration. Data
and making ready do not depend on each other, so that both may go on at once.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

__all__ = ["Conditions", "Unit", "Value", "Work"]

Value = int | float | str
Unit = Literal["operations", "requests", "bytes", "flops", "images"]
"""Units of performance that the catalogue of columns knows, each a second."""


@dataclass(frozen=True, slots=True)
class Conditions:
    """What all workloads are told.

    Attributes:
        seed: where random numbers start; equal seeds give equal data.
        threads: how many threads a library may compute with.
        extents: sizes for extents that a model leaves open, by name.
    """

    seed: int = 0
    threads: int = 1
    extents: Mapping[str, int] = field(default_factory=dict)


class Work(ABC):
    """A workload that was opened.

    Attributes:
        unit: what its iterations count.
        holds: bytes of memory that it holds, by what they are for.
    """

    unit: Unit = "operations"

    def __init__(self, values: Mapping[str, Value], conditions: Conditions) -> None:
        """Take parameters; nothing large happens here, unless a file is checked."""
        self.values = values
        self.conditions = conditions
        self.holds: dict[str, int] = {}

    def integer(self, name: str) -> int:
        """Return a parameter that is a whole number."""
        return int(self.values[name])

    @abstractmethod
    def prepare(self) -> None:
        """Make the data."""

    @abstractmethod
    def initialise(self) -> None:
        """Make everything else ready: buffers, models, sessions, libraries."""

    @abstractmethod
    def iterate(self) -> float:
        """Do it once, and return how much that was, in `unit`."""
