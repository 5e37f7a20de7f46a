"""The gate's own judgement of a change, before it is pushed: no surprise afterwards."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from registry.documents.findings import RegistryError, Severity
from registry.gate.github.accounts import owners_keys
from registry.gate.github.verify_pull import trust_paths
from registry.gate.verify_change import verify_change

if TYPE_CHECKING:
    from pathlib import Path

    from registry.documents.findings import Finding
    from registry.gate.github.connection import Connection
    from registry.gate.github.forks import Account

__all__ = ["Precheck"]


class Precheck:
    """Verifies a change as the gate will, with what GitHub says of its author.

    Expectations are left out: they look at the tables only, which the kit checks.

    Attributes:
        found: warnings of the last change that was looked at.
    """

    def __init__(self, connection: Connection) -> None:
        """Keep the connection; GitHub is asked when there is something to check."""
        self.connection = connection
        self.found: tuple[Finding, ...] = ()

    def __call__(self, repo: Path, base: str, head: str, account: Account) -> None:
        """Verify one change.

        Raises:
            RegistryError: all that the gate finds, if any of it is an error.
        """
        trust = trust_paths(repo, base, head)
        keys = owners_keys(self.connection, trust, account.id)
        report = verify_change(
            repo,
            base,
            head,
            author=account.id,
            published_keys=keys,
            now=int(time.time()),
            expectations=False,
        )
        if report.refused:
            raise RegistryError(report.findings)
        self.found = tuple(
            one for one in report.findings if one.severity is Severity.WARNING
        )
