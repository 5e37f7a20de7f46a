"""The file that describes a service: every key, every refusal, any bytes."""

from __future__ import annotations

import re
import signal
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from registry.documents.findings import RegistryError
from registry.documents.yaml_writer import write_yaml
from tests.simulators.commands import Done
from tools.services.readiness import (
    Always,
    HttpProbe,
    LineProbe,
    PathProbe,
    TcpProbe,
    read_probe,
)
from tools.services.specification import (
    Restart,
    ServiceSpec,
    read_service,
    split_command,
)
from tools.services.store import StoreOptions

WHOLE = """\
# A server with everything.
name: mine
command: ./server --name "a b"
cwd: run
env:
  OMP_NUM_THREADS: 1
ready: http://localhost:8080/up?x=1
ready_timeout_seconds: 2.5
build: [make, -j2]
build_timeout_seconds: 60
stop_signal: INT
grace_seconds: 0.5
restart:
  policy: on-failure
  limit: 2
  delay_seconds: 0
log: logs/server.log
log_bytes: 8192
trace: trace.json.gz
store:
  eviction_policy: lcu
  memory_percentage: 0.9
  estimation_rate: 1.5
  estimate_with_internal_memory: false
  persist_cpu: false
  persist_only_cpu: true
  write_profile: true
  debug: true
"""


def read(tmp_path: Path, text: str | bytes) -> ServiceSpec:
    path = tmp_path / "spec.yaml"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return read_service(path)


def refused(tmp_path: Path, text: str | bytes) -> list[tuple[str, int | None, str]]:
    with pytest.raises(RegistryError) as caught:
        read(tmp_path, text)
    return [(one.code, one.line, one.what) for one in caught.value.findings]


def test_every_key(tmp_path: Path) -> None:
    spec = read(tmp_path, WHOLE)
    assert spec.command == ("./server", "--name", "a b")
    assert spec.cwd == tmp_path / "run"
    assert spec.log == tmp_path / "logs/server.log"
    assert spec.trace == tmp_path / "trace.json.gz"
    assert spec.env == {"OMP_NUM_THREADS": "1"}
    assert spec.probe == HttpProbe(
        secure=False, host="localhost", port=8080, target="/up?x=1"
    )
    assert spec.build == ("make", "-j2")
    assert (spec.ready_timeout_seconds, spec.build_timeout_seconds) == (2.5, 60)
    assert (spec.stop_signal, spec.grace_seconds) == (signal.SIGINT, 0.5)
    assert spec.restart.model_dump() == {
        "policy": "on-failure",
        "limit": 2,
        "delay_seconds": 0,
    }
    assert spec.store is not None
    assert spec.store.environment()["UPRD_PERSIST_ONLY_CPU"] == "true"
    assert spec.log_bytes == 8192


def test_a_command_is_enough(tmp_path: Path) -> None:
    spec = read(tmp_path, "command: sleep 1\n")
    assert spec.cwd == tmp_path
    assert spec.probe == Always()
    assert (spec.stop_signal, spec.grace_seconds) == (signal.SIGTERM, 5)
    assert (spec.restart.policy, spec.store, spec.trace) == ("never", None, None)


def test_paths_of_probes_are_relative_to_the_folder(tmp_path: Path) -> None:
    spec = read(tmp_path, "command: x\nready: file:ready\n")
    assert spec.probe == PathProbe(tmp_path / "ready")


def test_all_problems_in_one_run(tmp_path: Path) -> None:
    text = (
        "comand: x\n"
        "ready: udp:1\n"
        "grace_seconds: -1\n"
        "stop_signal: STOP\n"
        "env:\n  A-B: 1\n"
        "restart:\n  policy: always\n"
        "store:\n  memory_percentage: 80\n  speed: 1\n"
    )
    assert {(code, line) for code, line, _ in refused(tmp_path, text)} == {
        ("F010", 1),
        ("F011", 1),
        ("F012", 2),
        ("F012", 3),
        ("F012", 4),
        ("F012", 5),
        ("F012", 8),
        ("F012", 10),
        ("F010", 11),
    }


