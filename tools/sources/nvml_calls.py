"""The calls of NVML that a GPU is asked at each sample, and the series they give.

Each is tried once when a GPU is opened. What it does not support is said once, and is
not asked again.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import replace
from typing import Any, Final

from tools.readings.series import Kind, Missing
from tools.sources.nvml_devices import Device, reason
from tools.sources.nvml_questions import Call, Questions

__all__ = ["calls_of"]

_SLOW_NS: Final = 2_000_000
"""From here on a call takes turns with other slow ones. The power of an instant takes
some 3 us, but its mean 3 ms on some GPUs: eight of those would fill the interval."""
_TRIES: Final = 3
_REMEDY: Final = "Run with more rights, or start the container with them."


def calls_of(nvml: Any, device: Device) -> tuple[tuple[Call, ...], tuple[Missing, ...]]:
    """Find out what a GPU can be asked.

    Args:
        nvml: the module pynvml, initialised.
        device: the GPU.

    Returns:
        Calls that work, in order of their columns, and what it does not support.
    """
    calls: list[Call] = []
    missing: list[Missing] = []
    columns: set[str] = set()
    for alternatives in _questions(nvml, device):
        refusal: Missing | None = None
        for call in alternatives:
            if columns.issuperset(one.name for one in call.series):
                refusal = None  # a better call has this column already
                break
            why = _refused(nvml, call)
            if why is None:
                calls.append(call if call.slow else _timed(nvml, call))
                columns.update(one.name for one in call.series)
                refusal = None
                break
            what = f"gpu {device.index} {call.what}"
            remedy = _REMEDY if why == "permission denied" else ""
            refusal = refusal or Missing("nvml", what, why, remedy)
        if refusal is not None:
            missing.append(refusal)
    return tuple(calls), tuple(missing)


def _refused(nvml: Any, call: Call) -> str | None:
    """Why a call will never work here; None if it works or may do so later."""
    try:
        call.read()
    except nvml.NVMLError as error:
        for_good = (
            nvml.NVML_ERROR_NOT_SUPPORTED,
            nvml.NVML_ERROR_FUNCTION_NOT_FOUND,
            nvml.NVML_ERROR_NO_PERMISSION,
            nvml.NVML_ERROR_INVALID_ARGUMENT,
        )
        return reason(nvml, error) if error.value in for_good else None
    return None


def _timed(nvml: Any, call: Call) -> Call:
    """Find out whether a call is slow: always, not only since we had to wait."""
    for _ in range(_TRIES):
        start = time.perf_counter_ns()
        _refused(nvml, call)
        if time.perf_counter_ns() - start <= _SLOW_NS:
            return call
    return replace(call, slow=True)


def _questions(nvml: Any, device: Device) -> Iterator[tuple[Call, ...]]:
    """All questions, each with its alternatives, the best first."""
    gpu = Questions(nvml, device)
    yield from _powers(nvml, gpu)
    yield (gpu.energy(),)
    yield (
        gpu.one(
            "power limit",
            "power_limit_watts",
            "power_limit",
            3,
            nvml.nvmlDeviceGetPowerManagementLimit,
        ),
    )
    yield (gpu.utilisation(),)
    for part in ("encoder", "decoder"):
        yield (gpu.coder(part),)
    yield (gpu.memory(),)
    yield (gpu.bar1(),)
    yield (gpu.clock("SM clock", "sm_frequency_hertz", "sm_clock", nvml.NVML_CLOCK_SM),)
    yield (
        gpu.clock(
            "memory clock",
            "memory_frequency_hertz",
            "memory_clock",
            nvml.NVML_CLOCK_MEM,
        ),
    )
    yield gpu.temperature()
    yield (
        gpu.field(
            "memory temperature",
            "memory_celsius",
            "memory_temperature",
            0,
            nvml.NVML_FI_DEV_MEMORY_TEMP,
        ),
    )
    yield gpu.pcie(
        "receive", nvml.NVML_FI_DEV_PCIE_COUNT_RX_BYTES, nvml.NVML_PCIE_UTIL_RX_BYTES
    )
    yield gpu.pcie(
        "transmit", nvml.NVML_FI_DEV_PCIE_COUNT_TX_BYTES, nvml.NVML_PCIE_UTIL_TX_BYTES
    )
    yield (gpu.errors("corrected", nvml.NVML_MEMORY_ERROR_TYPE_CORRECTED),)
    yield (gpu.errors("uncorrected", nvml.NVML_MEMORY_ERROR_TYPE_UNCORRECTED),)
    yield (gpu.fan(),)
    yield gpu.processes()


def _powers(nvml: Any, gpu: Questions) -> Iterator[tuple[Call, ...]]:
    """The instant and the mean of a second; the oldest call is one of the two, or none.

    It is asked only where a field does not say the same.
    """
    instant = gpu.field("power", "watts", "power", 3, nvml.NVML_FI_DEV_POWER_INSTANT)
    average = gpu.field(
        "average power",
        "average_watts",
        "average_power",
        3,
        nvml.NVML_FI_DEV_POWER_AVERAGE,
        Kind.AVERAGE,
        window=1.0,
    )
    usage = gpu.power_usage()
    same = [one for one in (instant, average) if _columns(one) == _columns(usage)]
    yield (instant, usage) if instant in same else (instant,)
    yield (average, usage) if average in same else (average,)
    if not same:
        yield (usage,)


def _columns(call: Call) -> list[str]:
    return [one.name for one in call.series]
