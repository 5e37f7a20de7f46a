"""The machine that runs one job: its folders, its environment and its shell."""

from __future__ import annotations

import json
import os
import re
import secrets
import shlex
import subprocess
import sys
import sysconfig
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from tests.simulators.actions.expressions import Unreadable
from tests.simulators.actions.prefork import caller, lender

if TYPE_CHECKING:
    from tests.simulators.actions.commands import Printed
    from tests.simulators.actions.triggers import Event

__all__ = ["Machine"]

_SHELLS: Final = {
    "": ["bash", "-e"],
    "bash": ["bash", "--noprofile", "--norc", "-eo", "pipefail"],
}
_LINE_END: Final = re.compile(rb"\r\n|\r|\n")
_PYTHON: Final = """#!/bin/bash
# Makes environments that see the packages of the running tests, without a download.
if [ "$1 $2" = "-m venv" ] && [ $# = 3 ]; then
  {python} -m venv --without-pip "$3"
  packages="$3"/lib/python{version}/site-packages
  echo {packages} > "$packages"/packages-of-the-tests.pth
  if [ -n {pip} ]; then
    install -D -m 644 {pip} "$packages"/pip/__main__.py
    touch "$packages"/pip/__init__.py
    cp {caller} "$packages"/pip/caller
  fi
else
  exec {python} "$@"
fi
"""
_GH: Final = Path(__file__).with_name("gh_stand_in.py")
_PIP: Final = Path(__file__).with_name("pip_stand_in.py")


@dataclass(slots=True)
class Machine:
    """A fresh machine.

    Attributes:
        root: its folder, which must exist and be empty.
        event: what the workflow runs for.
        repository: OWNER/NAME.
        server: address of the web server, which also serves git.
        token: the job's.
        permissions: what the token may.
        exported: variables that steps set for the steps after them.
        paths: folders that steps put in front of PATH, the last first.
        settings: the repository's variables, `vars` in expressions.
        real_pip: whether pip itself installs, which takes seconds, or a stand-in.
    """

    root: Path
    event: Event
    repository: str
    server: str
    token: str
    permissions: dict[str, str]
    environment: dict[str, str]
    settings: dict[str, str] = field(default_factory=dict)
    real_pip: bool = False
    exported: dict[str, str] = field(default_factory=dict)
    paths: list[str] = field(default_factory=list)

    @property
    def workspace(self) -> Path:
        """The folder in which steps begin."""
        return self.root / "work"

    def start(self) -> None:
        """Make the folders and the event's file."""
        for name in ("work", "temp", "home", "files", "tools"):
            (self.root / name).mkdir()
        gh = self.root / "tools" / "gh"
        gh.write_text(f'#!/bin/sh\nexec {shlex.quote(sys.executable)} {_GH} "$@"\n')
        gh.chmod(0o755)
        payload = json.dumps(self.event.payload)
        (self.root / "event.json").write_text(payload, encoding="utf-8")

    def variables(self) -> dict[str, str]:
        """What every step finds in its environment; nothing of ours leaks in."""
        event = self.event
        system = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
        pull = event.payload.get("pull_request", {})
        return {
            "CI": "true",
            "GITHUB_ACTIONS": "true",
            "GITHUB_ACTOR": event.actor,
            "GITHUB_BASE_REF": pull.get("base", {}).get("ref", ""),
            "GITHUB_EVENT_NAME": event.name,
            "GITHUB_EVENT_PATH": str(self.root / "event.json"),
            "GITHUB_HEAD_REF": pull.get("head", {}).get("ref", ""),
            "GITHUB_REF": event.ref,
            "GITHUB_REF_NAME": re.sub("^refs/(heads|tags|pull)/", "", event.ref),
            "GITHUB_REF_TYPE": "branch",
            "GITHUB_REPOSITORY": self.repository,
            "GITHUB_REPOSITORY_OWNER": self.repository.split("/")[0],
            "GITHUB_SERVER_URL": self.server,
            "GITHUB_SHA": event.sha,
            "GITHUB_WORKSPACE": str(self.workspace),
            "HOME": str(self.root / "home"),
            "LANG": "C.UTF-8",
            "NO_PROXY": "*",
            "PATH": ":".join([*self.paths, str(self.root / "tools"), system]),
            "PIP_CONFIG_FILE": os.devnull,
            "PIP_NO_INDEX": "1",  # a missing package is an error, not a download
            "RUNNER_ARCH": "X64",
            "RUNNER_OS": "Linux",
            "RUNNER_TEMP": str(self.root / "temp"),
            **self.environment,
            **self.exported,
        }

    def run(
        self,
        script: str,
        *,
        shell: str,
        folder: str,
        env: dict[str, str],
        printed: Printed,
        minutes: int,
    ) -> tuple[bool, dict[str, str], str]:
        """Run a script as a step.

        Args:
            script: its text, as in the workflow.
            shell: its shell; empty for GitHub's own choice.
            folder: where, below the workspace.
            env: what the workflow sets.
            printed: takes what it prints.
            minutes: after which it is ended.

        Returns:
            Whether it succeeded, its outputs, and its part of the summary.

        Raises:
            Unreadable: shell or folder is not there.
        """
        if shell not in _SHELLS:
            raise Unreadable(f"no such shell here: {shell}")
        where = self.workspace / folder
        if not where.is_dir():
            raise Unreadable(f"no such folder: {folder}")
        own = self.root / "files" / secrets.token_hex(4)
        own.mkdir()
        files = {name: own / name.lower() for name in ("OUTPUT", "ENV", "PATH")}
        files["STEP_SUMMARY"] = own / "summary.md"
        for file in files.values():
            file.touch()
        (own / "script.sh").write_text(script, encoding="utf-8")
        named = {f"GITHUB_{name}": str(file) for name, file in files.items()}
        command = [*_SHELLS[shell], str(own / "script.sh")]
        ok, output = self._execute(command, where, env | named, minutes)
        # Without the last line end; GitHub's runner ends lines at each of these.
        for line in _LINE_END.split(output.removesuffix(b"\n")):
            printed.take(line.decode("utf-8", "replace"))
        self.exported |= _pairs(files["ENV"])
        self.paths[:0] = reversed(files["PATH"].read_text("utf-8").split())
        summary = files["STEP_SUMMARY"].read_text("utf-8")
        return ok and not printed.failed, _pairs(files["OUTPUT"]), summary

    def _execute(
        self, command: list[str], where: Path, env: dict[str, str], minutes: int
    ) -> tuple[bool, bytes]:
        try:
            done = subprocess.run(
                command,
                cwd=where,
                env=self.variables() | env,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                timeout=minutes * 60,
                check=False,
            )
        except subprocess.TimeoutExpired as error:
            return False, (error.output or b"") + b"\n::error::it took too long\n"
        return done.returncode == 0, done.stdout

    def install_python(self) -> Path:
        """Put the running interpreter on PATH, wrapped."""
        folder = self.root / "python"
        folder.mkdir(exist_ok=True)
        borrowing = folder / "caller"
        borrowing.write_text(caller(lender()), encoding="utf-8")
        text = _PYTHON.format(
            caller=shlex.quote(str(borrowing)),
            python=shlex.quote(getattr(sys, "_base_executable", sys.executable)),
            packages=shlex.quote(sysconfig.get_path("purelib")),
            pip="''" if self.real_pip else shlex.quote(str(_PIP)),
            version=f"{sys.version_info[0]}.{sys.version_info[1]}",
        )
        for name in ("python3", "python"):
            (folder / name).write_text(text, encoding="utf-8")
            (folder / name).chmod(0o755)
        self.paths.insert(0, str(folder))
        return folder

    def path(self, name: str) -> Path:
        """A file that a step names, below the workspace.

        Raises:
            Unreadable: it leads out of the workspace.
        """
        whole = (self.workspace / name).resolve()
        if not whole.is_relative_to(self.workspace.resolve()):
            raise Unreadable(f"it is outside the workspace: {name}")
        return whole


