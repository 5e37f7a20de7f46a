"""What runs on GitHub: triggers, tokens, environments and commands, exactly."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
import typer.core
import typer.main

from registry.cli import app
from tests.simulators.actions.documents import read_workflow
from tests.simulators.actions.expressions import Unreadable, fill
from tests.simulators.actions.triggers import Event, starts
from tests.workflows import rules

if TYPE_CHECKING:
    from tests.simulators.actions.documents import Job, Step

NAMES = {"ci.yml", "publish.yml", "scorecard.yml", "verify.yml", "watch.yml"}
PERMISSIONS = {
    ("verify.yml", "verify"): {"contents": "read", "pull-requests": "read"},
    ("publish.yml", "build"): {
        "attestations": "read",
        "contents": "read",
        "pull-requests": "read",
    },
    ("publish.yml", "compare"): {"id-token": "write", "attestations": "write"},
    ("publish.yml", "release"): {"contents": "write"},
    ("publish.yml", "pages"): {"pages": "write", "id-token": "write"},
    ("watch.yml", "check"): {"contents": "read"},
    ("watch.yml", "report"): {"contents": "read", "issues": "write"},
    ("ci.yml", "test"): {"contents": "read"},
    ("ci.yml", "actions"): {"contents": "read"},
    ("scorecard.yml", "scorecard"): {
        "contents": "read",
        "security-events": "write",
        "id-token": "write",
    },
}
ON = {
    "verify.yml": {
        "pull_request": {"branches": ["main"]},
        "merge_group": {"branches": ["main"]},
    },
    "publish.yml": {
        "push": {
            "branches": ["main"],
            "paths": ["datasets/**", "specs/**", "registry/**", "requirements.lock"],
        },
        "workflow_dispatch": {},
    },
    "watch.yml": {"schedule": [{"cron": "17 4 * * *"}], "workflow_dispatch": {}},
    "ci.yml": {
        "pull_request": {"branches": ["main"]},
        "merge_group": {"branches": ["main"]},
        "push": {"branches": ["main"]},
        "schedule": [{"cron": "41 3 * * 1"}],
    },
    "scorecard.yml": {
        "push": {"branches": ["main"]},
        "schedule": [{"cron": "23 5 * * 2"}],
    },
}


def steps() -> list[tuple[str, Job, Step]]:
    return [
        (name, job, step)
        for name, workflow in rules.workflows().items()
        for job in workflow.jobs.values()
        for step in job.steps
    ]


def test_there_are_these_workflows_and_no_other() -> None:
    assert set(rules.texts()) == NAMES


def test_triggers_are_exactly_these() -> None:
    assert {name: one.on for name, one in rules.workflows().items()} == ON


def test_no_workflow_has_a_permission_for_all_its_jobs() -> None:
    for name, workflow in rules.workflows().items():
        assert workflow.permissions == {}, name


def test_each_job_has_exactly_these_permissions() -> None:
    found = {
        (name, job.id): job.permissions
        for name, workflow in rules.workflows().items()
        for job in workflow.jobs.values()
    }
    assert found == PERMISSIONS


def test_what_leaves_the_repository_passes_an_environment() -> None:
    found = {
        (name, job.id): job.environment
        for name, workflow in rules.workflows().items()
        for job in workflow.jobs.values()
        if job.environment
    }
    assert found == {
        ("publish.yml", "release"): "release",
        ("publish.yml", "pages"): "github-pages",
    }
    for (name, job), permissions in PERMISSIONS.items():
        if "write" in {permissions.get("contents"), permissions.get("pages")}:
            assert (name, job) in found


def test_concurrency_ends_old_candidates_and_never_a_publication() -> None:
    pull = {"event_name": "pull_request", "event": {"pull_request": {"number": 7}}}
    queue = {"event_name": "merge_group", "event": {}}
    found = {}
    for name, workflow in rules.workflows().items():
        for event in (pull, queue):
            github = {"github": event | {"ref": "refs/heads/x"}}
            group, ends = (
                fill(workflow.concurrency[key], github)
                for key in ("group", "cancel-in-progress")
            )
            found[name, event["event_name"]] = (group, ends)
    assert found["verify.yml", "pull_request"] == ("verify-7", "true")
    assert found["verify.yml", "merge_group"] == ("verify-refs/heads/x", "true")
    assert found["ci.yml", "pull_request"] == ("ci-7", "true")
    assert found["ci.yml", "merge_group"] == ("ci-refs/heads/x", "false")
    assert found["publish.yml", "pull_request"] == ("publish", "false")
    assert found["watch.yml", "pull_request"] == ("watch", "false")


def test_only_the_packet_may_fail_without_a_word() -> None:
    """It helps reviewers; a large bundle's packet must not keep the bundle out."""
    forgiven = [(name, step.name) for name, _job, step in steps() if step.forgiven]
    packet = "Write the review packet, also of what was refused"
    assert forgiven == [("verify.yml", packet)]


def test_jobs_need_each_other_in_this_order() -> None:
    jobs = rules.workflows()["publish.yml"].jobs
    assert {key: job.needs for key, job in jobs.items()} == {
        "build": (),
        "compare": ("build",),
        "release": ("compare",),
        "pages": ("release",),
    }
    assert [one["runner"] for one in jobs["build"].matrix] == [
        "ubuntu-24.04",
        "ubuntu-24.04-arm",
    ]


