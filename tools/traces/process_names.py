"""Names of processes and threads in a combined trace: one metadata event for each.

Metadata events of several files are collected, the last of each kind is kept, and every
process says which file it is of.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import msgspec
from msgspec import UNSET

from tools.traces import limits
from tools.traces.shapes import raw_text

__all__ = ["ProcessNames"]

_OURS: Final = ("process_name", "process_labels", "process_sort_index")


class ProcessNames:
    """The metadata events of one file.

    Attributes:
        repeated: how many were replaced by a later one of their kind.

    """

    __slots__ = ("_events", "_label", "_processes", "repeated")

    def __init__(self, label: str) -> None:
        """Begin a file.

        Args:
            label: what the file is called in the combined trace.
        """
        self._label = label
        self._events: dict[tuple[int, bytes, str | None], Any] = {}
        self._processes: dict[int, Any] = {}
        self.repeated = 0

    def process(self, new: int, old: Any) -> None:
        """Note a process: its new number, and what it was in its file."""
        self._processes.setdefault(new, old)

    def keep(self, event: Any) -> bool:
        """Keep a metadata event, whose `pid` is the new one, for the end.

        Returns:
            False if there are too many, so that it must be written as it is.
        """
        thread = b"" if event.tid is UNSET else bytes(event.tid)
        name = raw_text(event.name)
        key = event.pid, b"" if name in _OURS else thread, name
        if key in self._events:
            self.repeated += 1
        elif len(self._events) >= limits.NAMES:
            return False
        event.ts = event.dur = UNSET
        self._events[key] = event
        return True

    def events(
        self, first_rank: int, ts: Any = UNSET, about: Sequence[str] = ()
    ) -> list[Any]:
        """What to write of the file, once all of it was read.

        Args:
            first_rank: where the processes of the file stand among all.
            ts: the time of the last event. Metadata needs none, but Perfetto (v52)
                takes it for 0 and sorts, which swaps some ends of equal time.
            about: what else to say of each process, such as ``model_name=a``.
        """
        others = [event for key, event in self._events.items() if key[2] not in _OURS]
        own: list[Any] = []
        # The order of before, and that of the file where there was none.
        ranked = sorted(self._processes, key=self._sort_index)
        for rank, pid in enumerate(ranked, first_rank):
            own += [
                _metadata(pid, "process_name", "name", self._name(pid)),
                _metadata(pid, "process_labels", "labels", self._labels(pid, about)),
                _metadata(pid, "process_sort_index", "sort_index", rank),
            ]
        for event in others:
            event.ts = ts
        if ts is not UNSET:
            own = [event | {"ts": ts} for event in own]
        return own + others

    def _argument(self, pid: int, kind: str, key: str) -> Any:
        event = self._events.get((pid, b"", kind))
        if event is None or event.args is UNSET:
            return None
        args = msgspec.json.decode(event.args)
        return args.get(key) if isinstance(args, dict) else None

    def _name(self, pid: int) -> str:
        old = self._argument(pid, "process_name", "name")
        if old is None:
            old = self._processes[pid]
        return f"{self._label} / {old}"

    def _labels(self, pid: int, about: Sequence[str]) -> str:
        old = self._argument(pid, "process_labels", "labels")
        olds = [old] if isinstance(old, str) and old else []
        return ",".join([self._label, *olds, *about])

    def _sort_index(self, pid: int) -> float:
        index = self._argument(pid, "process_sort_index", "sort_index")
        return float(index) if isinstance(index, (int, float)) else 0.0


def _metadata(pid: int, kind: str, key: str, value: object) -> dict[str, Any]:
    return {
        "ph": "M",
        "name": kind,
        "pid": pid,
        "tid": 0,
        "args": {key: value},
    }