def _pairs(file: Path) -> dict[str, str]:
    """Read GITHUB_OUTPUT or GITHUB_ENV: `name=value`, or `name<<MARK` … `MARK`."""
    found: dict[str, str] = {}
    lines = iter(file.read_text("utf-8").splitlines())
    for line in lines:
        name, mark, value = line.partition("=")
        if "<<" in name:
            name, _, end = line.partition("<<")
            block: list[str] = []
            for text in lines:
                if text == end:
                    break
                block.append(text)
            found[name] = "\n".join(block)
        elif mark:
            found[name] = value
        elif line:
            raise Unreadable(f"no pair of name and value: {line}")
    return found


class _Settings(dict[str, str]):
    """A repository's variables: one that nobody set is empty."""

    def __contains__(self, _name: object) -> bool:
        return True

    def __missing__(self, _name: str) -> str:
        return ""


def settings_context(machine: Machine) -> dict[str, str]:
    """What `vars.…` means."""
    return _Settings(machine.settings)


def github_context(machine: Machine, workflow: str, job: str) -> dict[str, Any]:
    """What `github.…` means in a job's expressions."""
    event = machine.event
    return {
        "actor": event.actor,
        "event": event.payload,
        "event_name": event.name,
        "job": job,
        "ref": event.ref,
        "repository": machine.repository,
        "repository_owner": machine.repository.split("/")[0],
        "run_id": "1",
        "server_url": machine.server,
        "sha": event.sha,
        "token": machine.token,
        "workflow": workflow,
        "workspace": str(machine.workspace),
    }
