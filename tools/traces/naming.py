"""Names, categories and threads as small integers, so that columns can hold them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from registry.documents.findings import RegistryError, Severity, code, finding
from tools.traces.typed import identity

__all__ = ["FOLDED", "NAMES", "THREADS", "Pairs", "Place", "Places", "label"]

NAMES: Final = 200_000
"""The most different pairs of name and category that are told apart."""
NAME_CHARACTERS: Final = 16_000
"""How much of a name is kept; those of C++ templates have thousands of characters."""
ALL_CHARACTERS: Final = 64_000_000
"""How many characters all names together have at most, before others are folded."""
SHORT: Final = 200
"""Longer categories are looked up in full each time."""
THREADS: Final = 250_000
"""The most threads of a trace; a million of them, each with a name, took 0.9 GiB."""
FOLDED: Final = "(further names)"
"""The name of all names that are too many to be told apart."""

V030 = code(
    "V030",
    Severity.ERROR,
    "A trace has more threads than can be told apart.",
    "Filter it first: `powerkit trace filter` takes processes, threads and times.",
)

Place = tuple[int | str, int | str]
"""A process and a thread of one file."""


class Pairs(dict[tuple[str | None, str | None], int]):
    """Pairs of name and category, each with a number: `pairs[name, category]`.

    Attributes:
        names: all names; the first is that of events without one.
        categories: all categories; the first is the empty one.
        name_of: the number of each pair's name, 0 for none.
        category_of: the number of each pair's category.
        of_category: the same numbers: `pairs.of_category[category][name]`.
        folded: how many lookups were of a name beyond those that are told apart.

    """

    def __init__(self) -> None:
        """Begin with nothing but the absent name and category."""
        super().__init__()
        self.names = [""]
        self.categories = [""]
        self.name_of: list[int] = []
        self.category_of: list[int] = []
        self.folded = 0
        self._characters = 0
        self.of_category = _Outer(
            lambda category: _Inner(self, lambda name: (name, category))
        )
        self._names = {"": 0}
        self._categories = {"": 0}

    def __missing__(self, pair: tuple[str | None, str | None]) -> int:
        """Number a pair that is new, or fold it."""
        name, category = pair[0] or "", pair[1] or ""
        short = name[:NAME_CHARACTERS], category[:NAME_CHARACTERS]
        number = self.get(short)
        if number is None:
            if len(self.name_of) >= NAMES or self._characters > ALL_CHARACTERS:
                self.folded += 1
                return self._folded()
            number = self._add(*short)
        if short == (name, category):  # no long text is kept, even as a key
            self[pair] = number
        return number

    def _folded(self) -> int:
        number = self.get((FOLDED, ""))
        return self._add(FOLDED, "") if number is None else number

    def _add(self, name: str, category: str) -> int:
        number = self[name, category] = len(self.name_of)
        self._characters += len(name) + len(category)
        self.name_of.append(_number(self._names, self.names, name))
        self.category_of.append(_number(self._categories, self.categories, category))
        return number


class Places(dict[tuple[int | str | None, int | str | None], int]):
    """Threads of one file, each with a number: `places[event.pid, event.tid]`.

    A thread that is not named is that of its process; a process that is not named is 0.

    Attributes:
        places: process and thread of each number.
        of_process: the same numbers: `places.of_process[event.pid][event.tid]`.

    """

    def __init__(self) -> None:
        """Begin without any."""
        super().__init__()
        self.places: list[Place] = []
        self.of_process = _Outer(lambda pid: _Inner(self, lambda tid: (pid, tid)))

    def __missing__(self, key: tuple[int | str | None, int | str | None]) -> int:
        """Number a thread that is new.

        Raises:
            RegistryError: V030, there are too many.
        """
        pid, tid = identity(key[0]), identity(key[1])
        pid = 0 if pid is None else pid
        place = pid, pid if tid is None else tid
        if place == key:
            if len(self.places) >= THREADS:
                what = f"more than {THREADS:,} threads"
                raise RegistryError(finding(V030, "-", what))
            self.places.append(place)
            self[key] = len(self.places) - 1
        else:
            self[key] = self[place]
        return self[key]


class _Inner(dict[Any, int]):
    """Numbers of pairs with one first part, by the second part."""

    def __init__(self, table: dict[Any, int], pair: Callable[[Any], Any]) -> None:
        super().__init__()
        self._table = table
        self._pair = pair

    def __missing__(self, second: Any) -> int:
        pair = self._pair(second)
        number = self._table[pair]
        if pair in self._table:  # which keeps no long text, and not too many
            self[second] = number
        return number


class _Outer(dict[Any, _Inner]):
    """The same numbers as a table of pairs, in half the time: no pair is made."""

    def __init__(self, pairs: Callable[[Any], _Inner]) -> None:
        super().__init__()
        self._inner = pairs

    def __missing__(self, first: Any) -> _Inner:
        inner = self._inner(first)
        short = not isinstance(first, str) or len(first) <= SHORT
        if short and len(self) < NAMES:
            self[first] = inner
        return inner


def _number(numbers: dict[str, int], texts: list[str], text: str) -> int:
    number = numbers.setdefault(text, len(texts))
    if number == len(texts):
        texts.append(text)
    return number


def label(names: dict[Any, str], key: Any, number: int | str) -> str:
    """A process's or thread's name with its number, or only the number."""
    name = names.get(key)
    return f"{name} ({number})" if name else str(number)
