"""Run a plan on a system under test: issue requests when they are due, and time them.

Latency counts from the instant when a request was due, not from when it was sent, so a
slow system cannot hide behind requests that it kept from being sent. In an open loop
arrivals never wait for answers; what waits for a free place is counted.
"""

from __future__ import annotations

import asyncio
import heapq
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Final, Literal, TypeAlias

from tools.load.arrivals import REQUESTS
from tools.load.clock import Clock, Window, precise_loop
from tools.load.interruption import caught_signals
from tools.load.journal import Journal
from tools.load.requests import Plan
from tools.load.scenarios import Scenario, Settings
from tools.load.targets.answers import Answer, Target, told
from tools.load.targets.functions import Coroutine

__all__ = ["Ending", "Run", "run_plan"]

Ending: TypeAlias = Literal["complete", "interrupted", "time limit"]
_PROGRESS_SECONDS: Final = 0.5
_SELECTED: Final = 256
"""How many coroutines may have connections in a loop that selects."""


@dataclass(slots=True)
class Run:
    """What a run left.

    Attributes:
        journal: what happened to every request.
        begin: just before the first request was due.
        end: after the last answer.
        ending: why it ended.
        waited: how many requests waited for a free place in an open loop.
        most_waiting: how many did at once.
        most_in_flight: how many ran at once.
        rounds: how often the plan was begun.

    """

    begin: Window
    end: Window
    journal: Journal = field(default_factory=Journal)
    ending: Ending = "complete"
    waited: int = 0
    most_waiting: int = 0
    most_in_flight: int = 0
    rounds: int = 0


def run_plan(
    plan: Plan,
    target: Target,
    settings: Settings,
    *,
    clock: Clock | None = None,
    loop_factory: Callable[[], asyncio.AbstractEventLoop] | None = None,
    progress: Callable[[str], None] | None = None,
) -> Run:
    """Run a plan to its end, or to a signal; a second one waits for nothing.

    Args:
        plan: what to ask for, and when.
        target: the system under test; it is closed at the end.
        settings: how to run it; see `settings_for`.
        clock: where the time is from; the machine's own if None.
        loop_factory: makes the event loop; one of microsecond waits if None.
        progress: is told twice a second how far it is.
    """
    issuer = _Issuer(plan, target, settings, clock or Clock(), progress)
    # select takes no descriptors above 1023, and coroutines open theirs in our loop.
    crowded = isinstance(target, Coroutine) and settings.at_once > _SELECTED
    usual = asyncio.new_event_loop if crowded else precise_loop
    with asyncio.Runner(loop_factory=loop_factory or usual) as runner:
        try:
            return runner.run(issuer.run())
        finally:
            target.close()


