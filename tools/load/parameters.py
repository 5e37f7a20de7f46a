"""Texts of options such as ``pareto:alpha=1.5`` or ``pareto:1,1.5``, strictly read.

Parameters come by name, in any order, or all of them in the documented order. A bare
name takes the documented defaults, which are then written into the plan. Anything else
that is not understood is a finding; no default ever replaces a value that was given.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
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

__all__ = [
    "Q002",
    "TEXT_CHARACTERS",
    "Choice",
    "Parameter",
    "parse_choice",
    "split_name",
]

TEXT_CHARACTERS: Final = 4096
"""The longest text of an option."""

Q001 = code(
    "Q001",
    Severity.ERROR,
    "An option names something that does not exist.",
    "Use one of the names that the finding lists.",
)
Q002 = code(
    "Q002",
    Severity.ERROR,
    "A parameter of an option is missing, unknown, doubled or out of its range.",
    "Give parameters by name (pareto:xm=1,alpha=1.5), or all in the documented order.",
)


@dataclass(frozen=True, slots=True)
class Parameter:
    """One number that a kind of popularity or arrivals takes.

    Attributes:
        name: how it is called.
        default: what it is if the option names no parameter; None if it must be given.
        least: the lowest value.
        exclusive: whether it must be more than `least`.
        infinite: whether infinity is a value.
        whole: whether it must be a whole number.
        most: the highest finite value.

    """

    name: str
    default: float | None = None
    least: float = 0.0
    exclusive: bool = True
    infinite: bool = False
    whole: bool = False
    most: float = 1e12


@dataclass(frozen=True, slots=True)
class Choice:
    """A kind and the numbers that go with it."""

    kind: str
    values: dict[str, float]


def split_name(text: str, option: str, kinds: Sequence[str]) -> tuple[str, str]:
    """Split a text into the kind, in lower case, and what follows the colon.

    Raises:
        RegistryError: Q001, there is no such kind, or the text is too long.
    """
    if len(text) > TEXT_CHARACTERS:
        what = f"{len(text)} characters, at most {TEXT_CHARACTERS} are read"
        raise RegistryError(finding(Q001, option, what))
    name, _, rest = text.strip().partition(":")
    kind = name.strip().lower()
    if kind not in kinds:
        what = f"no such kind: {shown(name) or 'nothing'}; known: {', '.join(kinds)}"
        raise RegistryError(finding(Q001, option, what))
    return kind, rest


def parse_choice(
    text: str, option: str, kinds: Mapping[str, Sequence[Parameter]]
) -> Choice:
    """Read a kind and its parameters.

    Args:
        text: what the user gave, ``KIND`` or ``KIND:PARAMETERS``.
        option: the option's name, for findings.
        kinds: the parameters of every kind, in their order.

    Raises:
        RegistryError: Q001 or Q002, with every problem of the text.
    """
    kind, rest = split_name(text, option, tuple(kinds))
    known = kinds[kind]
    parts = [part.strip() for part in rest.split(",")] if rest.strip() else []
    if parts and not any("=" in part for part in parts):
        given, problems = _in_order(kind, parts, known)
    else:
        given, problems = _by_name(kind, parts, known)
    values: dict[str, float] = {}
    for one in known:
        if one.name in given:
            value, problem = _number(one, given[one.name])
            values[one.name] = value
            problems += [problem] if problem else []
        elif one.default is not None:
            values[one.name] = one.default
        elif not problems:
            problems.append(f"{kind} needs {one.name}: {_form(kind, known)}")
    if problems:
        raise RegistryError(_findings(problems, option))
    return Choice(kind, values)


def _in_order(
    kind: str, parts: Sequence[str], known: Sequence[Parameter]
) -> tuple[dict[str, str], list[str]]:
    if len(parts) != len(known):
        what = f"{kind} takes {len(known)} numbers, not {len(parts)}"
        return {}, [f"{what}: {_form(kind, known)}"]
    return {one.name: part for one, part in zip(known, parts, strict=True)}, []


def _by_name(
    kind: str, parts: Sequence[str], known: Sequence[Parameter]
) -> tuple[dict[str, str], list[str]]:
    names = {one.name for one in known}
    given: dict[str, str] = {}
    problems = []
    for part in parts:
        name, equals, value = (piece.strip() for piece in part.partition("="))
        if not equals:
            problems.append(f"{shown(part) or 'nothing'} has no name beside named ones")
        elif name not in names:
            what = f"{kind} has no parameter {shown(name) or 'without a name'}"
            problems.append(f"{what}: {_form(kind, known)}")
        elif name in given:
            problems.append(f"{name} is given twice")
        else:
            given[name] = value
    return given, problems


def _number(one: Parameter, text: str) -> tuple[float, str | None]:
    """A parameter's value, or what is wrong with it."""
    try:
        value = float(text) if len(text) <= 64 and "_" not in text else math.nan
    except ValueError:
        value = math.nan
    if math.isnan(value):
        return value, f"{one.name} is no number: {shown(text) or 'nothing'}"
    low = value <= one.least if one.exclusive else value < one.least
    if low:
        bound = "more than" if one.exclusive else "at least"
        return value, f"{one.name} must be {bound} {one.least:g}, not {shown(text)}"
    if value > one.most and not (one.infinite and math.isinf(value)):
        return value, f"{one.name} may be at most {one.most:g}, not {shown(text)}"
    if one.whole and not value.is_integer():
        return value, f"{one.name} must be a whole number, not {shown(text)}"
    return value, None


def _form(kind: str, known: Sequence[Parameter]) -> str:
    """How a kind is written, with its defaults."""
    if not known:
        return kind
    parts = (
        f"{one.name}=…" if one.default is None else f"{one.name}={one.default:g}"
        for one in known
    )
    return f"{kind}:{','.join(parts)}"


def _findings(problems: Sequence[str], option: str) -> Iterator[Finding]:
    return (finding(Q002, option, what) for what in problems[:20])
