"""Reads MLPerf LoadGen's detail log: lines `:::MLLOG {…}`, each a key and a value.

Settings and results go to the metadata; messages, warnings and errors become instants,
and the time between `power_begin` and `power_end` a span. Those two hold UTC whatever
the machine's time zone; `test_datetime` is local time with a wrong `Z` (6.0.17).
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import IO, Any, Final

import msgspec

from registry.documents.findings import RegistryError, finding, shown
from registry.documents.instants import precise_instant
from tools.traces.imports.databases import NOT_READ, TOO_LARGE
from tools.traces.imports.imported import Account, Event
from tools.traces.imports.normalising import as_object, number

__all__ = ["PREFIX", "read_detail_log"]

PREFIX: Final = b":::MLLOG "
LINE_BYTES: Final = 4 << 20
LINES: Final = 1_000_000
_TIME: Final = "%m-%d-%Y %H:%M:%S.%f"
_STARTED: Final = ("generated_query_duration", "generated_query_count")
"""Keys that LoadGen logs right before the clock of the test starts."""
_LARGE: Final = frozenset({"loadgen_file_sha1", "loaded_qsl_set"})
"""Values that are long and of no use here."""
_KEPT: Final = ("requested_", "effective_", "result_", "early_stopping_", "generated_")
_POWER: Final = {"power_begin", "power_end"}


def read_detail_log(path: Path, account: Account) -> Iterator[Event]:
    """Events of a detail log; its settings and results go to the account's metadata.

    Args:
        path: the file.
        account: grows with what is read.

    Raises:
        RegistryError: V050 or V052: it is none, or has too many lines.
    """
    power: dict[str, int] = {}
    values: dict[str, Any] = {}
    started: float | None = None
    track = (0, 0)
    with path.open("rb") as file:
        for entry in _entries(file, path, account):
            key, value, time = entry["key"], entry.get("value"), entry["time_ms"]
            meta = as_object(entry.get("metadata"))
            track = (_whole(meta.get("pid")), _whole(meta.get("tid")))
            if key in _POWER and (wall := _wall(value)) is not None:
                power[key] = wall
            if key in _STARTED:
                started = time
            values |= _kept(key, value)
            if key in _POWER | _LARGE:
                continue
            account.read["entries"] += 1
            yield _instant(key, value, time, track, meta)
    if not account.read["entries"]:
        raise RegistryError([finding(NOT_READ, str(path), "no line of it has a time")])
    account.metadata["loadgen"] = values | {
        name: precise_instant(wall, 3) for name, wall in power.items()
    }
    yield from _window(power, started, track, account)


def _entries(file: IO[bytes], path: Path, account: Account) -> Iterator[dict[str, Any]]:
    for count, line in enumerate(iter(lambda: file.readline(LINE_BYTES), b"")):
        if count >= LINES:
            what = f"it has more than {LINES:,} lines"
            raise RegistryError([finding(TOO_LARGE, str(path), what)])
        if not line.startswith(PREFIX):
            if line.strip():
                account.untimed["other lines"] += 1
            continue
        try:
            entry = as_object(msgspec.json.decode(line[len(PREFIX) :]))
        except (ValueError, RecursionError):
            entry = {}
        time = number(entry.get("time_ms"))
        if isinstance(entry.get("key"), str) and time is not None:
            yield entry | {"time_ms": time}
        else:
            account.untimed["entries that cannot be read"] += 1


def _kept(key: str, value: object) -> dict[str, object]:
    named = key.startswith(_KEPT) or key in {"loadgen_version", "sut_name", "qsl_name"}
    return {key[:200]: _bounded(value)} if named else {}


def _bounded(value: object) -> object:
    simple = isinstance(value, bool | int | float) or value is None
    return value if simple else shown(value, 1000)


def _instant(
    key: str, value: object, time: float, track: tuple[int, int], meta: dict[str, Any]
) -> Event:
    kind = "error" if meta.get("is_error") else "warning"
    message = key in {"generic_message", "error", "warning"} and isinstance(value, str)
    said = kind if meta.get("is_error") or meta.get("is_warning") else "log"
    return {
        "name": shown(value, 200) if message else shown(key, 200),
        "cat": f"loadgen_{said}",
        "ph": "i",
        "s": "t",
        "ts": round(time * 1000, 3),
        "pid": track[0],
        "tid": track[1],
        "args": {"key": key[:200], "value": _bounded(value)},
    }


def _window(
    power: dict[str, int],
    started: float | None,
    track: tuple[int, int],
    account: Account,
) -> Iterator[Event]:
    """The span in which power counts, and with it the origin of the log's times."""
    if (
        set(power) != _POWER
        or started is None
        or power["power_end"] < (begin := power["power_begin"])
    ):
        account.notes.append("no power_begin and power_end: no wall-clock time")
        return
    account.metadata["baseTimeNanoseconds"] = begin - round(started * 1e6)
    account.notes.append("wall-clock time is that of power_begin, good to 1 ms")
    account.read["power windows"] += 1
    yield {
        "name": "power window",
        "cat": "loadgen_power",
        "ph": "X",
        "ts": round(started * 1000, 3),
        "dur": (power["power_end"] - begin) // 1000,
        "pid": track[0],
        "tid": track[1],
        "args": {name: precise_instant(wall, 3) for name, wall in power.items()},
    }


def _wall(value: object) -> int | None:
    """Nanoseconds since 1970 of a text such as `11-30-2026 13:29:26.614`."""
    try:
        time = datetime.strptime(str(value)[:30], _TIME).replace(tzinfo=UTC)
    except ValueError:
        return None
    return round(time.timestamp() * 1000) * 1_000_000


def _whole(value: object) -> int:
    return value if isinstance(value, int) and 0 <= value < 1 << 32 else 0
