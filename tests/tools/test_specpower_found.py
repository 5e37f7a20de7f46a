"""From sources to a founded registry: where results are found, and who signs them."""

from __future__ import annotations

import csv
import io
from pathlib import Path

import pytest

from registry.documents.findings import RegistryError
from registry.gate.directory_tree import directory_tree
from registry.gate.verify import verify_registry
from tests.tools.test_specpower_text import NAME, PAGE
from tools.bundles.founding import found
from tools.importers.disclosure import Disclosure
from tools.importers.sources import chosen, read_ids, read_sources
from tools.importers.specpower import draft_of
from tools.importers.specpower_csv import read_csv

OTHER = "power_ssj2008-20190101-00002.txt"
NOW = 1_790_000_000
RESULT = {
    "result_id": "power_ssj2008-20190101-00001",
    "accepted": "yes",
    "publication": "Jan 2, 2019",
    "test_date": "Nov 30, 2018",
    "hw_vendor": "Example Corp.",
    "model": "Rack 1",
    "form_factor": "1U",
    "cpu_name": "Intel Xeon Gold 6248 2.50 GHz",
    "cpu_characteristics": "",
    "cpu_mhz": "2500.0",
    "cores": "40",
    "chips": "2",
    "cores_per_chip": "20",
    "threads": "80",
    "threads_per_core": "2",
    "memory_gb": "192.0",
    "dimms": "",
    "memory_details": "",
    "psu": "",
    "disk": "",
    "os": "",
    "os_version": "",
    "nodes": "1",
    "sum_ratio": "",
}
LEVELS = [
    {
        "result_id": RESULT["result_id"],
        "target_load_pct": str(load),
        "actual_load_pct": f"{load}.0",
        "ssj_ops": f"{load * 1000}.0",
        "avg_power_w": f"{50 + load}.0",
    }
    for load in range(0, 101, 10)
]


def table(*rows: dict[str, str]) -> bytes:
    text = io.StringIO()
    writer = csv.DictWriter(text, list(rows[0]), lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return text.getvalue().encode()


def code_of(error: pytest.ExceptionInfo[RegistryError]) -> str:
    return error.value.findings[0].code


def pages(folder: Path) -> Path:
    folder.mkdir()
    for name, watts in ((NAME, "| 60 |"), (OTHER, "| 61 |")):
        (folder / name).write_text(PAGE.replace("| 60 |", watts), "ascii")
    (folder / "power_ssj2008-odd.txt").write_text(PAGE, "ascii")
    return folder


def test_founding_signs_all_and_forgets(tmp_path: Path) -> None:
    sources = read_sources([pages(tmp_path / "pages")])
    results, problems = chosen(sources, ("20190101-00001", "20190101-00002"))
    assert problems == []
    root = tmp_path / "registry"
    fingerprint = found([draft_of(one, 0) for one in results], root, NOW)
    assert fingerprint.startswith("SHA256:")
    tree = directory_tree(root)
    report = verify_registry(tree, arrivals={}, now=NOW, expectations=False)
    assert report.bundles == 2
    assert [one for one in report.findings if one.code != "D003"] == []
    early = verify_registry(tree, arrivals={}, now=NOW - 1, expectations=False)
    assert len([one for one in early.findings if one.severity == "error"]) == 2
    with pytest.raises(RegistryError) as error:
        found([draft_of(one, 0) for one in results], root, NOW)
    assert code_of(error) == "L064"


def test_pages_and_pairs_are_found_and_filtered(tmp_path: Path) -> None:
    folder = pages(tmp_path / "pages")
    everything = list(read_sources([folder]))
    assert sum(isinstance(one, Disclosure) for one in everything) == 2
    assert [one[0] for one in everything if isinstance(one, tuple)] == [
        "power_ssj2008-odd.txt"
    ]
    wanted = frozenset({"20190101-00002"})
    single = [x for x in read_sources([folder], wanted) if isinstance(x, Disclosure)]
    assert [one.id for one in single] == ["20190101-00002"]
    assert list(read_sources([folder / NAME])) != []
    (tmp_path / "specpower_results.csv").write_bytes(table(RESULT))
    (tmp_path / "specpower_levels.csv").write_bytes(table(*LEVELS))
    for path in (tmp_path, tmp_path / "specpower_results.csv"):
        (result,) = read_sources([path])
        assert isinstance(result, Disclosure)
        assert [level.target_percent for level in result.levels][:2] == [100, 90]
        assert list(read_sources([path], wanted)) == []


def test_a_place_without_results_is_refused(tmp_path: Path) -> None:
    with pytest.raises(RegistryError) as error:
        list(read_sources([tmp_path]))
    assert code_of(error) == "L011"


def test_a_wanted_result_that_is_nowhere_is_refused() -> None:
    with pytest.raises(RegistryError, match="20190101-00009"):
        chosen([], ("20190101-00009",))


def test_lists_of_ids_have_remarks_but_no_repetitions() -> None:
    assert read_ids("# all\n20190101-00001  # one\n\n", "ids") == ("20190101-00001",)
    for text in ("20190101-00001\n20190101-00001\n", "server-a\n"):
        with pytest.raises(RegistryError) as error:
            read_ids(text, "ids")
        assert code_of(error) == "L011"


@pytest.mark.parametrize(
    ("results", "levels"),
    [
        (table(RESULT).replace(b"cpu_mhz", b"mhz"), table(*LEVELS)),
        (table(RESULT), table(*LEVELS).replace(b"ssj_ops", b"ops")),
        (table(RESULT) + b"too,few\n", table(*LEVELS)),
        (table(RESULT) + b'"never closed', table(*LEVELS)),
        (table(RESULT | {"result_id": "server-a"}), table(*LEVELS)),
        (table(RESULT), table(*LEVELS).replace(b"150.0", b"1e9")),
    ],
    ids=["column", "level-column", "cells", "quote", "id", "number"],
)
def test_a_pair_that_is_none_is_refused(results: bytes, levels: bytes) -> None:
    with pytest.raises(RegistryError) as error:
        list(read_csv(results, levels, "results.csv"))
    assert code_of(error) == "L011"


@pytest.mark.parametrize(
    ("change", "code"),
    [
        ({"accepted": "no"}, "L010"),
        ({"cores": "four"}, "L011"),
        ({"cores": "20"}, "L012"),
        ({"publication": "Unpublished"}, "L014"),
    ],
)
def test_a_row_is_refused_with_the_reason(change: dict[str, str], code: str) -> None:
    ((id_, found_),) = read_csv(table(RESULT | change), table(*LEVELS), "results.csv")
    assert id_ == "20190101-00001"
    assert isinstance(found_, tuple)
    assert found_[0].code == code
    ((_, usable),) = read_csv(table(RESULT), table(*LEVELS), "results.csv")
    assert isinstance(usable, Disclosure)
