"""What a trace says about the run that it is of: its id, model, description and times.

TRIMS writes these into `otherData`, or `otherDatas` of a combined trace, and some
beside `traceEvents`; `powerkit trace combine` keeps them in `otherData.sources`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

__all__ = ["RUN_KEYS", "runs_of"]

RUN_KEYS: Final = (
    "run_id",
    "experiment",
    "experiment_description",
    "workload",
    "model_name",
    "iteration",
    "upr_enabled",
    "eager_mode",
    "eager_mode_async",
    "init",
    "warm",
    "hostname",
    "init_time",
    "start_at",
    "end_at",
    "start_time",
    "end_time",
    "end_to_end_process_time",
    "end_to_end_time",
    "performance",
    "performance_unit",
    "server",
)
"""What is taken over, if it is there."""
RUNS: Final = 1000
"""The most runs of a file."""
CHARACTERS: Final = 300
ENTRIES: Final = 20


def runs_of(metadata: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The runs that a trace's metadata speak of.

    Args:
        metadata: the keys of the trace beside its events.

    Returns:
        One mapping a run with those of `RUN_KEYS` that are known; empty ones left out.
    """
    found = [run for _, run in zip(range(RUNS), _runs(metadata), strict=False) if run]
    return found or [run for run in (_known(metadata),) if run]


def _runs(metadata: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    own = _known(metadata)
    for other in [metadata.get("otherData"), *_list(metadata.get("otherDatas"))]:
        if not isinstance(other, Mapping):
            continue
        if sources := _list(other.get("sources")):
            for source in sources:
                if isinstance(source, Mapping):
                    within = source.get("metadata", source)
                    yield from runs_of(within) if isinstance(within, Mapping) else ()
        elif known := _known(other):
            yield own | known


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def _known(values: Mapping[str, Any]) -> dict[str, Any]:
    found = {key: _bounded(values.get(key)) for key in RUN_KEYS}
    return {key: value for key, value in found.items() if value not in (None, "", {})}


def _bounded(value: Any) -> Any:
    """A scalar, or a mapping of scalars; nothing else, and no long text."""
    if isinstance(value, Mapping):
        few = list(value.items())[:ENTRIES]
        return {str(key)[:CHARACTERS]: _scalar(one) for key, one in few}
    return _scalar(value)


def _scalar(value: Any) -> Any:
    if isinstance(value, str):
        return value[:CHARACTERS]
    if isinstance(value, float) and value != value:  # noqa: PLR0124  JSON has no NaN
        return None
    return value if isinstance(value, bool | int | float) else None
