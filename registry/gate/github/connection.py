"""A connection to one repository on GitHub that never hangs and never half-acts.

Reads are repeated by PyGithub. Writes are sent once: whoever writes looks first,
writes, and looks again (`writing.settle`), since a write that seems to have failed may
have been done. Every failure becomes a finding that says what to do.
"""

from __future__ import annotations

import contextlib
import logging
import os
import re
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import github
import github.Repository
import requests
import urllib3
from github.Consts import DEFAULT_BASE_URL

from registry.documents.findings import (
    Code,
    RegistryError,
    Severity,
    code,
    finding,
    shown,
)
from registry.documents.instants import instant
from registry.documents.names import GITHUB_NAME, GITHUB_SERVER

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from github.Repository import Repository

__all__ = ["PATIENT", "Connection", "Patience", "asking", "connect", "failure"]

UNREACHABLE = code(
    "N001",
    Severity.ERROR,
    "GitHub did not answer as it should; nothing can be said about the change.",
    "Run this again later; https://www.githubstatus.com says how GitHub is.",
    "W11",
)
FORBIDDEN = code(
    "N002",
    Severity.ERROR,
    "GitHub does not allow this to the token in use.",
    "Give GH_TOKEN a token that is valid and may do what the finding names.",
    "W8",
)
LIMITED = code(
    "N003",
    Severity.ERROR,
    "GitHub's rate limit is used up.",
    "Wait until the time that the finding names and run this again; with a token the "
    "limit is far higher.",
    "W13",
)
ABSENT = code(
    "N004",
    Severity.ERROR,
    "GitHub has no such thing, or does not show it to the token in use.",
    "Check the name; for something private give GH_TOKEN a token that may read it.",
)
REFUSED = code(
    "N005",
    Severity.ERROR,
    "GitHub refuses what was asked.",
    "Do what the finding says; if it says nothing clear, report it as a bug.",
)
NO_REPOSITORY = code(
    "N006",
    Severity.ERROR,
    "It is not said which repository on GitHub is meant.",
    "Give `--repository OWNER/NAME`, set GITHUB_REPOSITORY, or run this in a checkout "
    "whose remote `origin` is on GitHub.",
)
NO_NUMBER = code(
    "N007",
    Severity.ERROR,
    "The pause between two writes to GitHub is no number of seconds.",
    "Set REGISTRY_WRITE_PAUSE to 0 to 60 seconds, or not at all: GitHub asks for 1.",
)

# What fails is told as a finding; PyGithub would also write it to the terminal.
logging.getLogger("github").setLevel(logging.CRITICAL)

_NAME: Final = re.compile(GITHUB_NAME)
_PAUSE: Final = "REGISTRY_WRITE_PAUSE"
_SECONDS: Final = re.compile(r"[0-9]{1,2}(?:\.[0-9]{1,3})?")
_PAGES: Final = 1000
"""Pages of one list: far more than anything here has, so that no answer is endless."""


@dataclass(frozen=True, slots=True)
class Patience:
    """How long to wait for GitHub.

    Attributes:
        timeout: seconds for one answer.
        attempts: how often a read, or the look after a write, is tried.
        pause: seconds before the second try; doubled each time.
        rate_limit: the most seconds to wait for a rate limit to end.
        between_writes: seconds between two writes, which GitHub asks for.
    """

    timeout: int = 30
    attempts: int = 5
    pause: float = 1.0
    rate_limit: float = 180.0
    between_writes: float = 1.0


PATIENT: Final = Patience()


@dataclass(frozen=True, slots=True)
class Connection:
    """A repository on GitHub.

    Attributes:
        name: ``OWNER/NAME``.
        server: where people and git reach it, without a slash at the end.
        api: PyGithub's entry point.
        patience: how long to wait.
        token: the token in use, or None.
    """

    name: str
    server: str
    api: github.Github
    patience: Patience
    token: str | None

    @property
    def repository(self) -> Repository:
        """The repository; made without asking GitHub."""
        url, ask = f"/repos/{self.name}", self.api.requester
        return github.Repository.Repository(ask, url=url, completed=False)

    def read(self, path: str) -> Any:
        """Read an API path for which PyGithub has no method.

        Args:
            path: for example ``/repos/o/r/rulesets``.
        """
        with asking(path):
            return self._get(path)[1]

    def read_all(self, path: str, key: str | None = None) -> list[Any]:
        """Read all pages of a list for which PyGithub has no method.

        Args:
            path: the API path, without a query.
            key: the field that holds the list, if the answer is an object.
        """
        found: list[Any] = []
        with asking(path):
            for page in range(1, _PAGES + 1):
                query = f"{path}?per_page=100&page={page}"
                headers, data = self._get(query)
                items = data if key is None else data[key]
                found += items
                # GitHub may leave entries out of a page that is not the last one.
                if len(items) < 100 and 'rel="next"' not in headers.get("link", ""):
                    return found
            raise ValueError("the list has no end")

    def _get(self, path: str) -> tuple[dict[str, Any], Any]:
        """Headers and content of an answer, asked for again if it breaks off."""
        for attempt in range(1, self.patience.attempts):
            try:
                return self.api.requester.requestJsonAndCheck("GET", path)
            except requests.exceptions.ChunkedEncodingError:
                time.sleep(self.patience.pause * 2.0 ** (attempt - 1))
        return self.api.requester.requestJsonAndCheck("GET", path)


