"""Names of workloads and their parameters."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from registry.documents.columns import column
from registry.documents.findings import RegistryError
from registry.documents.workloads import is_label
from tools.workloads.catalogue import BUILTINS, read_workload
from tools.workloads.requirements import lacking, required
from tools.workloads.work import Work


def refused(text: str) -> list[tuple[str, str]]:
    with pytest.raises(RegistryError) as error:
        read_workload(text)
    return [(one.code, one.what) for one in error.value.findings]


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("numpy:matmul", {"size": 512, "type": "float64"}),
        ("numpy:matmul:64", {"size": 64, "type": "float64"}),
        ("numpy:matmul:64:float32", {"size": 64, "type": "float32"}),
        ("numpy:matmul:type=float32", {"size": 512, "type": "float32"}),
        ("sklearn:kmeans:clusters=3:rows=100", {"rows": 100, "clusters": 3}),
        ("sleep:0", {"seconds": 0.0}),
        ("sleep:0.25", {"seconds": 0.25}),
        ("onnx:a=b:c.onnx", {"file": "a=b:c.onnx"}),
    ],
)
def test_values_by_place_and_by_name(text: str, values: dict[str, Any]) -> None:
    found = read_workload(text).values
    assert {name: found[name] for name in values} == values


def test_every_wrong_value_is_named() -> None:
    assert refused("numpy:matmul:7:half:x") == [
        ("W003", "size is a whole number from 8 to 32768"),
        ("W003", "type is one of float32, float64"),
        ("W003", "'x' is none of size, type"),
    ]
    assert refused("numpy:matmul:64:size=64") == [("W003", "size is given twice")]
    assert refused("numpy:fft:sise=4") == [("W003", "'sise=4' is none of size")]
    assert refused("sleep:nan") == [("W003", "seconds is a number from 0 to 86400")]
    assert refused("onnx:") == [("W003", "file is missing")]
    assert refused("onnx") == [("W003", "file is missing")]


@pytest.mark.parametrize("text", ["", "numpy", "numpy:matmulx", ":", "x\n", "onnxx:a"])
def test_unknown_names_are_told_what_there_is(text: str) -> None:
    ((code, what),) = refused(text)
    assert code == "W002"
    assert what == f"there are {', '.join(BUILTINS)}"


def test_a_name_of_any_length_is_refused() -> None:
    assert refused("onnx:" + "a" * 5000)[0][0] == "W002"


@given(text=st.text(max_size=40), name=st.sampled_from(list(BUILTINS)))
@settings(max_examples=60)
def test_any_text_is_read_or_refused(text: str, name: str) -> None:
    chosen, codes = None, set()
    try:
        chosen = read_workload(f"{name}:{text}")
    except RegistryError as error:
        codes = {one.code for one in error.findings}
    assert codes <= {"W002", "W003"}
    assert bool(codes) == (chosen is None)
    if chosen is not None:
        assert set(chosen.values) == {one.name for one in chosen.builtin.parameters}


def test_units_and_labels_are_those_of_the_catalogues() -> None:
    units = getattr(column("performance_unit", "runs"), "values", ())
    assert "flops" in units
    for one in BUILTINS.values():
        assert set(one.unit.split(" or ")) <= set(units)
        assert is_label(one.label)


def test_every_default_can_be_read_again() -> None:
    for one in BUILTINS.values():
        for part in one.parameters:
            if part.default is not None:
                assert part.read(str(part.default)) == part.default


@pytest.mark.parametrize("name", [n for n in BUILTINS if not n.startswith("sklearn")])
def test_every_workload_is_where_the_table_says(name: str) -> None:
    one = BUILTINS[name]
    if "torch" not in one.missing:
        assert issubclass(one.load(), Work)  # type: ignore[arg-type]


def test_what_is_not_installed_is_told_with_its_remedy(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    import sys

    assert lacking(("json", "no_such_package")) == ("no_such_package",)
    monkeypatch.setitem(sys.modules, "onnxruntime", None)
    with pytest.raises(RegistryError) as error:
        BUILTINS["onnx"].load()
    (found,) = error.value.findings
    assert (found.code, found.path) == ("W001", "onnxruntime")
    assert found.fix == "pip install 'power-dataset-registry[workloads]'"


def test_what_is_installed_but_does_not_load() -> None:
    with pytest.raises(RegistryError) as error:
        required("no_such.package")
    assert error.value.findings[0].code == "W001"
