"""Load plans as files: one line that says how it was made, then one line a request."""

from __future__ import annotations

import hashlib
import math
from array import array
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import BinaryIO, Final

import msgspec

from registry.documents import limits
from registry.documents.findings import (
    Finding,
    RegistryError,
    Severity,
    code,
    finding,
    shown,
)
from tools.files.writing import whole
from tools.load import arrivals, popularity
from tools.load.items import ITEMS, bad_name
from tools.load.parameters import Parameter
from tools.load.requests import (
    ArrivalsEntry,
    Header,
    Plan,
    PopularityEntry,
    Requests,
)

__all__ = ["Q009", "read_plan", "read_plan_and_digest", "write_plan"]

_HEADER_BYTES: Final = 64 * limits.MIB
_LINE_BYTES: Final = 4 * limits.KIB
_SHOWN: Final = limits.SHOWN_PER_DOCUMENT

Q009 = code(
    "Q009",
    Severity.ERROR,
    "A file is no load plan, or its lines contradict each other.",
    "Make the plan again with `powerkit load plan`; lines are not meant to be edited.",
)


class _Line(msgspec.Struct, forbid_unknown_fields=True, gc=False):
    i: int
    t_ns: int | None
    item: str


def read_plan(path: Path) -> Plan:
    """Read a plan, and check that its lines fit its header.

    Raises:
        RegistryError: Q009, with up to a hundred problems.
        OSError: the file cannot be read.
    """
    return read_plan_and_digest(path)[0]


def read_plan_and_digest(path: Path) -> tuple[Plan, str]:
    """Read a plan, and the SHA-256 of just these bytes: a pipe can be read once.

    Raises:
        RegistryError: Q009, with up to a hundred problems.
        OSError: the file cannot be read.
    """
    sha256 = hashlib.sha256()
    with path.open("rb") as file:
        header = _header(file, path, sha256)
        drawn, times = array("q"), array("q")
        problems: list[Finding] = []
        for number, what in _lines(_bounded(file, sha256), header, drawn, times):
            problems.append(finding(Q009, str(path), what, line=number))
            if len(problems) == _SHOWN:
                break
    if not problems and len(drawn) != header.requests:
        what = f"{len(drawn)} requests follow, the header says {header.requests}"
        problems.append(finding(Q009, str(path), what))
    if problems:
        raise RegistryError(problems)
    names = [item.name for item in header.items]
    closed = header.arrivals.kind == "closed"
    plan = Plan(header, Requests(names, drawn, None if closed else times))
    return plan, sha256.hexdigest()


def write_plan(plan: Plan, path: Path) -> None:
    """Write a plan whole or not at all.

    Raises:
        OSError: the file cannot be written.
    """
    with whole(path) as part, part.open("xb") as file:
        file.write(msgspec.json.encode(plan.header) + b"\n")
        file.writelines(_written(plan.requests))


def _written(requests: Requests) -> Iterator[bytes]:
    names = [msgspec.json.encode(name) for name in requests.names]
    times = requests.times
    for number, item in enumerate(requests.drawn):
        when = b"null" if times is None else b"%d" % times[number]
        yield b'{"i":%d,"t_ns":%b,"item":%b}\n' % (number, when, names[item])


def _header(file: BinaryIO, path: Path, sha256: hashlib._Hash) -> Header:
    line = file.readline(_HEADER_BYTES + 1)
    sha256.update(line)
    try:
        if len(line) > _HEADER_BYTES:
            what = f"the first line has more than {_HEADER_BYTES} bytes"
            raise RegistryError(finding(Q009, str(path), what, line=1))
        header = msgspec.json.decode(line, type=Header)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        what = f"the first line is no header of load-plan/1: {error}"
        raise RegistryError(finding(Q009, str(path), what, line=1)) from None
    problems = list(_contradictions(header))
    if problems:
        raise RegistryError(
            finding(Q009, str(path), what, line=1) for what in problems[:_SHOWN]
        )
    return header


