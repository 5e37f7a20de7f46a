"""Names of other tools and of other forms, for command lines that load nothing else."""

from __future__ import annotations

from enum import StrEnum

__all__ = ["Form", "Source"]


class Source(StrEnum):
    """A tool whose recordings are read."""

    AUTO = "auto"
    NVPROF = "nvprof"
    NSYS = "nsys"
    TORCH = "torch"
    VIZTRACER = "viztracer"
    PYSPY = "pyspy"
    LOADGEN = "loadgen"


class Form(StrEnum):
    """What a trace is converted to."""

    PERFETTO = "perfetto"
    SPEEDSCOPE = "speedscope"
    CSV = "csv"
    PARQUET = "parquet"
