"""Great Expectations at work: no network, no telemetry, no project folder, no leaks.

The only module that imports the library. Importing it takes seconds.
"""

from __future__ import annotations

import functools
import os
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

# Older releases send usage statistics unless told otherwise before the import
# (great_expectations#9966); the progress bars would garble our own output.
os.environ["GX_ANALYTICS_ENABLED"] = "false"
os.environ["TQDM_DISABLE"] = "1"

import great_expectations as gx
import pandas as pd
from great_expectations.data_context.types.base import ProgressBarsConfig
from great_expectations.execution_engine.pandas_execution_engine import (
    PandasExecutionEngine,
)
from great_expectations.expectations.expectation import BatchExpectation
from great_expectations.expectations.metrics.metric_provider import (
    metric_value,
)
from great_expectations.expectations.metrics.table_metric_provider import (
    TableMetricProvider,
)

from registry.gate.expectations.measure import Measure
from registry.gate.expectations.suites import TYPE

if TYPE_CHECKING:
    from registry.documents.canonical import Json
    from registry.gate.expectations.measure import Measures
    from registry.gate.expectations.suites import Expectation, Suite

__all__ = [
    "ExpectMeasureToBeBetween",
    "Outcome",
    "TableMeasures",
    "Verdict",
    "validate",
]

_METRIC: Final = "table.measures"
_SHOWN: Final = 20
"""How many unexpected values a result lists, as the library's own SUMMARY does."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """What became of one expectation.

    Attributes:
        id: The expectation's.
        success: Whether everything is as expected.
        unexpected: The measures that are not.
        error: The exception's text if it could not be evaluated, else empty.

    """

    id: str
    success: bool
    unexpected: tuple[Measure, ...]
    error: str = ""


@dataclass(frozen=True, slots=True)
class Outcome:
    """Verdicts of a suite in its order, and the library's result as plain JSON."""

    verdicts: tuple[Verdict, ...]
    result: Json


class TableMeasures(TableMetricProvider):
    """The measures of a frame by name: computed once for all expectations."""

    metric_name = _METRIC

    @metric_value(engine=PandasExecutionEngine)
    def _pandas(
        cls,  # noqa: N805 - the library calls it so
        execution_engine: PandasExecutionEngine,
        metric_domain_kwargs: dict[str, Any],
        metric_value_kwargs: dict[str, Any],  # noqa: ARG002
        metrics: dict[str, Any],  # noqa: ARG002
        runtime_configuration: dict[str, Any],  # noqa: ARG002
    ) -> dict[str, list[tuple[str, float | None]]]:
        frame, _, _ = execution_engine.get_compute_domain(
            metric_domain_kwargs, domain_type="table"
        )
        found: dict[str, list[tuple[str, float | None]]] = {}
        for name, subject, value in zip(
            frame["measure"], frame["subject"], frame["value"], strict=True
        ):
            number = None if pd.isna(value) else float(value)
            found.setdefault(name, []).append((subject, number))
        return found


class ExpectMeasureToBeBetween(BatchExpectation):
    """Expect all known values of a measure to lie between two bounds.

    A measure that cannot be told is counted as missing and not judged.
    """

    metric_dependencies = (_METRIC,)
    success_keys = ("measure", "min_value", "max_value")
    args_keys = ("measure", "min_value", "max_value")

    measure: str
    min_value: float | None = None
    max_value: float | None = None

    def _validate(
        self,
        metrics: dict[str, Any],
        runtime_configuration: dict[str, Any] | None = None,  # noqa: ARG002
        execution_engine: object = None,  # noqa: ARG002
    ) -> dict[str, Any]:
        values = metrics[_METRIC].get(self.measure, [])
        known = [(subject, value) for subject, value in values if value is not None]
        low, high = self.min_value, self.max_value
        bad = [item for item in known if not _as_expected(item[1], low, high)]
        return {
            "success": not bad,
            "result": {
                "element_count": len(values),
                "missing_count": len(values) - len(known),
                "unexpected_count": len(bad),
                "unexpected_percent": 100 * len(bad) / len(known) if known else 0.0,
                "partial_unexpected_list": [
                    {"subject": subject, "value": value}
                    for subject, value in bad[:_SHOWN]
                ],
                "observed_minimum": min((v for _, v in known), default=None),
                "observed_maximum": max((v for _, v in known), default=None),
            },
        }


