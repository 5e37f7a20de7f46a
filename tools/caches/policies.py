"""Which items leave a full memory: the policies that can be simulated, and their rules.

The names are those of TRIMS's server, whose own rules are not part of TRIMS Tools; what
follows is our reading of them. "Not in use" means that no request that still runs needs
the item. What does not fit even if all that may leave has left is served all the same,
but not kept, and nothing leaves for it.

- `never`: nothing leaves. What does not fit is not kept.
- `lru`: whatever was asked for longest ago leaves, one item after the other, until the
  new one fits.
- `lcu` (also `lfu`): least commonly used. Whatever was asked for least often since the
  start leaves first, whether it was kept then or not; of equals, that which was asked
  for longest ago.
- `fifo`: whatever was loaded longest ago leaves first.
- `flush`: if the new item does not fit, everything that is not in use leaves.
- `all`: with every miss, everything that is not in use leaves, whether it fits or not.
- `optimal`: whatever is asked for again latest leaves first, and the new item is not
  kept if it is the latest itself. It knows the future, so it is a bound and no policy:
  the best possible if all items have one size and requests come one at a time (Belady
  1966, with bypassing); else no more than a good try.
"""

from __future__ import annotations

from enum import StrEnum
from typing import Final

__all__ = ["ALIASES", "Policy", "read_policies"]


class Policy(StrEnum):
    """A rule of eviction; see the module."""

    NEVER = "never"
    LRU = "lru"
    LCU = "lcu"
    FIFO = "fifo"
    FLUSH = "flush"
    ALL = "all"
    OPTIMAL = "optimal"


ALIASES: Final = {"lfu": Policy.LCU, "belady": Policy.OPTIMAL, "min": Policy.OPTIMAL}


def read_policies(text: str) -> tuple[Policy, ...]:
    """Policies by name, separated by commas, each once.

    Raises:
        ValueError: a name is none; the message says which.
    """
    found: dict[Policy, None] = {}
    for part in text.split(","):
        name = part.strip().lower()
        policy = ALIASES.get(name)
        if policy is None:
            if name not in set(Policy):
                known = ", ".join((*Policy, *ALIASES))
                raise ValueError(f"{part.strip()[:40] or 'nothing'} is none of {known}")
            policy = Policy(name)
        found[policy] = None
    return tuple(found)
