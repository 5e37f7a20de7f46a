"""Parameters of a workload, as they stand behind its name: values with colons between.

A value counts by its place or as NAME=VALUE: ``512:float32`` or ``type=float32``.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

from registry.documents.findings import (
    Finding,
    RegistryError,
    Severity,
    code,
    finding,
    shown,
)
from tools.workloads.work import Value

__all__ = ["Parameter", "read_values"]

SHOWN: Final = 20
"""How many problems are named."""

W003 = code(
    "W003",
    Severity.ERROR,
    "A workload's parameter is wrong.",
    "Write values behind the name in the order of `powerkit workload list`, or as"
    " NAME=VALUE, with colons between them: numpy:matmul:size=512.",
)


@dataclass(frozen=True, slots=True)
class Parameter:
    """A parameter of a workload.

    Attributes:
        name: its name.
        default: its value unless told otherwise; None if it must be told.
        least: the least that it may be, if it is a number.
        most: the most.
        choices: all values, if it is a word.
        whole: whether it is a whole number.
        path: whether it is a file, whose name may hold colons.
    """

    name: str
    default: Value | None
    least: float = 1
    most: float = 1
    choices: tuple[str, ...] = ()
    whole: bool = True
    path: bool = False

    def read(self, text: str) -> Value:
        """Read a value.

        Raises:
            ValueError: it is none; the text says why.
        """
        if self.path:
            if not text:
                raise ValueError(f"{self.name} is missing")
            return text
        if self.choices:
            if text not in self.choices:
                raise ValueError(f"{self.name} is one of {', '.join(self.choices)}")
            return text
        kind: Callable[[str], int | float] = int if self.whole else float
        what = f"{self.name} is a {'whole ' * self.whole}number from"
        what += f" {self.least:.12g} to {self.most:.12g}"
        try:
            value = kind(text)
        except ValueError:
            raise ValueError(what) from None
        if not self.least <= value <= self.most:  # refuses not-a-number too
            raise ValueError(what)
        return value


def read_values(
    name: str, parameters: Sequence[Parameter], text: str
) -> dict[str, Value]:
    """Read all values of a workload.

    Args:
        name: the workload, for findings.
        parameters: what it takes; a file is always the only one.
        text: what stands behind its name.

    Raises:
        RegistryError: W003, for each that is wrong or missing.
    """
    parts = [text] if parameters[0].path else text.split(":") if text else []
    known = {one.name: one for one in parameters}
    told: dict[str, Value] = {}
    problems: list[Finding] = []
    for number, part in enumerate(parts):
        place, value = _placed(parameters, number, part)
        if place not in known:
            what = f"'{shown(part)}' is none of {', '.join(known)}"
            problems.append(finding(W003, name, what))
        elif place in told:
            problems.append(finding(W003, name, f"{place} is given twice"))
        else:
            try:
                told[place] = known[place].read(value)
            except ValueError as error:
                problems.append(finding(W003, name, str(error)))
    if problems:
        raise RegistryError(problems[:SHOWN])
    usual = {one.name: one.default for one in parameters if one.default is not None}
    return usual | told


def _placed(parameters: Sequence[Parameter], number: int, part: str) -> tuple[str, str]:
    """Return which parameter a part is for, "" for none, and its value."""
    name, separator, value = part.partition("=")
    if separator and not parameters[0].path:
        return name, value
    return (parameters[number].name if number < len(parameters) else ""), part
