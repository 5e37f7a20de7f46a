"""Writes to GitHub that are safe to repeat: look, write, look again.

A write whose answer was lost may have been done. So nothing is sent twice before
somebody looked whether it is there.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, TypeVar

import github
import requests

from registry.documents.findings import RegistryError
from registry.gate.github.connection import failure

if TYPE_CHECKING:
    from collections.abc import Callable

    from registry.gate.github.connection import Patience

__all__ = ["settle"]

_Found = TypeVar("_Found")
_CONFLICTS = frozenset({409, 422})
"""Answers of a write that may mean that it is done already, or was half-done."""


def settle(
    look: Callable[[], _Found | None],
    write: Callable[[], _Found | None],
    *,
    what: str,
    patience: Patience,
) -> _Found:
    """Make something so, whatever was done before and whatever answers are lost.

    Args:
        look: gives what is there, or None if the write is still to be done. It may also
            remove what an earlier, broken write left behind.
        write: one request that makes it so; gives what it made if GitHub's answer says.
        what: what is made, for findings.
        patience: how often to try, and how long to wait.

    Raises:
        RegistryError: N001 to N005: it could not be made, or nobody can tell.
    """
    last: Exception | None = None
    for attempt in range(patience.attempts):
        if attempt:
            time.sleep(_pause(last, attempt, patience))
        try:
            found = look()
            if found is not None:
                return found
            made = write()
            if made is not None:
                return made
        except (github.GithubException, requests.RequestException, OSError) as error:
            if not _passing(error, patience):
                raise RegistryError(failure(error, what)) from error
            last = error
            continue
        last = None
    try:
        found = look()
    except (github.GithubException, requests.RequestException, OSError) as error:
        raise RegistryError(failure(error, what)) from error
    if found is not None:
        return found
    raise RegistryError(failure(last or TimeoutError(), what)) from last


def _passing(error: Exception, patience: Patience) -> bool:
    """Whether it may be another answer the next time."""
    if isinstance(error, github.RateLimitExceededException):
        return _wait(error) <= patience.rate_limit
    if isinstance(error, github.GithubException):
        waits = error.status == 403 and _wait(error) > 0
        return error.status >= 500 or error.status in _CONFLICTS or waits
    return True


def _pause(error: Exception | None, attempt: int, patience: Patience) -> float:
    pause = patience.pause * 2.0 ** (attempt - 1)
    if isinstance(error, github.GithubException):
        return min(max(pause, _wait(error)), max(patience.rate_limit, pause))
    return pause


def _wait(error: github.GithubException) -> float:
    """How many seconds GitHub asks to wait; 0 if it does not."""
    headers = {key.lower(): value for key, value in (error.headers or {}).items()}
    after = headers.get("retry-after", "")
    if after.isdigit():
        return float(after)
    reset = headers.get("x-ratelimit-reset", "")
    spent = headers.get("x-ratelimit-remaining", "") == "0"
    if reset.isdigit() and spent:
        return max(0.0, int(reset) - time.time()) + 1.0
    return 0.0
