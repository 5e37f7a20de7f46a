"""The wanted settings: GitHub knows every path and field, workflows and page agree."""

from __future__ import annotations

import gzip
import json
import re
import shlex
from importlib import resources
from typing import TYPE_CHECKING, Any

import pytest
import yaml
from typer.testing import CliRunner

from registry.cli import app
from registry.documents.strict_yaml import read_yaml
from registry.upkeep.answers import Want, met, said, steps, want
from registry.upkeep.wanted import Setting, Way, wishes
from tests.simulators.github.trim import DOCUMENT

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from registry.upkeep.answers import Step

WISHES = wishes()
REPOSITORY = "/repos/{owner}/{repo}"


@pytest.fixture(scope="module")
def github() -> Any:
    """GitHub's own description of its API, trimmed."""
    with gzip.open(DOCUMENT) as file:
        return json.load(file)


def plain(github: Any, schema: Any) -> Iterator[dict[str, Any]]:
    """A schema without references, and each of its alternatives."""
    while "$ref" in schema:
        found = github
        for part in schema["$ref"].removeprefix("#/").split("/"):
            found = found[part]
        schema = found
    yield schema
    for word in ("oneOf", "anyOf", "allOf"):
        for one in schema.get(word, ()):
            yield from plain(github, one)


def below(github: Any, schema: Any, step: Step) -> list[Any]:
    found = []
    for one in plain(github, schema):
        if step.name is None and "items" in one:
            found.append(one["items"])
        elif step.value is not None and "items" in one:
            found += [
                item
                for item in plain(github, one["items"])
                if allows(github, item.get("properties", {}).get(step.name), step.value)
            ]
        elif step.value is None and step.name in one.get("properties", {}):
            found.append(one["properties"][step.name])
    return found


def allows(github: Any, schema: Any, value: str) -> bool:
    if schema is None:
        return False
    return all(value in one["enum"] for one in plain(github, schema) if "enum" in one)


def fits(github: Any, schema: Any, condition: Want) -> bool:
    """Whether a field can have the wanted value at all."""
    kinds = {bool: "boolean", int: "integer", str: "string"}
    for one in plain(github, schema):
        if condition.kind == "present":
            return True
        if condition.kind in {"lacks", "holds", "exactly"} and one.get("type") in {
            "array",
            "string",
        }:
            return True
        wanted = condition.value
        if isinstance(wanted, list):
            if set(wanted) <= set(one.get("enum", ())):
                return True
        elif one.get("type") == kinds[type(wanted)] and wanted in one.get(
            "enum", [wanted]
        ):
            return True
    return False


def template(path: str) -> str:
    path = path.replace("/repos/{name}", REPOSITORY)
    path = re.sub(r"(?<=/environments/)[a-z-]+", "{environment_name}", path)
    return path.replace("/rules/branches/main", "/rules/branches/{branch}")


@pytest.mark.parametrize("setting", WISHES.settings, ids=lambda one: one.id)
def test_github_has_the_path_the_field_and_the_value(
    github: Any, setting: Setting
) -> None:
    path = template(setting.reading.path)
    answers = github["paths"][path]["get"]["responses"]
    if setting.reading.flag:
        assert {"204", "404"} <= set(answers)
        return
    schema = answers["200"]["content"]["application/json"]["schema"]
    if setting.reading.id.endswith("-rulesets"):  # read one by one
        schema = {"type": "array", "items": schema}
    for condition in setting.wants:
        found = [schema]
        for step in condition.steps:
            found = [deeper for one in found for deeper in below(github, one, step)]
            assert found, f"GitHub's answer has no {condition.at} at {step}"
        assert any(fits(github, one, condition) for one in found), condition.words


def test_the_test_above_can_fail(github: Any) -> None:
    answers = github["paths"][f"{REPOSITORY}/actions/permissions"]["get"]["responses"]
    schema = answers["200"]["content"]["application/json"]["schema"]
    (field,) = steps("sha_pinning")
    assert below(github, schema, field) == []
    (field,) = steps("allowed_actions")
    (found,) = below(github, schema, field)
    assert fits(github, found, want({"at": "allowed_actions", "is": "selected"}))
    assert not fits(github, found, want({"at": "allowed_actions", "is": "chosen"}))


@pytest.mark.parametrize("way", WISHES.ways.values(), ids=WISHES.ways.keys())
def test_each_command_sends_what_github_takes(
    github: Any, way: Way, repository: Path
) -> None:
    words = shlex.split(way.command)
    assert words[:3] == ["gh", "api", "-X"]
    method, path, rest = words[3].lower(), template(f"/{words[4]}"), words[5:]
    operation = github["paths"][path][method]
    names = set()
    for option, value in zip(rest[::2], rest[1::2], strict=True):
        if option == "--input":
            names |= set(json.loads((repository / value).read_text("utf-8")))
        else:
            assert option in {"-f", "-F"}
            names.add(re.split(r"[\[=]", value)[0])
    if not names:
        assert "requestBody" not in operation
        return
    body = operation["requestBody"]["content"]["application/json"]["schema"]
    assert names <= {
        name for one in plain(github, body) for name in one.get("properties", {})
    }


def test_every_reading_and_way_is_used() -> None:
    assert {one.reading.id for one in WISHES.settings} == set(WISHES.readings)
    used = {id(one.way) for one in WISHES.settings}
    assert {name for name, way in WISHES.ways.items() if id(way) not in used} == set()