def validate(suite: Suite, measures: Measures) -> Outcome:
    """Judge measures by a suite.

    Expectations of measures that a bundle does not have (a second meter, GPUs) are
    listed as such and not evaluated: each costs milliseconds.
    """
    values: dict[str, list[Measure]] = {}
    for item in measures:
        values.setdefault(item.name, []).append(item)
    apply = tuple(item for item in suite.expectations if item.measure in values)
    frame = pd.DataFrame(
        {
            "measure": [item.name for item in measures],
            "subject": [item.subject for item in measures],
            "value": pd.Series([item.value for item in measures], dtype=float),
        }
    )
    batch = _whole_frame().get_batch(batch_parameters={"dataframe": frame})
    validated = batch.validate(
        _library_suite(suite.name, apply), result_format="SUMMARY"
    )
    results = {
        result.expectation_config.meta["id"]: result for result in validated.results
    }
    ordered = [(expected, results[expected.id]) for expected in apply]
    return Outcome(
        tuple(
            _verdict(expected, result, values[expected.measure])
            for expected, result in ordered
        ),
        {
            "suite": suite.name,
            "success": bool(validated.success),
            "statistics": dict(validated.statistics),
            "results": [_plain(expected, result) for expected, result in ordered],
            "not_applicable": [
                item.id for item in suite.expectations if item not in apply
            ],
        },
    )


def _verdict(expected: Expectation, result: Any, values: list[Measure]) -> Verdict:
    if result.success:
        return Verdict(expected.id, success=True, unexpected=())
    bad = tuple(
        item
        for item in values
        if item.value is not None
        and not _as_expected(item.value, expected.min_value, expected.max_value)
    )
    return Verdict(expected.id, success=False, unexpected=bad, error=_error(result))


def _as_expected(value: float, low: float | None, high: float | None) -> bool:
    return (low is None or value >= low) and (high is None or value <= high)


def _error(result: Any) -> str:
    """Return the text of an exception; the library nests them by metric at times."""
    info = dict(result.exception_info or {})
    for item in (info, *(value for value in info.values() if isinstance(value, dict))):
        if item.get("raised_exception"):
            return str(
                item.get("exception_message") or "an exception without a message"
            )
    return ""


def _plain(expected: Expectation, result: Any) -> Json:
    """Return a result as JSON without ids, traces and times, which differ by run."""
    bounds = {"min_value": expected.min_value, "max_value": expected.max_value}
    return {
        "id": expected.id,
        "code": expected.code.id,
        "type": TYPE,
        "kwargs": {
            "measure": expected.measure,
            **{key: value for key, value in bounds.items() if value is not None},
        },
        "success": bool(result.success),
        "result": dict(result.result),
        "exception": _error(result) or None,
    }


@functools.cache
def _whole_frame() -> Any:
    """Return the one batch definition of this process: a frame as it is handed over."""
    context = gx.get_context(mode="ephemeral")
    context.variables.progress_bars = ProgressBarsConfig(globally=False)
    source = context.data_sources.add_pandas("measures")
    asset = source.add_dataframe_asset("bundle")
    return asset.add_batch_definition_whole_dataframe("whole")


@functools.lru_cache(maxsize=64)
def _library_suite(name: str, chosen: tuple[Expectation, ...]) -> Any:
    expectations = []
    for expected in chosen:
        bounds = {"min_value": expected.min_value, "max_value": expected.max_value}
        kwargs = {key: value for key, value in bounds.items() if value is not None}
        expectations.append(
            {
                "type": TYPE,
                "kwargs": {"measure": expected.measure, **kwargs},
                "meta": {"id": expected.id, "code": expected.code.id},
                "severity": "critical"
                if expected.code.severity == "error"
                else "warning",
            }
        )
    return gx.ExpectationSuite(name=name, expectations=expectations)
