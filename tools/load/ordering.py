"""What a load plan is asked to be: understood, and free of contradictions."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final, Literal, TypeAlias, TypeVar

from registry.documents import limits
from registry.documents.findings import (
    Finding,
    RegistryError,
    Severity,
    code,
    finding,
    shown,
)
from tools.load.arrivals import LONGEST_NS, REQUESTS, Arrivals, parse_arrivals
from tools.load.items import ITEMS, Q004, Item, bad_name
from tools.load.popularity import Popularity, parse_popularity

__all__ = ["Q014", "Order", "Weighting", "read_order"]

Q014 = code(
    "Q014",
    Severity.ERROR,
    "Options of a load plan are out of range or contradict each other.",
    "Change or leave out the named option.",
)

Weighting: TypeAlias = Literal["quantile", "drawn", "unsorted", "file"]
"""Where weights come from: see `tools.load.popularity`."""

_Parsed = TypeVar("_Parsed")
_SECOND: Final = 10**9


@dataclass(frozen=True, slots=True)
class Order:
    """What was asked for.

    Attributes:
        items: what can be asked for, the most popular first.
        popularity: how often.
        arrivals: when.
        requests: how many requests, or None for as many as there are times.
        duration_ns: the time that arrivals fill, or None.
        cap: the most requests of one item, or None.
        covering: whether every item is asked for.
        seed: of every random choice.
        shuffled: whether ranks are given to items at random.
        weighting: where the weights come from.
        trims: whether draws are made as TRIMS makes them.

    """

    items: tuple[Item, ...]
    popularity: Popularity
    arrivals: Arrivals
    requests: int | None
    duration_ns: int | None
    cap: int | None
    covering: bool
    seed: int
    shuffled: bool
    weighting: Weighting
    trims: bool


def read_order(
    items: Sequence[Item | str],
    popularity: str,
    arrivals: str,
    *,
    requests: int | None,
    duration: float | None,
    max_per_item: int | None,
    covering: bool,
    seed: int,
    shuffle_ranks: bool,
    drawn_weights: bool,
    trims_compatible: bool,
) -> Order:
    """Understand what was asked for; the arguments are those of `make_plan`.

    Raises:
        RegistryError: Q001, Q002, Q004 or Q014, with the problems of all arguments.
    """
    problems: list[Finding] = []
    things = tuple(Item(one) if isinstance(one, str) else one for one in items)
    wanted = _or_none(parse_popularity, popularity, problems)
    process = _or_none(parse_arrivals, arrivals, problems)
    problems += _bad_items(things)
    problems += _bad_numbers(
        requests, duration, max_per_item, seed, trims=trims_compatible
    )
    if wanted is not None:
        chosen = {
            "--max-per-item": max_per_item is not None,
            "--cover": covering,
            "--shuffle-ranks": shuffle_ranks,
            "--weights drawn": drawn_weights,
        }
        names = [name for name, given in chosen.items() if given]
        problems += _bad_choices(wanted, names, trims=trims_compatible)
    if wanted is not None and process is not None:
        lengths = (requests is not None) + (duration is not None)
        problems += _bad_length(wanted, process, lengths, timed=duration is not None)
    if problems or wanted is None or process is None:
        raise RegistryError(problems[: limits.SHOWN_PER_DOCUMENT])
    weighting: Weighting = "drawn" if drawn_weights else "quantile"
    if wanted.file is not None:
        weighting = "file"
    elif trims_compatible and wanted.random:
        weighting = "unsorted"
    if wanted.kind == "none":
        requests = len(things) * int(wanted.values["times"])
    return Order(
        things,
        wanted,
        process,
        requests,
        None if duration is None else round(duration * _SECOND),
        max_per_item,
        covering,
        seed,
        shuffle_ranks,
        weighting,
        trims_compatible,
    )


def _or_none(
    read: Callable[[str], _Parsed], text: str, problems: list[Finding]
) -> _Parsed | None:
    try:
        return read(text)
    except RegistryError as error:
        problems += error.findings
        return None


def _bad_items(items: Sequence[Item]) -> Iterator[Finding]:
    if not 1 <= len(items) <= ITEMS:
        what = f"{len(items)} items, from 1 to {ITEMS} are possible"
        yield finding(Q004, "--items", what)
    seen: set[str] = set()
    for item in items:
        wrong = bad_name(item.name)
        if wrong is None and item.name in seen:
            wrong = f"a name is there twice: {shown(item.name)}"
        if wrong is not None:
            yield finding(Q004, "--items", wrong)
        seen.add(item.name)


def _bad_numbers(
    requests: int | None,
    duration: float | None,
    cap: int | None,
    seed: int,
    *,
    trims: bool,
) -> Iterator[Finding]:
    if requests is not None and not 1 <= requests <= REQUESTS:
        what = f"{requests} requests, from 1 to {REQUESTS} are possible"
        yield finding(Q014, "--requests", what)
    longest = LONGEST_NS / _SECOND
    if duration is not None and not 1e-9 <= duration <= longest:
        what = f"{duration:g} seconds, up to {longest:.0f} are possible"
        yield finding(Q014, "--duration", what)
    if cap is not None and cap < 1 and not trims:
        yield finding(Q014, "--max-per-item", f"a cap must be at least 1, not {cap}")
    if not 0 <= seed <= limits.INTEGER:
        yield finding(Q014, "--seed", f"a seed is from 0 to 2**53 - 1, not {seed}")


def _bad_choices(
    wanted: Popularity, given: Sequence[str], *, trims: bool
) -> Iterator[Finding]:
    """Options that mean nothing beside the popularity."""
    ranked = ("--shuffle-ranks", "--weights drawn")
    refused: dict[str, tuple[str, ...]] = {}
    if wanted.kind == "none":
        refused["the popularity none asks for every item alike"] = (
            "--max-per-item",
            *ranked,
        )
    if wanted.file is not None:
        refused["the file gives every item its weight"] = ranked
    if trims:
        refused["TRIMS has nothing like it"] = ("--cover", *ranked)
    for why, names in refused.items():
        for name in names:
            if name in given:
                yield finding(Q014, name, f"not possible here: {why}")


def _bad_length(
    wanted: Popularity, process: Arrivals, lengths: int, *, timed: bool
) -> Iterator[Finding]:
    """No length, or more than one."""
    if wanted.kind == "none":
        if lengths:
            what = "popularity none:times=N has N of each item; or name another"
            yield finding(Q014, "--requests", what)
        return
    if timed and process.kind in {"closed", "offline"}:
        what = f"{process.kind} has no times of arrival: give --requests"
        yield finding(Q014, "--duration", what)
    elif lengths > 1 or (not lengths and process.kind != "trace"):
        much = "both" if lengths else "neither"
        what = f"give either --requests or --duration, not {much}"
        yield finding(Q014, "--requests", what)
