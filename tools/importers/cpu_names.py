"""Processor names from free text: taken apart, never completed.

``read_cpu_name("Six-Core AMD Opteron(r) Processor 8425 HE")`` gives the vendor ``amd``
and the model ``AMD Opteron 8425 HE``. A word that is not in the text is not added: the
"Xeon L5420" of one submitter does not become an "Intel Xeon L5420".
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from decimal import Decimal
from typing import Final, Literal

__all__ = ["CpuName", "read_cpu_name", "turbo_hertz"]

_BRACKET: Final = re.compile(r"\([^()]*\)?|\[[^\[\]]*\]?")
_MARK: Final = re.compile(r"\((?:r|tm|c)\)|[®™©]", re.IGNORECASE)
_SPEED: Final = re.compile(r"@?\s*\b[0-9]+(?:\.[0-9]+)?\s*[GM]Hz\b", re.IGNORECASE)
_CORES: Final = re.compile(
    r"\b(?:[0-9]+|single|dual|triple|quad|six|hexa|eight|octa|ten|twelve|sixteen)"
    r"[ -]cores?\b",
    re.IGNORECASE,
)
_FILLER: Final = re.compile(r"\b(?:CPU|Processor)s?\b", re.IGNORECASE)
_WORD: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9._+/-]*")
_TURBO: Final = re.compile(r"up ?to ([0-9]\.[0-9]{1,2}) ?GHz", re.IGNORECASE)

# Names that only one vendor ever used, so that its own name need not stand there.
_INTEL: Final = re.compile(
    r"\b(?:Intel|Xeon|Pentium|Celeron|Itanium|Core [im][3579])\b", re.IGNORECASE
)
_AMD: Final = re.compile(
    r"\b(?:AMD|Opteron|EPYC|Ryzen|Athlon|Phenom|Threadripper)\b", re.IGNORECASE
)


@dataclass(frozen=True, slots=True)
class CpuName:
    """What a text says about a processor.

    Attributes:
        vendor: Who made it.
        model: The words of its name, as written.

    """

    vendor: Literal["intel", "amd"]
    model: str


def read_cpu_name(text: str) -> CpuName | None:
    """Take the name of a processor out of free text.

    Left out are trade marks, brackets, the frequency, the number of cores, "CPU" and
    "Processor", and what stands behind a comma.

    Args:
        text: As disclosed, for example "Intel(R) Xeon(R) Gold 6136 CPU @ 3.00GHz".

    Returns:
        The name, or None if no vendor or two vendors are named.

    """
    intel, amd = _INTEL.search(text) is not None, _AMD.search(text) is not None
    if intel == amd:
        return None
    plain = _BRACKET.sub(" ", _MARK.sub(" ", text))
    for pattern in (_SPEED, _CORES, _FILLER):
        plain = pattern.sub(" ", plain)
    words = _WORD.findall(plain.partition(",")[0])
    if not words:
        return None
    return CpuName("intel" if intel else "amd", " ".join(words))


def turbo_hertz(*texts: str) -> int | None:
    """Return the highest frequency that texts name as "up to", if they agree on one."""
    found = {Decimal(match) for text in texts for match in _TURBO.findall(text)}
    return int(found.pop() * 10**9) if len(found) == 1 else None
