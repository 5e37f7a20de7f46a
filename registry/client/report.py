"""What the client found, as lines for a terminal or as JSON for a program."""

from __future__ import annotations

from typing import TYPE_CHECKING

from registry.client.fetching import LOADS
from registry.documents.findings import shown
from registry.modelling.model import parse_id
from registry.publish.kepler.vocabulary import STANDARD_PIPELINE

if TYPE_CHECKING:
    from collections.abc import Iterator

    from registry.client.fetching import Fetched, Offer
    from registry.documents.canonical import Json

__all__ = ["as_json", "as_lines"]


def as_lines(fetched: Fetched) -> list[str]:
    """Tell people which models fit, how to configure them and how good they are."""
    return list(_lines(fetched))


def as_json(fetched: Fetched) -> dict[str, Json]:
    """Give the same for a program; watts are of one node."""
    offers: list[Json] = [
        {
            "class": offer.model.class_key,
            "error": offer.model.error.model_dump(mode="json"),
            "file": None if offer.file is None else str(offer.file),
            "model": offer.model.id,
            "settings": list(offer.settings.lines),
            "steps": list(offer.settings.steps),
            "watts": {str(load): dict(parts) for load, parts in offer.watts.items()},
        }
        for offer in fetched.offers
    ]
    return {
        "class": fetched.server.key,
        "measured": fetched.server.measured,
        "offers": offers,
        "release": fetched.release.tag,
        "serial": fetched.release.index.serial,
        "warnings": [
            {"code": found.code, "fix": found.fix, "what": found.what}
            for found in fetched.release.warnings
        ],
    }


def _lines(fetched: Fetched) -> Iterator[str]:
    release, server = fetched.release, fetched.server
    index = release.index
    state = f"the state of {index.created}" if index.created else "uncommitted files"
    yield f"release {release.tag}, of {state}: digests and provenance agree"
    if server.measured:
        entry = server.entry
        yield (
            f"class   {server.key} (number {entry.number}), measured on"
            f" {_count(len(entry.machines), 'server')}"
            f" of {_count(entry.contributors, 'contributor')}"
        )
    else:
        yield f"class   {server.key}: never measured, so the generic model is used"
    for withdrawn in index.withdrawn[:5]:
        yield f"note    {withdrawn.dataset} was withdrawn ({shown(withdrawn.reason)})"
    pipeline = release.origin.url(f"{STANDARD_PIPELINE}.zip")
    if pipeline is not None:
        yield f"server  for a model server: INITIAL_PIPELINE_URL={pipeline}"
    for warning in release.warnings:
        yield f"warning {warning.code} {warning.what}: {warning.fix}"
    for offer in fetched.offers:
        yield ""
        if server.measured and offer.model.class_key != server.key:
            yield "note    no model of the class is closer than the generic one"
        yield from _offer(offer)


def _offer(offer: Offer) -> Iterator[str]:
    model, error = offer.model, offer.model.error
    identity = parse_id(model.id)
    count = _count(len(model.bundles), "bundle")
    yield f"model   {model.id} ({model.class_key}), fitted to {count}"
    yield (
        f"error   {error.mae:.1f} W on average (95 % interval {error.mae_low:.1f} to"
        f" {error.mae_high:.1f} W, {error.mape:.1f} %), held out by {error.protocol};"
        f" 95 % of errors within {error.p95:.1f} W, worst {error.worst:.1f} W"
    )
    if offer.watts:
        powers = ", ".join(f"{load} %: {_powers(offer.watts[load])}" for load in LOADS)
        yield f"watts   at load {powers}"
    elif identity.node_type == 0:
        yield "watts   give --spec to see predictions for your server"
    if offer.settings.lines:
        yield "MODEL_CONFIG:"
        yield from (f"  {line}" for line in offer.settings.lines)
    yield from (f"to do   {step}" for step in offer.settings.steps)


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def _powers(parts: dict[str, float]) -> str:
    if set(parts) == {"platform"}:
        return f"{parts['platform']:.1f} W"
    return " + ".join(f"{name} {watts:.1f} W" for name, watts in sorted(parts.items()))
