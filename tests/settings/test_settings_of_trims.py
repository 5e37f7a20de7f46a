"""TRIMS's own file of settings: every key of it is one of ours, or is named."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from registry.documents.findings import RegistryError
from tests.simulators.commands import Done
from tools.settings.settings_file import read_settings
from tools.settings.trims import import_settings

# The keys and defaults are those of pkg/config/config.go of rai-project/trims-tools.
TRIMS = """\
app: # of the library that reads the file
  name: carml
micro18:
  visible_devices: 0
  build_timeout: 600
  polling_interval: 100
  src_path: /go/src/github.com/rai-project/mxnet-mirror
  base_path: ~/carml/data/mxnet
  server_relative_path: ""
  server_build_cmd: make
  server_run_cmd: bin/uprd
  client_relative_path: example/image-classification/predict-cpp
  client_build_cmd: make
  client_run_cmd: ./image-classification-predict
  base_bucket_url: http://s3.amazonaws.com/micro18profiles
  upload_bucket_name: traces
  profile_output_directory: ~/micro18_profiles
  server_info_path: ~/.micro18_server.json
  server_path: /x
  colour: red
"""
OURS = {
    "visible_devices": "0",
    "build_timeout_seconds": 600.0,
    "polling_interval_ms": 100,
    "source_directory": "/go/src/github.com/rai-project/mxnet-mirror",
    "assets_directory": "/home/someone/carml/data/mxnet",
    "server_build_command": "make",
    "server_run_command": "bin/uprd",
    "client_directory": "/go/src/github.com/rai-project/mxnet-mirror"
    "/example/image-classification/predict-cpp",
    "client_build_command": "make",
    "client_run_command": "./image-classification-predict",
    "publish_url": "s3://micro18profiles",
    "publish_prefix": "traces",
    "profile_output_directory": "/home/someone/micro18_profiles",
    "service_state_file": "/home/someone/.micro18_server.json",
}


@pytest.fixture
def theirs(folder: Path) -> Path:
    path = folder / ".carml_config.yml"
    path.write_text(TRIMS)
    return path


def refusal(path: Path) -> list[str]:
    with pytest.raises(RegistryError) as refused:
        import_settings(path, {})
    return [f"{one.code} {one.line} {one.what}" for one in refused.value.findings]


def test_every_key_has_a_meaning_here(theirs: Path) -> None:
    found = import_settings(theirs, {"UPR_BASE_DIR": "/not/where/the/file/says"})
    plain = {
        name: str(value) if isinstance(value, Path) else value
        for name, value in found.settings.items()
    }
    assert plain == OURS
    assert found.without_meaning == {
        "app": "it is of another program's section",
        "micro18.server_path": "it follows from src_path and server_relative_path",
        "micro18.colour": "TRIMS does not read it either",
    }


def test_what_info_config_prints_is_read_too(theirs: Path) -> None:
    theirs.write_text(
        "micro18.visible_devices: '1'\nmicro18.build_timeout: 9\n"
        "serverinfopath: /x\nuprenabled: true\n"
    )
    found = import_settings(theirs, {"UPR_BASE_DIR": "/data"})
    assert found.settings == {
        "visible_devices": "1",
        "build_timeout_seconds": 9.0,
        "assets_directory": Path("/data"),
    }
    assert set(found.without_meaning) == {"serverinfopath", "uprenabled"}


def test_the_command_prints_a_file_of_ours(
    powerkit: Callable[..., Done], theirs: Path, folder: Path
) -> None:
    done = powerkit("config", "import", theirs)
    assert done.code == 0
    assert (
        done.err.splitlines()[0] == "left out app: it is of another program's section"
    )
    ours = folder / "powerkit.yaml"
    ours.write_text(done.out)
    said = {name: one.value for name, one in read_settings(ours).items()}
    assert said == import_settings(theirs, {}).settings
    document = json.loads(powerkit("config", "import", theirs, "--json").out)
    assert document["settings"] == OURS
    assert "micro18.colour" in document["without_meaning"]


def test_what_is_no_file_of_trims_is_refused(theirs: Path) -> None:
    theirs.write_text("a: 1\n")
    assert refusal(theirs) == ["Z006 None it has no section micro18:"]
    theirs.write_text("- a\n")
    assert refusal(theirs) == ["Z006 None the top level is no mapping"]
    theirs.write_text("micro18: {a: [}\n")
    assert refusal(theirs)[0].startswith("Z006 1 ")
    theirs.write_text("a: &x [*x]\n")
    assert refusal(theirs) == ["Z006 1 anchors and aliases are not read"]
    theirs.write_text("a: " + "[" * 30 + "]" * 30)
    assert refusal(theirs) == ["Z006 1 nested deeper than 16 levels"]
    theirs.write_text("a: 1\na: 2\n")
    assert refusal(theirs) == ["Z006 2 a key is no text, or is there twice"]
    theirs.write_bytes(b"a: \xff\n")
    assert refusal(theirs)[0].startswith("Z006 ")
    theirs.write_bytes(b"a: 1\n" * 20_000)
    assert refusal(theirs) == ["Z006 None more than 65536 bytes"]


def test_values_of_no_use_are_told_with_their_lines(theirs: Path) -> None:
    theirs.write_text(
        "micro18:\n  build_timeout: soon\n  polling_interval: [1]\n"
        "  server_run_cmd: 'a \"b'\n"
    )
    whole = "a whole number of milliseconds, at least 1"
    command = "a command, quoted as for a shell: No closing quotation"
    assert refusal(theirs) == [
        "Z007 2 build_timeout: it must be a number of seconds above 0",
        f"Z007 3 polling_interval: it must be {whole}",
        f"Z007 4 server_run_cmd: it must be {command}",
    ]
