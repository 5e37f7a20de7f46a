"""What nvprof sampled of a GPU beside its work: power, clocks, temperature, fan.

`nvprof --system-profiling on` records it. Each sample is a union of C
(CUpti_ActivityEnvironment): its kind says how the bytes are to be read.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from typing import Final

from tools.traces.imports.imported import Event
from tools.traces.imports.profiles import Profile

__all__ = ["ENVIRONMENT", "environment"]

ENVIRONMENT: Final = "CUPTI_ACTIVITY_KIND_ENVIRONMENT"
_KINDS: Final[dict[int, tuple[str, tuple[tuple[str, float], ...]]]] = {
    1: ("clocks", (("sm_mhz", 1), ("memory_mhz", 1))),
    2: ("temperature", (("celsius", 1),)),
    3: ("power", (("watts", 1e-3), ("limit_watts", 1e-3))),
    4: ("fan", (("percent", 1),)),
}
"""Name of the counter, and of each of its words with what makes it that unit."""


def environment(profile: Profile) -> Iterator[Event]:
    """A counter for each kind of sample of each GPU."""
    columns = ("timestamp", "deviceId", "environmentKind", "data")
    for time, device, kind, data in profile.database.rows(ENVIRONMENT, columns):
        name, fields = _KINDS.get(kind, ("", ()))
        size = 4 * len(fields)
        usable = isinstance(data, bytes) and len(data) >= size > 0
        if not usable or not isinstance(time, int) or not isinstance(device, int):
            profile.account.untimed[ENVIRONMENT] += 1
            continue
        words = struct.unpack(f"<{len(fields)}I", data[:size])
        profile.account.read[ENVIRONMENT] += 1
        yield {
            "name": name,
            "ph": "C",
            "ts": profile.clock.at(time),
            "pid": profile.tracks.device(device),
            "args": {
                label: round(word * factor, 3)
                for (label, factor), word in zip(fields, words, strict=True)
            },
        }