def connect(
    repository: str | None = None,
    *,
    environment: Mapping[str, str] | None = None,
    patience: Patience = PATIENT,
) -> Connection:
    """Prepare a connection; GitHub is not asked yet.

    Args:
        repository: ``OWNER/NAME``; by default ``GITHUB_REPOSITORY``.
        environment: by default the process's. ``GH_TOKEN`` or ``GITHUB_TOKEN`` holds
            the token, ``GITHUB_API_URL`` and ``GITHUB_SERVER_URL`` other addresses, as
            on GitHub's runners.
        patience: how long to wait. ``REGISTRY_WRITE_PAUSE`` shortens its pause between
            writes, for a server of one's own without such a limit.

    Raises:
        RegistryError: N006, no repository is named, or not in that form; N007.
    """
    known = os.environ if environment is None else environment
    name = repository or known.get("GITHUB_REPOSITORY", "")
    if _NAME.fullmatch(name) is None:
        what = f"{shown(name)} is not OWNER/NAME" if name else "no name is given"
        raise RegistryError(finding(NO_REPOSITORY, "github", what))
    token = known.get("GH_TOKEN") or known.get("GITHUB_TOKEN") or None
    retry = _Retry(
        total=patience.attempts - 1,
        backoff_factor=patience.pause,
        backoff_max=60,
        secondary_rate_wait=min(60.0, patience.rate_limit),
        max_rate_limit_wait=patience.rate_limit,
        respect_retry_after_header=True,
        allowed_methods=frozenset({"GET", "HEAD"}),
    )
    api = github.Github(
        auth=None if token is None else github.Auth.Token(token),
        base_url=(known.get("GITHUB_API_URL") or DEFAULT_BASE_URL).rstrip("/"),
        timeout=patience.timeout,
        per_page=100,
        retry=retry,
        seconds_between_requests=0,
        seconds_between_writes=_write_pause(known, patience),
        lazy=False,
    )
    server = (known.get("GITHUB_SERVER_URL") or GITHUB_SERVER).rstrip("/")
    return Connection(name, server, api, patience, token)


def _write_pause(known: Mapping[str, str], patience: Patience) -> float:
    """Seconds between two writes: what the user says, else as the patience has it."""
    said = known.get(_PAUSE)
    if not said:
        return patience.between_writes
    if _SECONDS.fullmatch(said) is None or float(said) > 60:
        raise RegistryError(finding(NO_NUMBER, _PAUSE, f"it is {shown(said)}"))
    return float(said)


class _Retry(github.GithubRetry):
    """PyGithub's, which would wait for hours if GitHub says so in ``Retry-After``."""

    def increment(
        self,
        method: str | None = None,
        url: str | None = None,
        response: Any = None,
        *others: Any,
        **named: Any,
    ) -> Any:
        """What is left to try after an answer, or the error if nothing is."""
        limited = response is not None and response.status in {403, 429}
        if limited:
            after = self.get_retry_after(response)
            most = self.max_rate_limit_wait or 0.0
            if after is not None and (after > most or not self.total):
                raise _limit(response)
        try:
            return super().increment(method, url, response, *others, **named)
        except urllib3.exceptions.MaxRetryError as error:
            if limited:
                raise _limit(response) from error
            raise


def _limit(response: Any) -> github.GithubException:
    headers = {key.lower(): text for key, text in response.headers.items()}
    said = {"message": "rate limit"}
    return github.RateLimitExceededException(response.status, said, headers)


@contextlib.contextmanager
def asking(what: str) -> Iterator[None]:
    """Turn whatever goes wrong while GitHub is asked into a finding.

    Args:
        what: what is asked for, for the finding.

    Raises:
        RegistryError: N001 to N005.
    """
    try:
        yield
    except RegistryError:
        raise
    except (
        github.GithubException,
        requests.RequestException,
        OSError,
        AssertionError,
        KeyError,
        TypeError,
        ValueError,
    ) as error:
        raise RegistryError(failure(error, what)) from error


def failure(error: Exception, what: str) -> Any:
    """The finding for an exception that PyGithub let through."""
    if isinstance(error, github.RateLimitExceededException):
        return finding(LIMITED, "github", f"{what}: {_until(error)}")
    if not isinstance(error, github.GithubException):
        return finding(UNREACHABLE, "github", f"{what}: {_how(error)}")
    said = error.data.get("message", "") if isinstance(error.data, dict) else ""
    text = f"{what}: {error.status} {shown(said, 150)}".rstrip()
    return finding(_kind(error.status), "github", text)


def _how(error: Exception) -> str:
    """What went wrong, in words for people."""
    if isinstance(error, (requests.Timeout, TimeoutError)):
        return "no answer in time"
    if isinstance(error, requests.exceptions.SSLError):
        return "no secure connection"
    if isinstance(error, requests.exceptions.ChunkedEncodingError):
        return "the answer broke off"
    if isinstance(error, (requests.ConnectionError, OSError)):
        return "no connection, or it broke off"
    return "the answer is not as GitHub's are"


def _kind(status: int) -> Code:
    if status in {401, 403}:
        return FORBIDDEN
    if status == 429:
        return LIMITED
    if status in {404, 410}:
        return ABSENT
    return UNREACHABLE if status >= 500 else REFUSED


def _until(error: github.GithubException) -> str:
    headers = {key.lower(): value for key, value in (error.headers or {}).items()}
    reset = headers.get("x-ratelimit-reset", "")
    after = headers.get("retry-after", "")
    if after.isdigit():
        reset = str(int(time.time()) + int(after))
    if not reset.isdigit():
        return "GitHub does not say until when"
    return f"until {instant(int(reset))}"
