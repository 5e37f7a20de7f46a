"""What the watch looks at: a place, a checkout, a repository, and the present."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from registry.gate.git import commit_of

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from registry.documents.findings import Finding
    from registry.gate.git_tree import GitTree
    from registry.gate.github.connection import Connection

__all__ = ["Situation", "Skip"]


class Skip(Exception):  # noqa: N818 - no error: there is nothing to check
    """A check has nothing to look at, or may not.

    Attributes:
        findings: What is to be said nevertheless.
    """

    def __init__(self, why: str, findings: tuple[Finding, ...] = ()) -> None:
        """Keep the reason."""
        super().__init__(why)
        self.findings = findings


@dataclass(frozen=True)
class Situation:
    """What to look at.

    Attributes:
        place: Where releases are: ``github:OWNER/NAME``, a URL or a folder.
        root: A checkout of main with its whole history.
        connection: The repository on GitHub, or None if none is named.
        now: The present, in seconds since 1970.
        pages: The URL of the site that serves the release folder, or None.
        grace: Seconds that main's data may wait for a release.
        days: How far to look ahead for what ends.
        jobs: Processes that fit models.
        progress: Called with lines for people.
    """

    place: str
    root: Path
    connection: Connection | None
    now: int
    pages: str | None = None
    grace: int = 24 * 3600
    days: int = 30
    jobs: int = 1
    progress: Callable[[str], None] = lambda _: None

    @cached_property
    def head(self) -> str:
        """The commit of main that is looked at.

        Raises:
            RegistryError: T003, the checkout has none.
        """
        return commit_of(self.root, "HEAD")

    @cached_property
    def tree(self) -> GitTree:
        """Main's contributions, as git has them."""
        from registry.gate.git_tree import git_tree  # noqa: PLC0415 - few checks use it

        return git_tree(self.root, self.head)

    def connected(self) -> Connection:
        """The repository.

        Raises:
            Skip: None is named.
        """
        if self.connection is None:
            raise Skip("no repository on GitHub is named")
        return self.connection
