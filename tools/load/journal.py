"""What happened to every request of a run, in a few columns of numbers."""

from __future__ import annotations

from array import array
from typing import Final

__all__ = ["ERRORS", "Journal"]

ERRORS: Final = 50
"""How many different errors are kept by their texts; all others are counted as one."""
_OTHERS: Final = "other errors"


class Journal:
    """Requests in the order in which they were due.

    Times are nanoseconds from the beginning of the run; -1 is "never".

    Attributes:
        items: the index of the item.
        queries: the number of the query that the request is a sample of.
        scheduled: when it was due.
        started: when it was sent.
        ended: when its answer was complete.
        lanes: the number of its place among those in flight, from 0.
        failures: the index of its error in `errors`, or -1.
        errors: texts of errors.

    """

    def __init__(self) -> None:
        """Begin without requests."""
        self.items = array("q")
        self.queries = array("q")
        self.scheduled = array("q")
        self.started = array("q")
        self.ended = array("q")
        self.lanes = array("q")
        self.failures = array("q")
        self.errors: list[str] = []

    def __len__(self) -> int:
        """How many requests were due."""
        return len(self.items)

    def due(self, item: int, query: int, scheduled_ns: int) -> int:
        """Write down a request that is due, and give its row."""
        self.items.append(item)
        self.queries.append(query)
        self.scheduled.append(scheduled_ns)
        for column in (self.started, self.ended, self.lanes, self.failures):
            column.append(-1)
        return len(self.items) - 1

    def over(
        self, row: int, started_ns: int, ended_ns: int, lane: int, error: str | None
    ) -> None:
        """Write down how a request ended."""
        self.started[row] = started_ns
        self.ended[row] = ended_ns
        self.lanes[row] = lane
        if error is not None:
            self.failures[row] = self._error(error)

    def _error(self, text: str) -> int:
        if text not in self.errors:
            if len(self.errors) >= ERRORS:
                text = _OTHERS
            if text not in self.errors:
                self.errors.append(text)
        return self.errors.index(text)
