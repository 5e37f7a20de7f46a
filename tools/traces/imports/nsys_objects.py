"""Processes, threads and GPUs as Nsight Systems numbers and names them.

A global number holds eight bits of hardware, eight of a virtual machine, 24 of a
process and 24 of a thread (NVIDIA's "Serialized process and thread identifiers").
"""

from __future__ import annotations

from typing import Final

from tools.traces.imports.profiles import Profile

__all__ = [
    "BITS",
    "MASK",
    "OBJECTS",
    "WORD",
    "launch",
    "name_objects",
    "process_of",
    "thread",
]

_THREADS: Final = "ThreadNames"
_PROCESSES: Final = "PROCESSES"
_GPUS: Final = ("TARGET_INFO_GPU", "TARGET_INFO_CUDA_GPU")
OBJECTS: Final = (_THREADS, _PROCESSES, *_GPUS)
"""Tables that name something."""
BITS: Final = 24
"""How many bits a thread has in a global number, and its process above them."""
MASK: Final = (1 << BITS) - 1
WORD: Final = 0xFFFF_FFFF
_BESIDE: Final = 1 << 30
"""Added to a thread's number for what overlaps its calls."""


def process_of(identity: object) -> int:
    """The number of the process in a global number; 0 if there is none."""
    return identity >> BITS & MASK if isinstance(identity, int) else 0


def thread(
    profile: Profile, identity: object, *, overlaps: bool = False
) -> tuple[int, int]:
    """The track of a thread by its global number.

    Args:
        profile: where tracks are.
        identity: the number.
        overlaps: whether it is for what may overlap the thread's calls.
    """
    pid = process_of(identity)
    tid = identity & MASK if isinstance(identity, int) else 0
    if overlaps:
        return profile.tracks.thread(pid, tid + _BESIDE, f"{tid}: profiler's overhead")
    return profile.tracks.thread(pid, tid)


def launch(pid: int, correlation: object) -> int | None:
    """One number for a correlation number, which only its process knows.

    Args:
        pid: the process.
        correlation: its number, 0 or None where nothing was started.
    """
    if not isinstance(correlation, int) or not correlation:
        return None
    return pid << 32 | correlation & WORD


def name_objects(profile: Profile) -> None:
    """Name GPUs by their model, processes by their program, threads as they are."""
    database = profile.database
    for table in _GPUS:
        for number, device, name in database.rows(table, ("id", "cuDevice", "name")):
            known = device if isinstance(device, int) else number
            if isinstance(known, int) and isinstance(name, str):
                profile.tracks.device(known, name)
    for identity, pid, name in database.rows(_PROCESSES, ("globalPid", "pid", "name")):
        number = process_of(identity) or (pid if isinstance(pid, int) else 0)
        # the path of a program names its user's folders
        short = name.rpartition("/")[2] if isinstance(name, str) else None
        profile.tracks.process(number, short)
    for name, identity in database.rows(_THREADS, ("nameId", "globalTid")):
        if isinstance(identity, int):
            track = (process_of(identity), identity & MASK)
            profile.tracks.thread(*track, profile.names(name))