def test_only_main_is_published_or_watched() -> None:
    for name, job in (("publish.yml", "build"), ("watch.yml", "check")):
        condition = rules.workflows()[name].jobs[job].condition
        assert condition == "github.ref == 'refs/heads/main'"


@pytest.mark.parametrize("row", ["W1", "W4", "W5", "W6", "W7", "W8", "W9", "W13"])
def test_all_workflows_keep_the_rules(row: str) -> None:
    found = {name: rules.broken(row, text) for name, text in rules.texts().items()}
    assert found == {name: [] for name in NAMES}


def test_only_the_token_of_the_job_is_used_and_only_where_it_is_needed() -> None:
    for name, job, step in steps():
        for variable, value in step.env.items():
            if "github.token" in value:
                assert variable == "GH_TOKEN", (name, job.id, step.name)
                assert step.run, (name, job.id, step.name)
        assert "token" not in " ".join(job.env.values()), (name, job.id)


def test_names_come_to_the_shell_through_the_environment() -> None:
    verify = rules.workflows()["verify.yml"].jobs["verify"]
    values = [value for step in verify.steps for value in step.env.values()]
    values += verify.env.values()
    used = {value for value in values if "github.event" in value}
    assert used == {
        "${{ github.event.pull_request.number }}",
        "${{ github.event.merge_group.head_ref }}",
    }


@pytest.mark.parametrize(
    ("paths", "expected"),
    [
        (["datasets/a/manifest.json"], True),
        (["specs/a.yaml"], True),
        (["registry/trust/42.yaml"], True),
        (["requirements.lock"], True),
        (["README.md", "tools/cli.py", "requirements-dev.lock"], False),
    ],
)
def test_only_what_alters_a_release_publishes(
    paths: list[str], *, expected: bool
) -> None:
    event = Event("push", "0" * 40, "refs/heads/main", paths=tuple(paths))
    assert starts(rules.workflows()["publish.yml"], event) is expected


@pytest.mark.parametrize("workflow", sorted(NAMES))
def test_nothing_starts_for_another_branch(workflow: str) -> None:
    for name in ("pull_request", "push", "merge_group"):
        ref = "refs/heads/release-1"
        event = Event(name, "0" * 40, ref, branch="release-1", paths=("specs/a.yaml",))
        assert not starts(rules.workflows()[workflow], event)


def test_every_command_line_of_ours_is_one_that_the_program_takes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Run each block with a `registry` that only writes down what it was given."""
    called = []
    for name, _job, step in steps():
        if ".venv/bin/registry" in step.run:
            for present in (False, True):
                folder = tmp_path / str(len(called)) / str(present)
                lines = _called(step, folder, present=present)
                assert lines, (name, step.name)
                monkeypatch.chdir(folder)
                for words in lines:
                    _parse(words)
                called += lines
    # W10: judged and built is the commit of the event, whatever main is by then.
    for words in called:
        if words[0] in {"verify", "build"}:
            assert "a" * 40 in words
    commands = {" ".join(words[:2]) for words in called}
    assert commands == {
        "verify --base",
        "verify --rev",
        "review 7",
        "download github:",
        "build --rev",
        "publish build/release",
        "watch check",
        "watch report",
    }


def _called(step: Step, folder: Path, *, present: bool) -> list[list[str]]:
    stub = folder / ".venv/bin/registry"
    stub.parent.mkdir(parents=True)
    stub.write_text('#!/bin/bash\nprintf "%s\\0" "$@" "" >> called\n', "utf-8")
    stub.chmod(0o755)
    (folder / "build/release").mkdir(parents=True)
    (folder / "watch.json").touch()
    if present:
        (folder / "build/previous").mkdir()
    given = {
        "PATH": "/usr/bin:/bin",
        "GITHUB_SHA": "a" * 40,
        "GITHUB_REPOSITORY": "power/registry",
        "GITHUB_REPOSITORY_OWNER": "power",
        "REUSES": "true",
        "SITE": "",
        "GITHUB_STEP_SUMMARY": "summary.md",
        "NUMBER": "7",
        "RUN_URL": "https://github.com/power/registry/actions/runs/1",
        "QUEUE_REF": f"refs/heads/gh-readonly-queue/main/pr-7-{'b' * 40}",
    }
    command = ["bash", "-eo", "pipefail", "-uc", step.run]
    subprocess.run(command, cwd=folder, env=given, check=True)
    blocks = (folder / "called").read_text("utf-8").split("\0\0")
    return [block.split("\0") for block in blocks if block]


def _parse(words: list[str]) -> None:
    """Parse a command line as the program does, and do nothing."""
    command = typer.main.get_command(app)
    context = command.make_context("registry", [], resilient_parsing=True)
    while isinstance(command, typer.core.TyperGroup):
        name, *words = words
        found = command.get_command(context, name)
        assert found is not None, f"no such command: {name}"
        command = found
    with command.make_context(command.name, words, parent=context):
        pass


def test_a_command_line_that_the_program_does_not_take_is_noticed() -> None:
    with pytest.raises(typer.BadParameter.__base__, match="--no-such-option"):
        _parse(["verify", "--no-such-option"])
    with pytest.raises(AssertionError, match="no such command"):
        _parse(["verfy"])


def test_a_workflow_that_leaves_its_permissions_open_is_not_read() -> None:
    with pytest.raises(Unreadable, match="permissions"):
        read_workflow("on: push\njobs: {}\n")
