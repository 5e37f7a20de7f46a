"""The consumer's side: fetch a release, check it, choose a model, rebuild and compare.

    fetched = fetch("https://example.org/power-models", spec=Path("my-server.yaml"))
    print(*as_lines(fetched), sep="; ")

Everything is checked before it is used: sizes, digests, provenance, and that nobody
offers an older release than this machine has seen.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from registry.client.fetching import Fetched, Offer, fetch
    from registry.client.opening import Release, open_release
    from registry.client.rebuilding import Rebuilt, rebuild_and_compare
    from registry.client.report import as_json, as_lines

__all__ = [
    "Fetched",
    "Offer",
    "Rebuilt",
    "Release",
    "as_json",
    "as_lines",
    "fetch",
    "open_release",
    "rebuild_and_compare",
]

_MODULES = {
    "Fetched": "fetching",
    "Offer": "fetching",
    "fetch": "fetching",
    "Release": "opening",
    "open_release": "opening",
    "Rebuilt": "rebuilding",
    "rebuild_and_compare": "rebuilding",
    "as_json": "report",
    "as_lines": "report",
}


def __getattr__(name: str) -> Any:
    """Load a part when it is first used: rebuilding needs all of modelling."""
    from importlib import import_module  # noqa: PLC0415 - nothing else needs it

    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_MODULES[name]}"), name)
