"""The registry command: exit codes, JSON, and never a bare traceback."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import typer

from registry import __version__, cli
from registry.documents.findings import RegistryError, finding
from registry.gate import terminal
from tests.simulators.registry import Simulator, registry_of

HEAVY = (
    *("great_expectations", "pandas", "polars", "numpy", "scipy", "sklearn"),
    *("xgboost", "matplotlib", "github", "jsonschema", "pydantic", "rich"),
)
Command = Callable[..., tuple[int, str]]


@pytest.fixture
def command(capsys: pytest.CaptureFixture[str]) -> Command:
    """Run the command in this process; gives its exit code and what it printed."""

    def run(*arguments: str) -> tuple[int, str]:
        def call() -> None:
            cli.app(list(arguments))

        code = terminal.run(call, json_output=terminal.wants_json(arguments))
        printed = capsys.readouterr()
        return code, printed.out + printed.err

    return run


@pytest.fixture(scope="module")
def simulated() -> Simulator:
    return registry_of(2)


@pytest.fixture
def checkout(simulated: Simulator, tmp_path: Path) -> Path:
    simulated.commit(tmp_path / "registry")
    return tmp_path / "registry"


@pytest.mark.parametrize(
    ("words", "wanted"),
    [
        ("verify --json", True),
        ("trace summarize a.json -f json", True),
        ("trace summarize --format json a.json", True),
        ("trace summarize --format=json a.json", True),
        ("trace summarize a.json -f csv", False),
        ("trace summarize json -f", False),
        ("monitor -f csv -- tool --json -f json", False),
        ("", False),
    ],
)
def test_who_asks_for_json_gets_findings_as_json(words: str, *, wanted: bool) -> None:
    assert terminal.wants_json(words.split()) is wanted


@pytest.mark.parametrize("module", ["registry.cli", "tools.cli"])
def test_help_loads_nothing_heavy(module: str) -> None:
    code = f"import sys, {module}; print(*sys.modules, sep='\\n')"
    loaded = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    ).stdout.split()
    assert set(HEAVY) & set(loaded) == set()


def test_version_and_help(command: Command) -> None:
    assert command("--version") == (0, "0.1.0\n")
    code, printed = command("--help")
    assert code == 0
    for name in ("verify", "plan", "build", "publish", "fetch", "rebuild", "trust"):
        assert name in printed


@pytest.mark.parametrize(
    "arguments",
    [
        ("nonsense",),
        ("verify", "--root", "/no/such/folder"),
        ("verify", "--base", "a", "--rev", "b"),
        ("verify", "--author", "7"),
        ("build",),
        ("fetch", "--from", "x"),
        ("fetch", "--from", "x", "--class", "1", "--source", "psu"),
        ("fetch", "--from", "x", "--class", "1", "--output", "Watts"),
        ("fetch", "--from", "x", "--class", "-1"),
    ],
)
def test_wrong_usage_is_exit_2(command: Command, arguments: tuple[str, ...]) -> None:
    code, printed = command(*arguments)
    assert code == 2
    assert "Traceback" not in printed


def test_the_whole_way_by_command_line(
    command: Command, checkout: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    root, out = ("--root", str(checkout)), ("--out", str(tmp_path / "release"))
    results = tmp_path / "results.json"
    code, printed = command("verify", *root, "--results", str(results), "--json")
    assert (code, json.loads(printed)["findings"]) == (0, [])
    assert set(json.loads(results.read_text())) == {"server-0000", "server-0001"}

    code, printed = command("plan", *root, "--json")
    planned = json.loads(printed)
    assert code == 0
    assert planned["fit"]
    assert planned["reuse"] == []

    code, printed = command("build", *root, *out, "--json")
    built = json.loads(printed)
    assert (code, built["changed"], built["fitted"]) == (0, True, len(planned["fit"]))
    code, printed = command("build", *root, *out)
    assert code == 0
    assert f"nothing to do: {out[1]} is release {built['tag']}" in printed
    code, printed = command("plan", *root, "--since", out[1])
    assert "0 models to fit" in printed

    channel = f"dir:{tmp_path / 'channel'}"
    code, printed = command("publish", out[1], "--to", channel, "--json")
    assert (code, json.loads(printed)["new"]) == (0, True)
    code, printed = command("publish", out[1], "--to", channel)
    assert (code, "was there already" in printed) == (0, True)

    place = ("--from", str(tmp_path / "channel"))
    code, printed = command("fetch", *place, "--class", "0", "--json")
    offers: Any = json.loads(printed)["offers"]
    assert code == 0
    assert offers[0]["model"] == "acpi/AbsPower/BPFOnly/SGDRegressorTrainer_0"
    compare = ("--compare", str(tmp_path / "channel"))
    code, printed = command("rebuild", *root, *compare)
    assert (code, "all equal" in printed) == (0, True)


def test_findings_are_exit_1_with_place_and_remedy(
    command: Command, simulated: Simulator, tmp_path: Path
) -> None:
    broken = simulated.copy()
    broken.files["datasets/server-0000/levels.csv"] += b"99,1\n"
    broken.write(tmp_path)
    code, printed = command("verify", "--root", str(tmp_path))
    assert code == 1
    assert "datasets/server-0000/levels.csv" in printed
    assert "fix:" in printed
    assert "server-0001" not in printed


def test_a_runner_of_github_gets_annotations_and_a_summary(
    command: Command,
    simulated: Simulator,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    broken = simulated.copy()
    del broken.files["datasets/server-0000/levels.csv"]
    broken.write(tmp_path / "registry")
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(tmp_path / "summary.md"))
    code, printed = command("verify", "--root", str(tmp_path / "registry"))
    assert code == 1
    assert "::error file=datasets/server-0000/" in printed
    assert "| error |" in (tmp_path / "summary.md").read_text().replace(
        "<code>", ""
    ).replace("</code>", "")


def test_a_change_is_checked_against_its_base(
    command: Command, simulated: Simulator, tmp_path: Path
) -> None:
    repo = tmp_path / "registry"
    changed = simulated.copy()
    base = simulated.commit(repo)
    changed.add_levels("server-new", 1000)
    changed.commit(repo)
    options = ("--root", str(repo), "--base", base, "--json")
    code, printed = command("verify", *options, "--author", "1000")
    assert (code, json.loads(printed)["findings"]) == (0, [])
    code, printed = command("verify", *options, "--author", "1001")
    assert code == 1


def test_keys_are_printed_in_openssh_format(command: Command, checkout: Path) -> None:
    code, printed = command("trust", "allowed-signers", "--root", str(checkout))
    assert code == 0
    assert printed.startswith("1000 namespaces=")
    again = command(
        "trust", "allowed-signers", "--root", str(checkout), "--rev", "HEAD"
    )
    assert again == (0, printed)


def test_generated_pages_are_printed(command: Command) -> None:
    assert "# Findings" in command("codes")[1]
    assert "rapl_package_{n}_joules_total" in command("columns")[1]
    assert json.loads(command("schema")[1])["title"] == "Hardware spec of a server"


def test_each_ending_has_its_exit_code(
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))

    def fails(error: BaseException) -> Callable[[], object]:
        def call() -> None:
            raise error

        return call

    refusal = RegistryError(finding(terminal.U001, "a.csv", "it is locked"))
    assert terminal.run(fails(refusal), json_output=True) == 1
    assert json.loads(capsys.readouterr().out)["findings"][0]["path"] == "a.csv"
    assert terminal.run(fails(PermissionError(13, "Permission denied", "x"))) == 1
    assert "U001 x: Permission denied" in capsys.readouterr().out
    assert terminal.run(fails(typer.Exit(0))) == 3  # only typer's own loop knows it
    capsys.readouterr()
    assert terminal.run(fails(ValueError("private text"))) == 3
    printed = capsys.readouterr().out
    assert "private text" not in printed
    trace = Path(printed.split("the trace is in ")[1].splitlines()[0])
    assert "private text" in trace.read_text()
    assert trace.stat().st_mode & 0o077 == 0


@pytest.mark.parametrize(
    "words", ["codes", "--version", "fetch --from nowhere --class 0 --json"]
)
def test_a_full_disk_is_told_without_a_trace(words: str) -> None:
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(
            [sys.executable, "-m", "registry", *words.split()],
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
        )
    assert done.returncode == 1
    assert done.stderr.startswith("error U001 standard output: No space left"), done
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize(
    "words",
    [
        ("verify",),
        ("plan",),
        ("build", "--out", "release"),
        ("trust", "expiring"),
        ("withdraw", "server-a", "--reason", "licence"),
    ],
)
def test_a_folder_that_is_no_registry_is_not_taken_for_an_empty_one(
    words: tuple[str, ...],
    command: Command,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    code, printed = command(*words)
    assert (code, "T004" in printed) == (1, True), printed
    (tmp_path / "datasets").mkdir()
    assert "T004" not in command(*words)[1]


@pytest.mark.parametrize("package", ["registry", "tools"])
def test_both_commands_run_as_modules(package: str) -> None:
    command = [sys.executable, "-m", package, "--version"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == __version__