def test_the_required_check_is_the_name_of_the_gates_only_job(
    repository: Path,
) -> None:
    workflow = yaml.safe_load(
        (repository / ".github/workflows/verify.yml").read_text("utf-8")
    )
    (job,) = workflow["jobs"].items()
    (setting,) = (one for one in WISHES.settings if one.id == "main-verify")
    assert setting.wants[0].value == job[1].get("name", job[0])


def test_only_actions_that_workflows_use_are_allowed(repository: Path) -> None:
    used = set()
    for path in (repository / ".github/workflows").glob("*.yml"):
        used |= set(re.findall(r"uses:\s*([\w.-]+/[\w.-]+)", path.read_text("utf-8")))
    others = {one for one in used if not one.startswith(("actions/", "github/"))}
    (setting,) = (one for one in WISHES.settings if one.id == "actions-others")
    assert {f"{one}@*" for one in others} == set(setting.wants[0].value)


def test_the_environments_are_those_of_the_workflow(repository: Path) -> None:
    text = (repository / ".github/workflows/publish.yml").read_text("utf-8")
    jobs = yaml.safe_load(text)["jobs"].values()
    named = [one["environment"] for one in jobs if "environment" in one]
    names = {one if isinstance(one, str) else one["name"] for one in named}
    read = {
        found.group(1)
        for one in WISHES.readings.values()
        if (found := re.search(r"/environments/([a-z-]+)$", one.path))
    }
    assert names == read == {"release", "github-pages"}


def test_the_page_is_what_the_command_prints(repository: Path) -> None:
    printed = CliRunner().invoke(app, ["github", "settings"]).stdout
    committed = (repository / "docs/github-settings.md").read_text("utf-8")
    how = "run `registry github settings > docs/github-settings.md`"
    assert committed == printed, how
    for setting in WISHES.settings:
        assert f"| `{setting.id}` |" in printed
    for way in WISHES.ways.values():
        assert way.command in printed


def test_the_files_have_no_field_that_nothing_reads() -> None:
    folder = resources.files("registry.upkeep")
    api: Any = read_yaml((folder / "api.yaml").read_bytes(), "a", comments=True).value
    assert set(api) == {"readings", "ways"}
    for item in api["readings"].values():
        assert set(item) <= {"path", "needs", "anyone", "hides", "flag"}
        flags = {item.get(key, "true") for key in ("anyone", "hides", "flag")}
        assert flags == {"true"}
    data = (folder / "settings.yaml").read_bytes()
    settings: Any = read_yaml(data, "s", comments=True).value
    names = [name for items in settings.values() for name in items]
    assert len(names) == len(set(names)) == len(WISHES.settings)
    for items in settings.values():
        for item in items.values():
            assert set(item) == {"reading", "want", "why", "way"}


@pytest.mark.parametrize("item", [{"at": "a"}, {"at": "a", "is": "x", "holds": "y"}])
def test_a_condition_has_one_kind(item: dict[str, str]) -> None:
    with pytest.raises(ValueError, match="unpack"):
        want(item)


def test_a_condition_has_no_other_field() -> None:
    with pytest.raises(ValueError, match="unknown fields"):
        want({"at": "a", "is": "x", "note": "y"})


@pytest.mark.parametrize("path", ["a b", "[type]", "A", "a.[x=]"])
def test_what_is_no_path_is_refused(path: str) -> None:
    with pytest.raises(ValueError, match="no path"):
        steps(path)


@pytest.mark.parametrize(
    ("condition", "answer", "holds", "shown"),
    [
        ({"at": "a", "is": "true"}, {"a": True}, True, "true"),
        ({"at": "a", "is": "true"}, {"a": 1}, False, "1"),
        ({"at": "a", "is": "1"}, {"a": True}, False, "true"),
        ({"at": "a", "is": "1"}, {"a": "1"}, False, "1"),
        ({"at": "a", "is": "on"}, {"a": None}, False, "not set"),
        ({"at": "a", "is": "on"}, None, False, "not set"),
        ({"at": "a", "is": "on"}, ["on"], False, "not set"),
        ({"at": "a", "at_least": "1"}, {"a": True}, False, "true"),
        ({"at": "a", "at_least": "2"}, {"a": 2}, True, "2"),
        ({"at": "a", "at_most": "2"}, {"a": 3}, False, "3"),
        ({"at": "a", "one_of": "x y"}, {"a": "y"}, True, "y"),
        ({"at": "a", "lacks": "x"}, {}, False, "not set"),
        ({"at": "a", "lacks": "x"}, {"a": "xyz"}, False, "xyz"),
        ({"at": "a", "lacks": "x"}, {"a": ["y"]}, True, '["y"]'),
        ({"at": "a[]", "holds": "x"}, {"a": ["y", "x"]}, True, "y, x"),
        ({"at": "a[]", "exactly": "x y"}, {"a": ["y", "x"]}, True, "y, x"),
        ({"at": "a[]", "exactly": "x"}, {"a": ["x", "x"]}, False, "x, x"),
        ({"at": "a[]", "present": "false"}, {"a": []}, True, "none"),
        ({"at": "[t=x].v", "is": "2"}, [{"t": "x", "v": 1}], False, "1"),
        (
            {"at": "[t=x].v", "is": "2"},
            [{"t": "x", "v": 1}, {"t": "y", "v": 2}, {"t": "x", "v": 2}],
            True,
            "1, 2",
        ),
        ({"at": "a", "is": "x"}, {"a": "\x1b[2J" * 30}, False, r"\x1b[2J"),
    ],
)
def test_conditions(
    condition: dict[str, str], answer: Any, holds: bool, shown: str
) -> None:
    parsed = want(condition)
    assert met(parsed, answer) is holds
    assert said(parsed, answer).startswith(shown)
    assert "\x1b" not in said(parsed, answer)
