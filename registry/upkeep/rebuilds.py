"""Check the newest release, and build it again from its commit by its own code."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from registry.client.downloading import download
from registry.client.opening import open_release
from registry.client.origins import open_origin
from registry.client.rebuilding import OTHER_CODE, rebuild_and_compare
from registry.documents.findings import (
    Finding,
    RegistryError,
    Severity,
    code,
    finding,
)
from registry.documents.instants import day
from registry.gate.git import git
from registry.publish.index import INDEX_BYTES, read_index
from registry.publish.integrity import INDEX
from registry.upkeep.history import check_commit

if TYPE_CHECKING:
    from registry.publish.index import Index
    from registry.upkeep.situation import Situation

__all__ = ["check_rebuild", "check_release"]

ENDS = code(
    "R093",
    Severity.ERROR,
    "The newest release ends soon, or has ended: clients warn, or will.",
    "If all is well, start the publish workflow on a newer commit of main: a release "
    "counts from its commit.",
    "P2",
)
NOT_REBUILT = code(
    "R094",
    Severity.ERROR,
    "A release could not be built again by the code of its own commit.",
    "Check the commit out, run `.ci/setup` and `registry rebuild --compare` there.",
    "P3",
)

_DAY_SECONDS: Final = 86_400
_SECONDS: Final = 3 * 3600
"""The longest that building a release again may take."""
_SECRETS: Final = frozenset(
    {"GH_TOKEN", "GITHUB_TOKEN", "PYTHONPATH", "PYTHONSAFEPATH"}
)


def check_release(situation: Situation) -> tuple[str, list[Finding]]:
    """Open the newest release as a client does: sums, provenance, serial, expiry.

    Raises:
        NoRelease: Nothing is there.
        RegistryError: It is refused.
    """
    with tempfile.TemporaryDirectory(prefix="watch-") as folder:
        state = Path(folder, "seen.json")
        release = open_release(situation.place, state=state, now=situation.now)
    findings = _ending(release.index, situation)
    return f"release {release.tag}", findings + check_commit(situation, release.index)


def check_rebuild(situation: Situation) -> tuple[str, list[Finding]]:
    """Build the newest release again and compare every byte.

    Main's code may be newer than the release's. Then the code of the release's own
    commit does it, which is main's too: that is checked before anything of it runs.

    Raises:
        NoRelease: Nothing is there.
        RegistryError: It cannot be built again.
    """
    origin = open_origin(situation.place)
    index = read_index(origin.read(INDEX, INDEX_BYTES), INDEX)
    if problems := check_commit(situation, index):
        raise RegistryError(problems)
    try:
        again = rebuild_and_compare(
            situation.root,
            situation.place,
            jobs=situation.jobs,
            progress=situation.progress,
        )
    except RegistryError as error:
        if any(one.code != OTHER_CODE.id for one in error.findings):
            raise
        situation.progress("building with the code of the release's commit")
        return _by_its_own_code(situation, index)
    return f"{again.files} files of {again.tag}", list(again.findings)


def _ending(index: Index, situation: Situation) -> list[Finding]:
    if index.expires is None:
        return []
    if index.expires - situation.now > situation.days * _DAY_SECONDS:
        return []
    return [finding(ENDS, INDEX, f"it should be replaced before {day(index.expires)}")]


def _by_its_own_code(situation: Situation, index: Index) -> tuple[str, list[Finding]]:
    with tempfile.TemporaryDirectory(prefix="watch-") as name:
        work = Path(name)
        state = work / "seen.json"
        downloaded = download(situation.place, work / "release", state=state)
        checkout = work / "checkout"
        source = str(situation.root.resolve())
        git(work, "clone", "--quiet", "--shared", "--no-checkout", source, "checkout")
        git(checkout, "checkout", "--quiet", "--detach", str(index.commit))
        found = _run(checkout, downloaded.out, situation.jobs)
    return f"{downloaded.tag} by the code of {str(index.commit)[:12]}", found


def _run(checkout: Path, release: Path, jobs: int) -> list[Finding]:
    """Run the command of a checkout in a process of its own, without tokens."""
    command = [sys.executable, "-m", "registry", "rebuild", "--json", "--root", "."]
    command += ["--compare", str(release), "--jobs", str(jobs)]
    environment = {k: v for k, v in os.environ.items() if k not in _SECRETS}
    try:
        done = subprocess.run(
            command,
            cwd=checkout,
            env=environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=_SECONDS,
            check=False,
        )
        said: Any = json.loads(done.stdout)
        found = [
            Finding(**{**one, "severity": Severity(one["severity"])})
            for one in said["findings"]
        ]
    except subprocess.TimeoutExpired:
        return [finding(NOT_REBUILT, INDEX, f"no end after {_SECONDS} s")]
    except (KeyError, TypeError, ValueError):
        lines = done.stderr.decode("utf-8", "replace").strip().splitlines()
        what = f"it ended with {done.returncode}: {lines[-1] if lines else 'silence'}"
        return [finding(NOT_REBUILT, INDEX, what)]
    if done.returncode != bool(found):
        what = f"it ended with {done.returncode} and {len(found)} findings"
        return [*found, finding(NOT_REBUILT, INDEX, what)]
    return found
