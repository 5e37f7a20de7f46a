"""Before packing: search the very bytes for the names of the machine they come from.

Who collects those names (host, users, addresses) is the contributor's kit; nothing of
them is ever stored.
"""

from __future__ import annotations

import functools
import re
from typing import TYPE_CHECKING, Final

from registry.documents import workloads
from registry.documents.columns import catalogue

if TYPE_CHECKING:
    from collections.abc import Collection

__all__ = ["local_leaks"]

_SHORTEST: Final = 3
"""Characters; shorter names are in every text."""
_EVERYONES: Final = frozenset(
    {"root", "admin", "administrator", "user", "users", "server", "default"}
    | {"localhost", "localhost.localdomain", "none", "unknown", "linux"}
    | {
        "ubuntu",
        "debian",
        "fedora",
        "centos",
        "rocky",
        "alma",
        "suse",
        "arch",
        "alpine",
    }
    | {"127.0.0.1", "127.0.1.1", "0.0.0.0", "::1"}  # noqa: S104 - nothing binds to it
    | {"00:00:00:00:00:00", "ff:ff:ff:ff:ff:ff"}
)
_SEPARATORS: Final = re.compile(r"[:.\-_]")
_WORD: Final = re.compile(r"[0-9a-z]+")
_HEX_DIGITS: Final = frozenset("0123456789abcdef")


def local_leaks(data: bytes, identities: Collection[str]) -> tuple[str, ...]:
    """Return those names of this machine that are in some bytes, sorted.

    A name is found in any case and only as a whole word, so that a host "xeon" is not
    found in "xeons". Hardware addresses, UUIDs and machine ids are found with any or
    no separators. Names that many machines have ("root", "localhost"), words of the
    tables' own vocabulary and names of less than three characters say nothing and are
    passed over.

    Args:
        data: The bytes that are about to be published.
        identities: Host name, domain name, users, addresses, ids of this machine.

    """
    text = data.decode("utf-8", "replace").casefold()
    bare: str | None = None
    found = []
    for identity in sorted(set(identities)):
        name = identity.strip().casefold()
        if len(name) < _SHORTEST or name in _EVERYONES or name in _vocabulary():
            continue
        if _as_word(name, text):
            found.append(identity)
            continue
        digits = _SEPARATORS.sub("", name)
        if len(digits) >= 12 and set(digits) <= _HEX_DIGITS:
            bare = _SEPARATORS.sub("", text) if bare is None else bare
            if digits in bare:
                found.append(identity)
    return tuple(found)


def _as_word(name: str, text: str) -> bool:
    start = text.find(name)
    while start >= 0:
        end = start + len(name)
        before = text[start - 1] if start else " "
        after = text[end] if end < len(text) else " "
        if not (before.isalnum() or after.isalnum()):
            return True
        start = text.find(name, start + 1)
    return False


@functools.cache
def _vocabulary() -> frozenset[str]:
    """Return all words that tables hold by themselves."""
    words = {*workloads.WORKLOADS, workloads.OTHER}
    for entry in catalogue():
        words.update(entry.values, _WORD.findall(entry.name), [entry.name])
    return frozenset(word.casefold() for word in words)
