"""Short ways to run the gate in tests, and to read what it says."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from registry.gate.verify import Report, verify_change, verify_registry
from tests.simulators.registry import ARRIVED, NOW, Simulator

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

__all__ = ["Proposals", "found", "verified"]


def verified(simulated: Simulator, **options: Any) -> Report:
    """The report on a whole simulated registry, without expectations."""
    usual = {"arrivals": simulated.arrivals(), "now": NOW, "expectations": False}
    return verify_registry(simulated.tree(), **usual | options)


def found(report: Report, *, errors: bool = True) -> list[tuple[str, str]]:
    """Code and path of each finding, or only of errors."""
    return [
        (one.code, one.path)
        for one in report.findings
        if not errors or one.severity == "error"
    ]


class Proposals:
    """A repository with a merged registry, to which changes are proposed."""

    def __init__(self, repo: Path, merged: Simulator) -> None:
        """Put the registry on the branch main."""
        self.repo = repo
        merged.record(repo)

    def merge(self, changed: Simulator, when: int = ARRIVED) -> None:
        """Put a further state on main."""
        changed.record(self.repo, start="main", when=when)

    def check(self, changed: Simulator, **options: Any) -> Report:
        """Propose a state of the registry from the present main, and verify it."""
        changed.record(self.repo, "change", "main", when=1_000_000_000)
        return self.check_branch(**options)

    def check_branch(
        self,
        branch: str = "change",
        *,
        author: int | None = 42,
        published_keys: Sequence[str] | None = None,
        now: int = NOW,
        expectations: bool = False,
    ) -> Report:
        """Verify a branch against main."""
        return verify_change(
            self.repo,
            "main",
            branch,
            author=author,
            published_keys=published_keys,
            now=now,
            expectations=expectations,
        )
