"""Numbers and names of the processes and threads of a trace that is being made."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from registry.documents.findings import RegistryError, finding
from tools.traces.imports.databases import TOO_LARGE

__all__ = ["DEVICES", "Tracks"]

DEVICES: Final = 1 << 24
"""Number of the first process that stands for a GPU: no real process has so many."""
TRACKS: Final = 200_000


class Tracks:
    """The processes and threads that events were put on.

    A GPU is a process, each of its streams a thread of it, as other tools show them.
    """

    def __init__(self, path: str) -> None:
        """Begin without any.

        Args:
            path: the file that is read, for findings.
        """
        self._path = path
        self._processes: dict[int, tuple[str | None, int | None]] = {}
        self._threads: dict[tuple[int, int], str | None] = {}
        self._streams: dict[tuple[int, object], int] = {}

    def __len__(self) -> int:
        """How many threads there are."""
        return len(self._threads)

    def process(self, pid: int, name: str | None = None, *, after: bool = False) -> int:
        """Take note of a process.

        Args:
            pid: its number.
            name: its name, or None to keep the one it has.
            after: whether it is shown after processes of which this is not said.
        """
        old, order = self._processes.get(pid, (None, None))
        self._processes[pid] = (name or old, pid if after else order)
        return pid

    def thread(self, pid: int, tid: int, name: str | None = None) -> tuple[int, int]:
        """Take note of a thread, and of its process.

        Raises:
            RegistryError: V052: there are too many.
        """
        key = (pid, tid)
        if name is not None or key not in self._threads:
            if key not in self._threads and len(self._threads) >= TRACKS:
                what = f"events of more than {TRACKS:,} threads and streams"
                raise RegistryError([finding(TOO_LARGE, self._path, what)])
            self._threads[key] = name or self._threads.get(key)
            if pid not in self._processes:
                self.process(pid)
        return key

    def device(self, number: int, name: str | None = None) -> int:
        """The number of the process that stands for a GPU."""
        known = name and f"GPU {number}: {name}"
        pid = DEVICES + (number & 0xFFFF)
        if pid not in self._processes or known:
            self.process(pid, known or f"GPU {number}", after=True)
        return pid

    def stream(
        self, device: int, key: object, number: int, name: str
    ) -> tuple[int, int]:
        """The thread of a stream on a GPU.

        Args:
            device: the GPU's number.
            key: what tells the stream from others with its number.
            number: the stream's number, which its thread has too if it is free.
            name: the name of the thread.
        """
        pid = self.device(device)
        tid = self._streams.get((pid, key))
        if tid is None:
            tid = number & 0x7FFFFFFF
            while (pid, tid) in self._threads:
                tid += 1
            self._streams[pid, key] = tid
            self.thread(pid, tid, name)
        return pid, tid

    def events(self) -> Iterator[dict[str, Any]]:
        """Events that name them all."""
        for pid, (name, order) in self._processes.items():
            if name is not None:
                yield _named("process_name", pid, 0, {"name": name})
            if order is not None:
                yield _named("process_sort_index", pid, 0, {"sort_index": order})
        for (pid, tid), name in self._threads.items():
            if name is not None:
                yield _named("thread_name", pid, tid, {"name": name})


def _named(what: str, pid: int, tid: int, args: dict[str, object]) -> dict[str, Any]:
    return {"name": what, "ph": "M", "pid": pid, "tid": tid, "args": args}
