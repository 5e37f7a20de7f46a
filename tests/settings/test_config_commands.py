"""`powerkit config` and `--config`, as people and programs call them."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import jsonschema
import pytest
import yaml
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from tests.simulators.commands import Done
from tools.settings.keys import KEYS, written
from tools.settings.settings_file import read_settings

Command = Callable[..., Done]
GOLDEN = Path(__file__).with_name("config_show.txt")
FILE = """\
schema: powerkit-settings/1
monitor_interval_ms: 20  # often
publish_url: s3://key:secret@results/x
experiment_description: BLAS, "cold"
source_directory: src
assets_directory: ~/assets
"""


@pytest.fixture
def mixed(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Settings of a file and of the environment."""
    (folder / "powerkit.yaml").write_text(FILE)
    monkeypatch.setenv("POWERKIT_VISIBLE_DEVICES", "0,1")
    monkeypatch.setenv("POWERKIT_RUN_TIMEOUT_SECONDS", "2.5")
    return folder / "powerkit.yaml"


def test_show_says_what_applies_and_who_said_so(powerkit: Command, mixed: Path) -> None:
    done = powerkit("config", "show", "--origin")
    assert (done.code, done.err) == (0, "")
    assert done.out == GOLDEN.read_text()
    document = json.loads(powerkit("config", "show", "--json").out)
    assert document["schema"] == "settings/1"
    assert document["settings"]["visible_devices"] == {
        "value": "0,1",
        "origin": "environment POWERKIT_VISIBLE_DEVICES",
    }
    assert document["settings"]["publish_url"]["value"] == "s3://***@results/x"
    assert set(document["settings"]) == set(KEYS)


def test_what_show_prints_is_a_file_of_settings(
    powerkit: Command, mixed: Path, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shown = powerkit("config", "show").out
    assert "#" not in shown.replace("# profile_output is", "").replace(
        "# assets_manifests is", ""
    )
    again = folder / "again.yaml"
    again.write_text(shown)
    monkeypatch.delenv("POWERKIT_VISIBLE_DEVICES")
    monkeypatch.delenv("POWERKIT_RUN_TIMEOUT_SECONDS")
    monkeypatch.setenv("POWERKIT_CONFIG", "again.yaml")
    assert powerkit("config", "show").out == shown


@settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.text(
        st.characters(exclude_characters="\0", exclude_categories=["Cs"]), max_size=9
    )
)
@example("a\x85b\u2028c\u2029d")
@example("\x9b31m\x7f\ufeff\ufffe")
@example('\U0001f600 \t\n # "x" \\')
def test_any_text_stands_in_the_file_as_it_is_and_can_be_printed(
    folder: Path, text: str
) -> None:
    told = written(text)
    assert told is not None
    assert told.isprintable()
    path = folder / "any.yaml"
    path.write_text(
        f"schema: powerkit-settings/1\nexperiment_description: {told}\n", "utf-8"
    )
    assert read_settings(path)["experiment_description"].value == text


def test_findings_of_settings_are_exit_1(powerkit: Command, folder: Path) -> None:
    (folder / "powerkit.yaml").write_text("monitor: 1\n")
    done = powerkit("config", "show")
    assert done.code == 1
    assert "error Z002 powerkit.yaml:1: monitor: no such setting" in done.out
    document = json.loads(powerkit("config", "show", "--json").out)
    assert document["errors"] == 2


def test_the_option_names_a_file_for_this_command_alone(
    powerkit: Command, mixed: Path, folder: Path
) -> None:
    other = folder / "other.yaml"
    other.write_text("schema: powerkit-settings/1\nvisible_devices: '7'\n")
    done = powerkit("--config", "other.yaml", "config", "show", "--origin")
    assert "monitor_interval_ms: 50  # default" in done.out
    assert powerkit("config", "show", "--origin").out == GOLDEN.read_text()
    missing = powerkit("--config", "none.yaml", "config", "show")
    assert missing.code == 1
    assert f"error Z001 {folder / 'none.yaml'}: No such file" in missing.out


def test_path_lists_the_places(powerkit: Command, mixed: Path) -> None:
    lines = powerkit("config", "path").out.splitlines()
    assert [line.split()[0] for line in lines] == ["absent", "used", "absent"]
    assert lines[1].endswith("  powerkit.yaml")
    assert lines[2].endswith("/home/someone/.config/powerkit/config.yaml")
    document = json.loads(powerkit("config", "path", "--json").out)
    assert [place["state"] for place in document["places"]] == [
        "absent",
        "used",
        "absent",
    ]


def test_the_schema_accepts_what_we_accept(powerkit: Command, mixed: Path) -> None:
    schema = json.loads(powerkit("config", "schema").out)
    jsonschema.Draft202012Validator.check_schema(schema)
    good = yaml.safe_load(FILE)
    jsonschema.validate(good, schema)
    for bad in ({"monitor": 1}, {"monitor_interval_ms": 0}, {"schema": "x/1"}):
        with pytest.raises(jsonschema.ValidationError):
            jsonschema.validate(good | bad, schema)


def test_a_program_sees_the_same(mixed: Path) -> None:
    command = [sys.executable, "-m", "tools", "config", "show", "--json"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    settings = json.loads(done.stdout)["settings"]
    assert settings["run_timeout_seconds"]["value"] == 2.5
    assert settings["source_directory"]["origin"] == "powerkit.yaml:5"
