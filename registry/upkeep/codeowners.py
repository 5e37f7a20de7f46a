"""Read CODEOWNERS as GitHub does: who owns a path; the last line that fits counts.

owners_of(read_owners("/docs/ @o/writers"), "docs/codes.md").owners  # ("@o/writers",)
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["Owned", "owners_of", "read_owners"]


@dataclass(frozen=True, slots=True)
class Owned:
    """One line of CODEOWNERS.

    Attributes:
        line: Its number, from 1.
        pattern: The paths that it means.
        owners: ``@login``, ``@organisation/team`` or an e-mail address; none takes the
            paths from their owners.
    """

    line: int
    pattern: str
    owners: tuple[str, ...]

    def fits(self, path: str) -> bool:
        """Whether it means a path."""
        return re.fullmatch(_expression(self.pattern), path) is not None


def read_owners(text: str) -> tuple[Owned, ...]:
    """Read the lines that are neither empty nor comments."""
    found = []
    for number, line in enumerate(text.splitlines(), 1):
        words = line.partition("#")[0].split()
        if words:
            found.append(Owned(number, words[0], tuple(words[1:])))
    return tuple(found)


def owners_of(lines: Sequence[Owned], path: str) -> Owned | None:
    """The line that decides about a path, or None."""
    return next((one for one in reversed(lines) if one.fits(path)), None)


def _expression(pattern: str) -> str:
    """A pattern as a regular expression for whole paths.

    The rules are those of .gitignore without negation, but ``docs/*`` means no files of
    folders below.
    """
    folder = pattern.endswith("/")
    body = pattern.strip("/")
    anchored = pattern.startswith("/") or "/" in body
    parts = re.split(r"(\*\*/?|\*|\?)", body)
    text = "".join(_WILD.get(part, re.escape(part)) for part in parts)
    start = "" if anchored else "(?:.*/)?"
    if folder:
        return f"{start}{text}/.*"
    last = body.rpartition("/")[2]
    only_files = anchored and "*" in last and "**" not in last
    return f"{start}{text}" + ("" if only_files else "(?:/.*)?")


_WILD = {"**/": "(?:.*/)?", "**": ".*", "*": "[^/]*", "?": "[^/]"}
