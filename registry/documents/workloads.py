"""The catalogue of target workloads, and labels for workloads that stay private."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

__all__ = [
    "LABEL_PATTERN",
    "OTHER",
    "WORKLOADS",
    "Workload",
    "is_label",
    "is_pseudonym",
    "workload",
]


@dataclass(frozen=True, slots=True)
class Workload:
    """One workload.

    Attributes:
        id: Its name in the tables.
        meaning: What runs.
        target: Whether the timeseries profile asks for it.

    """

    id: str
    meaning: str
    target: bool = False

    @property
    def idle(self) -> bool:
        """Whether the machine does nothing beyond its own upkeep."""
        return self.id.startswith("idle")


_ENTRIES: Final = (
    Workload("idle", "nothing runs; the recorder alone is awake", target=True),
    Workload("idle-housekeeping", "the housekeeping of an isolated machine"),
    Workload("int", "integer arithmetic", target=True),
    Workload("fp", "scalar floating point arithmetic", target=True),
    Workload("vec", "vector arithmetic and matrix products", target=True),
    Workload("branch", "unpredictable branches", target=True),
    Workload("l1", "first level cache", target=True),
    Workload("llc", "last level cache", target=True),
    Workload("membw", "memory bandwidth", target=True),
    Workload("memlat", "memory latency by pointer chasing"),
    Workload("crypt", "cryptographic kernels"),
    Workload("ctx", "context switches and futexes"),
    Workload("io-seq", "sequential block reads and writes"),
    Workload("io-rand", "random block reads and writes"),
    Workload("net-lo", "network traffic over the loopback device"),
    Workload("mix", "integer and memory work, or a random schedule", target=True),
    Workload("gpu-compute", "GPU matrix products"),
    Workload("gpu-memory", "GPU memory copies"),
    Workload("ssj2008", "SPECpower_ssj2008, server-side Java"),
)

WORKLOADS: Final = {entry.id: entry for entry in _ENTRIES}
"""Every catalogued workload by its id."""
OTHER: Final = "other"
"""The label of a workload that the catalogue does not know."""

_PSEUDONYM: Final = r"w_[a-z2-7]{12}"
LABEL_PATTERN: Final = (
    f"^(?:{'|'.join([*map(re.escape, WORKLOADS), OTHER])}|{_PSEUDONYM})$"
)
"""Every allowed label: a catalogue id, ``other`` or a pseudonym."""

_LABEL: Final = re.compile(LABEL_PATTERN)
_IS_PSEUDONYM: Final = re.compile(_PSEUDONYM)


def workload(label: str) -> Workload | None:
    """Return the catalogue's entry, or None for ``other``, pseudonyms and unknowns."""
    return WORKLOADS.get(label)


def is_pseudonym(label: str) -> bool:
    """Tell whether a label stands for a contributor's own workload."""
    return _IS_PSEUDONYM.fullmatch(label) is not None


def is_label(label: str) -> bool:
    """Tell whether a label may stand in a table."""
    return _LABEL.fullmatch(label) is not None
