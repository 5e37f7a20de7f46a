"""All published results through both readers: the same facts, or a reason."""

from __future__ import annotations

import random
from collections import Counter
from pathlib import Path

import pytest

from registry.documents.findings import Finding, RegistryError
from tools.bundles.draft import files
from tools.importers.disclosure import Disclosure
from tools.importers.sources import read_sources
from tools.importers.specpower import draft_of
from tools.importers.specpower_csv import read_csv
from tools.importers.specpower_text import read_text

Imported = dict[str, dict[str, bytes] | tuple[Finding, ...]]

# Why results that cannot be used are refused, as SPEC's pages show them.
REFUSED_PAGES = {
    "20090519-00163": "L012",
    "20130906-00631": "L010",
    "20131029-00644": "L010",
    "20140415-00656": "L010",
    "20140615-00658": "L010",
    "20140827-00669": "L010",
    "20150707-00696": "L010",
    "20180716-00832": "L012",
    "20190911-01005": "L014",
}


def imported(path: Path) -> Imported:
    made: Imported = {}
    for one in read_sources([path]):
        if isinstance(one, Disclosure):
            made[one.id] = files(draft_of(one, 0))
        else:
            made[one[0]] = one[1]
    return made


def reasons(made: Imported) -> dict[str, str]:
    return {
        id_: found[0].code for id_, found in made.items() if isinstance(found, tuple)
    }


@pytest.fixture(scope="module")
def tables(shared_data: Path) -> Imported:
    return imported(shared_data / "specpower")


@pytest.fixture(scope="module")
def pages(shared_data: Path) -> Imported:
    return imported(shared_data / "specpower" / "raw")


def test_every_row_is_a_bundle_or_refused_with_a_reason(tables: Imported) -> None:
    assert len(tables) == 577
    assert Counter(reasons(tables).values()) == {"L012": 3, "L014": 1}


def test_every_page_is_a_bundle_or_refused_with_a_reason(pages: Imported) -> None:
    assert len(pages) == 60
    assert reasons(pages) == REFUSED_PAGES


def test_pages_and_rows_give_the_same_bytes(tables: Imported, pages: Imported) -> None:
    both = [id_ for id_ in pages if id_ in tables and id_ not in REFUSED_PAGES]
    assert len(both) == 51
    for id_ in both:
        assert pages[id_] == tables[id_], id_


def test_rows_of_withdrawn_results_are_refused(shared_data: Path) -> None:
    folder = shared_data / "specpower"
    header, *rows = (folder / "specpower_noncompliant.csv").read_bytes().splitlines()
    assert len(rows) >= 39
    levels = (folder / "specpower_levels.csv").read_bytes()
    found = dict(read_csv(b"\n".join([header, *rows]), levels, "nc.csv"))
    assert all(isinstance(one, tuple) for one in found.values())
    codes = {one[0].code for one in found.values() if isinstance(one, tuple)}
    assert codes == {"L010"}


def test_no_damage_to_a_page_is_a_traceback(shared_data: Path) -> None:
    chance = random.Random(7)
    names = ("20120417-00451", "20100712-00273", "20080116-00034")
    outcomes: Counter[str] = Counter()
    for id_ in names:
        name = f"power_ssj2008-{id_}.txt"
        whole = (shared_data / "specpower" / "raw" / name).read_bytes()
        for _ in range(150):
            try:
                files(draft_of(read_text(damaged(whole, chance), name), 0))
                outcomes["made"] += 1
            except RegistryError:
                outcomes["refused"] += 1
    assert min(outcomes["made"], outcomes["refused"]) > 20


def damaged(data: bytes, chance: random.Random) -> bytes:
    """The page with a few bytes changed, cut out, or the end missing."""
    page = bytearray(data)
    for _ in range(chance.choice((1, 3, 10))):
        at = chance.randrange(min(len(page), 6000)) if page else 0
        what = chance.random()
        if what < 0.6 and page:
            page[at] = chance.choice(b"0123456789.,-x% |:\n\xff\x00Z")
        elif what < 0.95:
            del page[at : at + chance.randrange(1, 120)]
        else:
            del page[at:]
    return bytes(page)
