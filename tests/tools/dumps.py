"""Imagined dumps of Prometheus as kepler-model-server saves them."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["START", "Dump"]

START = 1_700_000_000
NAMES = {
    "instance": "node-17.rack4.example.org",
    "job": "kepler",
    "pod": "kepler-exporter-lw9fx",
    "exported_instance": "node-17",
}


class Dump:
    """A dump of one node, to which tests add series."""

    def __init__(self, times: Sequence[float] = (0, 3, 6, 9, 12)) -> None:
        """Take the seconds after START at which Kepler was scraped."""
        self.times = tuple(times)
        self.metrics: dict[str, list[dict[str, Any]]] = {}

    def add(
        self,
        metric: str,
        values: Sequence[float | str | None],
        *,
        times: Sequence[float] | None = None,
        **labels: str,
    ) -> Dump:
        """Add a series; None leaves a scrape out."""
        points = [
            [START + time, str(value)]
            for time, value in zip(times or self.times, values, strict=True)
            if value is not None
        ]
        series = {"metric": {"__name__": metric, **NAMES, **labels}, "values": points}
        self.metrics.setdefault(metric, []).append(series)
        return self

    def package(
        self, values: Sequence[float | str | None], package: str = "0", **labels: str
    ) -> Dump:
        """Add energy of a package; by default its dynamic part by sysfs."""
        usual: dict[str, Any] = {
            "package": package,
            "mode": "dynamic",
            "source": "rapl-sysfs",
        }
        name = "kepler_node_package_joules_total"
        return self.add(name, values, **usual | labels)

    def container(
        self, feature: str, values: Sequence[float | str | None], name: str = "a"
    ) -> Dump:
        """Add a counter of a container."""
        labels: dict[str, Any] = {"container_name": name, "container_id": name * 64}
        return self.add(f"kepler_container_{feature}_total", values, **labels)

    def bytes(self) -> bytes:
        """The file."""
        return json.dumps(self.metrics).encode()