@pytest.mark.parametrize(
    ("text", "code", "line", "said"),
    [
        ("name: x\n", "F011", 1, "command: the field is missing"),
        ('command: "it\'s"\n', "F012", 1, "its quotes do not match"),
        ("command: ''\n", "F012", 1, "it must be a command"),
        ("command: []\n", "F012", 1, "it must be a command"),
        ("command: [[a]]\n", "F012", 1, "a list of at most"),
        ("command: ['']\n", "F012", 1, "names a program"),
        ("command: x\nready: [a]\n", "F012", 2, "it must be a text"),
        ("command: x\nready: tcp:8080\n", "F012", 2, "tcp:HOST:PORT"),
        ("command: x\nready: tcp:h:70000\n", "F012", 2, "from 1 to 65535"),
        ("command: x\nready: 'regex:('\n", "F012", 2, "cannot be read"),
        ("command: x\nready: 'http://'\n", "F012", 2, "http://HOST:PORT/PATH"),
        ("command: x\nready: 'http://u@h/'\n", "F012", 2, "http://HOST:PORT/PATH"),
        ("command: x\nready: 'http://h:99999'\n", "F012", 2, "Port out of range"),
        ("command: x\nready: 'http://h/a b'\n", "F012", 2, "no spaces"),
        ("command: x\nready_timeout_seconds: 0\n", "F012", 2, "greater than 0"),
        ("command: x\nready_timeout_seconds: nan\n", "F012", 2, "finite"),
        ("command: x\nenv: [A]\n", "F012", 2, "a block of variables"),
        ("command: x\nenv:\n  A: [1]\n", "F012", 2, "not a variable with a text: A"),
        ("command: x\nlog: ''\n", "F012", 2, "it must be a path"),
        ("command: x\nlog_bytes: 1\n", "F012", 2, "greater than or equal to 4096"),
        ("command: x\nrestart: always\n", "F012", 2, "a block of fields"),
        (
            "command: x\ntrace: t.json\nstore:\n  write_profile: false\n",
            *("F013", 4, "a trace is wanted, but it is false"),
        ),
        ("command: x\ncommand: y\n", "Y005", 2, "appears twice"),
        ("- command\n", "Y008", None, "no mapping"),
        ("command: &a x\n", "Y006", 1, "an anchor"),
        (b"command: \xff\n", "Y002", 1, "not UTF-8"),
        ("command: x\n" + "#" * 70_000, "Y001", None, "at most 65536"),
    ],
)
def test_what_is_refused(
    tmp_path: Path, text: str | bytes, code: str, line: int | None, said: str
) -> None:
    (found,) = refused(tmp_path, text)
    assert found[:2] == (code, line)
    assert said in found[2]


@pytest.mark.parametrize(
    ("text", "probe"),
    [
        ("", Always()),
        ("http://h", HttpProbe(secure=False, host="h", port=80, target="/")),
        ("https://h:1/x", HttpProbe(secure=True, host="h", port=1, target="/x")),
        ("http://[::1]:5/", HttpProbe(secure=False, host="::1", port=5, target="/")),
        ("tcp:localhost:80", TcpProbe("localhost", 80)),
        ("tcp:[::1]:80", TcpProbe("::1", 80)),
        ("file:/x:y", PathProbe(Path("/x:y"))),
    ],
)
def test_probes(text: str, probe: object) -> None:
    assert read_probe(text) == probe


def test_a_pattern_may_hold_colons() -> None:
    probe = read_probe("regex:at: [0-9]+$")
    assert isinstance(probe, LineProbe)
    assert probe.pattern.text == "at: [0-9]+$"


def test_a_line_cannot_hold_the_search_for_a_pattern_up() -> None:
    probe = read_probe("regex:(a+)+$")
    assert isinstance(probe, LineProbe)
    assert not probe.pattern.found_in("a" * 4000 + "b")


def test_commands_are_split_and_never_run_by_a_shell() -> None:
    assert split_command("a 'b c' $X ; d|e") == ("a", "b c", "$X", ";", "d|e")


KEYS = st.sampled_from([*ServiceSpec.model_fields, "policy", "limit", "other"])
VALUES: st.SearchStrategy[Any] = st.recursive(
    st.one_of(
        st.text(st.characters(min_codepoint=32, max_codepoint=126), max_size=20),
        st.integers(-(10**20), 10**20),
        st.sampled_from(["http://[", "tcp:::", "regex:[", "file:", "nan", "-inf"]),
    ),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=3)
    ),
    max_leaves=6,
)


@settings(max_examples=50)
@given(st.dictionaries(KEYS, VALUES, min_size=1, max_size=6))
def test_any_document_is_a_service_or_findings(
    tmp_path_factory: pytest.TempPathFactory, told: dict[str, Any]
) -> None:
    path = tmp_path_factory.getbasetemp() / "any.yaml"
    path.write_bytes(write_yaml(told))
    with suppress(RegistryError):
        assert read_service(path).command


@given(st.binary(max_size=200))
def test_any_bytes_are_refused_with_a_finding(
    tmp_path_factory: pytest.TempPathFactory, data: bytes
) -> None:
    path = tmp_path_factory.getbasetemp() / "bytes.yaml"
    path.write_bytes(data)
    with suppress(RegistryError):
        read_service(path)


@given(st.text(max_size=60))
def test_any_text_is_a_probe_or_a_reason(text: str) -> None:
    for kind in ("", "http:", "http://", "tcp:", "regex:", "file:"):
        with suppress(ValueError):
            read_probe(kind + text)


def test_the_help_lists_every_key(
    powerkit: Callable[..., Done], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "100")
    words = set(re.findall(r"[a-z_]+", powerkit("service", "run", "--help").out))
    for model in (ServiceSpec, Restart, StoreOptions):
        assert set(model.model_fields) <= words
