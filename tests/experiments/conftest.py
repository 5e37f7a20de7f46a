"""The command in this process, with settings and a folder of results of its own."""

from __future__ import annotations

import functools
import os
import signal
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import typer

from tests.simulators.commands import Done, run_command


@pytest.fixture(scope="session", autouse=True)
def built_once() -> Iterator[None]:
    """Keep the commands that typer builds, which takes most of the time."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(
            typer.main, "get_command", functools.cache(typer.main.get_command)
        )
        yield


@pytest.fixture(autouse=True)
def apart(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Settings of nobody; results go below ``results``, the current folder is new."""
    for name in [one for one in os.environ if one.startswith(("POWERKIT_", "UPR_"))]:
        monkeypatch.delenv(name)
    work = tmp_path / "work"
    work.mkdir()
    monkeypatch.chdir(work)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    results = tmp_path / "results"
    monkeypatch.setenv("POWERKIT_PROFILE_OUTPUT_DIRECTORY", str(results))
    return results


@pytest.fixture
def powerkit(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Iterator[Callable[..., Done]]:
    """Run the command in this process; its handlers of signals are undone."""
    kept = {one: signal.getsignal(one) for one in (signal.SIGTERM, signal.SIGHUP)}
    yield functools.partial(
        run_command, "powerkit", monkeypatch=monkeypatch, capsys=capsys
    )
    for one, handler in kept.items():
        signal.signal(one, handler)


@pytest.fixture
def bench(powerkit: Callable[..., Done]) -> Callable[..., Done]:
    """Run `powerkit bench run` into the folder ``x`` of the machine ``host``."""

    def run(*options: object, command: tuple[str, ...] = ()) -> Done:
        place = ("--host-label", "host", "--profile-output", "x")
        after = ("--", *command) if command else ()
        return powerkit("bench", "run", *place, *options, *after)

    return run


@pytest.fixture
def folder(apart: Path) -> Path:
    """Where `bench` puts its runs."""
    return apart / "host" / "x"
