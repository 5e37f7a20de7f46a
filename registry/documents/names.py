"""Names of files, datasets and machines: one rule for all, checked before any open."""

from __future__ import annotations

import re
from typing import Final

from registry.documents import limits

__all__ = [
    "GITHUB_NAME",
    "GITHUB_SERVER",
    "NAMESPACE_BUNDLE",
    "NAMESPACE_ENROL",
    "NAME_PATTERN",
    "REGISTRY",
    "is_name",
    "path_problem",
]

REGISTRY: Final = "power-dataset-registry"
"""The name that every signed statement carries, so none can be replayed elsewhere."""
NAMESPACE_BUNDLE: Final = f"bundle@{REGISTRY}"
"""The SSHSIG namespace of a bundle's manifest."""
NAMESPACE_ENROL: Final = f"enrol@{REGISTRY}"
"""The SSHSIG namespace of an enrolment statement."""

GITHUB_SERVER: Final = "https://github.com"
"""Where people and git reach GitHub, unless GITHUB_SERVER_URL names another server."""
GITHUB_NAME: Final = r"[A-Za-z0-9][A-Za-z0-9-]{0,38}/[A-Za-z0-9._-]{1,100}"
"""``OWNER/NAME`` of a repository on GitHub."""

NAME_PATTERN: Final = r"^[a-z0-9][a-z0-9._-]{0,63}$"
"""A name: lower-case ASCII, so that no two names look alike or differ by case only."""

_NAME: Final = re.compile(NAME_PATTERN)
_DEVICES: Final = re.compile(r"(?:con|prn|aux|nul|com[0-9]|lpt[0-9])(?:\..*)?")


def is_name(text: str) -> bool:
    """Tell whether a text is one safe path segment."""
    return (
        _NAME.fullmatch(text) is not None
        and not text.endswith((".", "\n"))
        and _DEVICES.fullmatch(text) is None
    )


def path_problem(path: str) -> str | None:
    """Say what is wrong with a relative path, or None if it may be opened.

    A path is at most four names joined by a slash. Absolute paths, drives, ``..``,
    hidden files, Windows devices, control, bidirectional and other odd characters all
    fail the one rule for a segment.
    """
    segments = path.split("/")
    if len(segments) > limits.PATH_DEPTH:
        return f"has more than {limits.PATH_DEPTH} segments"
    for segment in segments:
        if not is_name(segment):
            return (
                "has a segment that is no name: lower-case letters, digits, dot, dash"
                f" and underscore, at most {limits.NAME_CHARACTERS}, beginning with a"
                " letter or digit, not ending with a dot, no device name"
            )
    return None
