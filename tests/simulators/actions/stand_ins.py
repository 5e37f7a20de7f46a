"""The actions that our workflows use, each doing on loopback what the real one does."""

from __future__ import annotations

import base64
import fnmatch
import re
import shutil
import subprocess
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Final

from tests.simulators.actions.expressions import Unreadable

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.simulators.actions.machine import Machine

__all__ = ["ActionFailed", "Shelf", "perform"]

SUBJECTS: Final = 1024
"""The most subjects of one attestation."""
_PIN: Final = re.compile(r"([a-z0-9-]+/[a-z0-9/-]+)@[0-9a-f]{40}")
_SUM: Final = re.compile(r"([0-9a-f]{64}) [ *](.+)")


class ActionFailed(Exception):  # noqa: N818 - the step fails, nothing is broken here
    """An action ends its step with a failure."""


@dataclass(slots=True)
class Shelf:
    """What the jobs of one run leave behind.

    Attributes:
        root: a folder for it.
        artifacts: folders by name.
        attested: name and digest of each subject.
        pages: the site's files, once deployed.
    """

    root: Path
    artifacts: dict[str, Path] = field(default_factory=dict)
    attested: list[tuple[str, str]] = field(default_factory=list)
    pages: Path | None = None


def perform(uses: str, inputs: dict[str, str], machine: Machine, shelf: Shelf) -> str:
    """Do what an action does.

    Args:
        uses: the action with its pin.
        inputs: its `with:`.
        machine: where.
        shelf: what the run keeps.

    Returns:
        Its log.

    Raises:
        Unreadable: the action, its pin or an input is not known here.
        ActionFailed: it fails.
    """
    match = _PIN.fullmatch(uses)
    if match is None or match.group(1) not in _ACTIONS:
        raise Unreadable(f"no stand-in for {uses}")
    action, known = _ACTIONS[match.group(1)]
    if odd := set(inputs) - known:
        raise Unreadable(f"{match.group(1)} takes no {', '.join(sorted(odd))} here")
    return action(inputs, machine, shelf)


def _checkout(inputs: dict[str, str], machine: Machine, _shelf: Shelf) -> str:
    target = machine.path(inputs.get("path", "."))
    target.mkdir(exist_ok=True)
    event = machine.event
    address = f"{machine.server}/{machine.repository}"
    login = base64.b64encode(f"x-access-token:{machine.token}".encode()).decode()
    header = f"http.{machine.server}/.extraheader=AUTHORIZATION: basic {login}"
    wanted = inputs.get("ref", event.sha)
    remote = f"refs/remotes/origin/{wanted}"
    branch = "ref" in inputs and not re.fullmatch("[0-9a-f]{40}", wanted)
    refs = [f"+refs/heads/{wanted}:{remote}"] if branch else [f"+{wanted}"]
    depth = int(inputs.get("fetch-depth", "1"))
    fetch = ["fetch", "--quiet", "--no-tags", "--no-recurse-submodules"]
    _git(target, "init", "--quiet", "--initial-branch=main")
    _git(target, "remote", "add", "origin", address)
    _git(target, "config", "gc.auto", "0")
    if depth:
        fetch.append(f"--depth={depth}")
    else:
        refs = ["+refs/heads/*:refs/remotes/origin/*", "+refs/tags/*:refs/tags/*"]
    secret = ["-c", header] if address.startswith("http") else []
    _git(target, *secret, *fetch, "origin", *refs)
    if not branch and depth == 0:
        _git(target, *secret, *fetch, "origin", wanted)
    if branch:
        _git(target, "checkout", "--quiet", "--force", "-B", wanted, remote)
    else:
        _git(target, "checkout", "--quiet", "--force", "--detach", wanted)
    if inputs.get("persist-credentials", "true") != "false":
        _git(target, "config", *header.split("=", 1))
    return f"checked out {wanted}"


def _git(folder: Path, *words: str) -> None:
    quiet = {"GIT_TERMINAL_PROMPT": "0", "GIT_CONFIG_GLOBAL": "/dev/null"}
    done = subprocess.run(
        ["git", *words],
        cwd=folder,
        env={"PATH": "/usr/local/bin:/usr/bin:/bin", "HOME": "/nonexistent", **quiet},
        capture_output=True,
        timeout=300,
        check=False,
    )
    if done.returncode:
        raise ActionFailed(done.stderr.decode("utf-8", "replace"))


