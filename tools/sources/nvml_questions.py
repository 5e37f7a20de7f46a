"""What a GPU can be asked through NVML, and the series that each answer fills."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Final

from tools.readings.series import Kind, Series
from tools.sources.nvml_devices import Device

__all__ = ["Call", "Questions", "running_calls"]

_GA100: Final = re.compile(r"\bA(?:100|800|30)X?\b")


@dataclass(frozen=True, slots=True)
class Call:
    """One question to a GPU.

    Attributes:
        what: what is asked for, for people.
        series: what it gives.
        read: asks, and gives a reading for each series, in steps. It raises NVMLError.
        slow: whether it takes some ms; only one such call is made in a sample.

    """

    what: str
    series: tuple[Series, ...]
    read: Callable[[], Sequence[int | None]]
    slow: bool = False


class Questions:
    """Makes the calls of one GPU; none is asked yet, but for the type of a field."""

    def __init__(self, nvml: Any, device: Device) -> None:
        """Keep the module pynvml, initialised, and the GPU."""
        self._nvml = nvml
        self._device = device
        self._handle = device.handle

    def _series(
        self,
        suffix: str,
        quantity: str,
        decimals: int,
        kind: Kind = Kind.INSTANT,
        *,
        origin: str,
        unit: str | None = None,
        window: float | None = None,
        wraps: bool = False,
        modulus: int | None = None,
    ) -> Series:
        stem = suffix.removesuffix("_total")
        return Series(
            name=f"gpu_{self._device.index}_{suffix}",
            unit=unit or stem.rpartition("_")[2],
            decimals=decimals,
            kind=kind,
            source="nvml",
            device=f"gpu {self._device.index}",
            quantity=quantity,
            coverage="gpu",
            origin=origin,
            wraps=wraps,
            modulus=modulus,
            window_seconds=window,
        )

    def one(
        self,
        what: str,
        suffix: str,
        quantity: str,
        decimals: int,
        call: Callable[[Any], int],
        *,
        kind: Kind = Kind.INSTANT,
        window: float | None = None,
    ) -> Call:
        """A call that gives one number, of 10**-decimals of the unit in the name."""
        series = self._series(
            suffix, quantity, decimals, kind, origin=call.__name__, window=window
        )
        return Call(what, (series,), lambda: (call(self._handle),))

    def field(
        self,
        what: str,
        suffix: str,
        quantity: str,
        decimals: int,
        number: int,
        kind: Kind = Kind.INSTANT,
        *,
        window: float | None = None,
    ) -> Call:
        """A field, by its number."""
        series = self._series(
            suffix, quantity, decimals, kind, origin=f"field {number}", window=window
        )
        return Call(what, (series,), lambda: (self._field(number)[0],))

    def _field(self, number: int) -> tuple[int, int]:
        """The value of a field and the type it came in."""
        found = self._nvml.nvmlDeviceGetFieldValues(self._handle, [number])[0]
        if found.nvmlReturn != self._nvml.NVML_SUCCESS:
            raise self._nvml.NVMLError(found.nvmlReturn)
        part = {
            self._nvml.NVML_VALUE_TYPE_DOUBLE: "dVal",
            self._nvml.NVML_VALUE_TYPE_UNSIGNED_INT: "uiVal",
            self._nvml.NVML_VALUE_TYPE_UNSIGNED_LONG: "ulVal",
            self._nvml.NVML_VALUE_TYPE_UNSIGNED_LONG_LONG: "ullVal",
            self._nvml.NVML_VALUE_TYPE_SIGNED_LONG_LONG: "sllVal",
            self._nvml.NVML_VALUE_TYPE_SIGNED_INT: "siVal",
            self._nvml.NVML_VALUE_TYPE_UNSIGNED_SHORT: "usVal",
        }.get(found.valueType)
        if part is None:
            raise self._nvml.NVMLError(self._nvml.NVML_ERROR_NOT_SUPPORTED)
        return int(getattr(found.value, part)), found.valueType

    def power_usage(self) -> Call:
        """What nvmlDeviceGetPowerUsage says, in the column that its manual names.

        On Ampere (except GA100) and newer it is the mean of the last second, on GA100
        and older an instant. Where the GPU does not say what it is, it has a column of
        its own.
        """
        call = self._nvml.nvmlDeviceGetPowerUsage
        architecture = self._device.architecture
        if architecture is None:
            return self.one(
                "power", "power_usage_watts", "usage_power", 3, call, kind=Kind.UNKNOWN
            )
        ampere = self._nvml.NVML_DEVICE_ARCH_AMPERE
        if architecture < ampere or _GA100.search(self._device.model):
            return self.one("power", "watts", "power", 3, call)
        return self.one(
            "average power",
            "average_watts",
            "average_power",
            3,
            call,
            kind=Kind.AVERAGE,
            window=1.0,
        )

    def energy(self) -> Call:
        """Millijoules since the driver was loaded; Volta and newer have it."""
        call = self._nvml.nvmlDeviceGetTotalEnergyConsumption
        return self.one("energy", "joules_total", "energy", 3, call, kind=Kind.COUNTER)

    def utilisation(self) -> Call:
        """Per cent of time in which a kernel ran, and memory was read or written."""
        call = self._nvml.nvmlDeviceGetUtilizationRates
        series = tuple(
            self._series(
                f"{part}utilisation_ratio",
                f"{part}utilisation",
                2,
                Kind.AVERAGE,
                origin=call.__name__,
            )
            for part in ("", "memory_")
        )

        def read() -> Sequence[int | None]:
            rates = call(self._handle)
            return rates.gpu, rates.memory

        return Call("utilisation", series, read)

    def coder(self, part: str) -> Call:
        """Per cent of time in which the ``encoder`` or ``decoder`` of video worked."""
        call = getattr(self._nvml, f"nvmlDeviceGet{part.capitalize()}Utilization")
        series = self._series(
            f"{part}_utilisation_ratio",
            f"{part}_utilisation",
            2,
            Kind.AVERAGE,
            origin=call.__name__,
        )
        return Call(f"{part} utilisation", (series,), lambda: (call(self._handle)[0],))

    def memory(self) -> Call:
        """Bytes of memory in use, those that the driver keeps included, and free."""
        call = self._nvml.nvmlDeviceGetMemoryInfo
        series = tuple(
            self._series(
                f"memory_{part}_bytes", f"memory_{part}", 0, origin=call.__name__
            )
            for part in ("used", "free")
        )

        def read() -> Sequence[int | None]:
            found = call(self._handle)
            return found.used, found.free

        return Call("memory", series, read)

    def bar1(self) -> Call:
        """Bytes of the window through which processors reach the memory."""
        call = self._nvml.nvmlDeviceGetBAR1MemoryInfo
        series = self._series("bar1_used_bytes", "bar1_used", 0, origin=call.__name__)
        return Call("BAR1 memory", (series,), lambda: (call(self._handle).bar1Used,))

    def clock(self, what: str, suffix: str, quantity: str, clock: int) -> Call:
        """A clock in hertz."""
        call = self._nvml.nvmlDeviceGetClockInfo
        series = self._series(suffix, quantity, 0, origin=call.__name__)
        # NVML counts in MHz
        return Call(what, (series,), lambda: (call(self._handle, clock) * 1_000_000,))

    def temperature(self) -> tuple[Call, ...]:
        """Degrees Celsius, by the old call or the one that replaces it."""
        sensor = self._nvml.NVML_TEMPERATURE_GPU
        return tuple(
            Call(
                "temperature",
                (self._series("celsius", "temperature", 0, origin=call.__name__),),
                lambda call=call: (call(self._handle, sensor),),  # type: ignore[misc]
            )
            for call in (
                self._nvml.nvmlDeviceGetTemperature,
                self._nvml.nvmlDeviceGetTemperatureV,
            )
        )

    def pcie(self, way: str, field: int, counter: int) -> tuple[Call, ...]:
        """Bytes over PCIe: a counter where there is one, else a rate over 20 ms."""
        unsigned_int = self._nvml.NVML_VALUE_TYPE_UNSIGNED_INT
        try:
            narrow = self._field(field)[1] == unsigned_int
        except self._nvml.NVMLError:
            narrow = False
        total = self._series(
            f"pcie_{way}_bytes_total",
            f"pcie_{way}",
            0,
            Kind.COUNTER,
            origin=f"field {field}",
            wraps=True,
            modulus=2**32 if narrow else None,
        )
        call = self._nvml.nvmlDeviceGetPcieThroughput
        rate = self._series(
            f"pcie_{way}_bytes_per_second",
            f"pcie_{way}",
            0,
            Kind.AVERAGE,
            origin=call.__name__,
            unit="bytes per second",
            window=0.02,
        )
        return (
            Call(f"PCIe {way}", (total,), lambda: (self._field(field)[0],)),
            # "KB/s" in its manual, taken as 1000 bytes
            Call(
                f"PCIe {way}",
                (rate,),
                lambda: (call(self._handle, counter) * 1000,),
                slow=True,
            ),
        )

    def errors(self, which: str, kind: int) -> Call:
        """Errors of memory since the driver was loaded, at all places together."""
        call = self._nvml.nvmlDeviceGetTotalEccErrors
        volatile = self._nvml.NVML_VOLATILE_ECC
        series = self._series(
            f"ecc_{which}_errors_total",
            f"ecc_{which}",
            0,
            Kind.COUNTER,
            origin=call.__name__,
            unit="events",
        )
        return Call(
            f"{which} ECC errors",
            (series,),
            lambda: (call(self._handle, kind, volatile),),
        )

    def fan(self) -> Call:
        """Per cent of the fans' largest speed that the driver asks for."""
        call = self._nvml.nvmlDeviceGetFanSpeed
        return self.one("fan speed", "fan_ratio", "fan", 2, call)

    def processes(self) -> tuple[Call, ...]:
        """How many processes compute; who they are is not asked."""
        return tuple(
            Call(
                "processes",
                (
                    self._series(
                        "processes",
                        "processes",
                        0,
                        origin=call.__name__,
                        unit="processes",
                    ),
                ),
                lambda call=call: (len(call(self._handle)),),  # type: ignore[misc]
            )
            for call in running_calls(self._nvml)
        )


def running_calls(nvml: Any) -> tuple[Callable[[Any], Sequence[Any]], ...]:
    """The calls that list processes, the newest first.

    The one without a version is no choice: with an old driver it raises an error that
    is none of NVML's.
    """
    return (
        nvml.nvmlDeviceGetComputeRunningProcesses_v3,
        nvml.nvmlDeviceGetComputeRunningProcesses_v2,
    )
