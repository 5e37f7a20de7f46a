"""Reads SPECpower_ssj2008 results from the tidy CSV pair of spec-power-raw-data.

``specpower_results.csv`` has one row a result, ``specpower_levels.csv`` beside it one
row a result and load level.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterator, Mapping, Sequence
from decimal import Decimal
from typing import Final

from registry.documents.findings import Finding, RegistryError
from tools.importers.disclosure import (
    Disclosure,
    Level,
    check_disclosure,
    day,
    noncompliant,
    result_id,
    unreadable,
)

__all__ = ["read_csv"]

_BYTES: Final = 100_000_000
_NUMBER: Final = re.compile(r"[0-9]{1,12}(?:\.[0-9]{1,9})?")
_RESULT_COLUMNS: Final = (
    *("result_id", "accepted", "publication", "test_date", "hw_vendor", "model"),
    *("form_factor", "cpu_name", "cpu_characteristics", "cpu_mhz", "cores", "chips"),
    *("cores_per_chip", "threads", "threads_per_core", "memory_gb", "dimms"),
    *("memory_details", "psu", "disk", "os", "os_version", "nodes", "sum_ratio"),
)
_LEVEL_COLUMNS: Final = (
    "result_id",
    "target_load_pct",
    "actual_load_pct",
    "ssj_ops",
    "avg_power_w",
)


def read_csv(
    results: bytes, levels: bytes, path: str
) -> Iterator[tuple[str, Disclosure | tuple[Finding, ...]]]:
    """Read all results of a pair of files, in their order.

    Args:
        results: The bytes of ``specpower_results.csv``.
        levels: The bytes of ``specpower_levels.csv``.
        path: The name of the first file, for findings.

    Yields:
        The id of each result, with the result or everything that is wrong with it
        (L010 to L014).

    Raises:
        RegistryError: L011, the files are no such pair.

    """
    by_result: dict[str, list[Level]] = {}
    for line, row in _rows(levels, path, _LEVEL_COLUMNS):
        by_result.setdefault(row["result_id"], []).append(_level(row, path, line))
    for line, row in _rows(results, path, _RESULT_COLUMNS):
        id_ = result_id(row["result_id"], path)
        try:
            found = by_result.get(row["result_id"], ())
            yield id_, _disclosure(row, id_, found, path, line)
        except RegistryError as error:
            yield id_, error.findings


def _rows(
    data: bytes, path: str, wanted: tuple[str, ...]
) -> Iterator[tuple[int, dict[str, str]]]:
    if len(data) > _BYTES:
        raise unreadable(path, f"{len(data)} bytes are too many")
    text = io.StringIO(data.decode("utf-8", "replace"), newline="")
    reader = csv.DictReader(text, strict=True)
    missing = sorted(set(wanted) - set(reader.fieldnames or ()))
    if missing:
        raise unreadable(path, f"columns are missing: {', '.join(missing)}", 1)
    try:
        for row in reader:
            if None in row or None in row.values():
                what = "cells are missing or left over"
                raise unreadable(path, what, reader.line_num)
            yield reader.line_num, row
    except csv.Error as error:
        raise unreadable(path, str(error), reader.line_num) from None


def _disclosure(
    row: Mapping[str, str], id_: str, levels: Sequence[Level], path: str, line: int
) -> Disclosure:
    def text(name: str) -> str:
        value = " ".join(row[name].split())
        return "" if value.lower() in ("none", "n/a", "--") else value

    def number(name: str) -> Decimal:
        return _number(row, name, where, line)

    where = f"{path}#{id_}"
    if row["accepted"] != "yes":
        raise noncompliant(where, "it is marked NC")
    nodes = int(number("nodes"))
    # The column holds what nodes share, if there are several.
    supplies = text("psu") if nodes == 1 else ""
    score = number("sum_ratio") if row["sum_ratio"] else None
    return check_disclosure(
        Disclosure(
            id=id_,
            path=where,
            published=day(row["publication"], "publication", where),
            tested=day(row["test_date"], "test_date", where),
            vendor=text("hw_vendor"),
            model=text("model"),
            form_factor=text("form_factor"),
            cpu_name=text("cpu_name"),
            cpu_characteristics=text("cpu_characteristics"),
            cpu_mhz=number("cpu_mhz"),
            cores=int(number("cores")),
            chips=int(number("chips")),
            cores_per_chip=int(number("cores_per_chip")),
            threads=int(number("threads")),
            threads_per_core=int(number("threads_per_core")),
            memory_gb=number("memory_gb"),
            dimms=text("dimms"),
            memory_details=text("memory_details"),
            supplies=supplies,
            disk=text("disk"),
            os=text("os"),
            os_version=text("os_version"),
            nodes=nodes,
            score=score,
            levels=tuple(sorted(levels, key=lambda level: -level.target_percent)),
        )
    )


def _level(row: Mapping[str, str], path: str, line: int) -> Level:
    return Level(
        target_percent=int(_number(row, "target_load_pct", path, line)),
        actual_percent=_number(row, "actual_load_pct", path, line),
        ssj_ops=int(_number(row, "ssj_ops", path, line)),
        watts=_number(row, "avg_power_w", path, line),
    )


def _number(row: Mapping[str, str], name: str, path: str, line: int) -> Decimal:
    if _NUMBER.fullmatch(row[name]) is None:
        raise unreadable(path, f'{name} is "{row[name]}"', line)
    return Decimal(row[name])
