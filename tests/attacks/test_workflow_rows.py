"""Rows W1 to W9 and W13 of the threat model, as far as workflows decide them.

Each rule is shown our files, which keep it, and bad ones, which it must find.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from registry.documents.findings import Severity, code, finding
from registry.gate import report
from registry.gate.outcome import Report
from registry.gate.paths import contribution
from tests.simulators.actions.commands import Printed
from tests.workflows import rules

PIN = "0123456789abcdef0123456789abcdef01234567"
GOOD = f"""
name: sample
on:
  pull_request:
    branches: [main]
permissions: {{}}
concurrency:
  group: sample
  cancel-in-progress: true
defaults:
  run:
    working-directory: trusted
jobs:
  one:
    runs-on: ubuntu-24.04
    timeout-minutes: 5
    permissions:
      contents: read
    steps:
      - name: main
        uses: actions/checkout@{PIN} # v7.0.1
        with:
          ref: main
          persist-credentials: false
      - name: take
        uses: actions/download-artifact@{PIN} # v8.0.1
        with:
          name: this-run
      - name: look
        env:
          TITLE: ${{{{ github.event.pull_request.title }}}}
        run: echo "$TITLE"
"""
BAD = code("T998", Severity.ERROR, "A sample.", "Do nothing.")


def _refused(row: str, *changes: tuple[str, str]) -> None:
    """Each change alone makes a good workflow bad."""
    assert rules.broken(row, GOOD) == []
    for old, new in changes:
        assert GOOD.count(old) == 1, old
        assert rules.broken(row, GOOD.replace(old, new)) != [], new


def _kept(row: str) -> None:
    for name, text in rules.texts().items():
        assert rules.broken(row, text) == [], name


def test_w1_no_workflow_runs_a_stranger_s_code_with_our_rights() -> None:
    _kept("W1")
    for trigger in ("pull_request_target", "workflow_run", "issue_comment"):
        _refused("W1", ("  pull_request:", f"  {trigger}:\n  pull_request:"))
        _refused("W1", ("  pull_request:\n", f"  {trigger}:\n"))


def test_w2_the_files_that_judge_are_no_part_of_a_contribution() -> None:
    judges = [
        ".github/workflows/verify.yml",
        ".ci/setup",
        "pyproject.toml",
        "registry/gate/scope.py",
        "requirements.lock",
        "tools/cli.py",
    ]
    assert [path for path in judges if contribution(path)] == []
    assert contribution("datasets/a/manifest.json")


def test_w3_only_main_is_checked_out_where_the_gate_runs() -> None:
    assert rules.broken("W3", rules.texts()["verify.yml"]) == []
    _refused(
        "W3",
        ("          ref: main\n", ""),
        ("ref: main", "ref: ${{ github.sha }}"),
        ('echo "$TITLE"', 'git checkout "$GITHUB_SHA"'),
        ('echo "$TITLE"', 'git -C . worktree add ../candidate "$GITHUB_SHA"'),
        ("working-directory: trusted", "working-directory: candidate"),
    )


def test_w4_no_text_of_a_stranger_is_written_into_a_shell() -> None:
    _kept("W4")
    _refused(
        "W4",
        ('"$TITLE"', '"${{ github.event.pull_request.title }}"'),
        ('"$TITLE"', '"${{ github.head_ref }}"'),
        ("working-directory: trusted", "working-directory: ${{ github.head_ref }}"),
        ("name: this-run", "script: core.info('${{ github.head_ref }}')"),
    )


@pytest.mark.parametrize(
    "text",
    [
        "::error file=README.md::made up",
        "a%0A::error::made up",
        "\r::error::made up",
        "##[error]made up",
        "x ##[error file=README.md;line=1]made up",
        "##[stop-commands]for-ever",
        "::stop-commands::for-ever",
        "##[add-mask]registry",
        "::set-env name=PATH::/tmp",
    ],
)
def test_w4_a_name_cannot_speak_to_the_runner(
    text: str, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    """Names and values of a bundle are echoed in logs that the runner listens to."""
    from registry import printing

    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    monkeypatch.delenv("GITHUB_STEP_SUMMARY", raising=False)
    found = (finding(BAD, f"datasets/{text}", text), finding(BAD, "datasets/z", "ok"))
    printing.print_report(Report(found, 1, 0.0, {}), json_output=False)
    heard = Printed()
    for line in capfd.readouterr().out.replace("\r", "\n").split("\n"):
        heard.take(line)
    assert [one.title for one in heard.annotations] == ["T998", "T998"]
    assert heard.annotations[1].file == "datasets/z"
    assert heard.masked == []
    assert not heard.failed
    assert report.as_text(found).count("fix:") == 2


def test_w5_no_workflow_reads_names_as_lines_of_a_text() -> None:
    _kept("W5")
    _refused(
        "W5",
        ('echo "$TITLE"', "git diff --name-only HEAD^1 HEAD"),
        ('echo "$TITLE"', "ls datasets | xargs registry verify"),
        ('echo "$TITLE"', "for file in $(ls datasets); do echo; done"),
    )


def test_w6_no_workflow_has_a_cache() -> None:
    _kept("W6")
    _refused(
        "W6",
        ("uses: actions/download-artifact", "uses: actions/cache"),
        ("uses: actions/download-artifact", "uses: actions/cache/restore"),
        ("name: this-run", "cache: pip"),
        ("name: this-run", "enable-cache: true"),
    )


def test_w7_artifacts_come_from_the_same_run_only() -> None:
    _kept("W7")
    _refused(
        "W7",
        ("name: this-run", "run-id: 1"),
        ("name: this-run", "repository: other/registry"),
        ("name: this-run", "github-token: ${{ github.token }}"),
        ("name: this-run", "digest-mismatch: warn"),
        ('echo "$TITLE"', "gh run download 1"),
    )


def test_w8_a_job_has_no_right_and_no_token_that_it_does_not_need() -> None:
    _kept("W8")
    _refused(
        "W8",
        ("permissions: {}", "permissions:\n  contents: read"),
        ("permissions: {}", "permissions:\n  contents: write"),
        ("contents: read", "contents: write"),
        ("      contents: read", "      contents: read\n      id-token: write"),
        ("    permissions:\n      contents: read\n", ""),
        ("          persist-credentials: false\n", ""),
        ("persist-credentials: false", "persist-credentials: true"),
        ("github.event.pull_request.title", "secrets.RELEASE_KEY"),
    )


@pytest.mark.parametrize(
    ("action", "command"),
    [
        (f"actions/checkout@{PIN}", "diff a b"),
        (f"somebody/else@{PIN}", "diff a b"),
        (f"actions/download-artifact@{PIN}", ".ci/setup"),
        (f"actions/download-artifact@{PIN}", "python -m registry build"),
        (f"actions/download-artifact@{PIN}", "pip install x"),
    ],
)
def test_w8_a_job_with_an_identity_runs_no_code(action: str, command: str) -> None:
    template = """
