"""Every slice as a record, kept in a temporary file until the summary is printed."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Sequence
from typing import Any, Final

import msgspec

from tools.traces.naming import Pairs, Place
from tools.traces.slices import Batch

__all__ = ["RECORD_FIELDS", "Records"]

RECORD_FIELDS: Final = (
    "input",
    "name",
    "category",
    "start_ns",
    "duration_ns",
    "self_ns",
    "depth",
    "process",
    "thread",
    "asynchronous",
    "incomplete",
)
"""The fields of a record; `input` is the place of its file among the inputs."""


class Records:
    """Records in the order of files, threads and starts."""

    def __init__(self) -> None:
        """Begin without any."""
        self._file = tempfile.TemporaryFile()  # noqa: SIM115  closed by `close`
        self.count = 0

    def add(
        self,
        input_: int,
        batch: Batch,
        pairs: Pairs,
        labels: Sequence[Place],
    ) -> None:
        """Add slices.

        Args:
            input_: the place of their file among the inputs.
            batch: the slices.
            pairs: names and categories.
            labels: what to call the process and thread of each place.
        """
        columns = zip(
            batch.pairs.tolist(),
            batch.starts.tolist(),
            batch.durations.tolist(),
            batch.selves.tolist(),
            batch.depths.tolist(),
            batch.places.tolist(),
            batch.incomplete.tolist(),
            strict=True,
        )
        encode = msgspec.json.Encoder().encode
        for pair, start, duration, own, depth, place, incomplete in columns:
            values = (
                input_,
                pairs.names[pairs.name_of[pair]],
                pairs.categories[pairs.category_of[pair]],
                start,
                duration,
                own,
                depth,
                *labels[place],
                batch.asynchronous,
                incomplete,
            )
            record = dict(zip(RECORD_FIELDS, values, strict=True))
            self._file.write(encode(record) + b"\n")
            self.count += 1

    def lines(self) -> Iterator[bytes]:
        """Each record as JSON."""
        self._file.seek(0)
        for line in self._file:
            yield line.rstrip(b"\n")

    def __iter__(self) -> Iterator[dict[str, Any]]:
        """Each record."""
        for line in self.lines():
            yield msgspec.json.decode(line)

    def close(self) -> None:
        """Let go of the file."""
        self._file.close()
