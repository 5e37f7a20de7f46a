"""Reads a range dump of Prometheus, as kepler-model-server saves it, without its names.

The dump is ``{metric: [{"metric": labels, "values": [[time, "value"], ...]}, ...]}``.
Labels name hosts, pods and containers, so all but a few are dropped while reading.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, TypeVar

import msgspec
import numpy as np
from numpy.typing import NDArray

from registry.documents import limits
from registry.documents.findings import RegistryError, Severity, code, finding, shown

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

__all__ = ["LABELS", "NOT_READ", "Series", "increase", "read_dump"]

LABELS: Final = ("package", "mode", "source", "index", "cpu")
"""The labels that are kept: parts of the machine and modes of Kepler, nobody's name."""
BYTES: Final = 512 * limits.MIB
SERIES: Final = 500_000
SAMPLES: Final = 30_000_000
_LATEST: Final = 1e11
"""Seconds since 1970; what is larger is a time in milliseconds."""
_SHOWN: Final = 8

NOT_READ = code(
    "L020",
    Severity.ERROR,
    "A file to be imported is not what the importer reads.",
    "Give the file as the named tool saved it.",
    "B11",
)
SEVERAL = code(
    "L021",
    Severity.ERROR,
    "A dump holds several machines, or one machine twice.",
    "Choose one exporter with `--instance`; import every machine by itself.",
)


Part = TypeVar("Part", bound=msgspec.Struct)


@dataclass(frozen=True, slots=True)
class Series:
    """One series of samples.

    Attributes:
        labels: Those of ``LABELS`` that it has.
        times: Seconds since 1970, strictly increasing, float64 of shape (n,).
        values: Finite numbers, float64 of shape (n,).

    """

    labels: Mapping[str, str]
    times: NDArray[np.float64]
    values: NDArray[np.float64]


class _Labelled(msgspec.Struct):
    metric: dict[str, str]


class _Sampled(msgspec.Struct):
    values: list[tuple[float, str]]


def read_dump(
    data: bytes, path: str, *, prefix: str = "kepler_", instance: str | None = None
) -> dict[str, tuple[Series, ...]]:
    """Read the series of one exporter by the name of their metric.

    Args:
        data: The bytes of the file.
        path: Its name in findings.
        prefix: What names of wanted metrics begin with.
        instance: The exporter to be read; None if the dump has only one.

    Raises:
        RegistryError: L020, L021; nothing else, whatever the bytes.

    """
    wanted = {
        name: [(_part(raw, _Labelled, path).metric, raw) for raw in many]
        for name, many in sorted(_decoded(data, path).items())
        if name.startswith(prefix)
    }
    if sum(map(len, wanted.values())) > SERIES:
        raise _unreadable(path, f"more than {SERIES} series")
    _check_exporters(wanted, path, instance)
    result: dict[str, tuple[Series, ...]] = {}
    samples = 0
    for name, many in wanted.items():
        kept = []
        for number, (labels, raw) in enumerate(many):
            if instance is None or labels.get("instance") == instance:
                series = _series(labels, raw, f"{name}[{number}]", path)
                samples += len(series.times)
                kept.append(series)
            if samples > SAMPLES:
                raise _unreadable(path, f"more than {SAMPLES} samples")
        result[name] = tuple(kept)
    return result


def increase(series: Series) -> NDArray[np.float64]:
    """Return what a counter grew by since its sample before, of shape (n,).

    The first sample says nothing of when its value was counted, so it adds 0. A fall
    means that the counter began anew: then its whole value was counted since.
    """
    steps = np.diff(series.values, prepend=series.values[:1])
    return np.where(steps < 0, series.values, steps)


def _decoded(data: bytes, path: str) -> dict[str, list[msgspec.Raw]]:
    """Find the series; each stays text, a tenth of its size as objects."""
    if len(data) > BYTES:
        raise _unreadable(path, f"{len(data)} bytes, at most {BYTES} are read")
    try:
        return msgspec.json.decode(data, type=dict[str, list[msgspec.Raw]])
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        what = str(error)
        if data[:4096].lstrip().startswith(b'{"status"'):
            what = "it is the answer to one query; a dump is {metric: result, ...}"
        raise _unreadable(path, what) from None


def _part(raw: msgspec.Raw, kind: type[Part], path: str) -> Part:
    """Read a part of one series, so that only one is in memory as objects."""
    try:
        return msgspec.json.decode(raw, type=kind)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        raise _unreadable(path, str(error)) from None


def _check_exporters(
    wanted: Mapping[str, Sequence[tuple[Mapping[str, str], msgspec.Raw]]],
    path: str,
    instance: str | None,
) -> None:
    """Refuse sums over machines: one exporter is one machine."""
    exporters = {
        (labels.get("instance", ""), labels.get("job", ""))
        for many in wanted.values()
        for labels, _ in many
    }
    if instance is not None:
        exporters = {one for one in exporters if one[0] == instance}
        if not exporters:
            raise _unreadable(path, f'no series has the instance "{shown(instance)}"')
    if len(exporters) > 1:
        names = ", ".join(
            f"{name or '(none)'} of job {job or '(none)'}"
            for name, job in sorted(exporters)[:_SHOWN]
        )
        what = f"{len(exporters)} exporters: {names}"
        raise RegistryError(finding(SEVERAL, path, what))


def _series(
    labels: Mapping[str, str], raw: msgspec.Raw, name: str, path: str
) -> Series:
    """Keep the samples that are numbers: NaN is Prometheus' mark of a gap."""
    points = _part(raw, _Sampled, path).values
    try:
        values = np.array([text for _, text in points], dtype=np.float64)
    except ValueError:
        raise _unreadable(path, f"{name} holds a value that is no number") from None
    times = np.array([time for time, _ in points], dtype=np.float64)
    if times.size and not (
        np.isfinite(times).all() and times.min() >= 0 and times.max() < _LATEST
    ):
        raise _unreadable(path, f"{name} holds a time that is not in seconds")
    if (np.diff(times) <= 0).any():
        raise _unreadable(path, f"the times of {name} do not grow")
    if np.isinf(values).any():
        raise _unreadable(path, f"{name} holds an infinite value")
    kept = ~np.isnan(values)
    return Series(dict(_kept(labels)), times[kept], values[kept])


def _kept(labels: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    for label in LABELS:
        if label in labels:
            yield label, labels[label]


def _unreadable(path: str, what: str) -> RegistryError:
    return RegistryError(finding(NOT_READ, path, what))
