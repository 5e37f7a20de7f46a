"""SPEC's text page, on pages made up here: what is read, and what is refused."""

from __future__ import annotations

from decimal import Decimal

import pytest

from registry.documents.findings import RegistryError
from tools.bundles.draft import files
from tools.importers.disclosure import Disclosure
from tools.importers.specpower import draft_of, spec_of, tables_of
from tools.importers.specpower_text import read_text

NAME = "power_ssj2008-20190101-00001.txt"
LOADS = "\n".join(
    f"{load:>12}% | {load}.1% | {load * 100_000:,} | {50 + load:,} | 9"
    for load in range(100, 0, -10)
)
OPERATIONS = sum(range(10, 101, 10)) * 100_000
SCORE = round(OPERATIONS / (sum(range(60, 151, 10)) + 50))
PAGE = f"""
                               SPECpower_ssj2008
      Copyright (C) 2007-2019 Standard Performance Evaluation Corporation


Example Corp. Rack 1 (Intel Xeon Gold 6248)
SPECpower_ssj2008 = {SCORE:,} overall ssj_ops/watt
               Test Location:  Sampletown, Nowhere
               Test Date:  Nov 30, 2018
             Publication:  Jan 2, 2019

                           Benchmark Results Summary

{LOADS}
                  Active Idle |             0 |           50 |             0
                  sum of ssj_ops / sum of power = |         {SCORE:,}

                               System Under Test

                                  Set: 'sut'

            # of Identical Nodes:  1

                                   HARDWARE
                 Hardware Vendor:  Example Corp.
                           Model:  Rack 1 (Intel Xeon Gold 6248, 2.5 GHz)
                     Form Factor:  1U
                        CPU Name:  Intel Xeon Gold 6248 2.50 GHz (Turbo Boost
                                   up to 3.90 GHz)
             CPU Characteristics:  20-Core
             CPU Frequency (MHz):  2500
                  CPU(s) Enabled:  40 cores, 2 chips, 20 cores/chip
                Hardware Threads:  80 (2 / core)
              Memory Amount (GB):  192
              # and size of DIMM:  12 x 16 GB
                  Memory Details:  16GB 2Rx8 PC4-2933Y-R; slots A1 to B6
 Power Supply Quantity and Rating  2 x 750
                             (W):
                      Disk Drive:  1 x 240 GB SATA SSD, S/N 12345678

                                   SOFTWARE
           Operating System (OS):  SUSE Linux Enterprise Server 12 SP4
                      OS Version:  4.12.14-94.41-default

                            Boot Firmware Settings

                   Serial Number:  91HB22770
"""


def read(text: str = PAGE, name: str = NAME) -> Disclosure:
    return read_text(text.encode("latin-1"), name)


def refused(text: str, name: str = NAME) -> list[str]:
    with pytest.raises(RegistryError) as error:
        files(draft_of(read(text, name), 0))
    return [one.code for one in error.value.findings]


def test_a_page_becomes_a_spec_of_plain_facts() -> None:
    spec = spec_of(read())
    assert spec.machine == "ssj2008-20190101-00001"
    assert (spec.system.vendor, spec.system.model) == ("Example Corp.", "Rack 1")
    assert spec.system.form_factor == "rack-1u"
    assert (spec.cpu.vendor, spec.cpu.model) == ("intel", "Intel Xeon Gold 6248")
    assert (spec.cpu.cores, spec.cpu.sockets.populated, spec.logical_cpus) == (
        40,
        2,
        80,
    )
    assert spec.cpu.frequency.base_hertz == 2_500_000_000
    assert spec.cpu.frequency.max_hertz == 3_900_000_000
    assert spec.memory.bytes == 192 * 2**30
    assert (spec.memory.dimms, spec.memory.speed_mts) == (12, 2933)
    assert spec.supply_watts == 1500
    assert spec.storage is not None
    assert spec.storage[0].bytes == 240 * 10**9
    assert spec.os is not None
    assert spec.os.kernel == "4.12.14"


def test_nothing_but_named_fields_is_read() -> None:
    public = b"".join(files(draft_of(read(), 0)).values())
    for word in (b"Sampletown", b"91HB22770", b"12345678", b"slots"):
        assert word not in public


def test_levels_keep_the_order_and_figures_of_the_page() -> None:
    tables = tables_of(read())
    assert tables["levels"]["wall_watts"].to_list() == [*range(150, 50, -10), 50]
    runs = tables["runs"]
    assert runs["workload"].to_list() == ["ssj2008"] * 10 + ["idle"]
    assert runs["load_achieved_ratio"].to_list()[:2] == [1.001, 0.901]
    assert runs["performance"].to_list()[0] == 10_000_000


def test_several_nodes_are_metered_together() -> None:
    result = read(PAGE.replace("Nodes:  1", "Nodes:  4"))
    spec = spec_of(result)
    assert (spec.nodes.count, spec.nodes.shared_power) == (4, True)
    assert spec.cpu.cores == 40
    assert tables_of(result)["levels"]["chassis_watts"].to_list()[0] == 150


@pytest.mark.parametrize(
    ("old", "new", "code"),
    [
        (f"= {SCORE:,} overall", "= NC overall", "L010"),
        ("SPECpower_ssj2008\n", "Another benchmark\n", "L011"),
        ("CPU(s) Enabled:  40", "CPU(s) Enabled:  many", "L011"),
        ("Nov 30, 2018", "Smarch 13, 2018", "L011"),
        ("| 60 |", "| 6.0.0 |", "L011"),
        ("           50 |             0", "           0 |             0", "L012"),
        ("20 cores/chip", "40 cores/chip", "L012"),
        ("80 (2 / core)", "80 (1 / core)", "L012"),
        ("Nov 30, 2018", "Nov 30, 2019", "L012"),
        ("10,000,000", "30,000,000", "L012"),
        ("Jan 2, 2019", "Unpublished", "L014"),
        ("CPU Name:  Intel Xeon Gold", "CPU Name:  Gold", "L015"),
        ("Hardware Vendor:  Example Corp.", "Hardware Vendor:  None", "L015"),
        ("Quantity and Rating  2 x", "Quantity and Rating  99 x", "L015"),
    ],
)
def test_a_page_is_refused_with_the_reason(old: str, new: str, code: str) -> None:
    assert old in PAGE
    assert code in refused(PAGE.replace(old, new))


def test_nodes_that_differ_are_refused() -> None:
    start = PAGE.index("                                  Set: 'sut'")
    end = PAGE.index("                            Boot Firmware")
    assert refused(PAGE[:end] + PAGE[start:end] + PAGE[end:]) == ["L013"]


def test_a_name_without_an_id_is_refused() -> None:
    assert refused(PAGE, "page.txt") == ["L011"]


def test_a_page_of_megabytes_is_refused_unread() -> None:
    assert refused(PAGE + "x" * 1_000_001) == ["L011"]


def test_a_number_too_long_for_any_machine_is_refused() -> None:
    assert refused(
        PAGE.replace("CPU(s) Enabled:  40", "CPU(s) Enabled:  " + "4" * 5000)
    )


def test_a_result_without_score_is_taken_if_its_levels_are_there() -> None:
    lines = [x for x in PAGE.splitlines() if "sum of power" not in x]
    result = read("\n".join(lines).replace(f"= {SCORE:,} overall", "="))
    assert result.score is None
    assert result.levels[-1].watts == Decimal(50)
