"""Fetch from GitHub and push to it with git, with one token and nobody else's settings.

The token reaches git by its environment only: it is on no command line, in no file, and
in no text that is shown. Credential helpers, hooks and rewritten addresses of the user
are off, so that it is this account that acts, at this address.
"""

from __future__ import annotations

import base64
import os
import re
import subprocess
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from registry.documents.findings import (
    RegistryError,
    Severity,
    code,
    finding,
    shown,
)
from registry.gate.git import environment
from registry.gate.tree import history

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from registry.gate.github.connection import Connection, Patience

__all__ = ["Moved", "Remote", "remote"]

UNREACHABLE = code(
    "T040",
    Severity.ERROR,
    "Git and GitHub could not finish what was begun.",
    "Run the same command again: it goes on where it stopped, and nothing is done "
    "twice.",
    "W11",
)
REFUSED = code(
    "T041",
    Severity.ERROR,
    "GitHub does not let this token fetch or push.",
    "Use the token of `gh auth login`, or a classic token with the scope public_repo: "
    "fine-grained tokens cannot contribute to repositories of others.",
    "W8",
)
WORKFLOW = code(
    "L084",
    Severity.ERROR,
    "The fork lacks newer workflows of the registry, which this token may not push.",
    "Press `Sync fork` on the fork's page on GitHub, then run the same command again.",
    "W2",
    "W8",
)

_SECONDS: Final = 900
"""The most that one git command may take."""
_KEPT: Final = ("GIT_SSL_CAINFO", "GIT_SSL_CAPATH")
_REFUSALS: Final = re.compile(
    r"returned error: 40[134]|authentication failed|could not read username"
    r"|^(?:fatal|remote): .*not found|permission to|remote rejected",
    re.MULTILINE,
)
_STALE: Final = (
    "[rejected]",
    "stale info",
    "cannot lock ref",
    "failed to update ref",
    "reference already exists",
)


class Moved(Exception):  # noqa: N818 - not an error: somebody else was quicker
    """The branch is not any more where it was seen."""


class _PassingError(Exception):
    """Git failed in a way that may be over the next time."""