def _contradictions(header: Header) -> Iterator[str]:
    if header.arrivals.kind not in (*arrivals.KINDS, "trace"):
        yield f"no kind of arrivals: {shown(header.arrivals.kind)}"
    elif header.arrivals.kind == "closed":
        yield from _bad_workers(header)
    if header.popularity.kind not in (*popularity.KINDS, "weights"):
        yield f"no popularity: {shown(header.popularity.kind)}"
    yield from _unknown_values(header.arrivals, arrivals.KINDS)
    yield from _unknown_values(header.popularity, popularity.KINDS)
    if header.requests > arrivals.REQUESTS:
        yield f"{header.requests} requests, at most {arrivals.REQUESTS} are possible"
    if (header.duration_ns or 0) > arrivals.LONGEST_NS:
        yield f"a duration of {header.duration_ns} ns"
    if not 1 <= len(header.items) <= ITEMS:
        yield f"{len(header.items)} items, from 1 to {ITEMS} are possible"
    yield from _bad_items(header)


def _unknown_values(
    entry: ArrivalsEntry | PopularityEntry, kinds: Mapping[str, Sequence[Parameter]]
) -> Iterator[str]:
    known = {one.name for one in kinds.get(entry.kind, ())}
    for name in entry.values:
        if name not in known:
            yield f"{shown(entry.kind)} has no parameter {shown(name)}"


def _bad_workers(header: Header) -> Iterator[str]:
    workers = header.arrivals.values.get("concurrency", 0)
    think = header.arrivals.values.get("think", 0)
    whole = isinstance(workers, float) and workers.is_integer()
    if not (whole and 1 <= float(workers) <= 10_000):
        yield f"no concurrency: {shown(workers)}"
    if not (isinstance(think, float) and 0 <= think <= 86_400):
        yield f"no time to think: {shown(think)}"


def _bad_items(header: Header) -> Iterator[str]:
    seen: set[str] = set()
    for item in header.items:
        wrong = bad_name(item.name)
        if wrong is None and item.name in seen:
            wrong = f"a name is there twice: {shown(item.name)}"
        if wrong is None and not (math.isfinite(item.weight) and item.weight >= 0):
            wrong = f"{shown(item.name)} has no weight from 0: {item.weight:g}"
        if wrong is not None:
            yield wrong
        seen.add(item.name)


def _lines(
    lines: Iterable[bytes], header: Header, drawn: array[int], times: array[int]
) -> Iterator[tuple[int, str]]:
    """Fill the columns; give the numbers of bad lines, and what is wrong with them."""
    index = {item.name: place for place, item in enumerate(header.items)}
    decode = msgspec.json.Decoder(_Line).decode
    closed = header.arrivals.kind == "closed"
    expected, last = 0, 0
    for number, line in enumerate(lines, 2):
        if len(line) > _LINE_BYTES:
            yield number, f"more than {_LINE_BYTES} bytes; the rest is not read"
            return
        try:
            one = decode(line)
        except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
            yield number, f"no request: {error}"
            expected += 1
            continue
        item = index.get(one.item)
        if one.i != expected:
            yield number, f"the number is {one.i}, {expected} was expected"
            expected = one.i
        expected += 1
        if item is None:
            yield number, f"no item is called {shown(one.item)}"
        if one.t_ns is None and not closed:
            yield number, "no time, though the arrivals are scheduled"
        elif one.t_ns is not None and closed:
            yield number, "a time, though a closed load has no schedule"
        elif one.t_ns is not None and not last <= one.t_ns <= arrivals.LONGEST_NS:
            yield number, f"the time {one.t_ns} ns is not from {last} on"
        else:
            last = one.t_ns or 0
            drawn.append(item or 0)
            times.append(last)


def _bounded(file: BinaryIO, sha256: hashlib._Hash) -> Iterator[bytes]:
    """Lines of which no more is read than is allowed."""
    while line := file.readline(_LINE_BYTES + 1):
        sha256.update(line)
        yield line
