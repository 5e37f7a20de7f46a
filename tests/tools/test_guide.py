"""docs/characterise.md: its commands parse, its examples are read, its links lead."""

from __future__ import annotations

import json
import re
import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import pytest
import typer
from typer.exceptions import TyperException

from tools import cli
from tools.commands.lazy import LAZY

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

ROOT: Final = Path(__file__).resolve().parents[2]
GUIDE: Final = ROOT / "docs" / "characterise.md"
README: Final = ROOT / "README.md"
_FENCE: Final = re.compile(r"^```(\w+)\n(.*?)^```$", re.DOTALL | re.MULTILINE)


def blocks(path: Path, *kinds: str) -> list[str]:
    """The fenced examples of some kinds."""
    found = _FENCE.findall(path.read_text("utf-8"))
    return [text for kind, text in found if kind in kinds]


def commands(path: Path) -> Iterator[str]:
    """The lines that somebody types at a shell and that begin with our command."""
    for text in blocks(path, "console"):
        for line in text.splitlines():
            if line.startswith("$ powerkit "):
                yield line.removeprefix("$ powerkit ").split("  #")[0]


@pytest.fixture
def understood(monkeypatch: pytest.MonkeyPatch) -> Callable[[str], None]:
    """Parse a command line without calling it; its files may be absent."""
    root: Any = typer.main.get_command(cli.app)

    def parse(line: str) -> None:
        words = shlex.split(line)
        if words[0] == "--config":
            words = words[2:]
        command = root
        while hasattr(command, "list_commands"):
            name, *words = words
            assert name in command.list_commands(None), name
            command = command.get_command(None, name)
        for parameter in command.params:
            about = parameter.type_descriptor.parameter_info
            if getattr(about, "exists", False):
                monkeypatch.setattr(about, "exists", False)
        command.make_context(name, words)

    return parse


LINES: Final = [*commands(GUIDE), *commands(README)]


@pytest.mark.parametrize("line", LINES, ids=range(len(LINES)))
def test_every_command_is_understood(
    understood: Callable[[str], None], line: str
) -> None:
    understood(line)


@pytest.mark.parametrize(
    ("line", "error"),
    [
        ("bench rum", AssertionError),
        ("bench run --moniter all -- true", TyperException),
        ("bench matrix --dry-run", TyperException),
        ("trace combine a --align x", TyperException),
    ],
)
def test_what_is_misspelt_is_not(
    understood: Callable[[str], None], line: str, error: type[Exception]
) -> None:
    with pytest.raises(error):
        understood(line)


def test_every_group_is_in_the_guide() -> None:
    used = {line.split()[0] for line in commands(GUIDE)}
    assert set(LAZY) <= used


def read(text: str, folder: Path) -> object:
    """Read an example with what reads such files."""
    from tools.assets.manifests import read_manifest
    from tools.experiments.matrix_files import read_matrix
    from tools.experiments.spec import read_spec
    from tools.services.specification import read_service
    from tools.settings.settings_file import read_settings

    path = folder / "example.yaml"
    path.write_text(text, "utf-8")
    if "schema: experiment/1" in text:
        return read_spec(path)
    if "schema: matrix/1" in text:
        return read_matrix(path).rows
    if "schema: asset-manifest/1" in text:
        return read_manifest(path.read_bytes(), path)
    if "schema: powerkit-settings/1" in text:
        return read_settings(path)
    assert text.startswith("command: ")
    return read_service(path)


@pytest.mark.parametrize("text", blocks(GUIDE, "yaml"))
def test_documents_are_read(text: str, tmp_path: Path) -> None:
    assert read(text, tmp_path)


def test_each_kind_of_document_has_an_example() -> None:
    schemas = re.findall(
        r"^schema: (\S+)$", "".join(blocks(GUIDE, "yaml")), re.MULTILINE
    )
    assert set(schemas) == {
        "experiment/1",
        "matrix/1",
        "asset-manifest/1",
        "powerkit-settings/1",
    }


def test_the_record_of_a_run_is_one() -> None:
    from tools.experiments.record import Run

    (text,) = (one for one in blocks(GUIDE, "json") if '"run/1"' in one)
    run = Run.model_validate(json.loads(text))
    fields = set(run.model_dump(by_alias=True)) - {"description", "comparison"}
    assert set(json.loads(text)) == fields


def test_a_workload_s_own_result_is_read(tmp_path: Path) -> None:
    from tools.experiments.results import read_result

    (text,) = (one for one in blocks(GUIDE, "json") if one.startswith('{"phases"'))
    path = tmp_path / "result.json"
    path.write_text(text, "utf-8")
    result, problems = read_result(path)
    assert (result.performance, problems) == (412.5, ())


def test_items_and_their_sizes_are_read(tmp_path: Path) -> None:
    from tools.load.items import read_items

    (text,) = (one for one in blocks(GUIDE, "json") if one.startswith("["))
    path = tmp_path / "items.json"
    path.write_text(text, "utf-8")
    assert [one.bytes for one in read_items(str(path))] == [
        one["bytes"] for one in json.loads(text)
    ]


def test_the_plan_is_one(tmp_path: Path) -> None:
    from tools.load.plan import read_plan

    (text,) = blocks(GUIDE, "jsonl")
    head, rest = text.split('\n{"i":0', 1)
    path = tmp_path / "plan.jsonl"
    path.write_text(head.replace("\n", "") + '\n{"i":0' + rest, "utf-8")
    assert len(read_plan(path).requests.times) == 3


def test_the_table_of_trims_is_a_matrix(tmp_path: Path) -> None:
    from tools.experiments.matrix_files import read_matrix

    (text,) = blocks(GUIDE, "csv")
    path = tmp_path / "trims.csv"
    path.write_text(text, "utf-8")
    read = read_matrix(path)
    assert ([row.name for row in read.rows], read.skipped) == (
        ["pareto_1", "pareto_2"],
        ("later",),
    )


def anchors(path: Path) -> set[str]:
    """What GitHub makes of the headings of a page."""
    heads = re.findall(r"^#+ (.+)$", path.read_text("utf-8"), re.MULTILINE)
    return {
        re.sub(r"[^\w\- ]", "", head.lower()).replace(" ", "-").strip()
        for head in heads
    }


def test_links_lead_somewhere() -> None:
    for target in re.findall(r"\]\(([^)]+)\)", GUIDE.read_text("utf-8")):
        name, _, anchor = target.partition("#")
        path = (GUIDE.parent / name).resolve() if name else GUIDE
        assert path.is_file(), target
        assert not anchor or anchor in anchors(path), target


def test_lines_are_short() -> None:
    lines = GUIDE.read_text("utf-8").splitlines()
    assert [line for line in lines if len(line) > 120] == []
