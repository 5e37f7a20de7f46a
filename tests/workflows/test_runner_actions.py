"""The runner's stand-ins for actions do what the real ones do."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.workflows.written import PIN, job, push

if TYPE_CHECKING:
    from tests.workflows.conftest import PlainHub

ATTEST = f"""\
- run: |
    for number in $(seq COUNT); do printf '%064d  f%s\\n' "$number" "$number"; done > s
- uses: actions/attest@{PIN}
  with: {{subject-checksums: s}}
"""

IDENTITY = "permissions: {id-token: write, attestations: write}"


def test_a_checkout_is_a_real_one(plain: PlainHub, tmp_path: Path) -> None:
    run = push(
        plain,
        tmp_path,
        job(f"""\
        - uses: actions/checkout@{PIN}
          with: {{ref: main, path: trusted, fetch-depth: 0, persist-credentials: false}}
        - working-directory: trusted
          run: git log --format=%s; git rev-parse --abbrev-ref HEAD; cat a.txt
        - uses: actions/checkout@{PIN}
          with: {{path: shallow}}
        - working-directory: shallow
          run: git rev-list --count HEAD; git config --list
        """),
        {"a.txt": b"content\n"},
    )
    assert run.conclusion == "success", run.log
    log = run.log.splitlines()
    assert log[2:6] == [
        "=== run: success",
        "Add files",
        "main",
        "content",
    ]
    assert "extraheader" in run.log.split("=== ")[-1], "the token stays unless told"


def test_artifacts_go_from_job_to_job_and_only_in_one_run(
    plain: PlainHub, tmp_path: Path
) -> None:
    run = push(
        plain,
        tmp_path,
        f"""\
        make:
          runs-on: ubuntu-24.04
          steps:
            - run: mkdir -p out/deep; echo 1 > out/deep/a; echo 2 > out/.hidden
            - uses: actions/upload-artifact@{PIN}
              with: {{name: x-1, path: out}}
            - uses: actions/upload-artifact@{PIN}
              with: {{name: x-2, path: out/deep/a}}
        take:
          needs: make
          runs-on: ubuntu-24.04
          steps:
            - uses: actions/download-artifact@{PIN}
              with: {{pattern: x-*, path: in}}
            - uses: actions/download-artifact@{PIN}
              with: {{name: x-2, path: own}}
            - run: find . -type f | sort
            - uses: actions/download-artifact@{PIN}
              with: {{name: y}}
        """,
    )
    steps = run.jobs["take"].steps
    assert steps[2].log.split() == ["./in/x-1/deep/a", "./in/x-2/a", "./own/a"]
    assert steps[3].conclusion == "failure"
    assert set(run.artifacts) == {"x-1", "x-2"}


@pytest.mark.parametrize(
    ("count", "head", "expected"),
    [
        ("3", IDENTITY, "success"),
        ("1024", IDENTITY, "success"),
        ("1025", IDENTITY, "failure"),
        ("0", IDENTITY, "failure"),
        ("3", "permissions: {id-token: write}", "failure"),
        ("3", "permissions: {attestations: write}", "failure"),
    ],
)
def test_an_attestation_needs_an_identity_and_has_few_subjects(
    plain: PlainHub, tmp_path: Path, count: str, head: str, expected: str
) -> None:
    run = push(plain, tmp_path, job(ATTEST.replace("COUNT", count), head))
    assert run.conclusion == expected, run.log
    assert len(run.attested) == (int(count) if expected == "success" else 0)


def test_a_site_needs_pages_and_an_identity(plain: PlainHub, tmp_path: Path) -> None:
    steps = f"""\
    - run: mkdir site; echo hello > site/index.json
    - uses: actions/upload-pages-artifact@{PIN}
      with: {{path: site}}
    - uses: actions/deploy-pages@{PIN}
    """
    permissions = "permissions: {pages: write, id-token: write}"
    run = push(plain, tmp_path / "a", job(steps, permissions))
    assert run.pages is not None
    assert (run.pages / "index.json").read_text() == "hello\n"
    run = push(plain, tmp_path / "b", job(steps, "permissions: {pages: write}"))
    assert (run.conclusion, run.pages) == ("failure", None)
