"""What a filter asks of events: names, categories, processes, times.

Patterns are globs (`*`, `?`, `[ab]`) of whole names unless they are said to be regular
expressions, which may match anywhere. Those take time linear in the text, so no pattern
can hang a filter.
"""

from __future__ import annotations

import fnmatch
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Final, TypeVar

from registry.documents.findings import (
    Finding,
    RegistryError,
    Severity,
    code,
    finding,
    shown,
)
from registry.documents.patterns import Expression

__all__ = ["Conditions", "Patterns", "all_of", "nanoseconds_of"]

PATTERN = code(
    "V055",
    Severity.ERROR,
    "A condition of a filter cannot be understood.",
    "Give names as globs, regular expressions with --regex, times as 20ms or 1.5s.",
)
Found = TypeVar("Found")

CHARACTERS: Final = 1000
"""The longest pattern."""
LOOKED_AT: Final = 1 << 16
"""How much of a name is looked at."""
PATTERNS: Final = 100
REMEMBERED: Final = 1 << 18
_TIME: Final = re.compile(r"(-?\d{1,19}(?:\.\d{1,9})?)(ns|us|µs|ms|s)?")
_UNITS: Final = {"ns": 1, None: 1000, "us": 1000, "µs": 1000, "ms": 10**6, "s": 10**9}


@dataclass(frozen=True, slots=True)
class Conditions:
    """What is kept: whatever holds for all of these.

    Attributes:
        names: patterns of which a name must match one; any name if there are none.
        not_names: patterns of which a name may match none.
        categories: patterns of which one of an event's categories must match one.
        processes: numbers or names in place of numbers; all if empty.
        threads: the same for threads.
        phases: single letters; all if empty.
        start: nanoseconds at which what is kept must not have ended yet.
        end: nanoseconds at which it must have begun.
        shortest: the least duration of slices, in nanoseconds.
        regex: whether patterns are regular expressions.
        relative: whether start and end are counted from the first event.

    """

    names: tuple[str, ...] = ()
    not_names: tuple[str, ...] = ()
    categories: tuple[str, ...] = ()
    processes: frozenset[str] = frozenset()
    threads: frozenset[str] = frozenset()
    phases: frozenset[str] = frozenset()
    start: int | None = None
    end: int | None = None
    shortest: int | None = None
    regex: bool = False
    relative: bool = False


class Patterns:
    """Tells of texts whether they match one of some patterns, and remembers it."""

    def __init__(self, patterns: Iterable[str], *, regex: bool, option: str) -> None:
        """Understand the patterns.

        Args:
            patterns: globs or regular expressions.
            regex: which of both they are.
            option: where they come from, for findings.

        Raises:
            RegistryError: V055: one cannot be understood, or there are too many.
        """
        given = tuple(patterns)
        if len(given) > PATTERNS or any(len(one) > CHARACTERS for one in given):
            what = f"more than {PATTERNS} patterns, or one of over {CHARACTERS} letters"
            raise RegistryError([finding(PATTERN, option, what)])
        self._match = _regexes(given, option) if regex else _globs(given)
        self._known: dict[str, bool] = {}

    def learn(self, texts: Iterable[str]) -> None:
        """Match texts that are new, many at once."""
        if len(self._known) > REMEMBERED:
            self._known.clear()
        new = [
            one
            for one in set(texts)
            if one not in self._known and len(one) <= CHARACTERS
        ]
        if new:
            self._known.update(zip(new, self._match(new), strict=True))

    def __contains__(self, text: str) -> bool:
        """Whether a text matches; long ones are not remembered."""
        if len(text) > CHARACTERS:
            return self._match([text[:LOOKED_AT]])[0]
        if text not in self._known:
            self.learn([text])
        return self._known[text]


def all_of(attempts: Iterable[Callable[[], Found]]) -> list[Found]:
    """Results of all attempts.

    Raises:
        RegistryError: what was wrong with any of them, all together.
    """
    found: list[Found] = []
    problems: list[Finding] = []
    for attempt in attempts:
        try:
            found.append(attempt())
        except RegistryError as error:
            problems.extend(error.findings)
    if problems:
        raise RegistryError(problems)
    return found


def nanoseconds_of(text: str, option: str) -> int:
    """A time in nanoseconds: `1500` and `1500us` are microseconds, or ns, ms, s.

    Raises:
        RegistryError: V055: it is none.
    """
    found = _TIME.fullmatch(text.strip())
    if found is None:
        what = f"{shown(text)} is no time such as 1500, 20ms or 1.5s"
        raise RegistryError([finding(PATTERN, option, what)])
    whole, _, part = found[1].partition(".")
    sign = -1 if whole.startswith("-") else 1
    digits = abs(int(whole)) * 10**9 + int(part.ljust(9, "0"))
    return sign * digits * _UNITS[found[2]] // 10**9


def _globs(patterns: tuple[str, ...]) -> Callable[[list[str]], list[bool]]:
    # translate() makes groups that never give back what they matched: no backtracking
    compiled = [re.compile(fnmatch.translate(one)) for one in patterns]
    return lambda texts: [any(one.match(text) for one in compiled) for text in texts]


def _regexes(
    patterns: tuple[str, ...], option: str
) -> Callable[[list[str]], list[bool]]:
    try:
        compiled = [Expression(one, longest=CHARACTERS) for one in patterns]
    except ValueError as error:
        what = f"no regular expression: error: {shown(str(error), 120)}"
        raise RegistryError([finding(PATTERN, option, what)]) from None
    return lambda texts: [any(one.found_in(text) for one in compiled) for text in texts]
