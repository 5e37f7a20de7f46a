"""Names of processors, from the free text of 577 published results."""

from __future__ import annotations

import pytest

from tools.importers.cpu_names import CpuName, read_cpu_name, turbo_hertz


@pytest.mark.parametrize(
    ("text", "vendor", "model"),
    [
        ("Intel(R) Xeon(R) Gold 6136 CPU @ 3.00GHz", "intel", "Intel Xeon Gold 6136"),
        (
            "Intel Xeon Platinum 8280 @ 2.70GHz (Intel Turbo Boost up to 4.00 GHz)",
            "intel",
            "Intel Xeon Platinum 8280",
        ),
        ("Intel Xeon E5-2470 2.30 GHz (Turbo", "intel", "Intel Xeon E5-2470"),
        ("Six-Core AMD Opteron(r) Processor 8425 HE", "amd", "AMD Opteron 8425 HE"),
        ("2.6 GHz AMD Opteron 2435", "amd", "AMD Opteron 2435"),
        ("AMD EPYC 7601 2.20 GHz, Dell SKU [338-BNCG]", "amd", "AMD EPYC 7601"),
        ("Intel Pentium D Processor 930", "intel", "Intel Pentium D 930"),
        ("Intel Xeon 3.8GHz", "intel", "Intel Xeon"),
        ("Xeon L5420", "intel", "Xeon L5420"),
        ("Intel X3350", "intel", "Intel X3350"),
        ("AMD EPYC 7702 2.0Ghz", "amd", "AMD EPYC 7702"),
        ("AMD Ryzen™ Threadripper 1950X 16-Core Processor", "amd",
         "AMD Ryzen Threadripper 1950X"),
    ],
)  # fmt: skip
def test_names_are_taken_out_of_free_text(text: str, vendor: str, model: str) -> None:
    assert read_cpu_name(text) == CpuName(vendor, model)  # type: ignore[arg-type]


@pytest.mark.parametrize("text", ["", "E5-2660", "Ampere Altra Q80-30", "Intel or AMD"])
def test_a_vendor_is_never_guessed(text: str) -> None:
    assert read_cpu_name(text) is None


def test_a_name_of_nothing_but_fillers_is_none() -> None:
    assert read_cpu_name("(Intel) Processor, 2 GHz") is None


@pytest.mark.parametrize(
    ("texts", "hertz"),
    [
        (("18-Core, 2.30GHz (Turbo Boost up to 3.70 GHz)",), 3_700_000_000),
        (
            ("Turbo up to 3.0 GHz", "AMD Turbo CORE technology upto 3.00GHz"),
            3_000_000_000,
        ),
        (("up to 3.0 GHz", "up to 3.5 GHz"), None),
        (("2.40 GHz",), None),
    ],
)
def test_turbo_is_taken_if_texts_agree(
    texts: tuple[str, ...], hertz: int | None
) -> None:
    assert turbo_hertz(*texts) == hertz
