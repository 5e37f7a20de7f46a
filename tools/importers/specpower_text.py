"""Reads SPEC's own text page of a SPECpower_ssj2008 result.

The page is made for people: labels end with a colon, values go on in the next lines,
and a multi-node system has a part for what its nodes share. Only named fields of named
parts are read; notes and serial numbers of meters never are.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator, Mapping, Sequence
from decimal import Decimal
from typing import Final

from registry.documents.findings import RegistryError, finding
from tools.importers.disclosure import (
    CONTRADICTORY,
    HETEROGENEOUS,
    Disclosure,
    Level,
    check_disclosure,
    day,
    noncompliant,
    result_id,
    unreadable,
)

__all__ = ["read_text"]

_TITLE: Final = "SPECpower_ssj2008"
_BYTES: Final = 1_000_000
_FIELD: Final = re.compile(r"^ *(\S.*?): {2}(\S.*)$")
# The one label that fills its line; its end, "(W):", stands below.
_SUPPLY: Final = re.compile(r"^ *(Power Supply Quantity and Rating) {2,}(\S.*)$")
_SUPPLY_END: Final = re.compile(r"^ *\(W\): *$")
_SCORE: Final = re.compile(rf"^{_TITLE} = (\S+)")
# Bounded, so that no page can have numbers that take long to read or none at all.
_NUMBER: Final = r"[0-9][0-9,]{0,20}(?:\.[0-9]{1,6})?"
_SUM: Final = re.compile(rf"sum of ssj_ops / sum of power = \|\s*({_NUMBER})\s*$")
_NOT_COMPLIANT: Final = "not in compliance"
_LOAD: Final = re.compile(
    rf"^\s*([0-9]{{1,3}})%\s*\|\s*([0-9]{{1,3}}(?:\.[0-9]{{1,6}})?)%\s*"
    rf"\|\s*([0-9][0-9,]{{0,20}})\s*\|\s*({_NUMBER})\s*\|"
)
_IDLE: Final = re.compile(
    rf"^\s*Active Idle\s*\|\s*([0-9][0-9,]{{0,20}})\s*\|\s*({_NUMBER})\s*\|"
)
_SET: Final = re.compile(r"^\s*Set: '.*'\s*$")
_PART: Final = re.compile(r"^\s*(HARDWARE|SOFTWARE)(?: PER NODE)?\s*$")
_END: Final = re.compile(r"^\s*(?:System Under Test Notes|Boot Firmware Settings)\s*$")
_TOTALS: Final = re.compile(r"^\s*# of Nodes \|")
_NUMBERS: Final = re.compile(r"^[\s0-9,.|]+$")
_CPUS: Final = re.compile(
    r"([0-9]{1,5}) cores?, ([0-9]{1,4}) chips?, ([0-9]{1,4}) cores?/chip"
)
_THREADS: Final = re.compile(r"([0-9]{1,6}) \(([0-9]{1,2}) ?/ ?core\)")


def read_text(data: bytes, path: str) -> Disclosure:
    """Read one page.

    Args:
        data: The bytes of the file.
        path: Its name, from which the result's id is taken.

    Raises:
        RegistryError: L010 to L013.

    """
    name = path.rpartition("/")[2].removesuffix(".txt")
    if len(data) > _BYTES:
        raise unreadable(path, f"{len(data)} bytes are no page of one result")
    lines = data.decode("utf-8", "replace").splitlines()
    if not any(line.strip() == _TITLE for line in lines[:5]):
        raise unreadable(path, f"it does not begin with {_TITLE}", 1)
    id_ = result_id(name, path)
    head = _head(lines)
    if _first(_SCORE, lines) == "NC":
        raise noncompliant(path, _reason(lines))
    nodes = _sets(lines)
    if len(nodes) != 1:
        what = f"{len(nodes)} sets of nodes are described"
        if nodes:
            raise RegistryError(finding(HETEROGENEOUS, path, what))
        raise unreadable(path, what)
    result = _disclosure(id_, path, head, nodes[0], lines)
    _check_totals(result, lines)
    return check_disclosure(result)


def _disclosure(
    id_: str,
    path: str,
    head: Mapping[str, str],
    node: Mapping[str, str],
    lines: Sequence[str],
) -> Disclosure:
    def text(label: str) -> str:
        value = node.get(label, "")
        return "" if value.lower() in ("none", "n/a", "--") else value

    def numbers(label: str, pattern: re.Pattern[str]) -> tuple[int, ...]:
        match = pattern.search(node.get(label, ""))
        if match is None:
            raise unreadable(path, f'"{label}" is "{node.get(label, "")}"')
        return tuple(map(int, match.groups()))

    cores, chips, cores_per_chip = numbers("CPU(s) Enabled", _CPUS)
    threads, threads_per_core = numbers("Hardware Threads", _THREADS)
    sum_line = _first(_SUM, lines)
    return Disclosure(
        id=id_,
        path=path,
        published=day(head.get("Publication", ""), "Publication", path),
        tested=day(head.get("Test Date", ""), "Test Date", path),
        vendor=text("Hardware Vendor"),
        model=text("Model"),
        form_factor=text("Form Factor"),
        cpu_name=text("CPU Name"),
        cpu_characteristics=text("CPU Characteristics"),
        cpu_mhz=_decimal(node, "CPU Frequency (MHz)", path),
        cores=cores,
        chips=chips,
        cores_per_chip=cores_per_chip,
        threads=threads,
        threads_per_core=threads_per_core,
        memory_gb=_decimal(node, "Memory Amount (GB)", path),
        dimms=text("# and size of DIMM"),
        memory_details=text("Memory Details"),
        supplies=text("Power Supply Quantity and Rating"),
        disk=text("Disk Drive"),
        os=text("Operating System (OS)"),
        os_version=text("OS Version"),
        nodes=int(_decimal(node, "# of Identical Nodes", path)),
        score=None if sum_line is None else Decimal(sum_line.replace(",", "")),
        levels=tuple(_levels(lines)),
    )


def _first(pattern: re.Pattern[str], lines: Sequence[str]) -> str | None:
    found = (match.group(1) for line in lines if (match := pattern.search(line)))
    return next(found, None)


def _reason(lines: Sequence[str]) -> str:
    """SPEC's explanation, which stands as a paragraph of its own."""
    text = "\n".join(line.rstrip() for line in lines)
    paragraphs = [" ".join(one.split()) for one in re.split(r"\n\s*\n", text)]
    explained = (one for one in paragraphs if _NOT_COMPLIANT in one)
    return next(explained, "SPEC gives NC instead of a score")


