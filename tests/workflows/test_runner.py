"""The runner runs workflows as GitHub does, and refuses what it does not know."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.simulators.actions.commands import Printed, shown_by_github
from tests.simulators.runner import Event, Runner, Unreadable
from tests.simulators.source import commit_files
from tests.workflows.written import PIN, job, push, workflow

if TYPE_CHECKING:
    from tests.workflows.conftest import PlainHub


def test_blocks_are_executed_by_bash_until_one_fails(
    plain: PlainHub, tmp_path: Path
) -> None:
    run = push(
        plain,
        tmp_path,
        job("""\
        - run: |
            echo begun
            false
            echo not reached
        - name: skipped
          run: echo skipped
        - name: judged
          if: ${{ !cancelled() }}
          run: echo judged
        - name: only then
          if: failure()
          run: echo failed before
        """),
    )
    assert run.conclusion == "failure"
    ends = [step.conclusion for step in run.jobs["one"].steps]
    assert ends == ["failure", "skipped", "success", "success"]
    assert "begun" in run.log
    assert "not reached" not in run.log


def test_a_forgiven_step_fails_alone(plain: PlainHub, tmp_path: Path) -> None:
    run = push(
        plain,
        tmp_path,
        job("""\
        - name: forgiven
          id: first
          continue-on-error: true
          run: exit 1
        - name: told
          if: steps.first.outcome == 'failure' && steps.first.conclusion == 'success'
          run: echo told
        """),
    )
    assert run.conclusion == "success"
    ends = [step.conclusion for step in run.jobs["one"].steps]
    assert ends == ["failure", "success"]


@pytest.mark.parametrize(("shell", "expected"), [("", "success"), ("bash", "failure")])
def test_only_a_shell_that_is_named_fails_in_the_middle_of_a_pipe(
    plain: PlainHub, tmp_path: Path, shell: str, expected: str
) -> None:
    extra = f"  shell: {shell}\n" if shell else ""
    run = push(plain, tmp_path, job(f"- run: false | cat\n{extra}"))
    assert run.conclusion == expected


def test_steps_hand_on_variables_outputs_paths_and_a_summary(
    plain: PlainHub, tmp_path: Path
) -> None:
    run = push(
        plain,
        tmp_path,
        job("""\
        - id: first
          run: |
            echo "number=7" >> "$GITHUB_OUTPUT"
            printf 'TEXT<<END\\na\\nb\\nEND\\n' >> "$GITHUB_ENV"
            mkdir tools; echo 'echo found' > tools/mine; chmod +x tools/mine
            echo "$PWD/tools" >> "$GITHUB_PATH"
            echo "# Page" >> "$GITHUB_STEP_SUMMARY"
        - env:
            NUMBER: ${{ steps.first.outputs.number }}
          run: |
            [ "$NUMBER" = 7 ] && [ "$TEXT" = $'a\\nb' ] && [ "$(mine)" = found ]
            cat "$GITHUB_EVENT_PATH"; echo "$GITHUB_SHA $GITHUB_REF"
        """),
    )
    assert run.conclusion == "success", run.log
    assert run.summary == "# Page\n"
    assert '"ref": "refs/heads/main"' in run.log


def test_nothing_of_the_running_tests_leaks_into_a_step(
    plain: PlainHub, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MINE", "leaked")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    run = push(plain, tmp_path, job("- run: env\n"))
    assert "MINE" not in run.log
    assert "PYTHONPATH" not in run.log


def test_remarks_are_read_as_github_reads_them() -> None:
    heard = Printed("a step")
    for line in [
        "::error file=a.csv,line=3,title=C001::wrong%0AFix: do it",
        "  ::warning::spaces before count",
        "text ::error::not at the start",
        "text ##[error]the older form counts anywhere",
        "::nonsense::is text",
        "::stop-commands::token",
        "::error::unheard",
        "::token::",
        "::notice::heard",
    ]:
        heard.take(line)
    first = heard.annotations[0]
    assert (first.file, first.line, first.title) == ("a.csv", 3, "C001")
    assert first.message == "wrong\nFix: do it"
    assert [one.message for one in heard.annotations[1:]] == [
        "spaces before count",
        "the older form counts anywhere",
        "heard",
    ]


def test_github_shows_ten_errors_and_ten_warnings_of_a_step() -> None:
    heard = Printed()
    for number in range(30):
        heard.take(f"::error::{number}")
        heard.take(f"::warning::{number}")
    assert len(shown_by_github(heard.annotations)) == 20


def test_a_command_that_github_refuses_fails_the_step(
    plain: PlainHub, tmp_path: Path
) -> None:
    run = push(plain, tmp_path, job("- run: echo '::set-env name=A::b'\n"))
    assert run.conclusion == "failure"


def test_jobs_wait_for_those_that_they_need(plain: PlainHub, tmp_path: Path) -> None:
    run = push(
        plain,
        tmp_path,
        """\
        last:
          needs: [good, bad]
          if: ${{ !cancelled() }}
          runs-on: ubuntu-24.04
          steps:
            - run: echo ${{ needs.good.result }} ${{ needs.bad.result }}
        never:
          needs: bad
          runs-on: ubuntu-24.04
          steps: [{run: echo never}]
        nor-this:
          needs: never
          runs-on: ubuntu-24.04
          steps: [{run: echo never}]
        good:
          runs-on: ubuntu-24.04
          steps: [{run: "true"}]
        bad:
          runs-on: ubuntu-24.04
          steps: [{run: "false"}]
        """,
    )
    ends = {key: one.conclusion for key, one in run.jobs.items()}
    assert ends == {
        "good": "success",
        "bad": "failure",
        "last": "success",
        "never": "skipped",
        "nor-this": "skipped",
    }
    assert "success failure" in run.log


def test_a_matrix_runs_once_a_value_and_stops_at_a_failure(
    plain: PlainHub, tmp_path: Path
) -> None:
    text = """\
        one:
          name: on ${{ matrix.where }}
          strategy:
            matrix:
              where: [x, y]
          runs-on: ${{ matrix.where }}
          steps:
            - if: matrix.where == 'x'
              run: exit STATUS
        """
    run = push(plain, tmp_path, text.replace("STATUS", "0"))
    assert [one.name for one in run.jobs.values()] == ["on x", "on y"]
    assert run.jobs["one (y)"].steps[0].conclusion == "skipped"
    sha = commit_files(
        plain.bare,
        tmp_path / "again",
        {".github/workflows/a.yml": workflow(text.replace("STATUS", "1"))},
    )
    run = Runner(plain, tmp_path / "more").push(sha, "a")
    assert run.jobs["one (x)"].conclusion == "failure"
    assert run.jobs["one (y)"].conclusion == "cancelled"


def test_a_fork_s_token_may_only_read(plain: PlainHub, tmp_path: Path) -> None:
    permissions = "permissions: {contents: write, id-token: write, issues: read}"
    text = job("- run: echo\n", permissions)
    content = {".github/workflows/a.yml": workflow(text, on="pull_request")}
    sha = commit_files(plain.bare, tmp_path / "work", content)
    for foreign in (False, True):
        event = Event("pull_request", sha, "refs/pull/1/merge", foreign=foreign)
        Runner(plain, tmp_path / str(foreign)).start(event, "a")
    assert plain.granted == [
        {"contents": "write", "id-token": "write", "issues": "read"},
        {"contents": "read", "issues": "read"},
    ]


@pytest.mark.parametrize(
    "steps",
    [
        f"- uses: somebody/else@{PIN}\n",
        "- uses: actions/checkout@v7\n",
        f"- uses: actions/checkout@{PIN}\n  with: {{submodules: true}}\n",
        "- run: echo ${{ github.nonsense }}\n",
        "- run: echo ${{ secrets.TOKEN }}\n",
        "- run: echo ${{ steps.nobody.outputs.x }}\n",
        "- run: echo ${{ hashFiles('a') }}\n",
        "- run: echo ${{ 1 + 1 }}\n",
        "- run: echo ${{ github.sha\n",
        "- run: echo\n  continue-on-errors: true\n",
        "- run: echo\n  shell: pwsh\n",
        "- run: echo\n  working-directory: nowhere\n",
        "- run: echo\n  if: success() &&\n",
        "- name: neither\n",
    ],
)
def test_what_is_not_known_is_an_error_and_never_ignored(
    plain: PlainHub, tmp_path: Path, steps: str
) -> None:
    with pytest.raises(Unreadable):
        push(plain, tmp_path, job(steps))


@pytest.mark.parametrize(
    ("on", "started"),
    [
        ("push", True),
        ("{push: {branches: [main]}}", True),
        ("{push: {branches: ['m*']}}", True),
        ("{push: {branches: [other]}}", False),
        ("{push: {paths: ['.github/**']}}", True),
        ("{push: {paths: ['*.yml']}}", False),
        ("{push: {branches: [main], paths: ['datasets/**']}}", False),
        ("pull_request", False),
    ],
)
def test_only_what_the_event_fits_starts(
    plain: PlainHub, tmp_path: Path, on: str, *, started: bool
) -> None:
    run = push(plain, tmp_path, job("- run: echo\n"), on=on)
    assert (run.conclusion == "success") is started
    assert bool(run.jobs) is started


def test_what_stands_between_steps_and_jobs_is_told(
    plain: PlainHub, tmp_path: Path
) -> None:
    text = workflow(job("- {name: first, run: echo}\n- {name: second, run: echo}\n"))
    sha = commit_files(plain.bare, tmp_path / "work", {".github/workflows/a.yml": text})
    runner = Runner(plain, tmp_path / "runs")
    told: list[tuple[str, str]] = []
    runner.before_step = lambda one, step: told.append((one, step))
    runner.after_job = lambda one, shelf: told.append((one, shelf.root.name))
    runner.push(sha, "a")
    assert told == [("one", "first"), ("one", "second"), ("one", "kept")]
