"""Workflows that a test writes, commits and runs."""

from __future__ import annotations

import textwrap
from pathlib import Path
from typing import TYPE_CHECKING

from tests.simulators.runner import Runner
from tests.simulators.source import commit_files

if TYPE_CHECKING:
    from tests.simulators.runner import Run
    from tests.workflows.conftest import PlainHub

__all__ = ["PIN", "job", "push", "workflow"]

PIN = "0123456789abcdef0123456789abcdef01234567"


def workflow(jobs: str, on: str = "{push: {branches: [main]}}") -> bytes:
    text = f"name: sample\non: {on}\npermissions: {{}}\njobs:\n"
    return (text + textwrap.indent(textwrap.dedent(jobs), "  ")).encode()


def job(steps: str, head: str = "") -> str:
    """One job of these steps."""
    lead = f"one:\n  runs-on: ubuntu-24.04\n{textwrap.indent(head, '  ')}"
    return f"{lead}\n  steps:\n{textwrap.indent(textwrap.dedent(steps), '    ')}"


def push(
    hub: PlainHub,
    tmp_path: Path,
    jobs: str,
    files: dict[str, bytes] | None = None,
    **more: str,
) -> Run:
    """Commit a workflow and run it for that push."""
    content = {".github/workflows/a.yml": workflow(jobs, **more)} | (files or {})
    sha = commit_files(hub.bare, tmp_path / "work", content)
    return Runner(hub, tmp_path / "runs").push(sha, "a")
