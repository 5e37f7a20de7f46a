"""What goes wrong between a client and GitHub, when a test says so, or at random."""

from __future__ import annotations

import random
import re
import time
from dataclasses import dataclass, field

__all__ = ["KINDS", "Fault", "Faults", "spoken"]

KINDS = ("500", "502", "503", "limit", "secondary", "slow", "short", "cut")
"""Server errors, both rate limits, an answer that stalls or breaks off, no answer."""


@dataclass(slots=True)
class Fault:
    """Something that goes wrong with some requests.

    Attributes:
        method: the requests', or ``*``.
        path: a regular expression that their paths match somewhere.
        kind: one of ``KINDS``.
        times: how many requests it still meets.
        after: whether the request takes effect and only its answer is lost.
        seconds: how long to stall, or how long a limit lasts.
    """

    method: str
    path: re.Pattern[str]
    kind: str
    times: int = 1
    after: bool = False
    seconds: float = 0.0

    def __post_init__(self) -> None:
        """Refuse a kind that would never happen."""
        if self.kind not in KINDS:
            raise ValueError(f"{self.kind!r} is none of {', '.join(KINDS)}")


@dataclass(slots=True)
class Faults:
    """The faults of one fake; ``met`` counts those that happened."""

    planned: list[Fault] = field(default_factory=list)
    source: random.Random | None = None
    rate: float = 0.0
    met: int = 0

    def draw(self, method: str, path: str, *, random_too: bool) -> Fault | None:
        """The fault that this request meets, if any; call it under a lock."""
        for fault in self.planned:
            if fault.times > 0 and fault.method in {method, "*"}:
                if fault.path.search(path) is None:
                    continue
                fault.times -= 1
                self.met += 1
                return fault
        if random_too and self.source is not None and self.source.random() < self.rate:
            self.met += 1
            kind = self.source.choice(KINDS)
            after = kind not in {"limit", "secondary"} and self.source.random() < 0.5
            return Fault(method, re.compile(""), kind, 0, after)
        return None


def spoken(fault: Fault, user: int) -> tuple[int, dict[str, str], dict[str, str]]:
    """Status, headers and body of a fault that is answered.

    Args:
        fault: its kind is a status or a limit.
        user: numeric id of the account that asked.
    """
    about = (
        "https://docs.github.com/rest/using-the-rest-api/rate-limits-for-the-rest-api"
    )
    if fault.kind == "limit":
        text = f"API rate limit exceeded for user ID {user}."
        headers = {
            "X-RateLimit-Remaining": "0",
            "X-RateLimit-Reset": str(int(time.time() + fault.seconds)),
        }
        if fault.seconds <= 0:
            # GitHub does not send this with the hourly limit; here it says "at once".
            headers["Retry-After"] = "0"
        return 403, headers, {"message": text, "documentation_url": about}
    if fault.kind == "secondary":
        text = (
            "You have exceeded a secondary rate limit. Please wait a few minutes before"
            " you try again."
        )
        headers = {"Retry-After": str(int(fault.seconds))}
        return 403, headers, {"message": text, "documentation_url": about}
    return int(fault.kind), {}, {"message": "Server Error"}
