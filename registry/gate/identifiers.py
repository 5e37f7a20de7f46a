"""What names a machine, a person or a network: patterns, and what only looks like one.

Product names, dates, sizes, frequencies and versions must pass: "SYS-1029U-TR4",
"Xeon E5-2650 v4 @ 2.20GHz", "7.00.00.171".
"""

from __future__ import annotations

import ipaddress
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Literal

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["Identifier", "Kind", "identifiers"]

Kind = Literal[
    "address", "hardware", "email", "uuid", "serial", "host", "account", "pod"
]
"""IP address, MAC, e-mail, UUID, serial number, host name, user or path, pod."""


@dataclass(frozen=True, slots=True, order=True)
class Identifier:
    """Something that names someone.

    Attributes:
        start: Where it begins in the text.
        kind: What it looks like.
        text: The very characters.

    """

    start: int
    kind: Kind
    text: str


def identifiers(text: str, *, version: bool = False) -> tuple[Identifier, ...]:
    """Find identifiers in a text.

    Args:
        text: Any text.
        version: The text is a version number, in which four small numbers are no IP
            address unless they are one of a private network.

    """
    found: list[Identifier] = []
    taken: list[tuple[int, int]] = []
    for rule in _RULES:
        for match in rule.pattern.finditer(text):
            start, end = match.span()
            overlaps = any(start < stop and begin < end for begin, stop in taken)
            if not overlaps and rule.accepts(match, version):
                taken.append((start, end))
                found.append(Identifier(start, rule.kind, match.group()))
    return tuple(sorted(found))


def _always(match: re.Match[str], version: bool) -> bool:  # noqa: ARG001
    return True


@dataclass(frozen=True, slots=True)
class _Rule:
    kind: Kind
    pattern: re.Pattern[str]
    accepts: Callable[[re.Match[str], bool], bool] = _always


_VERSION_WORD: Final = re.compile(
    r"(?:\bv|\bver|version|kernel|build|release|firmware|bios|driver|patch|\br)[\s:.#\"(]*$",
    re.IGNORECASE,
)


def _is_ipv4(match: re.Match[str], version: bool) -> bool:
    """Accept four octets; among versions only those of private networks."""
    parts = re.split(r"[.\-_]", match.group("octets"))
    if any(len(part) > 1 and part.startswith("0") for part in parts):
        return False  # "7.00.00.171" is how versions are written, never an address
    if any(int(part) > 255 for part in parts):
        return False
    address = ipaddress.IPv4Address(".".join(parts))
    told = _VERSION_WORD.search(match.string[: match.start()]) is not None
    if told and parts[0] == "10":
        return False
    if version or told or "." not in match.group("octets"):
        return bool(address.is_private) and parts[0] != "0"
    return int(address) != 0


def _is_ipv6(match: re.Match[str], version: bool) -> bool:  # noqa: ARG001
    try:
        address = ipaddress.IPv6Address(match.group())
    except ValueError:
        return False
    return not (address.is_unspecified or address.is_loopback)


def _is_mixed_hex(match: re.Match[str], version: bool) -> bool:  # noqa: ARG001
    """Accept hexadecimal digits of both sorts: neither a date nor a word."""
    text = match.group()
    return any(c.isdigit() for c in text) and any(c.isalpha() for c in text)


def _is_serial(match: re.Match[str], version: bool) -> bool:
    """Accept long tokens of many digits and some letters, as printed on labels."""
    text = str(match.group())
    digits = sum(c.isdigit() for c in text)
    return not version and digits >= 4 and len(text) - digits >= 2


def _has_digits(match: re.Match[str], version: bool) -> bool:  # noqa: ARG001
    return sum(c.isdigit() for c in str(match.group("value"))) >= 2


def _is_no_frequency(match: re.Match[str], version: bool) -> bool:  # noqa: ARG001
    """Refuse "CPU@2.50GHz"."""
    return re.match(r"[0-9.]+ ?[GMK]Hz", match.group("host"), re.IGNORECASE) is None


def _is_no_version(match: re.Match[str], version: bool) -> bool:
    """Refuse "1.0.dev", which ends like a domain, but not "db01.corp.internal"."""
    return not version or _NO_RELEASE.search(match.group()) is not None


_NO_RELEASE: Final = re.compile(
    r"[a-z]{2}[a-z0-9-]*\.(?:local|localdomain|localhost|lan|internal|intranet|intra"
    r"|corp|home|private|prod|svc|cluster|com|net|org|edu|gov)$",
    re.IGNORECASE,
)
"""Endings that no version has, behind something that is a word."""


def _is_hashed(match: re.Match[str], version: bool) -> bool:  # noqa: ARG001
    """Accept a pod's random ending, but no processor number and no count."""
    ending = match.group("ending")
    return (
        sum(c.isdigit() for c in ending) >= 2
        and sum(c.isalpha() for c in ending) >= 2
        and re.fullmatch(r"[0-9]+x[0-9]+[a-z]", ending) is None
    )


_SAFE: Final = "[bcdfghjklmnpqrstvwxz2456789]"
"""The letters and digits of which Kubernetes makes random endings."""
_TOP: Final = (
    "com|net|org|edu|gov|mil|int|io|dev|app|cloud|tech|info|biz|arpa|eu|de|uk|fr|jp|cn"
    "|us|it|nl|se|no|fi|dk|ch|at|be|es|pt|pl|cz|ru|br|ca|au|nz|kr|tw|hk|sg|ie|za|il"
)
_INNER: Final = (
    "local|localdomain|localhost|lan|internal|intranet|intra|corp|home|private|svc"
    "|cluster|test|example|invalid|lab|prod"
)
_ABSOLUTE: Final = "home|Users|root|var|etc|opt|mnt|srv|tmp|usr|data|dev|proc|run|media"

