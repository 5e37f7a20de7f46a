"""Matrices as they are written: TRIMS's tables, and axes in YAML."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from registry.documents.findings import RegistryError
from tests.experiments.experiment_samples import TRIMS_TABLE, yaml_file
from tools.experiments.matrix_files import Matrix, read_axes, read_matrix, read_table
from tools.experiments.matrix_rows import applied, row_digest
from tools.experiments.spec import Spec, spec_of

HEADER = "outputfile,description,concurrent,iterations,distribution,P1,P2\n"


def base(**fields: Any) -> Spec:
    work = {"name": "w", "command": "run {item}", "items": ["a", "b", "c"]}
    return spec_of({"name": "x", "workloads": [work]} | fields, "test")


def refused(text: str) -> list[tuple[str, int | None, str]]:
    with pytest.raises(RegistryError) as error:
        read_table(text.encode(), "m.csv")
    return [(one.code, one.line, one.what) for one in error.value.findings]


def test_trims_tables_are_read_as_they_are() -> None:
    matrix = read_table(TRIMS_TABLE.encode(), "m.csv")
    assert [row.name for row in matrix.rows] == [
        "Pareto_xm1_l1_cncur5",
        "Exponential_rt0.5",
        "Uniform_min0_max1",
    ]
    assert matrix.skipped == ("Pareto_xm1_l3",)
    first, second, third = (applied(base(), row, "m.csv") for row in matrix.rows)
    description = "Pareto distribution xm=1 lambda=1 concurrent=5"
    assert first.description == description
    assert (first.concurrency, first.iterations, first.models_percentage) == (5, 4, 50)
    assert first.load is not None
    assert (first.load.distribution, first.load.params) == ("Pareto", (1.0, 1.0))
    assert second.load is not None
    assert second.load.params == (0.5,)
    assert third.description == "Uniform distribution, min=0 max=1"


def test_a_distribution_of_one_parameter_ignores_the_second_as_trims_does() -> None:
    text = HEADER + "a,d,1,1,exponential,0.5,7\nb,d,1,1,none,0.5,7\n"
    one, none = read_table(text.encode(), "m.csv").rows
    assert one.load["params"] == ["0.5"]
    assert "params" not in none.load


def test_all_problems_of_a_table_are_told_with_their_lines() -> None:
    text = (
        HEADER
        + "a,d,1,1,Pareto,1,1\n"
        + "A,same folder where case does not matter,1,1,Pareto,1,1\n"
        + ",no name,1,1,Pareto,1,1\n"
        + "../b,leads elsewhere,1,1,Pareto,1,1\n"
        + "c,a text, with a comma,1,1,Pareto,1,1\n"
    )
    found = refused(text)
    assert [(code, line) for code, line, _ in found] == [
        ("B051", 4),
        ("B051", 5),
        ("B052", 6),
        ("B051", 3),
    ]


@pytest.mark.parametrize(
    ("text", "code", "what"),
    [
        ("", "B052", "there is no header line"),
        ("outputfile,colour\na,red\n", "B050", '"colour" is no condition'),
        ("description\nx\n", "B052", "the column outputfile is missing"),
        ("outputfile,P1,P1\na,1,1\n", "B052", "a column is there twice"),
        (HEADER, "B051", "there is no row"),
        (HEADER + "//a,d,1,1,Pareto,1,1\n", "B051", "there is no row"),
        ('outputfile\n"a\n', "B052", "unexpected end of data"),
        ("outputfile\na/b\n", "B051", '"a/b" cannot be the name of a folder'),
        ("outputfile\n\0\n", "B052", "binary data"),
    ],
)
def test_tables_that_are_none(text: str, code: str, what: str) -> None:
    found = refused(text)
    assert any(one == code and what in said for one, _, said in found)


def test_a_value_that_does_not_fit_is_told_at_its_row() -> None:
    (row,) = read_table((HEADER + "a,d,many,1,none\n").encode(), "m.csv").rows
    with pytest.raises(RegistryError) as error:
        applied(base(), row, "m.csv")
    (found,) = error.value.findings
    assert (found.code, found.path, found.line) == ("B022", "m.csv", 2)
    assert found.what.startswith("a: concurrency:")


def test_eviction_goes_to_the_service_and_needs_one(tmp_path: Path) -> None:
    text = "outputfile,eviction,service_env.X,env.Y\na,lcu,1,2\n"
    (row,) = read_table(text.encode(), "m.csv").rows
    assert row.service_environment == {"UPRD_EVICTION_POLICY": "lcu", "X": "1"}
    with pytest.raises(RegistryError, match="B051 a: it has a condition for a service"):
        applied(base(), row, "m.csv")
    assert applied(base(service="s.yaml"), row, "m.csv").env == {"Y": "2"}


def axes(text: str) -> Matrix:
    return read_axes(text.encode(), Path("/m/grid.yaml"))


def test_axes_are_multiplied() -> None:
    matrix = axes(
        "schema: matrix/1\n"
        "experiment: spec.yaml\n"
        "axes:\n"
        "  concurrency: [1, 5]\n"
        "  distribution: [none, pareto]\n"
        "rows:\n"
        "  - {concurrency: 9, outputfile: extra}\n"
        "skip:\n"
        "  - {concurrency: 5, distribution: pareto}\n"
    )
    assert [row.name for row in matrix.rows] == [
        "concurrency-1_distribution-none",
        "concurrency-1_distribution-pareto",
        "concurrency-5_distribution-none",
        "extra",
    ]
    assert matrix.skipped == ("concurrency-5_distribution-pareto",)
    assert matrix.experiment == Path("/m/spec.yaml")
    assert applied(base(), matrix.rows[2], "grid.yaml").concurrency == 5


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("axes: {colour: [1]}\n", "B050"),
        ("axes: {}\n", "B051"),
        ("colour: red\n", "B053"),
        ("axes: {concurrency: 1}\n", "B055"),
        ("schema: matrix/2\n", "B055"),
        (
            "axes: {env.A: [x], env.B: [x]}\nrows: [{env.A: ' ', outputfile: .}]\n",
            "B051",
        ),
        (
            "axes:\n"
            + "".join(f"  env.{letter}: [{'1, ' * 9}2]\n" for letter in "ABCDE"),
            "B051",
        ),
        ("[1]\n", "Y008"),
    ],
)
def test_grids_that_are_refused(text: str, code: str) -> None:
    with pytest.raises(RegistryError) as error:
        axes(text)
    assert code in {one.code for one in error.value.findings}


def test_a_digest_changes_with_everything_that_decides(tmp_path: Path) -> None:
    (row,) = read_table((HEADER + "a,d,1,1,none\n").encode(), "m.csv").rows
    (other,) = read_table((HEADER + "a,d,2,1,none\n").encode(), "m.csv").rows
    service = yaml_file(tmp_path / "service.yaml", "name: a\n")
    specs = [base(), base(env={"A": "b"}), base(service=str(service))]
    digests = [row_digest(row, one) for one in specs] + [row_digest(other, base())]
    service.write_text("name: b\n")
    digests.append(row_digest(row, specs[2]))
    assert len(set(digests)) == 5
    assert row_digest(row, base()) == digests[0]


CELLS = st.text(alphabet='ab,/"\n\r 01.-é\0', max_size=6)


@settings(max_examples=50)
@given(
    st.lists(st.lists(CELLS, max_size=8).map(",".join), max_size=6),
    st.sampled_from(["", HEADER]),
)
def test_any_table_is_a_matrix_or_findings(lines: list[str], header: str) -> None:
    try:
        matrix = read_table((header + "\n".join(lines)).encode(), "m.csv")
    except RegistryError:
        return
    names = [row.name.lower() for row in matrix.rows]
    assert len(set(names)) == len(names)
    assert not any("/" in name or name.startswith(".") for name in names)


@settings(max_examples=50)
@given(st.binary(max_size=200))
def test_any_bytes_are_a_matrix_or_findings(
    tmp_path_factory: pytest.TempPathFactory, data: bytes
) -> None:
    for name in ("m.csv", "m.yaml"):
        path = tmp_path_factory.mktemp("matrix") / name
        path.write_bytes(data)
        with pytest.raises(RegistryError):
            read_matrix(path)
