"""What the expectation suite found: every expectation with what was observed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from registry.review.page import Code, Paragraph, Section, Table

if TYPE_CHECKING:
    from collections.abc import Mapping

    from registry.review.page import Cell

__all__ = ["expectation_section"]


def expectation_section(result: Mapping[str, Any] | None) -> Section:
    """Show the result of a suite as the gate keeps it; None if it was not run."""
    title = "Expectations"
    if result is None:
        why = "The suite was not run, since the bundle is not sound."
        return Section("expectations", title, (Paragraph.of(why),), {"run": False})
    results: list[Mapping[str, Any]] = list(result["results"])
    ordered = sorted(results, key=lambda one: bool(one["success"]))
    failed = [one for one in results if not one["success"]]
    rows = tuple(_row(one) for one in ordered)
    said = f"{len(results) - len(failed)} of {len(results)} expectations are met"
    other = len(result["not_applicable"])
    blocks = (
        Paragraph.of(f"Suite {result['suite']}: {said}; {other} do not apply."),
        Table(
            "Expectations, those that failed first",
            ("expectation", "result", "observed", "expected", "values"),
            rows,
        ),
    )
    notes: tuple[tuple[Cell, ...], ...] = ()
    if failed:
        names = ", ".join(str(one["id"]) for one in failed[:6])
        notes = ((f"{len(failed)} expectations are not met: {names}",),)
    facts = {
        "run": True,
        "suite": result["suite"],
        "met": len(results) - len(failed),
        "results": [
            {
                "id": one["id"],
                "success": one["success"],
                "observed_minimum": one["result"].get("observed_minimum"),
                "observed_maximum": one["result"].get("observed_maximum"),
            }
            for one in results
        ],
    }
    return Section("expectations", title, blocks, facts, notes)


def _row(one: Mapping[str, Any]) -> tuple[Cell, ...]:
    result = one["result"]
    low, high = result.get("observed_minimum"), result.get("observed_maximum")
    if low is None:
        observed = "nothing"
    elif low == high:
        observed = _number(low)
    else:
        observed = f"{_number(low)} to {_number(high)}"
    bad = result.get("unexpected_count", 0)
    count = f"{result.get('element_count', 0)}"
    if bad:
        count += f", {bad} not as expected"
    verdict = "met" if one["success"] else "NOT MET"
    bounds = one["kwargs"]
    return Code(str(one["id"])), verdict, observed, _bounds(bounds), count


def _bounds(kwargs: Mapping[str, Any]) -> str:
    low, high = kwargs.get("min_value"), kwargs.get("max_value")
    if low is not None and high is not None:
        return _number(low) if low == high else f"{_number(low)} to {_number(high)}"
    return f"at least {_number(low)}" if high is None else f"at most {_number(high)}"


def _number(value: Any) -> str:
    return f"{value:.0f}" if abs(value) >= 1_000 else f"{value:.4g}"
