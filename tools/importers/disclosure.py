"""A SPECpower_ssj2008 result as SPEC discloses it, before it becomes a bundle.

Two readers make it, of SPEC's text page and of a tidy CSV; one writer uses it.
"""

from __future__ import annotations

import datetime as dt
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from registry.documents.findings import RegistryError, Severity, code, finding

if TYPE_CHECKING:
    from collections.abc import Iterator
    from decimal import Decimal

    from registry.documents.findings import Code, Finding

__all__ = [
    "LOADS",
    "Disclosure",
    "Level",
    "check_disclosure",
    "day",
    "noncompliant",
    "result_id",
    "unreadable",
]

NONCOMPLIANT = code(
    "L010",
    Severity.ERROR,
    "SPEC marked the result as not compliant and withdrew its measurements.",
    "Leave this result out.",
)
UNREADABLE = code(
    "L011",
    Severity.ERROR,
    "A SPECpower_ssj2008 result cannot be read.",
    "Give SPEC's unchanged text page (power_ssj2008-<date>-<number>.txt) or the CSV"
    " files that the README of the source describes.",
)
CONTRADICTORY = code(
    "L012",
    Severity.ERROR,
    "A result contradicts itself, so that nobody can tell what was measured.",
    "Leave this result out, or ask its submitter to correct it at SPEC.",
)
HETEROGENEOUS = code(
    "L013",
    Severity.ERROR,
    "A result is of a system whose nodes differ, but power was measured for all of it.",
    "Leave this result out: a bundle describes one kind of node.",
)

UNPUBLISHED = code(
    "L014",
    Severity.ERROR,
    "A result that SPEC has not published cannot be cited as its source.",
    "Leave this result out until SPEC has published it.",
)

LOADS: Final = (100, 90, 80, 70, 60, 50, 40, 30, 20, 10, 0)
"""Target loads of a run in percent, in order; 0 is active idle."""

_ID: Final = re.compile(r"(?:power_ssj2008-)?([0-9]{8}-[0-9]{5})")
_DAYS: Final = ("%b %d, %Y", "%d.%m.%Y", "%Y/%m/%d")
"""How submitters write days; the year is never in doubt, nor which is the month."""
_BENCHMARK_BEGAN: Final = dt.date(2007, 1, 1)
_SCORE_TOLERANCE: Final = 0.01
"""SPEC rounds watts to three digits, which moves the score by a few tenths of 1 %."""


@dataclass(frozen=True, slots=True)
class Level:
    """One load level, averaged by SPEC's own tools over its 240 seconds.

    Attributes:
        target_percent: The load that was asked for; 0 is active idle.
        actual_percent: The load that was reached.
        ssj_ops: Operations a second of all nodes together.
        watts: Alternating current power of all nodes together.

    """

    target_percent: int
    actual_percent: Decimal
    ssj_ops: int
    watts: Decimal


@dataclass(frozen=True, slots=True)
class Disclosure:
    """What a result says; texts are as disclosed, with lines joined by one space.

    Attributes:
        id: The result's number, such as ``20080116-00034``.
        path: Where it was read, for findings.
        published: The day on which SPEC published it.
        tested: The day of the test.
        vendor: Who sells the hardware.
        model: Its model.
        form_factor: Of the node, or ``--``.
        cpu_name: Free text.
        cpu_characteristics: Free text.
        cpu_mhz: Nominal frequency.
        cores: Cores of all chips of one node.
        chips: Populated sockets of one node.
        cores_per_chip: As disclosed.
        threads: Hardware threads of one node.
        threads_per_core: As disclosed.
        memory_gb: Memory of one node in GB, where 1 GB is 2**30 bytes.
        dimms: Number and size of modules, free text.
        memory_details: Free text.
        supplies: Quantity and rating of this node's own power supplies, free text;
            empty if nodes share them.
        disk: Free text.
        os: Free text.
        os_version: Free text.
        nodes: Number of identical nodes.
        score: Overall ssj_ops/watt as disclosed, or None.
        levels: Eleven levels, as ``LOADS``.

    """

    id: str
    path: str
    published: dt.date
    tested: dt.date
    vendor: str
    model: str
    form_factor: str
    cpu_name: str
    cpu_characteristics: str
    cpu_mhz: Decimal
    cores: int
    chips: int
    cores_per_chip: int
    threads: int
    threads_per_core: int
    memory_gb: Decimal
    dimms: str
    memory_details: str
    supplies: str
    disk: str
    os: str
    os_version: str
    nodes: int
    score: Decimal | None
    levels: tuple[Level, ...]