def _setup_python(inputs: dict[str, str], machine: Machine, _shelf: Shelf) -> str:
    if not re.fullmatch(r"3\.\d+", inputs.get("python-version", "")):
        raise Unreadable("the version of Python is not said")
    return f"installed {machine.install_python()}"


def _upload(inputs: dict[str, str], machine: Machine, shelf: Shelf) -> str:
    source = machine.path(inputs["path"])
    return _keep(inputs.get("name", "artifact"), source, shelf, inputs)


def _keep(name: str, source: Path, shelf: Shelf, inputs: dict[str, str]) -> str:
    if not source.exists():
        if inputs.get("if-no-files-found", "warn") == "error":
            raise ActionFailed(f"no files were found at {source.name}")
        return "nothing to keep"
    if name in shelf.artifacts:
        raise ActionFailed(f"an artifact {name} exists already")
    target = shelf.root / name
    if source.is_dir():
        hidden = shutil.ignore_patterns(".*")  # the real action leaves these out too
        shutil.copytree(source, target, ignore=hidden)
    else:
        target.mkdir()
        shutil.copy(source, target)
    shelf.artifacts[name] = target
    return f"kept {name}"


def _download(inputs: dict[str, str], machine: Machine, shelf: Shelf) -> str:
    target = machine.path(inputs.get("path", "."))
    if "name" in inputs:
        if inputs["name"] not in shelf.artifacts:
            raise ActionFailed(f"no artifact of this run is called {inputs['name']}")
        shutil.copytree(shelf.artifacts[inputs["name"]], target, dirs_exist_ok=True)
        return f"took {inputs['name']}"
    names = fnmatch.filter(sorted(shelf.artifacts), inputs.get("pattern", "*"))
    for name in names:
        shutil.copytree(shelf.artifacts[name], target / name, dirs_exist_ok=True)
    return f"took {', '.join(names)}"


def _attest(inputs: dict[str, str], machine: Machine, shelf: Shelf) -> str:
    _demand(machine, "id-token", "attestations")
    file = machine.path(inputs["subject-checksums"])
    subjects: list[tuple[str, str]] = []
    for line in file.read_text("utf-8").splitlines():
        match = _SUM.fullmatch(line)
        if match is None:
            raise ActionFailed(f"no line of sha256sum: {line}")
        subjects.append((match.group(2), match.group(1)))
    if not 1 <= len(set(subjects)) <= SUBJECTS:
        raise ActionFailed(f"{len(subjects)} subjects, not 1 to {SUBJECTS}")
    shelf.attested += subjects
    return f"attested {len(subjects)} subjects"


def _upload_pages(inputs: dict[str, str], machine: Machine, shelf: Shelf) -> str:
    source = machine.path(inputs["path"])
    if any(file.is_symlink() for file in source.rglob("*")):
        raise ActionFailed("a site has no symbolic links")
    return _keep("github-pages", source, shelf, {"if-no-files-found": "error"})


def _deploy_pages(_inputs: dict[str, str], machine: Machine, shelf: Shelf) -> str:
    _demand(machine, "id-token", "pages")
    if "github-pages" not in shelf.artifacts:
        raise ActionFailed("no site was packed")
    shelf.pages = shelf.artifacts["github-pages"]
    return "deployed"


def _demand(machine: Machine, *permissions: str) -> None:
    for permission in permissions:
        if machine.permissions.get(permission) != "write":
            raise ActionFailed(f"the token lacks {permission}: write")


_ACTIONS: Final[dict[str, tuple[Callable[..., str], frozenset[str]]]] = {
    "actions/checkout": (
        _checkout,
        frozenset({"ref", "path", "fetch-depth", "persist-credentials"}),
    ),
    "actions/setup-python": (_setup_python, frozenset({"python-version"})),
    "actions/upload-artifact": (
        _upload,
        frozenset({"name", "path", "if-no-files-found", "retention-days"}),
    ),
    "actions/download-artifact": (_download, frozenset({"name", "pattern", "path"})),
    "actions/attest": (_attest, frozenset({"subject-checksums"})),
    "actions/upload-pages-artifact": (_upload_pages, frozenset({"path"})),
    "actions/deploy-pages": (_deploy_pages, frozenset()),
}