on: push
permissions: {{}}
jobs:
  attest:
    runs-on: ubuntu-24.04
    permissions:
      id-token: write
    steps:
      - uses: {action}
        with: {{persist-credentials: false}}
      - run: {command}
"""
    take = f"actions/download-artifact@{PIN}"
    assert rules.broken("W8", template.format(action=take, command="diff a b")) == []
    assert rules.broken("W8", template.format(action=action, command=command)) != []


def test_w9_what_is_not_ours_is_pinned() -> None:
    _kept("W9")
    checkout = f"actions/checkout@{PIN} # v7.0.1"
    _refused(
        "W9",
        (checkout, "actions/checkout@v7"),
        (checkout, "actions/checkout@main # v7.0.1"),
        (checkout, f"actions/checkout@{PIN}"),
        (checkout, f"actions/checkout@{PIN[:7]} # v7.0.1"),
        ('echo "$TITLE"', "pip install requests"),
        ('echo "$TITLE"', "curl https://example.org/install.sh"),
    )


def test_w9_set_up_takes_only_what_the_lock_names(repository: Path) -> None:
    script = (repository / ".ci/setup").read_text("utf-8")
    installs = script.replace("\\\n", " ").count("-m pip install")
    assert installs == 2
    assert "--require-hashes --only-binary=:all: -r" in script.replace("\\\n ", "")
    assert "--no-deps --no-build-isolation --editable ." in script.replace("\\\n ", "")
    for name in ("requirements.lock", "requirements-dev.lock"):
        lock = (repository / name).read_text("utf-8")
        pins = [line for line in lock.splitlines() if line[:1].isalnum()]
        assert pins
        assert all("==" in line for line in pins)
        assert lock.count("--hash=sha256:") >= len(pins)


def test_w9_zizmor_finds_nothing_and_can_find(tmp_path: Path) -> None:
    bad = GOOD.replace(f"@{PIN} # v7.0.1", "@v7").replace(
        '"$TITLE"', '"${{ github.event.pull_request.title }}"'
    )
    sample = tmp_path / ".github/workflows/bad.yml"
    sample.parent.mkdir(parents=True)
    sample.write_text(bad, "utf-8")
    found = _zizmor(tmp_path)
    assert found.returncode != 0
    assert {"template-injection", "unpinned-uses"} <= set(found.stdout.split())
    sample.write_text("jobs: [", "utf-8")
    assert _zizmor(tmp_path).returncode != 0, "what is no YAML is not clean"
    ours = _zizmor(rules.FOLDER.parent)
    assert ours.returncode == 0, ours.stdout + ours.stderr


def _zizmor(folder: Path) -> subprocess.CompletedProcess[str]:
    program = Path(sys.executable).with_name("zizmor")
    options = ["--offline", "--strict-collection", "--persona=pedantic", "--quiet"]
    done = subprocess.run(
        [program, *options, "--format=plain", folder],
        capture_output=True,
        text=True,
        check=False,
    )
    done.stdout = done.stdout.replace("[", " ").replace("]", " ")
    return done


def test_w13_no_run_burns_time_for_ever() -> None:
    _kept("W13")
    _refused(
        "W13",
        ("    timeout-minutes: 5\n", ""),
        ("timeout-minutes: 5", "timeout-minutes: 360"),
        ("  cancel-in-progress: true\n", ""),
        ("concurrency:\n  group: sample\n  cancel-in-progress: true\n", ""),
        ("  pull_request:\n    branches: [main]\n", "  pull_request:\n"),
    )
