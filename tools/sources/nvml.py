"""Reads NVIDIA GPUs through NVML: power, energy, use, memory, clocks, temperature.

    source, missing = open_nvml("all")

The power that NVML gives is an instant or the mean of a second, by GPU and call, so
each has its own column; the energy counter stands beside them. They often disagree, and
which is right differs by GPU, so all are kept. The power of a slice (MIG) is not known:
numbers are of whole GPUs.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from tools.readings.series import Gaps, Missing, Series
from tools.sources.nvml_calls import calls_of
from tools.sources.nvml_devices import Device, chosen, reason
from tools.sources.nvml_questions import Call, running_calls

__all__ = ["PROCESSES", "GpuProcess", "NvmlSource", "open_nvml"]

PROCESSES: Final = 64
"""The most processes that are listed for a GPU."""

_NO_DRIVER: Final = (
    "Install NVIDIA's driver; start a container with the driver capability `utility`."
)


@dataclass(frozen=True, slots=True)
class GpuProcess:
    """A process that computes on a GPU; for the screen, never for a file.

    Attributes:
        device: the index of the GPU.
        pid: its number, as NVML sees it.
        memory: the bytes it holds there; None if unknown.
        name: its program; empty unless names were asked for, or if unknown.

    """

    device: int
    pid: int
    memory: int | None
    name: str


class NvmlSource:
    """The chosen GPUs.

    Attributes:
        name: ``nvml``.
        series: those of each GPU in turn.
        devices: the GPUs.
        gaps: readings that failed.

    """

    name = "nvml"

    def __init__(
        self, nvml: Any, devices: Sequence[tuple[Device, tuple[Call, ...]]]
    ) -> None:
        """Prepare for reading; NVML is shut down by `close`."""
        self._nvml = nvml
        self._calls = [
            (device.index, call) for device, calls in devices for call in calls
        ]
        self._lost: dict[int, str] = {}
        self._slow = [call for _, call in self._calls if call.slow]
        self._turn = 0
        self._open = True
        self.devices = tuple(device for device, _ in devices)
        self.series: tuple[Series, ...] = tuple(
            one for _, call in self._calls for one in call.series
        )
        self.gaps = Gaps()

    def read(self, now_ns: int) -> Sequence[int | None]:
        """Read all series; of calls that take some ms only one, in turn."""
        del now_ns
        due = self._slow[self._turn % len(self._slow)] if self._slow else None
        self._turn += 1
        values: list[int | None] = []
        for index, call in self._calls:
            if call.slow and call is not due:
                values += [None] * len(call.series)
            else:
                values += self._asked(index, call)
        return values

    def processes(self, *, names: bool = False) -> tuple[GpuProcess, ...]:
        """List the processes on each GPU, at most `PROCESSES` of each.

        Args:
            names: whether to ask for the names of their programs too.
        """
        found: list[GpuProcess] = []
        for device in self.devices:
            for one in self._running(device)[:PROCESSES]:
                name = self._program(one.pid) if names else ""
                found.append(GpuProcess(device.index, one.pid, one.usedGpuMemory, name))
        return tuple(found)

    def close(self) -> None:
        """Shut NVML down."""
        if self._open:
            self._open = False
            _shut_down(self._nvml)

    def _asked(self, index: int, call: Call) -> Sequence[int | None]:
        why = self._lost.get(index)
        if why is None:
            try:
                return call.read()
            except self._nvml.NVMLError as error:
                why = reason(self._nvml, error)
                # A lost GPU comes back only after a reset, and asking may take long.
                if error.value == self._nvml.NVML_ERROR_GPU_IS_LOST:
                    self._lost[index] = why
        for one in call.series:
            self.gaps.note(one.name, why)
        return [None] * len(call.series)

    def _running(self, device: Device) -> Sequence[Any]:
        for call in running_calls(self._nvml):
            try:
                return call(device.handle)
            except self._nvml.NVMLError:
                continue  # said once, when it was opened
        return ()

    def _program(self, pid: int) -> str:
        try:
            name = self._nvml.nvmlSystemGetProcessName(pid)
        except (self._nvml.NVMLError, UnicodeDecodeError):
            return ""
        return os.path.basename(str(name).split("\0")[0])[:60]  # noqa: PTH119  a text


def open_nvml(
    devices: str = "all",
) -> tuple[NvmlSource | None, tuple[Missing, ...]]:
    """Open GPUs, and say what is lacking: all of NVML, a GPU, or a number of one.

    Args:
        devices: ``all`` (of those that CUDA_VISIBLE_DEVICES leaves, where it is set),
            ``none``, or indices and UUIDs with commas between.

    Raises:
        RegistryError: O004, a GPU that is named is not there.
    """
    try:
        import pynvml  # noqa: PLC0415 - only where GPUs are asked for
    except ImportError:
        remedy = "pip install nvidia-ml-py"
        why = "the package nvidia-ml-py is not installed"
        return None, (Missing("nvml", "", why, remedy),)
    nvml: Any = pynvml
    try:
        nvml.nvmlInit()
    except nvml.NVMLError as error:
        return None, (_no_nvml(nvml, error),)
    try:
        return _opened(nvml, devices)
    except nvml.NVMLError as error:
        _shut_down(nvml)
        return None, (_no_nvml(nvml, error),)
    except BaseException:
        _shut_down(nvml)
        raise


def _opened(nvml: Any, devices: str) -> tuple[NvmlSource | None, tuple[Missing, ...]]:
    picked, missing = chosen(nvml, devices, os.environ)
    ready: list[tuple[Device, tuple[Call, ...]]] = []
    lacking = list(missing)
    for device in picked:
        calls, refused = calls_of(nvml, device)
        lacking += [*refused, *_slices(nvml, device)]
        if calls:
            ready.append((device, calls))
    if not ready:
        _shut_down(nvml)
        why = "no GPU is chosen" if not picked else "no GPU answers"
        return None, (*lacking, Missing("nvml", "", why, "See --devices."))
    return NvmlSource(nvml, ready), tuple(lacking)


def _slices(nvml: Any, device: Device) -> tuple[Missing, ...]:
    try:
        current, _ = nvml.nvmlDeviceGetMigMode(device.handle)
    except nvml.NVMLError:
        return ()  # a GPU that cannot be divided
    if not current:
        return ()
    why = "it is divided (MIG), and the power of a slice is not known"
    what = f"gpu {device.index} slices"
    return (Missing("nvml", what, why, "Take the numbers as those of the whole GPU."),)


def _no_nvml(nvml: Any, error: Any) -> Missing:
    known = {
        nvml.NVML_ERROR_LIBRARY_NOT_FOUND: (
            "the library of NVIDIA's driver, libnvidia-ml.so.1, is not there",
            _NO_DRIVER,
        ),
        nvml.NVML_ERROR_DRIVER_NOT_LOADED: (
            "NVIDIA's driver is not loaded",
            "Load the module nvidia.",
        ),
        nvml.NVML_ERROR_NO_PERMISSION: (
            "permission denied",
            "Let this user open /dev/nvidiactl and /dev/nvidia*.",
        ),
        nvml.NVML_ERROR_LIB_RM_VERSION_MISMATCH: (
            "the driver and its library are of different versions",
            "Restart the machine, or load the driver's module again.",
        ),
    }
    value = getattr(error, "value", None)
    why, remedy = known.get(value, (reason(nvml, error), _NO_DRIVER))
    return Missing("nvml", "", why, remedy)


def _shut_down(nvml: Any) -> None:
    try:
        nvml.nvmlShutdown()
    except nvml.NVMLError:
        return  # nothing is left to shut down
