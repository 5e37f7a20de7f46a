"""Converts the slices of a trace to other forms: tables, or speedscope's profiles.

convert_trace(Path("trace.json"), Form.PARQUET, Path("slices.parquet"))

Perfetto opens Chrome traces as they are, so `perfetto` writes one that is whole: in the
object form, without what was damaged, with numbers where numbers belong. Its own binary
form is not written: no maintained Python package writes it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from registry.documents.findings import RegistryError, finding
from tools.files.writing import whole
from tools.traces.converting_speedscope import write_speedscope
from tools.traces.converting_tables import write_csv, write_parquet
from tools.traces.forms import Form
from tools.traces.imports.chrome import read_regular
from tools.traces.overwriting import not_over, read_twice
from tools.traces.timelines import read_timeline
from tools.traces.viewing import NOTHING
from tools.traces.writing import TraceWriter

__all__ = ["Converted", "convert_trace"]


@dataclass(frozen=True, slots=True)
class Converted:
    """What was written.

    Attributes:
        events: how many events the trace has.
        written: how many slices or, for `perfetto`, events are in the result.
        left_out: how many events are in no slice, or could not be read, by what they
            are.

    """

    events: int
    written: int
    left_out: dict[str, int]


_WRITERS = {
    Form.SPEEDSCOPE: write_speedscope,
    Form.CSV: write_csv,
    Form.PARQUET: write_parquet,
}


def convert_trace(
    path: Path,
    form: Form,
    out: Path,
    *,
    progress: Callable[[str], None] = lambda _: None,
) -> Converted:
    """Write a trace in another form.

    Args:
        path: the trace.
        form: the other form.
        out: the result.
        progress: is given a line now and then.

    Raises:
        RegistryError: V001 to V004, V030, V054, V057 or V059: nothing was written.
        OSError: a file cannot be read or written.
    """
    not_over(out, [path])
    if form is Form.PERFETTO:
        read_twice(path)
        return _regular(path, out)
    timeline = read_timeline(path, progress=progress)
    out.parent.mkdir(parents=True, exist_ok=True)
    with whole(out) as part:
        written = _WRITERS[form](timeline, part, path.name)
        if not written:
            what = f"none of its {timeline.found.events:,} events is a slice"
            raise RegistryError([finding(NOTHING, str(path), what)])
    troubles, found = timeline.slices.troubles, timeline.found
    left_out = {
        "instants": timeline.instants,
        "ends without a begin": troubles.unmatched_ends + troubles.mismatched_ends,
        "without a time": troubles.without_time,
        "without a duration": troubles.without_duration + troubles.negative_duration,
        "damaged": found.bad_events + found.not_objects,
    }
    return Converted(found.events, written, {k: n for k, n in left_out.items() if n})


def _regular(path: Path, out: Path) -> Converted:
    with TraceWriter(out) as trace:
        account, events = read_regular(path)
        trace.write(events)
        if not trace.events:
            raise RegistryError([finding(NOTHING, str(path), "it has no events")])
        trace.metadata |= account.metadata
    total = trace.events + account.untimed.total()
    return Converted(total, trace.events, dict(account.untimed))
