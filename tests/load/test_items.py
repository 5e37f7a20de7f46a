"""Items: numbers, names and files of names, and choices among them."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from registry.documents.findings import RegistryError
from tests.load.outcomes import outcome
from tools.load.items import Item, read_items, select
from tools.load.weight_files import read_weights

if TYPE_CHECKING:
    from collections.abc import Sequence

MODELS = [Item(name) for name in ("vgg16_1.0", "alexnet_1.0", "vgg19_1.0", "resnet_2")]


def names(items: Sequence[Item]) -> list[str]:
    return [item.name for item in items]


def test_a_number_names_items_whose_order_by_name_is_their_own() -> None:
    found = names(read_items("12"))
    assert (found[0], found[11], found) == ("item-01", "item-12", sorted(found))


def test_names_with_commas() -> None:
    assert names(read_items(" b, a ,c")) == ["b", "a", "c"]
    many = [f"model-{number:03}" for number in range(90)]  # longer than a file's name
    assert names(read_items(",".join(many))) == many


@pytest.mark.parametrize(
    ("file", "text"),
    [
        ("models.txt", "# a comment\nb\n\n a \n"),
        ("models", "b\na\n"),
        ("models.csv", "name,bytes,other\nb,,x\na,,y\n"),
        ("models.json", '["b", "a"]'),
        ("models.json", '{"models": [{"name": "b"}, "a"]}'),
        ("models.yaml", "items:\n- b  # the hottest\n- name: a\n"),
    ],
)
def test_files_of_names(tmp_path: Path, file: str, text: str) -> None:
    (tmp_path / file).write_text(text)
    assert names(read_items(str(tmp_path / file))) == ["b", "a"]


@pytest.mark.parametrize(
    ("file", "text"),
    [
        ("models.csv", "name,bytes\nb,12\na,\n"),
        ("models.json", '[{"name": "b", "bytes": 12}, "a"]'),
        ("models.yml", "models:\n- name: b\n  bytes: 12\n- a\n"),
    ],
)
def test_sizes(tmp_path: Path, file: str, text: str) -> None:
    (tmp_path / file).write_text(text)
    assert read_items(str(tmp_path / file)) == (Item("b", 12), Item("a"))


@pytest.mark.parametrize(
    ("file", "text", "code", "line", "what"),
    [
        ("a.csv", "nam\nb\n", "Q004", None, "no column is called name"),
        ("a.csv", "name\nb\nb\n", "Q004", 3, "a name is there twice: b"),
        ("a.csv", 'name\n"b\n', "Q004", 2, "unexpected end of data"),
        (
            "a.csv",
            "name,bytes\nb,-1\n",
            "Q004",
            2,
            "bytes is no whole number from 0: -1",
        ),
        ("a.txt", "x" * 300, "Q004", 1, "a name has 300 characters, at most 256"),
        (
            "a.txt",
            "a\x1b[31m\n",
            "Q004",
            1,
            "a name has characters that cannot be print",
        ),
        ("a.txt", "", "Q004", None, "0 items, from 1 to 100000 are possible"),
        ("a.txt", b"\xff", "Q004", None, "no UTF-8 text at byte 0"),
        ("a.json", "{}", "Q004", None, "no list of items, neither alone nor under"),
        ("a.json", "[3]", "Q004", None, "no name and no mapping of name and bytes: 3"),
        ("a.json", '[{"bytes": 3}]', "Q004", None, "a name is no text: None"),
        (
            "a.json",
            '[{"name":"a","x":3}]',
            "Q004",
            None,
            "no name and no mapping of na",
        ),
        ("a.json", "[", "J003", 1, "Expecting value"),
        ("a.yaml", "items: &x\n", "Y006", 1, "an anchor"),
    ],
)
def test_a_bad_file_is_told(
    tmp_path: Path, file: str, text: str | bytes, code: str, line: int | None, what: str
) -> None:
    path = tmp_path / file
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    with pytest.raises(RegistryError) as refused:
        read_items(str(path))
    found = refused.value.findings[0]
    assert (found.code, found.path, found.line) == (code, str(path), line)
    assert found.what.startswith(what)


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("0", "0 items, from 1 to 100000 are possible"),
        ("100001", "100001 items, from 1 to 100000 are possible"),
        ("", "a name is empty or has space around it: ''"),
        ("a,,b", "a name is empty or has space around it: ''"),
        ("a,b,a", "a name is there twice: a"),
    ],
)
def test_bad_texts_are_told(text: str, what: str) -> None:
    with pytest.raises(RegistryError) as refused:
        read_items(text)
    found = refused.value.findings[0]
    assert (found.code, found.path, found.what) == ("Q004", "--items", what)


def test_a_missing_file_is_no_item() -> None:
    with pytest.raises(FileNotFoundError):
        read_items("missing.csv")


@pytest.mark.parametrize(
    ("models", "chosen"),
    [
        ("alexnet_1.0", ["alexnet_1.0"]),
        ("alexnet_1.0,vgg16_1.0", ["vgg16_1.0", "alexnet_1.0"]),
        ("vgg", ["vgg16_1.0", "vgg19_1.0"]),
        ("^vgg1[69],resnet", ["vgg16_1.0", "vgg19_1.0", "resnet_2"]),
        (r"\d\.0$", ["vgg16_1.0", "alexnet_1.0", "vgg19_1.0"]),
    ],
)
def test_all_models_that_match_are_chosen(models: str, chosen: list[str]) -> None:
    assert names(select(MODELS, models, None)) == chosen


def test_a_name_is_itself_before_it_is_an_expression() -> None:
    items = [Item("a.c"), Item("abc")]
    assert names(select(items, "a.c", None)) == ["a.c"]


@pytest.mark.parametrize(
    ("percentage", "chosen"),
    [
        ("1.0", 100),
        ("1", 100),
        ("0.5", 50),
        ("0.07", 7),  # 100 × 0.07 is more than 7 in floats
        ("0.071", 8),
        ("10", 10),
        ("100", 100),
        ("1.5", 2),
        ("0.0001", 1),
    ],
)
def test_a_share_of_the_models_by_name_rounded_up(percentage: str, chosen: int) -> None:
    items = [Item(f"m{n:03}") for n in reversed(range(100))]
    found = select(items, None, percentage)
    assert len(found) == chosen
    assert sorted(names(found)) == [f"m{n:03}" for n in range(chosen)]
    assert names(found) == sorted(names(found), reverse=True)  # ranks stay


@pytest.mark.parametrize(
    ("models", "percentage", "what"),
    [
        ("lenet", None, "no item is called or matches lenet"),
        ("vgg,", None, "no item is called or matches nothing"),
        ("(", None, "( is no regular expression: "),
        (None, "0", "no share of the items: 0"),
        (None, "101", "no share of the items: 101"),
        (None, "-1", "no share of the items: -1"),
        (None, "nan", "no share of the items: nan"),
        (None, "", "no share of the items: nothing"),
    ],
)
def test_a_choice_of_nothing_is_told(
    models: str | None, percentage: str | None, what: str
) -> None:
    with pytest.raises(RegistryError) as refused:
        select(MODELS, models, percentage)
    found = refused.value.findings[0]
    assert found.code == "Q005"
    assert found.what.startswith(what)


def test_all_problems_of_a_choice_are_told() -> None:
    with pytest.raises(RegistryError) as refused:
        select(MODELS, "lenet,(,vgg", "0")
    assert len(refused.value.findings) == 3


@pytest.mark.parametrize(
    ("file", "text"),
    [
        ("w.csv", "weight,name\n3,b\n1,a\n"),
        ("w.json", '{"a": 1, "b": 3.0}'),
    ],
)
def test_weights_of_a_file(tmp_path: Path, file: str, text: str) -> None:
    (tmp_path / file).write_text(text)
    weights = read_weights(tmp_path / file, [Item("a"), Item("b")])
    assert weights.tolist() == [1.0, 3.0]


@pytest.mark.parametrize(
    ("file", "text", "line", "what"),
    [
        ("w.csv", "name,weight\na,1\n", None, "1 items have no weight: b"),
        ("w.csv", "name,weight\na,1\nb,2\nc,3\n", 4, "no item is called c"),
        ("w.csv", "name,weight\na,1\na,2\n", 3, "a name is there twice: a"),
        ("w.csv", "name,weight\na,nan\nb,1\n", 2, "a has no finite weight from 0: nan"),
        ("w.csv", "name,weight\na,-1\nb,1\n", 2, "a has no finite weight from 0: -1"),
        ("w.csv", "name,weight\na\nb,1\n", 2, "a has no finite weight from 0: None"),
        ("w.csv", "name\na\n", None, "the columns name and weight are not both there"),
        ("w.json", "[]", None, "the top level is no object of weights by name"),
        ("w.json", '{"a": true, "b": 1}', None, "a has no finite weight from 0: True"),
    ],
)
def test_a_bad_file_of_weights_is_told(
    tmp_path: Path, file: str, text: str, line: int | None, what: str
) -> None:
    (tmp_path / file).write_text(text)
    with pytest.raises(RegistryError) as refused:
        read_weights(tmp_path / file, [Item("a"), Item("b")])
    found = refused.value.findings[0]
    assert (found.code, found.line, found.what) == ("Q008", line, what)


@given(
    data=st.binary(max_size=200)
    | st.text(alphabet='name,bytes\n"{}[]:-1 ', max_size=80).map(str.encode),
    ending=st.sampled_from([".txt", ".csv", ".json", ".yaml"]),
)
def test_no_file_raises_anything_but_findings(
    data: bytes, ending: str, scratch: Path
) -> None:
    path = scratch.with_suffix(ending)
    path.write_bytes(data)
    items, findings = outcome(lambda: read_items(str(path)))
    assert (items is None) is bool(findings)
    outcome(lambda: read_weights(path, [Item("a")]))


@given(models=st.text(max_size=20), percentage=st.none() | st.text(max_size=8))
def test_no_choice_raises_anything_but_findings(
    models: str, percentage: str | None
) -> None:
    chosen, findings = outcome(lambda: select(MODELS, models, percentage))
    assert (chosen is None) is bool(findings)


@given(text=st.text(max_size=60).filter(lambda text: "/" not in text))
def test_no_text_of_items_raises_anything_but_findings(text: str) -> None:
    try:
        outcome(lambda: read_items(text))
    except OSError:
        assert Path(text.strip()).suffix
