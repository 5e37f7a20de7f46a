"""`.ci/setup` runs in the runner, on what the lock names and nothing else."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.simulators.runner import Runner
from tests.simulators.source import commit_files
from tests.workflows.written import PIN, job, workflow

if TYPE_CHECKING:
    from tests.workflows.conftest import PlainHub


@pytest.mark.parametrize("real_pip", [False, True], ids=["stand-in", "pip"])
def test_set_up_runs_in_a_fresh_checkout_and_leaves_ours_alone(
    plain: PlainHub, tmp_path: Path, repository: Path, *, real_pip: bool
) -> None:
    steps = f"""\
    - uses: actions/checkout@{PIN}
      with: {{persist-credentials: false}}
    - uses: actions/setup-python@{PIN}
      with: {{python-version: "3.13"}}
    - run: .ci/setup
    - run: |
        .venv/bin/registry --version
        .venv/bin/python -c 'import registry, tools; print(registry.__file__)'
    """
    content = {".github/workflows/b.yml": workflow(job(steps))}
    sha = commit_files(plain.bare, tmp_path / "work", content, source=True)
    ours = sorted(path.name for path in (repository / ".venv").rglob("*power*"))
    runner = Runner(plain, tmp_path / "runs", real_pip=real_pip)
    run = runner.push(sha, "b")
    assert run.conclusion == "success", run.log
    place = run.log.splitlines()[-1]
    assert place == str(tmp_path / "runs/run-1/one/work/registry/__init__.py")
    assert ours == sorted(path.name for path in (repository / ".venv").rglob("*power*"))


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("typer==", "typer==99."),
        ("numpy==", "no-such-package==1.0 \\\n    --hash=sha256:00\nnumpy=="),
        ("--hash=sha256:", "# "),
    ],
)
def test_set_up_demands_what_the_lock_names(
    plain: PlainHub, tmp_path: Path, repository: Path, old: str, new: str
) -> None:
    steps = f"""\
    - uses: actions/checkout@{PIN}
    - uses: actions/setup-python@{PIN}
      with: {{python-version: "3.13"}}
    - run: .ci/setup
    """
    lock = (repository / "requirements.lock").read_text("utf-8")
    assert old in lock
    content = {
        ".github/workflows/b.yml": workflow(job(steps)),
        "requirements.lock": lock.replace(old, new).encode(),
    }
    sha = commit_files(plain.bare, tmp_path / "work", content, source=True)
    run = Runner(plain, tmp_path / "runs").push(sha, "b")
    assert run.conclusion == "failure"
    assert "pip stand-in" in run.log
