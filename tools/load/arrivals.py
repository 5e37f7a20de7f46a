"""When requests arrive: kinds of arrivals, and how an option names them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from registry.documents.findings import RegistryError, finding, shown
from tools.load.parameters import Q002, Parameter, parse_choice, split_name

__all__ = [
    "KINDS",
    "LONGEST_NS",
    "OPTION",
    "REQUESTS",
    "Arrivals",
    "Replay",
    "parse_arrivals",
]

OPTION: Final = "--arrivals"
REQUESTS: Final = 10_000_000
"""The most requests of a plan."""
LONGEST_NS: Final = 2**53 - 1
"""The latest time of a plan: 104 days, which every JSON reader keeps exactly."""

KINDS: Final[Mapping[str, tuple[Parameter, ...]]] = {
    "closed": (
        Parameter("concurrency", least=1.0, exclusive=False, whole=True, most=10_000),
        Parameter("think", 0.0, exclusive=False, most=86_400.0),
    ),
    "poisson": (Parameter("rate", most=1e6),),
    "gamma": (
        Parameter("rate", most=1e6),
        Parameter("burstiness", 1.0, infinite=True, most=1e6),
    ),
    "constant": (Parameter("rate", most=1e6),),
    "onoff": (
        Parameter("rate", most=1e6),
        Parameter("on", least=1e-9, exclusive=False, most=1e6),
        Parameter("off", exclusive=False, most=1e6),
    ),
    "offline": (),
}
"""The parameters of every kind of arrivals: rates a second, times in seconds."""

_UNITS: Final = ("s", "ms", "us", "ns")


@dataclass(frozen=True, slots=True)
class Replay:
    """Where the times of recorded arrivals stand.

    Attributes:
        path: a table, a plan, a Chrome trace or text with a time a line.
        column: the column of the times; found by its name if None.
        unit: s, ms, us or ns; by the column's ending, else seconds, if None.
        event: the events of a Chrome trace whose beginnings are arrivals.
        origin: `first` moves the earliest time to 0, `keep` keeps times as they stand;
            `keep` for plans and `first` for all others if None.

    """

    path: Path
    column: str | None = None
    unit: str | None = None
    event: str | None = None
    origin: str | None = None


@dataclass(frozen=True, slots=True)
class Arrivals:
    """A kind of arrivals.

    Attributes:
        kind: its name.
        values: its parameters.
        replay: what is replayed, for the kind `trace`.

    """

    kind: str
    values: dict[str, float]
    replay: Replay | None = None

    @property
    def closed(self) -> bool:
        """Whether requests wait for answers, so that there is no schedule."""
        return self.kind == "closed"

    @property
    def mean_rate(self) -> float | None:
        """The arrivals a second that are expected in the long run, if there are any."""
        rate = self.values.get("rate")
        if rate is not None and self.kind == "onoff":
            on, off = self.values["on"], self.values["off"]
            return rate * on / (on + off)
        return rate


def parse_arrivals(text: str) -> Arrivals:
    """Read ``KIND[:PARAMETERS]`` or ``trace:FILE[,column=C][,unit=U][,event=E]``.

    Raises:
        RegistryError: Q001 or Q002, with every problem of the text.
    """
    kind, rest = split_name(text, OPTION, (*KINDS, "trace"))
    if kind == "trace":
        return Arrivals(kind, {}, _replay(rest))
    return Arrivals(kind, parse_choice(text, OPTION, KINDS).values)


def _replay(text: str) -> Replay:
    """A file, which may hold commas, and settings after it."""
    parts = text.split(",")
    settings: dict[str, str] = {}
    problems: list[str] = []
    known = ("column", "unit", "event", "origin")
    while len(parts) > 1 and parts[-1].partition("=")[0].strip() in known:
        name, _, value = (piece.strip() for piece in parts.pop().partition("="))
        if name in settings:
            problems.append(f"{name} is given twice")
        if not value:
            problems.append(f"{name} has no value")
        settings[name] = value
    path = ",".join(parts).strip()
    if not path or "\0" in path:
        problems.append("trace needs a file")
    if (unit := settings.get("unit", "s")) not in _UNITS:
        problems.append(f"no unit: {shown(unit)}; known: {', '.join(_UNITS)}")
    if (origin := settings.get("origin", "keep")) not in {"first", "keep"}:
        problems.append(f"origin is first or keep, not {shown(origin)}")
    if problems:
        raise RegistryError(finding(Q002, OPTION, what) for what in problems)
    return Replay(
        Path(path),
        settings.get("column"),
        settings.get("unit"),
        settings.get("event"),
        settings.get("origin"),
    )
