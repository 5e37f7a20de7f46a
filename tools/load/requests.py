"""A load plan in memory: what is asked for, and when, in a few bytes a request."""

from __future__ import annotations

from array import array
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Literal, NamedTuple, overload

import msgspec

__all__ = [
    "ArrivalsEntry",
    "Header",
    "Plan",
    "PlanItem",
    "PopularityEntry",
    "Request",
    "Requests",
]

Count = Annotated[int, msgspec.Meta(ge=0)]
Value = float | Literal["inf"]


class PlanItem(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """An item of a plan.

    Attributes:
        name: what it is called.
        weight: its share of the requests, as intended.
        bytes: its size, if that is known.

    """

    name: str
    weight: float
    bytes: Count | None = None


class PopularityEntry(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """How the weights came about.

    Attributes:
        kind: the distribution.
        values: its parameters.
        weights: `quantile`, `drawn`, `unsorted` (as TRIMS draws them) or `file`.
        shuffled: whether the ranks were shuffled over the items.

    """

    kind: str
    values: dict[str, Value]
    weights: Literal["quantile", "drawn", "unsorted", "file"]
    shuffled: bool = False


class ArrivalsEntry(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """How the schedule came about.

    Attributes:
        kind: the process.
        values: its parameters: rates a second, times in seconds.
        replay: the trace that is replayed: its file's name, digest and how it was read.

    """

    kind: str
    values: dict[str, Value]
    replay: dict[str, Any] | None = None


class Header(
    msgspec.Struct, frozen=True, forbid_unknown_fields=True, rename={"format": "schema"}
):
    """The first line of a plan.

    Attributes:
        format: `load-plan/1`, called schema in the file.
        seed: of all its streams of random numbers.
        generator: what they are.
        popularity: where the weights are from.
        arrivals: where the times are from.
        requests: how many lines follow.
        duration_ns: the time that was to be filled, if there was one.
        max_per_item: the cap on every item's requests, if there was one.
        cover: whether every item is there.
        covered: how many requests were given to items that nobody had drawn.
        skipped: how many draws were skipped, as TRIMS does at its limit.
        trims_compatible: whether items were drawn as TRIMS draws them.
        items: all items, in the order of ranks.

    """

    format: Literal["load-plan/1"]
    seed: Count
    generator: str
    popularity: PopularityEntry
    arrivals: ArrivalsEntry
    requests: Count
    items: tuple[PlanItem, ...]
    duration_ns: Count | None = None
    max_per_item: int | None = None
    cover: bool = False
    covered: Count = 0
    skipped: Count = 0
    trims_compatible: bool = False


class Request(NamedTuple):
    """One request.

    Attributes:
        i: its number, from 0.
        t_ns: when it arrives, from the beginning; None if it waits for another's end.
        item: the name of what it asks for.

    """

    i: int
    t_ns: int | None
    item: str


class Requests(Sequence[Request]):
    """All requests of a plan; they are made when somebody looks at them."""

    def __init__(
        self, names: Sequence[str], drawn: array[int], times: array[int] | None
    ) -> None:
        """Keep requests as columns.

        Args:
            names: the items' names.
            drawn: the index of every request's item, array type "q".
            times: when each arrives, in nanoseconds; None without a schedule.
        """
        self.names = tuple(names)
        self.drawn = drawn
        self.times = times

    def __len__(self) -> int:
        """How many there are."""
        return len(self.drawn)

    @overload
    def __getitem__(self, place: int) -> Request: ...
    @overload
    def __getitem__(self, place: slice) -> list[Request]: ...
    def __getitem__(self, place: int | slice) -> Request | list[Request]:
        """One request, or some."""
        if isinstance(place, slice):
            return [self[i] for i in range(*place.indices(len(self)))]
        number = range(len(self))[place]
        when = None if self.times is None else self.times[number]
        return Request(number, when, self.names[self.drawn[number]])

    def __iter__(self) -> Iterator[Request]:
        """All of them in order."""
        return (self[number] for number in range(len(self)))


@dataclass(frozen=True, slots=True)
class Plan:
    """A load plan.

    Attributes:
        header: how it was made.
        requests: what is asked for, and when.

    """

    header: Header
    requests: Requests

    @property
    def items(self) -> tuple[PlanItem, ...]:
        """What can be asked for, in the order of ranks."""
        return self.header.items

    @property
    def closed(self) -> bool:
        """Whether requests wait for answers, so that there is no schedule."""
        return self.requests.times is None

    @property
    def span_ns(self) -> int:
        """The time that the plan fills: its duration, or until its last arrival."""
        last = self.requests.times[-1] if self.requests.times else 0
        return max(self.header.duration_ns or 0, last)