class _Issuer:
    """Issues the requests of one run."""

    def __init__(
        self,
        plan: Plan,
        target: Target,
        settings: Settings,
        clock: Clock,
        progress: Callable[[str], None] | None,
    ) -> None:
        self.plan = plan
        self.target = target
        self.settings = settings
        self.clock = clock
        self.progress = progress
        self.result = Run(self._now(), self._now())
        self.journal = self.result.journal
        self.tasks: set[asyncio.Task[None]] = set()
        self.waiting: deque[int] = deque()
        self.lanes: list[int] = []
        self.new_lane = 0
        self.queries = 0
        self.finished = 0
        self.issuing: asyncio.Task[None] | None = None
        self.hurry = asyncio.Event()

    async def run(self) -> Run:
        """Issue everything, and wait for the answers."""
        loop = asyncio.get_running_loop()
        self.result.begin = self._now()
        self.issuing = asyncio.create_task(self._issue())
        shower = asyncio.create_task(self._show()) if self.progress else None
        limit = self.settings.time_limit_ns
        timer = limit and loop.call_later(limit / 1e9, self._stop, "time limit")
        with caught_signals(loop, self._interrupted):
            with suppress(asyncio.CancelledError):
                await self.issuing
            await self._drain()
        for other in (timer, shower):
            if other:
                other.cancel()
        self.result.end = self._now()
        return self.result

    def _interrupted(self) -> None:
        if self.result.ending == "interrupted":
            self.hurry.set()  # asked twice: wait for nothing any more
        self._stop("interrupted")

    def _stop(self, ending: Ending) -> None:
        """Issue no more; an interruption stays one, whatever comes after it."""
        if self.result.ending != "interrupted":
            self.result.ending = ending
        self.waiting.clear()
        if self.issuing is not None:
            self.issuing.cancel()

    async def _issue(self) -> None:
        scenario = self.settings.scenario
        if scenario is Scenario.SERVER:
            await self._open_loop()
        elif scenario is Scenario.MULTI_STREAM:
            await self._stream()
        else:
            source = self._sources()
            workers = self.settings.at_once
            async with asyncio.TaskGroup() as group:
                for _ in range(workers):
                    group.create_task(self._worker(source))

    async def _open_loop(self) -> None:
        """Send every request when it is due."""
        for item, due in self._sources():
            delay = (due - self._elapsed()) / 1e9
            # Even when late, the loop must come around to see answers.
            await self.clock.sleep(max(delay, 0.0))
            row = self.journal.due(item, self._query(), due)
            if len(self.tasks) < self.settings.in_flight:
                self._send(row)
                continue
            self.waiting.append(row)
            self.result.waited += 1
            waiting = len(self.waiting)
            self.result.most_waiting = max(self.result.most_waiting, waiting)
        while self.waiting:
            await asyncio.wait(self.tasks, return_when=asyncio.FIRST_COMPLETED)
        # What is left of the least duration has no arrivals in it.
        rest = self.settings.min_duration_ns - self._elapsed()
        await self.clock.sleep(max(rest, 0) / 1e9)

    async def _stream(self) -> None:
        """Send several samples at once, and the next ones after all of them."""
        source = self._sources()
        while True:
            due, query = self._elapsed(), self.queries
            samples = [
                self._send(self.journal.due(item, query, due))
                for _, (item, _) in zip(
                    range(self.settings.samples), source, strict=False
                )
            ]
            if not samples:
                return
            self.queries += 1
            await asyncio.wait(samples)

    async def _worker(self, source: Iterator[tuple[int, int]]) -> None:
        """Send the next request some time after the last one."""
        offline = self.settings.scenario is Scenario.OFFLINE
        for item, _ in source:
            due = 0 if offline else self._elapsed()
            row = self.journal.due(item, self._query(), due)
            await asyncio.wait([self._send(row)])
            if self.settings.think_ns:
                await self.clock.sleep(self.settings.think_ns / 1e9)

    def _sources(self) -> Iterator[tuple[int, int]]:
        """Items and times of the plan, again and again while the run is too short."""
        requests = self.plan.requests
        period = self._period()
        while True:
            offset = self.result.rounds * period
            self.result.rounds += 1
            for number, item in enumerate(requests.drawn):
                due = 0 if requests.times is None else requests.times[number]
                if self.result.rounds > 1 and self._enough(due + offset):
                    return
                yield item, due + offset
            if self._enough(offset + period + 1) or len(self.journal) >= REQUESTS:
                return

    def _enough(self, due: int) -> bool:
        """Whether the run is long enough without a request that is due then."""
        least = self.settings.min_duration_ns
        server = self.settings.scenario is Scenario.SERVER
        return (
            (due > least if server else self._elapsed() >= least)
            and self.queries >= self.settings.min_queries
            and len(self.journal) % self.settings.samples_per_query == 0
        )

    def _period(self) -> int:
        """After what time a plan begins again, so that the rounds join without a seam.

        That is its duration, or its last arrival, since the first one comes a gap after
        the beginning; a gap is added where it comes at the beginning.
        """
        times = self.plan.requests.times
        if not times:
            return 0
        gap = (times[-1] - times[0]) // max(1, len(times) - 1)
        last = times[-1] if times[0] > 0 else times[-1] + gap
        return self.plan.header.duration_ns or last

    def _send(self, row: int) -> asyncio.Task[None]:
        task = asyncio.create_task(self._ask(row))
        self.tasks.add(task)
        count = len(self.tasks)
        self.result.most_in_flight = max(self.result.most_in_flight, count)
        return task

    async def _ask(self, row: int) -> None:
        """Ask for a row's item, and write down how it ended."""
        begin = self.result.begin.monotonic_ns
        lane = heapq.heappop(self.lanes) if self.lanes else self.new_lane
        self.new_lane = max(self.new_lane, lane + 1)
        started = self.clock.now_ns()
        self.journal.started[row] = started - begin
        name = self.plan.requests.names[self.journal.items[row]]
        try:
            try:
                async with asyncio.timeout(self.settings.answer_ns / 1e9):
                    answer = await self.target.answer(name)
            except TimeoutError:
                answer = Answer("no answer in time")
            except Exception as error:  # noqa: BLE001 - one answer must not end the run
                answer = Answer(told(error))
            ended = answer.ended_ns
            ended = self.clock.now_ns() if ended is None else ended
            started = started if answer.started_ns is None else answer.started_ns
            self.journal.over(row, started - begin, ended - begin, lane, answer.error)
            self.finished += 1
        finally:
            heapq.heappush(self.lanes, lane)
            current = asyncio.current_task()
            if current is not None:
                self.tasks.discard(current)
            if self.waiting:
                self._send(self.waiting.popleft())

    async def _drain(self) -> None:
        """Wait for what is in flight; not for long after an early end."""
        if self.result.ending == "complete":
            over = asyncio.create_task(self._answered())
        else:
            over = asyncio.create_task(self._grace())
        hurry = asyncio.create_task(self.hurry.wait())
        await asyncio.wait({over, hurry}, return_when=asyncio.FIRST_COMPLETED)
        left = [over, hurry, *self.tasks]
        for task in left:
            task.cancel()
        await asyncio.gather(*left, return_exceptions=True)

    async def _answered(self) -> None:
        """Wait for all answers, or for an early end and a little longer."""
        while self.tasks:
            await asyncio.wait(self.tasks, timeout=_PROGRESS_SECONDS)
            if self.result.ending != "complete":
                await self._grace()
                return

    async def _grace(self) -> None:
        if self.tasks:
            await asyncio.wait(self.tasks, timeout=self.settings.grace_ns / 1e9)

    async def _show(self) -> None:
        while self.progress is not None:
            total = len(self.plan.requests)
            due, done = len(self.journal), self.finished
            self.progress(f"{done} of {max(total, due)} answered, {due - done} open")
            await asyncio.sleep(_PROGRESS_SECONDS)

    def _query(self) -> int:
        self.queries += 1
        return self.queries - 1

    def _elapsed(self) -> int:
        return self.clock.now_ns() - self.result.begin.monotonic_ns

    def _now(self) -> Window:
        return Window(self.clock.now_ns(), self.clock.epoch_ns())
