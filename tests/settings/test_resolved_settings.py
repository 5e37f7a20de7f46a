"""Settings: who wins, what is refused, and that nothing else happens."""

from __future__ import annotations

import contextlib
import os
from pathlib import Path
from typing import get_args

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from registry.documents.findings import RegistryError
from tools.settings import keys
from tools.settings.keys import KEYS, Kind
from tools.settings.naming import settings_named
from tools.settings.redaction import redacted
from tools.settings.resolved import all_settings, resolved, setting
from tools.settings.settings_file import State, places, read_settings

HEAD = "schema: powerkit-settings/1\n"


def problems(path: Path) -> list[str]:
    with pytest.raises(RegistryError) as refusal:
        read_settings(path)
    return [f"{one.code} {one.line} {one.what}" for one in refusal.value.findings]


def test_option_then_environment_then_file_then_default(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert setting("monitor_interval_ms", None) == 50
    (folder / "powerkit.yaml").write_text(f"{HEAD}monitor_interval_ms: 40\n")
    assert setting("monitor_interval_ms", None) == 40
    assert resolved("monitor_interval_ms").origin == "powerkit.yaml:2"
    monkeypatch.setenv("POWERKIT_MONITOR_INTERVAL_MS", "30")
    assert setting("monitor_interval_ms", None) == 30
    origin = "environment POWERKIT_MONITOR_INTERVAL_MS"
    assert resolved("monitor_interval_ms").origin == origin
    assert setting("monitor_interval_ms", 20) == 20
    assert setting("profile_output_overwrite", option=False) is False


def test_every_key_has_its_type() -> None:
    kinds = {
        keys.WholePath: {Kind.PATH},
        keys.OptionalPath: {Kind.PATH},
        keys.Text: {Kind.TEXT, Kind.COMMAND},
        keys.OptionalText: {Kind.TEXT, Kind.URL},
        keys.Flag: {Kind.FLAG},
        keys.Whole: {Kind.WHOLE},
        keys.Number: {Kind.NUMBER},
    }
    named = {name: found for known, found in kinds.items() for name in get_args(known)}
    assert set(named) == set(KEYS)
    unset = {*get_args(keys.OptionalPath), *get_args(keys.OptionalText)}
    for name, key in KEYS.items():
        assert key.kind in named[name]
        assert (key.default is None) == (name in unset)
        value = setting(name, None)  # type: ignore[call-overload]
        assert value is None or isinstance(value, str | Path | bool | int | float)


def test_defaults_are_those_of_the_table(folder: Path) -> None:
    home = Path("/home/someone")
    assert setting("profile_output_directory", None) == home / "powerkit_profiles"
    state = home / ".local/state/powerkit/service.json"
    assert setting("service_state_file", None) == state
    assert setting("assets_directory", None) == home / ".cache/powerkit/assets"
    assert setting("source_directory", None) == Path()
    assert setting("visible_devices", None) == "all"
    assert setting("run_timeout_seconds", None) == 60.0
    assert setting("publish_url", None) is None


def test_the_first_file_is_used_alone(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home = folder / "home"
    monkeypatch.setenv("HOME", str(home))
    user = home / ".config" / "powerkit" / "config.yaml"
    user.parent.mkdir(parents=True)
    user.write_text(f"{HEAD}visible_devices: user\nmonitor_interval_ms: 7\n")
    assert setting("visible_devices", None) == "user"
    (folder / "powerkit.yaml").write_text(f"{HEAD}visible_devices: here\n")
    assert setting("visible_devices", None) == "here"
    assert setting("monitor_interval_ms", None) == 50
    named = folder / "named.yaml"
    named.write_text(f"{HEAD}visible_devices: named\n")
    monkeypatch.setenv("POWERKIT_CONFIG", str(named))
    assert setting("visible_devices", None) == "named"
    states = [place.state for place in places(os.environ)]
    assert states == [State.USED, State.PASSED_OVER, State.PASSED_OVER]
    monkeypatch.setenv("POWERKIT_CONFIG", "")
    monkeypatch.setenv("XDG_CONFIG_HOME", str(folder / "xdg"))
    assert places(os.environ)[2].path == folder / "xdg" / "powerkit" / "config.yaml"
    assert setting("visible_devices", None) == "here"


def test_a_named_file_must_be_there(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("POWERKIT_CONFIG", "~/none.yaml")
    with pytest.raises(RegistryError) as refusal:
        setting("visible_devices", None)
    (one,) = refusal.value.findings
    assert (one.code, one.path) == ("Z001", "/home/someone/none.yaml")
    assert one.what == "No such file or directory"


def test_paths_of_a_file_are_relative_to_it(folder: Path) -> None:
    path = folder / "deep" / "set.yaml"
    path.parent.mkdir()
    path.write_text(
        f"{HEAD}source_directory: src\nclient_directory: ~/c\nserver_directory: /s\n"
        "publish_url: out\n"
    )
    said = {name: one.value for name, one in read_settings(path).items()}
    assert said == {
        "source_directory": path.parent / "src",
        "client_directory": Path("/home/someone/c"),
        "server_directory": Path("/s"),
        "publish_url": str(path.parent / "out"),
    }


def test_everything_wrong_with_a_file_is_told_at_once(folder: Path) -> None:
    path = folder / "set.yaml"
    path.write_text(
        "# mine\n"
        "monitor_interval_ms: 0\n"
        "run_timeout_seconds: soon\n"
        "profile_output_overwrite: maybe\n"
        "server_run_command: 'a \"b'\n"
        "assets_directory: [a]\n"
        "publish_url: ''\n"
        "asset_directory: x\n"
        "quux: 1\n"
        "client_directory: ~nobody-here/x\n"
    )
    whole = "a whole number of milliseconds, at least 1"
    command = "a command, quoted as for a shell: No closing quotation"
    home = "a path, in a home that there is"
    assert problems(path) == [
        'Z004 None schema: it must be "powerkit-settings/1", but it is missing',
        f'Z003 2 monitor_interval_ms: it must be {whole}, but it is "0"',
        (
            "Z003 3 run_timeout_seconds: it must be a number of seconds above 0, but it"
            ' is "soon"'
        ),
        'Z003 4 profile_output_overwrite: it must be true or false, but it is "maybe"',
        f'Z003 5 server_run_command: it must be {command}, but it is "a "b"',
        "Z003 6 assets_directory: it must be a path, but it is a list",
        'Z003 7 publish_url: it must be a URL or a path, but it is ""',
        "Z002 8 asset_directory: no such setting; did you mean assets_directory?",
        "Z002 9 quux: no such setting",
        f'Z003 10 client_directory: it must be {home}, but it is "~nobody-here/x"',
    ]


def test_yaml_that_is_none_is_told_with_its_line(folder: Path) -> None:
    path = folder / "set.yaml"
    path.write_text(f"{HEAD}a: [\n")
    assert problems(path)[0].startswith("Y003 ")
    path.write_text(f"{HEAD}a: &x b\n")
    assert problems(path) == ["Y006 2 an anchor is not allowed"]
    path.write_text("schema: powerkit-settings/2\n")
    assert problems(path)[0].startswith("Z004 1 schema: it must be ")
    path.write_bytes(b"")
    assert read_settings(path) == {}
    path.write_text(HEAD + "".join(f"k{number}: 1\n" for number in range(200)))
    assert problems(path)[-1] == "Z003 None 100 more problems are not shown"


def test_variables_of_another_type_are_named(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("POWERKIT_MONITOR_INTERVAL_MS", "often")
    monkeypatch.setenv("POWERKIT_ASSETS_DIRECTORY", "")
    (folder / "powerkit.yaml").write_text(f"{HEAD}x: 1\n")
    with pytest.raises(RegistryError) as refusal:
        all_settings()
    whole = "it must be a whole number of milliseconds, at least 1"
    assert [(one.code, one.path, one.what) for one in refusal.value.findings] == [
        ("Z002", "powerkit.yaml", "x: no such setting"),
        ("Z005", "POWERKIT_MONITOR_INTERVAL_MS", f'{whole}, but it is "often"'),
        ("Z005", "POWERKIT_ASSETS_DIRECTORY", 'it must be a path, but it is ""'),
    ]


def test_an_empty_variable_takes_back_what_a_file_says(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (folder / "powerkit.yaml").write_text(
        f"{HEAD}publish_url: s3://b\nserver_build_command: ninja\n"
    )
    monkeypatch.setenv("POWERKIT_PUBLISH_URL", "")
    monkeypatch.setenv("POWERKIT_SERVER_BUILD_COMMAND", "")
    assert setting("publish_url", None) is None
    assert setting("server_build_command", None) == ""


def test_a_file_is_named_for_what_we_start_too(folder: Path) -> None:
    with settings_named(Path("x.yaml")):
        assert os.environ["POWERKIT_CONFIG"] == str(folder / "x.yaml")
        with settings_named(Path("~/y.yaml")):
            assert os.environ["POWERKIT_CONFIG"] == "/home/someone/y.yaml"
        assert os.environ["POWERKIT_CONFIG"] == str(folder / "x.yaml")
    assert "POWERKIT_CONFIG" not in os.environ


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        ("s3://bucket/a b", "s3://bucket/a b"),
        ("https://me:pw@h.example/x", "https://***@h.example/x"),
        ("https://me:p@w@h.example:8/x", "https://***@h.example:8/x"),
        ("https://token@h.example", "https://***@h.example"),
        ("hf://datasets/a/b@main/c", "hf://datasets/a/b@main/c"),
        ("https://h/x?X-Amz-Signature=ab&versionId=7", None),
        ("https://h/x?ab", "https://h/x?***"),
        ("https://h/x#secret", "https://h/x#***"),
        ("s3://AK:a/b+c@bucket/x", "s3://***@bucket/x"),
        ("s3://AK:a?b#c/d@bucket/x", "s3://***@bucket/x"),
        ("http://h:80/a@b/c", "http://h:80/a@b/c"),
        ("http://[::1]:80/a@b", "http://[::1]:80/a@b"),
        ("https://[bad/x?y=1", "https://***"),
        ("/a/path@x?y", "/a/path@x?y"),
    ],
)
def test_secrets_of_urls_are_not_shown(url: str, shown: str | None) -> None:
    known = "https://h/x?X-Amz-Signature=***&versionId=7"
    assert redacted(url) == (known if shown is None else shown)
    assert redacted(redacted(url)) == redacted(url)


@given(
    st.binary(max_size=200)
    | st.dictionaries(
        st.sampled_from([*KEYS, "schema", "x"]),
        st.text(max_size=20) | st.integers() | st.lists(st.text(max_size=3)),
    ).map(lambda value: yaml.safe_dump(value, allow_unicode=True).encode())
)
def test_no_bytes_break_the_reader(
    tmp_path_factory: pytest.TempPathFactory, data: bytes
) -> None:
    path = tmp_path_factory.getbasetemp() / "any.yaml"
    path.write_bytes(data)
    with contextlib.suppress(RegistryError):
        said = read_settings(path)
        assert set(said) <= set(KEYS)
        assert not data or b"powerkit-settings/1" in data


@given(st.sampled_from(sorted(KEYS)), st.text(max_size=50))
def test_no_variable_breaks_anything(name: str, text: str) -> None:
    with contextlib.suppress(RegistryError):
        found = resolved(name, {KEYS[name].variable: text})
        assert found.origin.startswith("environment ")
