"""Which measured servers and classes draw power most like a new one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from registry.review.page import Code, Paragraph, Section, Table
from registry.review.servers import LOADS, MAIN

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from registry.modelling.table import Floats
    from registry.review.page import Cell
    from registry.review.servers import Server

__all__ = ["class_section", "difference"]

_SHOWN: Final = 5
_ALIKE: Final = 0.05
_SIMILAR: Final = 0.15
"""Median differences up to which servers are called alike, and similar. In SPEC's
published results, 95 % of the levels of servers with the same processors, cores and
memory lie within 24.5 % of each other, half of them within a few per cent."""


@dataclass(frozen=True, slots=True)
class _Group:
    """Servers of one class with their mean watts at `LOADS`."""

    key: str
    servers: int
    watts: Floats
    difference: float


def difference(own: Floats, other: Floats) -> float:
    """Give the median difference in power at `LOADS`, as a share of the other's."""
    return float(np.median(np.abs(own - other) / np.maximum(other, 1e-9)))


def class_section(own: Server, key: str, servers: Sequence[Server]) -> Section:
    """Compare a server with all measured ones.

    Args:
        own: the proposed bundle.
        key: the class that it will belong to.
        servers: the merged bundles, an earlier version of this one left out.
    """
    title = "Server class"
    target = next((name for name in MAIN if own.watts(name) is not None), None)
    mine = None if target is None else own.watts(target)
    first = Paragraph.of("It belongs to class ", Code(key), ".")
    if target is None or mine is None:
        why = Paragraph.of("It has no power of a node or processor to compare.")
        return Section("class", title, (first, why), {"class": key})
    known = [(one, one.watts(target)) for one in servers]
    rated = [
        (one, watts, difference(mine, watts))
        for one, watts in known
        if watts is not None
    ]
    rated.sort(key=lambda item: (item[2], item[0].dataset))
    groups = _groups(mine, ((one, watts) for one, watts, _ in rated))
    same = next((group for group in groups if group.key == key), None)
    verdict, notes = _verdict(key, same, groups)
    own_row: tuple[Cell, ...] = ("this bundle", "–", *_watts(mine), "–")
    loads = tuple(f"W at {100 * load:.0f} %" for load in LOADS)
    blocks = (
        first,
        Paragraph.of(verdict),
        Table(
            f"Nearest classes by {target}",
            ("class", "bundles", *loads, "median difference"),
            (own_row, *(_group_row(group) for group in _shown(groups, key))),
        ),
        Table(
            f"Nearest servers by {target}",
            ("bundle", "class", *loads, "median difference"),
            (
                own_row,
                *(
                    (
                        Code(one.dataset),
                        Code(one.class_key),
                        *_watts(watts),
                        _share(apart),
                    )
                    for one, watts, apart in rated[:_SHOWN]
                ),
            ),
        ),
    )
    facts: dict[str, Any] = {
        "class": key,
        "target": target,
        "watts": [float(f"{value:.6g}") for value in mine],
        "others_of_class": 0 if same is None else same.servers,
        "nearest": [
            {
                "dataset": one.dataset,
                "class": one.class_key,
                "difference": _round(apart),
            }
            for one, _, apart in rated[:_SHOWN]
        ],
    }
    return Section("class", title, blocks, facts, notes)


def _groups(own: Floats, rated: Iterable[tuple[Server, Floats]]) -> list[_Group]:
    members: dict[str, list[Floats]] = {}
    for one, watts in rated:
        members.setdefault(one.class_key, []).append(watts)
    groups = []
    for key, curves in members.items():
        mean = np.mean(np.array(curves), axis=0)
        groups.append(_Group(key, len(curves), mean, difference(own, mean)))
    return sorted(groups, key=lambda group: (group.difference, group.key))


def _shown(groups: Sequence[_Group], key: str) -> list[_Group]:
    """Take the nearest, and its own class wherever that is."""
    return [group for at, group in enumerate(groups) if at < _SHOWN or group.key == key]


def _verdict(
    key: str, same: _Group | None, groups: Sequence[_Group]
) -> tuple[str, tuple[tuple[Cell, ...], ...]]:
    if same is None and not groups:
        return "There is no other server to compare it with.", ()
    nearest = groups[0]
    if same is None:
        text = (
            f"The class is new. The nearest one, {nearest.key}, is"
            f" {_word(nearest.difference)} ({_share(nearest.difference)})."
        )
        return text, (("The server class ", Code(key), " is new."),)
    others = "1 other bundle" if same.servers == 1 else f"{same.servers} other bundles"
    text = (
        f"Its class has {others} and is {_word(same.difference)}: the median"
        f" difference is {_share(same.difference)}."
    )
    if nearest.key == key or same.difference <= _SIMILAR:
        return text, ()
    text += f" The nearest class is {nearest.key} ({_share(nearest.difference)})."
    note: tuple[Cell, ...] = (
        f"It differs from its class by {_share(same.difference)}; nearer is class ",
        Code(nearest.key),
        f" ({_share(nearest.difference)}).",
    )
    return text, (note,)


def _word(apart: float) -> str:
    if apart <= _ALIKE:
        return "alike"
    return "similar" if apart <= _SIMILAR else "different"


def _group_row(group: _Group) -> tuple[Cell, ...]:
    apart = _share(group.difference)
    return Code(group.key), str(group.servers), *_watts(group.watts), apart


def _watts(watts: Floats) -> tuple[Cell, ...]:
    return tuple(f"{value:.1f}" for value in watts)


def _share(value: float) -> str:
    return f"{100 * value:.1f} %"


def _round(value: float) -> float:
    return float(f"{value:.4g}")
