"""A plan in the working folder."""

from __future__ import annotations

from collections.abc import Callable

from tests.simulators.commands import Done

__all__ = ["Powerkit", "planned"]

Powerkit = Callable[..., Done]


def planned(powerkit: Powerkit, *options: object) -> Done:
    """Make a plan; nothing is wrong with it."""
    done = powerkit("load", "plan", *options)
    assert (done.code, done.err) == (0, "")
    return done
