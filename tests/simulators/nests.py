"""Traces of well nested calls with everything beside them, the same for every seed.

    events = nested_trace(seed=1, threads=4, calls=500)

Half of the calls are complete events and half are begins with ends; there are flows,
counters, instants and asynchronous events, and no two events of a thread at one time.
"""

from __future__ import annotations

import random
from typing import Any

__all__ = ["nested_trace"]


def nested_trace(seed: int, threads: int, calls: int) -> list[dict[str, Any]]:
    """Make a trace in the order in which a program would write it.

    Args:
        seed: of all choices.
        threads: how many threads there are, three in each process.
        calls: how many calls each thread makes.
    """
    chance = random.Random(seed)
    events: list[dict[str, Any]] = []
    for thread in range(threads):
        where = {"pid": 100 + thread // 3, "tid": 1000 + thread}
        name = {"ph": "M", "name": "process_name", "args": {"name": f"rank {thread}"}}
        events.append(where | name)
        _calls(events, chance, where, calls)
    return events


def _calls(
    events: list[dict[str, Any]],
    chance: random.Random,
    where: dict[str, Any],
    calls: int,
) -> None:
    """Open and close calls at random until so many were made; times in microseconds."""
    now = 1_000_000
    opened: list[dict[str, Any]] = []
    while calls or opened:
        now += chance.randint(1, 40_000)
        at = where | {"ts": now / 1000}
        if calls and (not opened or (len(opened) < 9 and chance.random() < 0.55)):
            calls -= 1
            name = f"call {chance.randint(0, 30)}"
            call = at | {"name": name, "cat": f"level{len(opened)}"}
            opened.append(call | {"ph": chance.choice("XB"), "begun": now})
            if opened[-1]["ph"] == "B":
                events.append(call | {"ph": "B"})
            _beside(events, chance, at, calls)
        else:
            call = opened.pop()
            if call["ph"] == "X":
                begun = call.pop("begun")
                events.append(call | {"dur": (now - begun) / 1000})
            else:
                named = {} if chance.random() < 0.2 else {"name": call["name"]}
                events.append(at | {"ph": "E"} | named)


def _beside(
    events: list[dict[str, Any]], chance: random.Random, at: dict[str, Any], number: int
) -> None:
    """Whatever may happen inside a call."""
    key = f"{at['tid']}{number:05d}"
    what = chance.randint(0, 9)
    if what == 0:
        flow = at | {"name": "arrow", "cat": "flow", "id": int(key)}
        events.append(flow | {"ph": "s"})
        events.append(flow | {"ph": "f", "bp": "e"})
    elif what == 1:
        load = {"W": chance.randint(0, 300), "share": chance.random()}
        events.append(at | {"ph": "C", "name": "power", "args": load})
    elif what == 2:
        events.append(at | {"ph": "i", "name": "mark", "s": "t"})
    elif what == 3:
        later = at | {"ts": at["ts"] + 250}
        for phase, when in (("b", at), ("e", later)):
            events.append(when | {"ph": phase, "name": "io", "cat": "disk", "id": key})
