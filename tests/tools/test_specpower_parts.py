"""Memory, drives, supplies and systems from free text: clear facts only."""

from __future__ import annotations

from decimal import Decimal

import pytest

from tools.importers.specpower_parts import (
    memory,
    operating_system,
    power_supply,
    storage,
    system,
)


@pytest.mark.parametrize(
    ("details", "speed", "kind", "ranks"),
    [
        ("4GB 2Rx8 PC3L-10600R ECC", 1333, "ddr3", 2),
        ("16 GB 2Rx8 PC4-3200AA-R; all slots populated", 3200, "ddr4", 2),
        (
            "8GB 1Rx8 PC4-3200AA-R running at 2666. Slots A1-8 populated",
            2666,
            "ddr4",
            1,
        ),
        ("PC2-5300F 2Rx4 (CAS 5-5-5)", 667, "fb-dimm", 2),
        ("DDR2-667 CL5 FBDIMM; slots 1, 3 populated", 667, "fb-dimm", None),
        ("8 GB DDR4, registered, ECC, 2133 MHz, PC4-2133R", 2133, "ddr4", None),
        ("2GB 256M PC3-10600, DDR3-1333MHz CL9", 1333, "ddr3", None),
        ("DDR3 ECC FB-DIMM, 1066 MHZ", None, None, None),
        ("PC3-10600E and PC3-8500E", None, "ddr3", None),
        ("PC4-21300 and PC5-4800", None, None, None),
        ("", None, None, None),
    ],
)
def test_memory_modules(
    details: str, speed: int | None, kind: str | None, ranks: int | None
) -> None:
    found = memory(Decimal(16), "4 x 4096 MB", details)
    assert (found.speed_mts, found.type, found.ranks) == (speed, kind, ranks)
    assert found.bytes == 16 * 2**30


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("4 x 4096 MB", 4),
        ("4x4GB", 4),
        ("2x4096 MB, 4x2048 MB", 6),
        ("4x4096MB PC2-5300F", 4),
        ("4 x 4096 GB", None),  # a slip of the pen on real pages
        ("16 x 8182 MB", None),
        ("some", None),
    ],
)
def test_modules_are_counted_if_they_add_up(text: str, count: int | None) -> None:
    assert memory(Decimal(16), text, "").dimms == count


@pytest.mark.parametrize(
    ("text", "kind", "count", "size"),
    [
        ('1 x 160GB SSD 2.5" SATA, Huawei P/N 02310KSX', "sata-ssd", 1, 160 * 10**9),
        ("1 x HPE 480GB SATA 6G M.2 2280 (875498-B21)", "sata-ssd", 1, 480 * 10**9),
        ("4 x Sun 146GB 10K RPM SAS (Sun P/N 540-7152)", "sas-hdd", 4, 146 * 10**9),
        ("2 x 146.8GB 15K RPM Ultra 320 SCSI", "sas-hdd", 2, 146_800_000_000),
        ("1 x 1TB 7200 RPM SATA", "hdd", 1, 10**12),
        ("1 x 14GB SAS SSD", "sas-ssd", 1, 14 * 10**9),
        ("1 x 120G SATA SSD Quanta", "sata-ssd", 1, None),
    ],
)
def test_drives(text: str, kind: str, count: int, size: int | None) -> None:
    found = storage(text)
    assert found is not None
    assert (found.type, found.count, found.bytes) == (kind, count, size)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "1 x 250GB SATA",
        "SATA DOM 128GB P/N 0202A0UT",
        "1 x M.2 SSD 240GB",
        "1 x adapter; 1 x 480GB SATA SSD",
        "1 x 33 GB LUN of 2 x 300 GB 15K RPM SAS",
        "1 x HPE Dual 150GB SATA M.2 SSD",
    ],
)
def test_drives_in_doubt_are_absent(text: str) -> None:
    assert storage(text) is None


def test_power_supplies() -> None:
    found = power_supply("2 x 700W")
    assert found is not None
    assert (found.count, found.watts) == (2, 700)
    assert power_supply("None") is None
    assert power_supply("1 x 700 + 1 x 750") is None


@pytest.mark.parametrize(
    ("vendor", "model", "shown_vendor", "shown_model"),
    [
        ("Dell Inc.", "PowerEdge M520 (Intel Xeon E5-2470 (2.30 GHz)",
         "Dell Inc.", "PowerEdge M520"),
        ("Hitachi, Ltd.", "HA8000/RS110 (CK1)", "Hitachi, Ltd.", "HA8000/RS110 (CK1)"),
        ("Plat'Home", "Superdome Flex 280 - 8 Socket", "PlatHome",
         "Superdome Flex 280 8 Socket"),
        ("Sugon", "A620-G30(AMD EPYC 7351)", "Sugon", "A620-G30"),
    ],
)  # fmt: skip
def test_names_of_systems(
    vendor: str, model: str, shown_vendor: str, shown_model: str
) -> None:
    found = system(vendor, model, "1U", 1)
    assert (found.vendor, found.model) == (shown_vendor, shown_model)


@pytest.mark.parametrize(
    ("text", "nodes", "kind"),
    [
        ("1U", 1, "rack-1u"),
        ("7U", 1, "rack-5u-or-more"),
        ("1 of 2 Blades in 1U Rackmount Frame", 1, "blade"),
        ("Tower", 1, "tower"),
        ("", 1, "unknown"),
        ("10U", 16, "multi-node"),
    ],
)
def test_form_factors(text: str, nodes: int, kind: str) -> None:
    assert system("Vendor", "Model", text, nodes).form_factor == kind


@pytest.mark.parametrize(
    ("name", "version", "expected"),
    [
        ("Microsoft Windows Server 2012 R2", "6.3",
         ("windows", "windows-server", None, None)),
        ("Microsoft Windows 8.1 Professional", "", ("windows", None, None, None)),
        ("SUSE Linux Enterprise Server 12 SP4", "4.12.14-94.41-default",
         ("linux", "suse", "12.4", "4.12.14")),
        ("SUSE Linux Enterprise Server 10 (x86_64)", "", ("linux", "suse", "10", None)),
        ("Red Hat Enterprise Linux Server 7.6 (Maipo)", "3.10.0-957",
         ("linux", "red-hat", "7.6", "3.10.0")),
        ("Ubuntu 18.04.3 LTS", "", ("linux", "ubuntu", "18.04", None)),
        ("CentOS Linux release eight", "", ("linux", "centos", None, None)),
    ],
)  # fmt: skip
def test_operating_systems(
    name: str, version: str, expected: tuple[str | None, ...]
) -> None:
    found = operating_system(name, version)
    assert found is not None
    assert (found.family, found.distribution, found.version, found.kernel) == expected


def test_unknown_operating_systems_are_absent() -> None:
    assert operating_system("Mac OS X Server", "10.5") is None