# Order matters: what an earlier rule takes, a later one does not see.
_RULES: Final = (
    _Rule(
        "email",
        re.compile(
            r"(?<![\w.])[A-Za-z0-9_][A-Za-z0-9._%+-]*@"
            r"(?P<host>[A-Za-z0-9-]+(?:\.[A-Za-z0-9-]+)*)"
        ),
        _is_no_frequency,
    ),
    _Rule(
        "uuid",
        re.compile(
            r"(?<![0-9A-Za-z])[0-9A-Fa-f]{8}(?:[-_][0-9A-Fa-f]{4}){3}[-_][0-9A-Fa-f]{12}"
            r"(?![0-9A-Za-z])"
        ),
    ),
    _Rule(
        "hardware",
        re.compile(
            r"(?<![0-9A-Za-z:])[0-9A-Fa-f]{2}(?::[0-9A-Fa-f]{2}){5}(?![0-9A-Za-z:])"
        ),
    ),
    _Rule(  # without a letter it is a time: 20-07-15-12-30-45
        "hardware",
        re.compile(
            r"(?<![0-9A-Za-z:])[0-9A-Fa-f]{2}([-_])[0-9A-Fa-f]{2}"
            r"(?:\1[0-9A-Fa-f]{2}){4}(?![0-9A-Za-z:])"
        ),
        _is_mixed_hex,
    ),
    _Rule(
        "hardware",
        re.compile(
            r"(?<![\w.])[0-9A-Fa-f]{4}\.[0-9A-Fa-f]{4}\.[0-9A-Fa-f]{4}(?![\w.])"
        ),
        _is_mixed_hex,
    ),
    _Rule(
        "address",
        re.compile(r"(?<![\w:.])[0-9A-Fa-f:]*:[0-9A-Fa-f:]*:[0-9A-Fa-f:.]*(?![\w:])"),
        _is_ipv6,
    ),
    _Rule(
        "address",
        re.compile(r"(?<![\w.])(?P<octets>\d{1,3}(?:\.\d{1,3}){3})(?![\w]|\.\d)"),
        _is_ipv4,
    ),
    _Rule(
        "address",
        re.compile(
            r"(?<![0-9])(?P<octets>\d{1,3}(?:([-_])\d{1,3})(?:\2\d{1,3}){2})(?!\d)"
        ),
        _is_ipv4,
    ),
    _Rule(
        "pod",
        re.compile(
            rf"(?<![\w-])[a-z][a-z0-9-]*-{_SAFE}{{8,10}}-{_SAFE}{{5}}(?![\w-])"
            r"|\b(?:docker|containerd|cri-o)://\S+|\bkubepods\S*|\bk8s_[A-Za-z]\w*"
            r"|\b(?:cri-containerd|crio|docker|libpod)-[0-9a-f]{8,64}\b"
        ),
    ),
    _Rule(
        "pod",
        re.compile(
            rf"(?<![\w-])[a-z]+(?:-[a-z]+)+-(?P<ending>(?![a-z]\d{{4}}|\d{{4}}[a-z])"
            rf"{_SAFE}{{5}})(?![\w-])"
        ),
        _is_hashed,
    ),
    _Rule(
        "host",
        re.compile(
            r"\b(?:host ?name|node ?name|fqdn|hostname)\s*[:=]\s*\S+"
            r"|\bip-\d{1,3}(?:-\d{1,3}){3}\b|\bi-[0-9a-f]{8}(?:[0-9a-f]{9})?\b"
            r"|\bgke-[a-z0-9-]+-[0-9a-f]{8}-[a-z0-9]{4}\b|\baks-[a-z0-9-]+-vmss\w+",
            re.IGNORECASE,
        ),
    ),
    _Rule(
        "host",
        re.compile(
            rf"(?<![\w.-])(?:[A-Za-z0-9](?:[A-Za-z0-9-]*[A-Za-z0-9])?\.)+"
            rf"(?:{_TOP}|{_INNER})(?![\w-])",
            re.IGNORECASE,
        ),
        _is_no_version,
    ),
    _Rule(
        "account",
        re.compile(
            rf"(?<![\w.])/(?:{_ABSOLUTE})/[\w.-]+|(?<![\w.-])(?:home|Users)/[\w.-]+"
            r"|\b[A-Za-z]:\\+\w[^\s\"]*|\\\\\w[\w.$-]*\\\w+|(?<![\w/])~[a-z_][\w-]+"
            r"|\b(?:user|username|uid|owner)\s*[:=]\s*\w+"
        ),
    ),
    _Rule(
        "serial",
        re.compile(
            r"\b(?:s/n|serial(?:[ _-]?(?:number|no\b|nr\b))?|service[ _-]?tag"
            r"|asset[ _-]?tag|machine[ _-]?id)[\s:#=.]*(?P<value>[A-Za-z0-9-]{4,})",
            re.IGNORECASE,
        ),
        _has_digits,
    ),
    _Rule(  # as HPE forms them: a factory, year and week, four more
        "serial",
        re.compile(
            r"(?<![0-9A-Za-z])(?:CZ[CJ23U]|MX[QSL2]|USE|USM|SGH|TWT|2M[12]|CN[0-9D])"
            r"\d{3}[0-9A-Z]{4}(?![0-9A-Za-z])",
            re.IGNORECASE,
        ),
    ),
    _Rule(
        "serial",
        re.compile(r"(?<![0-9A-Za-z_])[0-9A-Fa-f]{12,}(?![0-9A-Za-z])"),
        _is_mixed_hex,
    ),
    _Rule(
        "serial",
        re.compile(r"(?<![0-9A-Za-z_./-])[0-9A-Z]{10,24}(?![0-9A-Za-z_./-])"),
        _is_serial,
    ),
)
