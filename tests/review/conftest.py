"""Changes of a small registry, and the packets that are made of them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from registry.review.packet import make_packet
from registry.review.proposal import Author, open_proposal
from tests.simulators.gate import Proposals
from tests.simulators.registry import NOW, Simulator, small

if TYPE_CHECKING:
    from registry.review.page import Packet

Review = Callable[..., "Packet"]


@pytest.fixture
def review(tmp_path: Path) -> Review:
    """A function that proposes a state of a registry and makes the packet of it.

    By default main is `small()`, 42 proposes, and what takes seconds is left out:
    expectations and the fits of models.
    """

    def made(
        changed: Simulator,
        merged: Simulator | None = None,
        *,
        author: int | None = 42,
        expectations: bool = False,
        models: bool = False,
    ) -> Packet:
        repo = tmp_path / "repo"
        if not repo.exists():
            Proposals(repo, merged or small())
        changed.record(repo, "change", "main", when=1_000_000_000)
        who = None if author is None else Author(author, f"login-{author}", ())
        proposal = open_proposal(repo, "main", "change", author=who, now=NOW)
        return make_packet(proposal, expectations=expectations, models=models)

    return made
