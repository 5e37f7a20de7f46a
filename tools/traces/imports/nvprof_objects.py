"""Processes, threads and GPUs as nvprof's tables name them.

An object's number is a union of C (CUpti_ActivityObjectKindId, twelve bytes): process
and thread, or device, context and stream, each of four bytes.
"""

from __future__ import annotations

import struct
from typing import Final

from tools.traces.imports.cupti import OBJECT_PROCESS, OBJECT_THREAD
from tools.traces.imports.profiles import Profile

__all__ = ["name_objects", "object_ids", "object_track", "thread"]

_DEVICE: Final = "CUPTI_ACTIVITY_KIND_DEVICE"
_NAME: Final = "CUPTI_ACTIVITY_KIND_NAME"
_WORD: Final = 0xFFFF_FFFF
_TWO_WORDS: Final = struct.Struct("<II")
_BESIDE: Final = 0x4000_0000
"""Added to a thread's number for what its profiler did, which overlaps its calls."""


def name_objects(profile: Profile) -> None:
    """Name GPUs by their model, and whatever the program itself gave a name."""
    for number, name in profile.database.rows(_DEVICE, ("id", "name")):
        if isinstance(number, int):
            profile.tracks.device(number, profile.names(name))
    for kind, number, name in profile.database.rows(
        _NAME, ("objectKind", "objectId", "name")
    ):
        pid, tid = object_ids(number)
        if kind == OBJECT_PROCESS:
            profile.tracks.process(pid, profile.names(name))
        elif kind == OBJECT_THREAD:
            profile.tracks.thread(pid, tid, profile.names(name))


def thread(profile: Profile, pid: object, tid: object) -> tuple[int, int]:
    """The track of a thread; nvprof shortens thread numbers to 32 bits, some signed."""
    process, number = (one & _WORD if isinstance(one, int) else 0 for one in (pid, tid))
    return profile.tracks.thread(process, number)


def object_track(
    profile: Profile, kind: object, number: object, name: str
) -> tuple[int, int]:
    """A track beside that of a process or thread, for what overlaps it.

    Args:
        profile: where tracks are.
        kind: CUPTI's kind of the object.
        number: its number, as the database has it.
        name: what the track is for.
    """
    pid, tid = object_ids(number)
    if kind == OBJECT_THREAD:
        return profile.tracks.thread(pid, (tid + _BESIDE) & _WORD, f"{tid}: {name}")
    if kind == OBJECT_PROCESS:
        return profile.tracks.thread(pid, _BESIDE, name)
    return profile.tracks.thread(profile.tracks.device(pid), _BESIDE, name)


def object_ids(number: object) -> tuple[int, int]:
    """The first two numbers of an object's number; 0 where there is none."""
    if isinstance(number, int):
        return number & _WORD, 0
    if isinstance(number, bytes) and len(number) >= 4:
        first, second = _TWO_WORDS.unpack(number[:8].ljust(8, b"\0"))
        return first, second
    return 0, 0
