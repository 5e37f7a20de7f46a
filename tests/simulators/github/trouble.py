"""How tests let things go wrong between their clients and the fake."""

from __future__ import annotations

import random
import re
from typing import TYPE_CHECKING

from tests.simulators.github.assets import start_asset
from tests.simulators.github.faults import Fault, Faults
from tests.simulators.github.routing import Ask, Refused, find, split

if TYPE_CHECKING:
    from threading import RLock

    from tests.simulators.github.state import Request
    from tests.simulators.github.wire import Handler

__all__ = ["Trouble"]


class Trouble:
    """The part of the fake that makes it fail."""

    faults: Faults
    requests: list[Request]
    lock: RLock

    def fail(
        self,
        method: str,
        path_regex: str,
        kind: int | str,
        times: int = 1,
        after: bool = False,
        seconds: float = 0.0,
    ) -> Fault:
        """Let the next requests of a kind fail.

        Args:
            method: the requests', or ``*``.
            path_regex: matches their paths somewhere, on any of the three servers.
            kind: 500, 502 or 503; ``limit`` and ``secondary``: the two rate limits;
                ``slow``: half of the answer, a stall, the rest; ``short``: half of the
                answer; ``cut``: no answer at all. An upload that meets 502, or is cut
                before its effect, leaves a broken file that holds the name, as
                GitHub's documentation says.
            times: how many requests.
            after: whether they take effect, and only the answer is lost.
            seconds: how long a stall or a limit lasts.
        """
        fault = Fault(method, re.compile(path_regex), str(kind), times, after, seconds)
        with self.lock:
            self.faults.planned.append(fault)
        return fault

    def misbehave(self, source: random.Random, rate: float) -> None:
        """Let requests fail at random, before or after their effect; git is spared.

        Args:
            source: where the chances come from, so that a run can be repeated.
            rate: how many of all requests fail, from 0 to 1.
        """
        with self.lock:
            self.faults.source, self.faults.rate = source, rate

    def behave(self) -> None:
        """End all failures."""
        with self.lock:
            self.faults.planned.clear()
            self.faults.rate = 0.0

    def count(self, method: str, path_regex: str) -> int:
        """How many requests there were of a kind."""
        wanted = re.compile(path_regex)
        with self.lock:
            return sum(
                asked.method in {method, "*"} and wanted.search(asked.path) is not None
                for asked in self.requests
            )

    def before(self, handler: Handler, fault: Fault, body: bytes) -> None:
        """Do what a request leaves behind although it failed."""
        path, query = split(handler.path)
        if fault.kind not in {"502", "cut"} or not path.startswith("/uploads/"):
            return
        try:
            _, params = find(handler.command, path)
        except Refused:
            return
        with self.lock:
            known, _ = self.find_repository(params["owner"], params["repo"])
            if known is None or handler.account is None:
                return
            ask = Ask(
                self,
                handler.command,
                path,
                params,
                query,
                body,
                handler.headers,
                handler.account,
                handler.token,
                known,
            )
            if self.may_push(known, handler.account, handler.token):
                start_asset(ask)
