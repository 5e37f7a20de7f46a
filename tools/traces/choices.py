"""Words that options of `powerkit trace summarize` and `memory` take; quick to load."""

from __future__ import annotations

from enum import StrEnum

__all__ = ["By", "Form", "MemoryForm", "Size", "Sort"]


class By(StrEnum):
    """What the slices of one statistic have in common."""

    NAME = "name"
    CATEGORY = "category"
    PROCESS = "process"


class Sort(StrEnum):
    """By what statistics are ordered, the greatest first."""

    TOTAL = "total"
    SELF = "self"
    COUNT = "count"


class Form(StrEnum):
    """How a summary is printed."""

    TABLE = "table"
    JSON = "json"
    CSV = "csv"
    MD = "md"


class MemoryForm(StrEnum):
    """How memory is printed."""

    TABLE = "table"
    CSV = "csv"
    TSV = "tsv"
    JSON = "json"
    MD = "md"
    CPP = "cpp"


class Size(StrEnum):
    """Which of its sizes is a model's."""

    TOTAL = "total"
    PEAK = "peak"
    LEAKED = "leaked"
