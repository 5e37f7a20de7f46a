"""The command in a registry's checkout, with and without GitHub."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from registry.gate.signing import public_line
from tests.simulators.commands import Done, alone, run_command, served
from tests.simulators.people import Person

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from tests.simulators.github import FakeGitHub


@pytest.fixture
def hub(
    tmp_path: Path, checkout: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[FakeGitHub]:
    """GitHub with the registry, its maintainer mia, a contributor and a newcomer."""
    people = (Person.new(42), Person.new(4242, "alice"))
    users = {one.login: (one.id, [public_line(one.key)]) for one in people}
    with served(tmp_path / "hub", checkout, {"mia": (7, []), **users}) as fake:
        fake.add_maintainer("mia")
        for name, value in fake.environment().items():
            monkeypatch.setenv(name, value)
        yield fake


@pytest.fixture
def run(
    checkout: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> Callable[..., Done]:
    """Run the command in the checkout without a token; all it prints is in `out`."""

    def call(*arguments: object) -> Done:
        words = (*arguments, "--root", checkout)
        done = run_command("registry", *words, monkeypatch=monkeypatch, capsys=capsys)
        return replace(done, out=done.out + done.err)

    return call


@pytest.fixture
def by(
    run: Callable[..., Done], hub: FakeGitHub, monkeypatch: pytest.MonkeyPatch
) -> Callable[..., Done]:
    """Run the command as somebody, by default a maintainer."""

    def call(*arguments: object, login: str = "mia") -> Done:
        monkeypatch.setenv("GH_TOKEN", hub.token(login))
        done = run(*arguments)
        assert not [one for one in hub.tokens if one in done.out]
        return done

    return call


@pytest.fixture(autouse=True)
def _alone(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    alone(monkeypatch, tmp_path / "programs", "git", "sh", "cat")