def _head(lines: Sequence[str]) -> dict[str, str]:
    """Fields above the first part."""
    end = next(
        (
            number
            for number, line in enumerate(lines)
            if line.strip() in ("Benchmark Results Summary", "System Under Test")
        ),
        len(lines),
    )
    return _fields(lines[:end])


def _sets(lines: Sequence[str]) -> list[dict[str, str]]:
    """Fields of each set of identical nodes: its own, its hardware and software."""
    starts = [number for number, line in enumerate(lines) if _SET.match(line)]
    end = next((at for at, line in enumerate(lines) if _END.match(line)), len(lines))
    bounds = itertools.pairwise([*starts, end])
    return [_fields(lines[start:stop]) for start, stop in bounds]


def _fields(lines: Sequence[str]) -> dict[str, str]:
    """Labels and values; a label that comes again does not replace the first."""
    fields: dict[str, str] = {}
    for label, value in _labelled(lines):
        fields.setdefault(label, " ".join(value.split()))
    return fields


def _labelled(lines: Sequence[str]) -> Iterator[tuple[str, str]]:
    label, value, column = "", "", 0
    for line in lines:
        if _SUPPLY_END.match(line):
            continue
        match = _SUPPLY.match(line) or _FIELD.match(line)
        if match is not None:
            if label:
                yield label, value
            label, value, column = match.group(1), match.group(2), match.start(2)
        elif not line.strip() or _PART.match(line):
            if label:
                yield label, value
            label = ""
        elif label and len(line) - len(line.lstrip(" ")) >= column:
            value += " " + line.strip()
    if label:
        yield label, value


def _levels(lines: Sequence[str]) -> Iterator[Level]:
    for line in lines:
        load, idle = _LOAD.match(line), _IDLE.match(line)
        if load is not None:
            target, actual, operations, watts = load.groups()
            yield Level(
                int(target), Decimal(actual), _whole(operations), _number(watts)
            )
        elif idle is not None:
            operations, watts = idle.groups()
            yield Level(0, Decimal(0), _whole(operations), _number(watts))
            return


def _check_totals(result: Disclosure, lines: Sequence[str]) -> None:
    """Compare a multi-node page's totals with one node times the number of nodes."""
    at = next((n for n, line in enumerate(lines) if _TOTALS.match(line)), None)
    if at is None:
        return
    row = next((x for x in lines[at : at + 6] if _NUMBERS.match(x) and x.strip()), "")
    cells = [cell.strip() for cell in row.split("|")[:5] if cell.strip(" ,.")]
    if not all(re.fullmatch(_NUMBER, cell) for cell in cells):
        raise unreadable(result.path, f"the totals of all nodes are {cells}")
    told = [_number(cell) for cell in cells]
    each = (1, result.chips, result.cores, result.threads, result.memory_gb)
    expected = [Decimal(result.nodes) * value for value in each]
    if told and told != expected[: len(told)]:
        what = (
            f"all nodes have {[str(n) for n in told]} nodes, chips, cores, threads and"
            f" GB, but one node times {result.nodes} is {[str(n) for n in expected]}"
        )
        raise RegistryError(finding(CONTRADICTORY, result.path, what))


def _whole(text: str) -> int:
    return int(text.replace(",", ""))


def _number(text: str) -> Decimal:
    return Decimal(text.replace(",", ""))


def _decimal(fields: Mapping[str, str], label: str, path: str) -> Decimal:
    text = fields.get(label, "").replace(",", "")
    if re.fullmatch(r"[0-9]{1,9}(?:\.[0-9]{1,6})?", text) is None:
        raise unreadable(path, f'"{label}" is "{text}"')
    return Decimal(text)
