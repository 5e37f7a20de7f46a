"""Fixtures that every part of the test suite shares."""

from __future__ import annotations

import functools
import os
import shutil
import signal
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, settings

if TYPE_CHECKING:
    from tests.simulators.commands import Done

# Speed is asserted in benchmarks/, not here: a busy machine must not fail a test.
settings.register_profile(
    "project", deadline=None, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("project")

ROOT = Path(__file__).resolve().parent.parent


@pytest.fixture(scope="session")
def repository() -> Path:
    """The root of this checkout."""
    return ROOT


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """The folder of published measurements, named by POWER_DATA or found beside us."""
    folder = Path(os.environ.get("POWER_DATA", ROOT.parent / "shared" / "data"))
    if not folder.is_dir():
        pytest.skip(f"published measurements are not at {folder} (set POWER_DATA)")
    return folder


@pytest.fixture(scope="session")
def template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A checkout that tests copy, since making one takes several commands."""
    from tests.simulators.registry import small

    root = tmp_path_factory.mktemp("template") / "checkout"
    small().commit(root)
    shutil.rmtree(root / ".git" / "hooks", ignore_errors=True)
    return root


@pytest.fixture
def checkout(template: Path, tmp_path: Path) -> Path:
    """A git checkout of a small registry on its branch main."""
    return Path(shutil.copytree(template, tmp_path / "registry-checkout"))


@pytest.fixture(scope="session", autouse=True)
def orders_count() -> Iterator[None]:
    """Tests send signals that nohup, or a shell's background, would have us ignore."""
    usual = {
        signal.SIGHUP: signal.SIG_DFL,
        signal.SIGINT: signal.default_int_handler,
    }
    kept = {one: signal.getsignal(one) for one in usual}
    for one, handler in usual.items():
        if kept[one] is signal.SIG_IGN:
            signal.signal(one, handler)
    yield
    for one, before in kept.items():
        signal.signal(one, before)


@pytest.fixture(scope="session")
def built_once() -> Iterator[None]:
    """Keep the commands that typer builds, which takes most of a call's time."""
    import typer

    with pytest.MonkeyPatch.context() as patch:
        built = functools.cache(typer.main.get_command)
        patch.setattr(typer.main, "get_command", built)
        yield


@pytest.fixture
def powerkit(
    built_once: None,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> Iterator[Callable[..., Done]]:
    """Run `powerkit` in this process; its handlers of signals are undone."""
    from tests.simulators.commands import run_command

    kept = {one: signal.getsignal(one) for one in (signal.SIGTERM, signal.SIGHUP)}
    yield functools.partial(
        run_command, "powerkit", monkeypatch=monkeypatch, capsys=capsys
    )
    for one, handler in kept.items():
        signal.signal(one, handler)


@pytest.fixture
def no_settings(monkeypatch: pytest.MonkeyPatch) -> None:
    """No variable of the environment says a setting."""
    for name in [one for one in os.environ if one.startswith(("POWERKIT_", "UPR_"))]:
        monkeypatch.delenv(name)
    monkeypatch.delenv("XDG_CONFIG_HOME", raising=False)
