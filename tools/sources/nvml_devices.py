"""Chooses GPUs by index or UUID, as CUDA_VISIBLE_DEVICES or an option names them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from registry.documents.findings import RegistryError, Severity, code, finding, shown
from tools.readings.series import Missing

__all__ = ["DEVICES", "Device", "chosen", "reason"]

DEVICES: Final = 256
"""The most GPUs that are looked at."""

_VARIABLE: Final = "CUDA_VISIBLE_DEVICES"
_NONE: Final = ("", "-1", "none")

UNKNOWN_DEVICE = code(
    "O004",
    Severity.ERROR,
    "There is no such GPU.",
    "Give indices as `nvidia-smi -L` shows them, or UUIDs, with commas between.",
)


@dataclass(frozen=True, slots=True)
class Device:
    """One GPU.

    Attributes:
        index: its number in NVML, which is the order of PCI addresses.
        handle: NVML's handle.
        uuid: its UUID; it names one machine's part, so it is never written to a file.
        model: its name, such as ``NVIDIA H200``; empty if unknown.
        architecture: NVML's number of its architecture; None if unknown.

    """

    index: int
    handle: Any
    uuid: str
    model: str
    architecture: int | None


def reason(nvml: Any, error: Any) -> str:
    """Say in plain words what an error of NVML means."""
    known = {
        nvml.NVML_ERROR_NOT_SUPPORTED: "this GPU does not support it",
        nvml.NVML_ERROR_FUNCTION_NOT_FOUND: "the driver is too old for it",
        nvml.NVML_ERROR_NO_PERMISSION: "permission denied",
        nvml.NVML_ERROR_GPU_IS_LOST: "the GPU is lost",
        nvml.NVML_ERROR_UNINITIALIZED: "NVML is not initialised",
    }
    text = known.get(getattr(error, "value", None))
    return text or shown(str(error).lower(), 100)


def chosen(
    nvml: Any, devices: str, environ: Mapping[str, str]
) -> tuple[tuple[Device, ...], tuple[Missing, ...]]:
    """Choose GPUs.

    Args:
        nvml: the module pynvml, initialised.
        devices: ``all``, ``none``, or indices and UUIDs (or their first letters) with
            commas between. For ``all``, CUDA_VISIBLE_DEVICES decides where it is set.
        environ: the environment.

    Returns:
        The GPUs in order of their index, and what is lacking.

    Raises:
        RegistryError: O004, for each name in ``devices`` that is no GPU.
    """
    there, missing = _found(nvml)
    text = devices.strip()
    from_environment = text == "all" and _VARIABLE in environ
    if from_environment:
        text = environ[_VARIABLE].strip()
    if text == "all":
        return there, missing
    names = [] if text.lower() in _NONE else [one.strip() for one in text.split(",")]
    picked: dict[int, Device] = {}
    unknown: list[str] = []
    for name in names[:DEVICES]:
        device = _named(nvml, name, there)
        if device is not None:
            picked[device.index] = device
        elif from_environment:
            # CUDA itself takes only what stands before the first wrong name.
            why = f"{_VARIABLE} names {shown(name)}, which is no GPU; CUDA stops there"
            missing = (*missing, Missing("nvml", _VARIABLE, why, "Mend the list."))
            break
        else:
            unknown.append(name)
    if unknown:
        raise RegistryError(
            finding(
                UNKNOWN_DEVICE,
                "--devices",
                f"{shown(name) or 'an empty name'} is none of the {len(there)} GPUs",
            )
            for name in unknown
        )
    if from_environment:
        missing = (*missing, *_order(there, names, environ))
    return tuple(picked[index] for index in sorted(picked)), missing


def _found(nvml: Any) -> tuple[tuple[Device, ...], tuple[Missing, ...]]:
    found: list[Device] = []
    missing: list[Missing] = []
    for index in range(min(nvml.nvmlDeviceGetCount(), DEVICES)):
        try:
            handle = nvml.nvmlDeviceGetHandleByIndex(index)
        except nvml.NVMLError as error:
            missing.append(Missing("nvml", f"gpu {index}", reason(nvml, error)))
            continue
        architecture = _asked(nvml, nvml.nvmlDeviceGetArchitecture, handle)
        if architecture == nvml.NVML_DEVICE_ARCH_UNKNOWN:
            architecture = None
        found.append(
            Device(
                index,
                handle,
                _asked(nvml, nvml.nvmlDeviceGetUUID, handle) or "",
                _asked(nvml, nvml.nvmlDeviceGetName, handle) or "",
                architecture,
            )
        )
    return tuple(found), tuple(missing)


def _asked(nvml: Any, call: Any, handle: Any) -> Any:
    try:
        return call(handle)
    except nvml.NVMLError:
        return None


def _named(nvml: Any, name: str, there: tuple[Device, ...]) -> Device | None:
    if name.isascii() and name.isdigit() and len(name) <= 4:
        return next((one for one in there if one.index == int(name)), None)
    if name.startswith("MIG-"):
        return _parent(nvml, name, there)
    if not name.startswith("GPU-"):
        return None
    alike = [one for one in there if one.uuid.startswith(name)]
    return alike[0] if len(alike) == 1 else None


def _parent(nvml: Any, name: str, there: tuple[Device, ...]) -> Device | None:
    """The GPU that a slice is of: power is known of whole GPUs only."""
    try:
        slice_ = nvml.nvmlDeviceGetHandleByUUID(name)
        whole = nvml.nvmlDeviceGetDeviceHandleFromMigDeviceHandle(slice_)
        index = nvml.nvmlDeviceGetIndex(whole)
    except nvml.NVMLError:
        return None
    return next((one for one in there if one.index == index), None)


def _order(
    there: tuple[Device, ...], names: list[str], environ: Mapping[str, str]
) -> tuple[Missing, ...]:
    """Say where CUDA may count GPUs in another order than NVML does."""
    models = {one.model for one in there}
    by_number = any(name.isdigit() for name in names)
    if len(models) < 2 or not by_number:
        return ()
    if environ.get("CUDA_DEVICE_ORDER") == "PCI_BUS_ID":
        return ()
    why = f"CUDA may number these {len(models)} models of GPU in another order"
    remedy = "Set CUDA_DEVICE_ORDER=PCI_BUS_ID, or name them by UUID."
    return (Missing("nvml", _VARIABLE, why, remedy),)
