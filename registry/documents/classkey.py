"""Server classes: a readable key as a pure, versioned function of a hardware spec."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from registry.documents import canonical, limits

if TYPE_CHECKING:
    from registry.documents.spec import HardwareSpec

__all__ = ["GENERIC", "RULE", "class_key", "node_type", "processor_slug"]

RULE: Final = "class-key/1"
"""The version of the rule; another rule gives other keys and refits every model."""
GENERIC: Final = "generic"
"""The class that is pooled over all servers; Kepler asks for its number, 0."""

_GIB: Final = 2**30
_USUAL_THREADS: Final = 2
_MARKS: Final = re.compile(r"\((?:r|tm|c)\)|[®™©]")
_SPEED: Final = re.compile(r"@?\s*\b([0-9]+(?:\.[0-9]+)?)\s*(g|m)hz\b")
_CORES: Final = re.compile(
    r"\b(?:[0-9]+|single|dual|two|triple|quad|four|six|hexa|eight|octa|ten|twelve"
    r"|sixteen)[ -]?cores?\b"
)
_BITS: Final = re.compile(r"\b[0-9]+[ -]bit\b|\bmulti-core\b")
_BRACKETS: Final = re.compile(r"\([^)]*\)|\[[^]]*\]")
_SUFFIX: Final = re.compile(r"([0-9]l?)(v[0-9]|he|ee|se)$")
_NOISE: Final = frozenset(
    (
        "amd",
        "ampere",
        "and",
        "arm",
        "authentic",
        "based",
        "cavium",
        "cpu",
        "family",
        "fujitsu",
        "genuine",
        "hisilicon",
        "huawei",
        "hygon",
        "ibm",
        "intel",
        "marvell",
        "nvidia",
        "processor",
        "processors",
        "series",
        "server",
        "technology",
        "the",
        "with",
    )
)


def class_key(spec: HardwareSpec) -> str:
    """Return the class of a server, for example ``xeon-gold-6248r-2s-48c-384g``.

    The key is the processor's model, populated sockets, cores and gibibytes of memory
    of one node. Threads a core are added if they are not the usual two (``-1t``),
    GPUs if there are any (``-8xa100-sxm4-80gb``), and ``-vm`` for a virtual machine.
    Writing differences of the model name do not matter: marks, "CPU", "Processor",
    the vendor, the frequency and the number of cores in it.
    """
    cpu = spec.cpu
    parts = [
        processor_slug(cpu.model, cpu.frequency.base_hertz),
        f"{cpu.sockets.populated}s",
        f"{cpu.cores}c",
        f"{_gibibytes(spec.memory.bytes)}g",
    ]
    if cpu.threads_per_core != _USUAL_THREADS:
        parts.append(f"{cpu.threads_per_core}t")
    gpus = sorted(
        (_slug(gpu.model.lower()), gpu.count) for gpu in spec.gpus or () if gpu.count
    )
    parts.extend(f"{count}x{model}" for model, count in gpus)
    if spec.virtualisation.kind == "vm":
        parts.append("vm")
    return _shortened("-".join(parts))


def node_type(key: str) -> int:
    """Return the number of a class in Kepler's files: 0, or nine digits.

    The digits come from the key alone, so a class keeps its number whatever else is
    in the registry, and no number is a prefix of another. The gate refuses the (one
    in a billion) collision.
    """
    if key == GENERIC:
        return 0
    digest = int(canonical.sha256(key.encode("utf-8")), 16)
    return 100_000_000 + digest % 900_000_000


def processor_slug(model: str, base_hertz: int | None = None) -> str:
    """Return the model of a processor in a short form that all spellings share.

    Args:
        model: As disclosed: "Intel(R) Xeon(R) Gold 6248R CPU @ 3.00GHz".
        base_hertz: Used only for names without any model number, such as
            "Intel Xeon processor", which would join very different servers.

    """
    text = _MARKS.sub(" ", model.lower())
    speed = _SPEED.search(text)
    for pattern in (_SPEED, _CORES, _BITS, _BRACKETS):
        text = pattern.sub(" ", text)
    words = re.findall(r"[a-z0-9]+(?:\.[a-z0-9]+)*", text.partition(",")[0])
    kept = [word for word in words if word not in _NOISE] or words
    name = _SUFFIX.sub(r"\1-\2", "-".join(kept)) or "unknown"
    if any(character.isdigit() for character in name):
        return name
    if base_hertz is None and speed is not None:
        scale = 1e9 if speed.group(2) == "g" else 1e6
        base_hertz = round(float(speed.group(1)) * scale)
    return name if base_hertz is None else f"{name}-{round(base_hertz / 1e6)}mhz"


def _gibibytes(size: int) -> int:
    return max(1, (size + _GIB // 2) // _GIB)


def _slug(text: str) -> str:
    words = re.findall(r"[a-z0-9]+", _MARKS.sub(" ", text))
    kept = [word for word in words if word not in _NOISE and word != "tesla"]
    return "-".join(kept or words)


def _shortened(key: str) -> str:
    if len(key) <= limits.NAME_CHARACTERS:
        return key
    digest = canonical.sha256(key.encode("utf-8"))[:8]
    return f"{key[: limits.NAME_CHARACTERS - 9]}-{digest}"
