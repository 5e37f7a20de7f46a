"""A clock that a test sets, sources of a test's own, GPUs made of C, the command."""

from __future__ import annotations

import csv
import io
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from tests.simulators import nvml, powercap
from tests.simulators.commands import Done
from tests.simulators.nvml import Stub, stubbed
from tests.simulators.powercap import FakePowercap
from tests.simulators.procfs import FakeProc
from tools.readings.series import Gaps, Kind, Missing, Series
from tools.recording.monitor import Monitor, Opened, Recording
from tools.sources.nvml import NvmlSource, open_nvml
from tools.sources.rapl import RaplSource

SECOND = 1_000_000_000
QUICK = ("--interval-ms", "5", "--duration", "0.05")
Powerkit = Callable[..., Done]
Pretend = Callable[[str], Stub]


class FakeClock:
    """A clock that moves only when somebody waits or reads."""

    def __init__(
        self, end: float, moved: Callable[[float], None] | None = None
    ) -> None:
        """Start at an odd number, and stop the monitor after ``end`` seconds."""
        self.start = 5_000_000_007
        self.now = self.start
        self._end = self.start + round(end * SECOND)
        self._moved = moved or (lambda _: None)

    def monotonic_ns(self) -> int:
        return self.now

    def epoch_ns(self) -> int:
        return 1_700_000_000 * SECOND + self.now

    def pass_(self, seconds: float) -> None:
        """Let time pass."""
        self.now += round(seconds * SECOND)
        self._moved((self.now - self.start) / SECOND)

    def wait_until(self, deadline_ns: int, stop: threading.Event) -> bool:
        ahead = max(min(deadline_ns, self._end) - self.now, 0)
        self.pass_(ahead / SECOND)
        return not stop.is_set() and deadline_ns <= self._end


class Scripted:
    """A source that gives what a function says, and takes its time."""

    def __init__(
        self,
        series: Sequence[Series],
        values: Callable[[int], Sequence[int | None]],
        took: Callable[[], None] = lambda: None,
        name: str = "scripted",
    ) -> None:
        """Give ``values`` of the clock; each read calls ``took`` first."""
        self.name = name
        self.series = tuple(series)
        self.gaps = Gaps()
        self.closed = False
        self._values = values
        self._took = took

    def read(self, now_ns: int) -> Sequence[int | None]:
        self._took()
        return self._values(now_ns)

    def close(self) -> None:
        self.closed = True


def series(name: str = "gpu_0_watts", **changes: Any) -> Series:
    """A series that is a gauge of power unless told otherwise."""
    given: dict[str, Any] = {
        "name": name,
        "unit": "watts",
        "decimals": 3,
        "kind": Kind.INSTANT,
        "source": "scripted",
        "device": "gpu 0",
        "quantity": "power",
        "coverage": "gpu",
    }
    return Series(**(given | changes))


def energy(name: str = "gpu_0_joules_total", **changes: Any) -> Series:
    """A counter of millijoules."""
    kept = {"unit": "joules", "kind": Kind.COUNTER, "quantity": "energy"}
    return series(name, **(kept | changes))


def record(
    sources: Opened | Sequence[Any],
    seconds: float,
    interval: float = 0.05,
    moved: Callable[[float], None] | None = None,
) -> Recording:
    """Record over a time that only seems to pass, without a thread."""
    clock = FakeClock(seconds, moved)
    monitor = Monitor(sources, round(interval * SECOND), clock)
    monitor.sample()
    monitor.run()
    monitor.sample()
    return monitor.recording


@pytest.fixture(scope="session")
def library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A libnvidia-ml.so.1 of this year."""
    return nvml.compiled(tmp_path_factory.mktemp("nvml"))


@pytest.fixture(scope="session")
def old_library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One of long ago."""
    return nvml.compiled(tmp_path_factory.mktemp("old-nvml"), "-DOLD_DRIVER")


@pytest.fixture(autouse=True)
def _no_choice_of_gpus(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)
    monkeypatch.delenv("CUDA_DEVICE_ORDER", raising=False)
    return


@pytest.fixture
def powerkit(
    powerkit: Powerkit,
    no_settings: None,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> Powerkit:
    """Run the command with no settings but the defaults, in an empty folder."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path))
    return powerkit


@pytest.fixture
def proc(tmp_path: Path) -> FakeProc:
    """A /proc of an idle machine."""
    return FakeProc(tmp_path / "proc")


def row(source: Any, now_ns: int = 0) -> dict[str, int | None]:
    """What a source reads now, by column."""
    names = [one.name for one in source.series]
    return dict(zip(names, source.read(now_ns), strict=True))


@pytest.fixture
def pretend(library: Path) -> Iterator[Pretend]:
    """Use the library, with settings that may be changed."""
    with stubbed(library) as stub:

        def configured(settings: str) -> Stub:
            stub.configure(settings)
            return stub

        yield configured
        assert stub.users == 0, "NVML was not shut down"


def opened_gpus(devices: str = "all") -> tuple[NvmlSource, tuple[Missing, ...]]:
    """GPUs that are there, and what is lacking."""
    source, missing = open_nvml(devices)
    assert source is not None, missing
    return source, missing


def python(program: str) -> list[str]:
    """A command of `powerkit monitor`."""
    return ["--", sys.executable, "-c", program]


@pytest.fixture
def gpus(library: Path) -> Iterator[Stub]:
    """Two GPUs whose clock stands at 2.5 s."""
    with stubbed(library, "devices=2;low=60;high=300") as stub:
        stub.time(2.5)
        yield stub
        assert stub.users == 0


@pytest.fixture
def tree(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> FakePowercap:
    """Two sockets whose counters are, at each read, those of that instant."""
    made = FakePowercap(tmp_path / "sys", powercap.TWO_SOCKETS)
    read, start = RaplSource.read, time.monotonic_ns()

    def current(source: RaplSource, now_ns: int) -> Sequence[int | None]:
        made.at((now_ns - start) / SECOND)
        return read(source, now_ns)

    monkeypatch.setattr(RaplSource, "read", current)
    return made


def table(out: str, delimiter: str = ",") -> list[dict[str, str]]:
    """The rows of a report."""
    return list(csv.DictReader(io.StringIO(out), delimiter=delimiter))
