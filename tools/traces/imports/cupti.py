"""CUPTI's numbers in words: API calls, kinds of copies, memory and overhead.

call_name("runtime", 211)  # cudaLaunchKernel
"""

from __future__ import annotations

import functools
import re
from importlib import resources
from typing import Final

__all__ = [
    "COPIES",
    "MARKER_END",
    "MARKER_INSTANT",
    "MARKER_START",
    "MEMORY",
    "OBJECT_PROCESS",
    "OBJECT_THREAD",
    "OVERHEADS",
    "call_name",
    "without_version",
]

# The enumerations of cupti_activity.h, CUPTI API version 130001.
COPIES: Final = {
    1: "HtoD",
    2: "DtoH",
    3: "HtoA",
    4: "AtoH",
    5: "AtoA",
    6: "AtoD",
    7: "DtoA",
    8: "DtoD",
    9: "HtoH",
    10: "PtoP",
}
"""CUpti_ActivityMemcpyKind: H is host, D is device, A is array, P is peer."""
MEMORY: Final = {
    1: "pageable",
    2: "pinned",
    3: "device",
    4: "array",
    5: "managed",
    6: "device static",
    7: "managed static",
}
"""Kinds of memory: CUpti_ActivityMemoryKind."""
OVERHEADS: Final = {
    1: "driver compiler",
    1 << 16: "CUPTI buffer flush",
    2 << 16: "CUPTI instrumentation",
    3 << 16: "CUPTI resource",
    4 << 16: "module loading",
    5 << 16: "lazy function loading",
    6 << 16: "command buffer full",
    7 << 16: "activity buffer request",
    8 << 16: "unified memory set-up",
}
"""What a profiler spent time on: CUpti_ActivityOverheadKind."""
MARKER_INSTANT: Final = 1 << 0
MARKER_START: Final = 1 << 1
MARKER_END: Final = 1 << 2
"""Flags of a marker: CUpti_ActivityFlag."""
OBJECT_PROCESS: Final = 1
OBJECT_THREAD: Final = 2
"""What an object's number is of: CUpti_ActivityObjectKind."""
_VERSION: Final = re.compile(r"_v\d{4,5}$")


def without_version(name: str) -> str:
    """A call's name without the version of CUDA that it came with (`…_v3020`)."""
    return _VERSION.sub("", name)


def call_name(api: str, number: object) -> str:
    """The name of an API call, without the version that it came with.

    Args:
        api: `runtime` or `driver`.
        number: its callback number.

    Returns:
        The name, or `cuda runtime call 9999` for a number that is not known.
    """
    if not isinstance(number, int):
        return f"cuda {api} call"
    return _names().get((api, number), f"cuda {api} call {number}")


@functools.cache
def _names() -> dict[tuple[str, object], str]:
    text = resources.files(__package__).joinpath("cbids.txt").read_text("ascii")
    names: dict[tuple[str, object], str] = {}
    for line in text.splitlines():
        if not line.startswith("#"):
            api, number, name = line.split(" ")
            names[api, int(number)] = without_version(name)
    return names