@dataclass(frozen=True, slots=True)
class Remote:
    """A repository on GitHub as git reaches it.

    Attributes:
        name: ``OWNER/NAME``.
        url: its address.
        patience: how often to try, and how long to wait.
        token: the token in use, or None.
    """

    name: str
    url: str
    patience: Patience
    token: str | None = field(repr=False)

    def tip(self, repo: Path, branch: str) -> str | None:
        """The commit of a branch, or None if there is no such branch.

        Raises:
            RegistryError: T040, T041.
        """
        what = f"reading {self.name}"
        ref = f"refs/heads/{branch}"
        listed = self._patiently(repo, what, "ls-remote", "--quiet", self.url, ref)
        for line in listed.splitlines():
            oid, _, name = line.partition("\t")
            if name == ref:
                return oid
        return None

    def fetch(self, repo: Path, branch: str, ref: str) -> None:
        """Bring a branch with its history here, as a reference.

        Raises:
            RegistryError: T040, T041.
        """
        spec = f"+refs/heads/{branch}:{ref}"
        quiet = ("--quiet", "--no-tags", "--no-write-fetch-head", "--no-auto-gc")
        what = f"fetching {branch} of {self.name}"
        self._patiently(repo, what, "fetch", *quiet, self.url, spec)

    def push(self, repo: Path, commit: str, branch: str, seen: str | None) -> None:
        """Put a commit on a branch, if that still is where it was seen.

        Pushing what is there already changes nothing, so a lost answer does no harm.

        Args:
            repo: holds the commit.
            commit: its full name.
            branch: the branch.
            seen: the commit that the branch had, or None if there was no such branch.

        Raises:
            Moved: the branch is elsewhere now.
            RegistryError: T040, T041, L084.
        """
        ref = f"refs/heads/{branch}"
        lease = f"--force-with-lease={ref}:{seen or ''}"
        words = ("--quiet", "--no-verify", lease, self.url, f"{commit}:{ref}")
        self._patiently(repo, f"pushing {branch} to {self.name}", "push", *words)

    def answers(self, repo: Path) -> bool:
        """Whether the repository is there and holds a branch; asked once.

        Raises:
            RegistryError: git cannot be run.
        """
        try:
            listed = self._run(repo, "ls-remote", "--quiet", "--heads", self.url)
        except _PassingError:
            return False
        except RegistryError as error:
            if error.findings[0].code == REFUSED.id:
                return False
            raise
        return bool(listed)

    def _patiently(self, repo: Path, what: str, *arguments: str) -> str:
        said = ""
        for attempt in range(self.patience.attempts):
            if attempt:
                time.sleep(self.patience.pause * 2.0 ** (attempt - 1))
            try:
                return self._run(repo, *arguments)
            except _PassingError as problem:
                said = str(problem)
        raise RegistryError(finding(UNREACHABLE, "github", f"{what}: {said}"))

    def _run(self, repo: Path, *arguments: str) -> str:
        command = ["git", "--no-pager", "-C", str(repo), *arguments]
        try:
            done = subprocess.run(
                command,
                env=self._environment(),
                stdin=subprocess.DEVNULL,
                capture_output=True,
                timeout=_SECONDS,
                check=False,
            )
        except subprocess.TimeoutExpired:
            message = f"no answer in {_SECONDS} s"
            raise _PassingError(message) from None
        except OSError as problem:
            message = f"git cannot be run: {problem.strerror}"
            raise history(message) from problem
        if done.returncode:
            self._judge(arguments[0], done.stderr.decode("utf-8", "replace"))
        return done.stdout.decode("utf-8", "replace")

    def _judge(self, verb: str, complaints: str) -> None:
        """Tell apart what is refused, what moved, and what may pass."""
        text = complaints
        for secret in self._secrets():
            text = text.replace(secret, "***")
        lines = [line.strip() for line in text.splitlines() if line.strip()]
        low = text.lower()
        telling = [line for line in lines if not line.startswith("hint:")]
        what = f"git {verb}: {shown(' / '.join(telling[:2]) or 'failed', 200)}"
        if "without `workflow` scope" in low or "`workflows` permission" in low:
            raise RegistryError(finding(WORKFLOW, "github", what))
        if verb == "push" and any(word in low for word in _STALE):
            raise Moved(what)
        if _REFUSALS.search(low):
            raise RegistryError(finding(REFUSED, "github", what))
        raise _PassingError(what)

    def _environment(self) -> dict[str, str]:
        settings = list(self._settings())
        values = environment()
        values |= {key: os.environ[key] for key in _KEPT if key in os.environ}
        values |= {"GIT_ASKPASS": "", "GIT_CONFIG_COUNT": str(len(settings))}
        for number, (key, value) in enumerate(settings):
            values[f"GIT_CONFIG_KEY_{number}"] = key
            values[f"GIT_CONFIG_VALUE_{number}"] = value
        return values

    def _settings(self) -> Iterator[tuple[str, str]]:
        yield "core.hooksPath", os.devnull
        yield "credential.helper", ""
        yield "gc.auto", "0"
        yield "push.gpgSign", "false"
        yield "push.followTags", "false"
        yield "protocol.allow", "never"
        yield f"protocol.{self.url.partition(':')[0]}.allow", "always"
        # The longest match wins, so no rewriting of the user's can lead elsewhere.
        yield f"url.{self.url}.insteadOf", self.url
        yield f"url.{self.url}.pushInsteadOf", self.url
        yield f"http.{self.url}.followRedirects", "false"
        yield "http.lowSpeedLimit", "1"
        yield "http.lowSpeedTime", str(max(1, self.patience.timeout))
        yield f"http.{self.url}.extraHeader", ""  # an empty one clears the others
        if self.token is not None:
            yield f"http.{self.url}.extraHeader", f"Authorization: {self._basic()}"

    def _basic(self) -> str:
        pair = f"x-access-token:{self.token}".encode()
        return "Basic " + base64.b64encode(pair).decode("ascii")

    def _secrets(self) -> tuple[str, ...]:
        if self.token is None:
            return ()
        return self.token, self._basic().removeprefix("Basic ")


def remote(connection: Connection, name: str) -> Remote:
    """The repository of a name on the connection's server.

    Args:
        connection: gives server, token and patience.
        name: ``OWNER/NAME`` as GitHub writes it now.
    """
    url = f"{connection.server}/{name}.git"
    return Remote(name, url, connection.patience, connection.token)