def result_id(text: str, path: str) -> str:
    """Return the number of a result that a file name or a cell names.

    Raises:
        RegistryError: L011, it names none.

    """
    match = _ID.fullmatch(text)
    if match is None:
        what = f'"{text}" is no id of a result, as 20210221-01066 is one'
        raise unreadable(path, what)
    return match.group(1)


def day(text: str, label: str, path: str) -> dt.date:
    """Read a day as any submitter wrote it.

    Raises:
        RegistryError: L011, or L014 if SPEC says that the result is unpublished.

    """
    if text == "Unpublished":
        raise RegistryError(finding(UNPUBLISHED, path, f'"{label}" is "{text}"'))
    for form in _DAYS:
        try:
            return dt.datetime.strptime(text, form).replace(tzinfo=dt.UTC).date()
        except ValueError:
            continue
    raise unreadable(path, f'"{label}" is "{text}"')


def unreadable(path: str, what: str, line: int | None = None) -> RegistryError:
    """Make the error for a result that cannot be read."""
    return RegistryError(finding(UNREADABLE, path, what, line=line))


def noncompliant(path: str, why: str) -> RegistryError:
    """Make the error for a result that SPEC withdrew, with SPEC's own reason."""
    return RegistryError(finding(NONCOMPLIANT, path, why))


def check_disclosure(result: Disclosure) -> Disclosure:
    """Return the result if it agrees with itself.

    Raises:
        RegistryError: L011 or L012, everything that does not agree.

    """
    problems = list(_problems(result))
    if problems:
        raise RegistryError(problems)
    return result


def _problems(result: Disclosure) -> Iterator[Finding]:
    def said(kind: Code, what: str) -> Finding:
        return finding(kind, result.path, what)

    if min(result.cores, result.chips, result.threads, result.nodes) < 1:
        yield said(CONTRADICTORY, "it has no cores, chips, threads or nodes")
    if result.cores != result.chips * result.cores_per_chip:
        what = (
            f"{result.cores} cores, {result.chips} chips and {result.cores_per_chip}"
            " cores/chip do not multiply"
        )
        yield said(CONTRADICTORY, what)
    if result.threads != result.cores * result.threads_per_core:
        what = (
            f"{result.threads} threads, {result.cores} cores and"
            f" {result.threads_per_core} threads/core do not multiply"
        )
        yield said(CONTRADICTORY, what)
    if result.tested > result.published:
        what = f"tested on {result.tested}, but published on {result.published}"
        yield said(CONTRADICTORY, what)
    if result.tested < _BENCHMARK_BEGAN:
        yield said(
            CONTRADICTORY, f"tested on {result.tested}, before the benchmark was"
        )
    targets = tuple(level.target_percent for level in result.levels)
    if targets != LOADS:
        yield said(UNREADABLE, f"the load levels are {targets}, not {LOADS}")
        return
    if any(level.watts <= 0 for level in result.levels):
        yield said(CONTRADICTORY, "a load level has no power")
    elif result.score is not None:
        yield from _score(result, said(CONTRADICTORY, "").path)


def _score(result: Disclosure, path: str) -> Iterator[Finding]:
    operations = sum(level.ssj_ops for level in result.levels)
    score = operations / float(sum(level.watts for level in result.levels))
    told = float(result.score or 0)
    if abs(score - told) > max(_SCORE_TOLERANCE * score, 1.0):
        what = f"its levels give {score:.0f} ssj_ops/watt, but it says {told:.0f}"
        yield finding(CONTRADICTORY, path, what)
