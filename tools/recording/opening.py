"""Opens sources by name, and says of each that is lacking why, and what would help."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Self

from registry.documents.findings import Finding, RegistryError, Severity, code, finding
from tools.counters.process import ProcessSource
from tools.readings.series import Missing, Source

__all__ = ["NAMES", "Opened", "open_sources"]

NAMES: Final = ("cpu", "memory", "process", "rapl", "nvml")
"""Every source, in the order of its columns."""

ABSENT = code(
    "O001",
    Severity.ERROR,
    "A source that was asked for is not there.",
    "Leave it out of --sources, or run where the machine has it.",
)
LACKING = code(
    "O002",
    Severity.WARNING,
    "A part of a source cannot be read.",
    "Nothing, if you can do without it.",
)
UNKNOWN_SOURCE = code(
    "O003",
    Severity.ERROR,
    "There is no source of that name.",
    f"Choose from {', '.join(NAMES)}.",
)

_Open = Callable[..., tuple[Source | None, tuple[Missing, ...]]]


@dataclass(frozen=True, slots=True)
class Opened:
    """Sources that are ready to be read.

    Attributes:
        sources: those that are there.
        missing: what is lacking, and why: whole sources, zones, devices, series.

    """

    sources: tuple[Source, ...]
    missing: tuple[Missing, ...] = ()

    def __enter__(self) -> Self:
        """Give itself."""
        return self

    def __exit__(self, *_: object) -> None:
        """Close all sources."""
        self.close()

    @property
    def absent(self) -> tuple[str, ...]:
        """The names of sources of which nothing is there."""
        return tuple(one.source for one in self.missing if not one.what)

    def findings(self) -> tuple[Finding, ...]:
        """What is lacking: an error for each source that is wholly absent."""
        return tuple(_told(one) for one in self.missing)

    def follow(self, pid: int) -> None:
        """Let the process source watch this process and those that it starts."""
        for source in self.sources:
            if isinstance(source, ProcessSource):
                source.follow(pid)

    def close(self) -> None:
        """Let go of all interfaces."""
        for source in self.sources:
            source.close()


def open_sources(
    names: Sequence[str] | None,
    *,
    pid: int | None = None,
    devices: str = "all",
    sysroot: Path = Path("/sys"),
    procroot: Path = Path("/proc"),
) -> Opened:
    """Open sources.

    Args:
        names: which of `NAMES`; None is all, without process where there is no pid.
        pid: the process that the process source watches, with its descendants. If it
            is named but there is no pid yet, it waits for `Opened.follow`.
        devices: the GPUs: ``all`` (of those that CUDA_VISIBLE_DEVICES leaves, where it
            is set), ``none``, or indices and UUIDs with commas between.
        sysroot: where sysfs is.
        procroot: where procfs is.

    Returns:
        What is there; what is lacking is in `missing`, also if it was named.

    Raises:
        RegistryError: O003, a name that is no source; O004, GPUs that are not there.
    """
    if names is None:
        names = [name for name in NAMES if name != "process" or pid is not None]
    unknown = [name for name in names if name not in NAMES]
    if unknown:
        raise RegistryError(
            finding(UNKNOWN_SOURCE, "--sources", f"there is no source {name!r}")
            for name in unknown
        )
    places: dict[str, Any] = {
        "pid": pid,
        "devices": devices,
        "sysroot": sysroot,
        "procroot": procroot,
    }
    sources: list[Source] = []
    missing: list[Missing] = []
    for name in NAMES:
        if name in names:
            source, lacking = _OPENERS[name](**places)
            sources += [] if source is None else [source]
            missing += lacking
    return Opened(tuple(sources), tuple(missing))


def _cpu(
    sysroot: Path, procroot: Path, **_: object
) -> tuple[Source | None, tuple[Missing, ...]]:
    from tools.counters.cpu import open_cpu  # noqa: PLC0415 - only what is asked for

    return open_cpu(sysroot, procroot)


def _memory(procroot: Path, **_: object) -> tuple[Source | None, tuple[Missing, ...]]:
    from tools.counters.memory import open_memory  # noqa: PLC0415

    return open_memory(procroot)


def _process(
    procroot: Path, pid: int | None, **_: object
) -> tuple[Source | None, tuple[Missing, ...]]:
    return ProcessSource(procroot, pid), ()


def _rapl(sysroot: Path, **_: object) -> tuple[Source | None, tuple[Missing, ...]]:
    from tools.sources.rapl import open_rapl  # noqa: PLC0415

    return open_rapl(sysroot)


def _nvml(devices: str, **_: object) -> tuple[Source | None, tuple[Missing, ...]]:
    from tools.sources.nvml import open_nvml  # noqa: PLC0415

    return open_nvml(devices)


_OPENERS: Final[dict[str, _Open]] = {
    "cpu": _cpu,
    "memory": _memory,
    "process": _process,
    "rapl": _rapl,
    "nvml": _nvml,
}


def _told(one: Missing) -> Finding:
    what = f"{one.what}: {one.why}" if one.what else one.why
    fix = one.remedy or None
    if not one.what:
        return finding(ABSENT, one.source, what, fix=fix)
    severity = Severity.INFO if one.expected else None
    return finding(LACKING, one.source, what, fix=fix, severity=severity)
