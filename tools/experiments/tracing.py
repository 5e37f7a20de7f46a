"""The trace of a run: checked, labelled with its run, compressed; or left as it is."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from registry.documents.findings import RegistryError, Severity, code
from tools.experiments.record import Run
from tools.traces.found import Found
from tools.traces.reading import pieces
from tools.traces.writing import TraceWriter

__all__ = ["TRACES", "Finished", "finished_trace", "trace_of"]

TRACES: Final = ("trace.json.gz", "trace.json")
"""Names of a run's trace, labelled and raw."""

MISSING = code(
    "B044",
    Severity.ERROR,
    "A workload wrote no trace, although one was asked for.",
    "Have it write a Chrome trace to the file that POWERKIT_TRACE_FILE names, or leave"
    " --trace out.",
)


@dataclass(frozen=True, slots=True)
class Finished:
    """What became of a trace.

    Attributes:
        facts: what the reader found, for the record.
        problems: why the run does not count.
    """

    facts: dict[str, int | bool | str]
    problems: tuple[str, ...] = ()


def finished_trace(run: Run, path: Path, *, postprocess: bool) -> Finished:
    """Take care of what a run wrote.

    Args:
        run: the run, whose facts become the trace's label.
        path: where the workload should have written its trace.
        postprocess: write ``trace.json.gz`` with the label and delete the original, or
            else keep the original untouched and unread.
    """
    if path.is_symlink() or not path.is_file():
        return Finished({}, (f"{MISSING.id} {MISSING.title}",))
    if not postprocess:
        return Finished({"raw": True})
    found = Found()
    try:
        with TraceWriter(path.with_name(TRACES[0])) as writer:
            for piece in pieces(path, found):
                writer.raw(piece)
            writer.metadata = labelled(found, run)
    except RegistryError as error:
        # Where it lies is left out: that names this machine and its user.
        said = [f"{one.code} {path.name}: {one.what}" for one in error.findings[:5]]
        return Finished({"raw": True}, tuple(said))
    except OSError as error:
        return Finished({"raw": True}, (f"{path.name}: {error.strerror}",))
    path.unlink()
    return Finished(_facts(found))


def labelled(found: Found, run: Run) -> dict[str, Any]:
    """Return the other keys of a trace, with what run it is of under ``otherData``."""
    other = found.metadata.get("otherData")
    label = {
        "run_id": run.run_id,
        "experiment": run.experiment,
        "experiment_description": run.description,
        "workload": run.workload,
        "item": run.item,
        "variant": run.variant,
        "iteration": run.iteration,
        "init": run.init.value,
        "warm": run.warm,
        "started": run.started,
        "started_monotonic_ns": run.started_monotonic_ns,
        "end_to_end_process_time": round(run.wall_seconds * 1e9),
        "found": _facts(found),
    }
    kept = other if isinstance(other, dict) else {}
    return {**found.metadata, "otherData": {**kept, "powerkit": label}}


def _facts(found: Found) -> dict[str, int | bool | str]:
    return {
        "events": found.events,
        "bad_events": found.bad_events,
        "not_objects": found.not_objects,
        "bad_utf8": found.bad_utf8,
        "unterminated": found.unterminated,
        "corrupt": found.corrupt,
        "whole": found.whole,
    }


def trace_of(run: Run) -> Path | None:
    """Return where a run's trace lies, or None if it has none."""
    for name in TRACES:
        if (path := run.file(name)) is not None:
            return path
    return None
