"""The code of this checkout, as the main branch of a simulated repository holds it."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["commit_files", "copy_source"]

ROOT: Final = Path(__file__).resolve().parents[2]
_PARTS: Final = (
    ".ci",
    ".github",
    "LICENSE",
    "README.md",
    "pyproject.toml",
    "registry",
    "requirements-dev.lock",
    "requirements.lock",
    "tools",
)


def copy_source(target: Path) -> None:
    """Copy what the workflows need: code, locks, set-up; no data and no trust."""
    for part in _PARTS:
        source = ROOT / part
        if source.is_dir():
            left_out = shutil.ignore_patterns("__pycache__", "*.egg-info")
            shutil.copytree(source, target / part, ignore=left_out)
        else:
            shutil.copy(source, target / part)
    for file in (target / "registry/trust").glob("*.yaml"):
        file.unlink()


def commit_files(
    bare: Path,
    work: Path,
    files: Mapping[str, bytes],
    *,
    branch: str = "main",
    source: bool = False,
    when: int = 1_780_000_000,
) -> str:
    """Commit files on top of a branch of a bare repository; gives the commit.

    Args:
        bare: the repository.
        work: a folder for the work tree; must not exist.
        files: content by path, beside what the branch has.
        branch: it is made if it is not there.
        source: whether to add the code of this checkout.
        when: committer time, seconds since 1970.
    """
    _git(None, "clone", "--quiet", str(bare), str(work))
    known = _git(work, "branch", "--remotes", "--format=%(refname)").split()
    if f"refs/remotes/origin/{branch}" in known:
        _git(work, "checkout", "--quiet", "-B", branch, f"origin/{branch}")
    else:
        start = ("-B", branch, "origin/main") if known else ("--orphan", branch)
        _git(work, "checkout", "--quiet", *start)
    if source:
        copy_source(work)
    for path, content in files.items():
        (work / path).parent.mkdir(parents=True, exist_ok=True)
        (work / path).write_bytes(content)
    _git(work, "add", "--all", "--force")
    _git(work, "commit", "--quiet", "--message", "Add files", when=when)
    _git(work, "push", "--quiet", "origin", branch)
    return _git(work, "rev-parse", "HEAD")


def _git(folder: Path | None, *words: str, when: int = 1_780_000_000) -> str:
    environment = {
        "PATH": "/usr/local/bin:/usr/bin:/bin",
        "GIT_CONFIG_GLOBAL": "/dev/null",
        "GIT_CONFIG_SYSTEM": "/dev/null",
        **{f"GIT_{who}_NAME": "Somebody" for who in ("AUTHOR", "COMMITTER")},
        **{f"GIT_{who}_EMAIL": "s@example.org" for who in ("AUTHOR", "COMMITTER")},
        **{f"GIT_{who}_DATE": f"{when} +0000" for who in ("AUTHOR", "COMMITTER")},
    }
    done = subprocess.run(
        ["git", *words], cwd=folder, env=environment, capture_output=True, check=False
    )
    assert done.returncode == 0, done.stderr.decode()
    return done.stdout.decode().strip()
