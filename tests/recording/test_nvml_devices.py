"""Which GPUs are read, and what is said where there are none."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from registry.documents.findings import RegistryError
from tests.recording.conftest import Pretend, opened_gpus
from tools.recording.monitor import open_sources
from tools.sources.nvml import open_nvml


@pytest.mark.parametrize(
    ("devices", "indices"),
    [
        ("all", [0, 1, 2]),
        ("1", [1]),
        ("2,0", [0, 2]),
        (" 0 , 0 ", [0]),
        ("GPU-0000abc1-1111-2222-3333-444444444444", [1]),
        ("GPU-0000abc2", [2]),
        ("MIG-1", [1]),
    ],
)
def test_gpus_are_chosen(pretend: Pretend, devices: str, indices: list[int]) -> None:
    pretend("devices=3")
    source, missing = opened_gpus(devices)
    source.close()
    assert [one.index for one in source.devices] == indices
    assert {one.device for one in source.series} == {f"gpu {i}" for i in indices}
    assert not missing


@pytest.mark.parametrize(
    ("devices", "wrong"),
    [
        ("3", ["3"]),
        ("0,7,GPU-ffff", ["7", "GPU-ffff"]),
        ("GPU-0000abc", ["GPU-0000abc"]),  # not one alone
        ("MIG-9", ["MIG-9"]),
        ("0,,1", ["an empty name"]),
        ("gpu0", ["gpu0"]),
        ("٣", ["٣"]),
    ],
)
def test_gpus_that_are_not_there_are_refused(
    pretend: Pretend, devices: str, wrong: list[str]
) -> None:
    pretend("devices=3")
    with pytest.raises(RegistryError) as refused:
        open_nvml(devices)
    assert [(one.code, one.what) for one in refused.value.findings] == [
        ("O004", f"{name} is none of the 3 GPUs") for name in wrong
    ]


@pytest.mark.parametrize("devices", ["none", "", "-1"])
def test_no_gpu_may_be_chosen(pretend: Pretend, devices: str) -> None:
    pretend("")
    source, (lacking,) = open_nvml(devices)
    assert source is None
    assert (lacking.what, lacking.why) == ("", "no GPU is chosen")


@pytest.mark.parametrize(
    ("variable", "indices", "told"),
    [
        ("1", [1], None),
        ("2,GPU-0000abc0", [0, 2], None),
        ("1,9,0", [1], "CUDA_VISIBLE_DEVICES names 9, which is no GPU"),
    ],
)
def test_cuda_visible_devices_chooses(
    pretend: Pretend,
    monkeypatch: pytest.MonkeyPatch,
    variable: str,
    indices: list[int],
    told: str | None,
) -> None:
    pretend("devices=3")
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", variable)
    source, missing = opened_gpus()
    source.close()
    assert [one.index for one in source.devices] == indices
    assert [one.why.partition(";")[0] for one in missing] == ([told] if told else [])
    source, _ = opened_gpus("0")  # what is asked for goes before the environment
    source.close()
    assert [one.index for one in source.devices] == [0]


def test_cuda_may_count_in_another_order(
    pretend: Pretend, monkeypatch: pytest.MonkeyPatch
) -> None:
    pretend("devices=2;model1=NVIDIA T4")
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "0")
    source, (told,) = opened_gpus()
    source.close()
    assert told.why == "CUDA may number these 2 models of GPU in another order"
    monkeypatch.setenv("CUDA_DEVICE_ORDER", "PCI_BUS_ID")
    source, missing = opened_gpus()
    source.close()
    assert not missing


@pytest.mark.parametrize(
    ("code", "why", "remedy"),
    [
        (9, "NVIDIA's driver is not loaded", "Load the module nvidia."),
        (4, "permission denied", "/dev/nvidiactl"),
        (18, "the driver and its library are of different versions", "Restart"),
        (999, "unknown error", "Install NVIDIA's driver"),
    ],
)
def test_a_driver_that_does_not_work(
    pretend: Pretend, code: int, why: str, remedy: str
) -> None:
    pretend(f"init={code}")
    source, (lacking,) = open_nvml()
    assert source is None
    assert (lacking.what, lacking.why) == ("", why)
    assert remedy in lacking.remedy


def test_a_driver_that_stops_working_at_once(pretend: Pretend) -> None:
    pretend("nvmlDeviceGetCount_v2=999")
    source, (lacking,) = open_nvml()
    assert source is None
    assert lacking.why == "unknown error"


def test_without_a_driver(monkeypatch: pytest.MonkeyPatch) -> None:
    import pynvml

    monkeypatch.setattr(pynvml, "CDLL", _no_library)
    monkeypatch.setattr(pynvml, "nvmlLib", None)
    opened = open_sources(["nvml"])
    assert opened.absent == ("nvml",)
    (told,) = opened.findings()
    assert (told.code, told.severity) == ("O001", "error")
    assert told.what == (
        "the library of NVIDIA's driver, libnvidia-ml.so.1, is not there"
    )


def _no_library(name: str) -> None:
    raise OSError(f"{name}: cannot open shared object file")


def test_without_pynvml(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pynvml", None)
    source, (lacking,) = open_nvml()
    assert source is None
    assert lacking.why == "the package nvidia-ml-py is not installed"
    assert lacking.remedy == "pip install nvidia-ml-py"


def test_it_is_shut_down_if_something_unforeseen_happens(
    pretend: Pretend, monkeypatch: pytest.MonkeyPatch
) -> None:
    pretend("")

    def broken(*_: object) -> None:
        raise RuntimeError("unforeseen")

    monkeypatch.setattr("tools.sources.nvml.chosen", broken)
    with pytest.raises(RuntimeError, match="unforeseen"):
        open_nvml()


def test_the_real_way_to_load_it(library: Path) -> None:
    program = (
        "from tools.recording.monitor import open_sources\n"
        "with open_sources(['nvml']) as opened:\n"
        "    print([one.model for one in opened.sources[0].devices])\n"
    )
    environment = os.environ | {
        "LD_LIBRARY_PATH": str(library.parent),
        "NVML_STUB": "devices=2;model=NVIDIA L4",
    }
    done = subprocess.run(
        [sys.executable, "-c", program],
        env=environment,
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout == "['NVIDIA L4', 'NVIDIA L4']\n"
