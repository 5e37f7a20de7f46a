"""Lists of subcommands say whole sentences, and all groups have the same options."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tools.commands.lazy import LAZY

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.simulators.commands import Done

GROUPS = ["trace", "load", "bench", "workload", "service", "cache", "assets", "config"]


@pytest.mark.parametrize("name", [*GROUPS, "import"])
@pytest.mark.parametrize("columns", ["80", "50"])
def test_lists_are_whole_at_any_width(
    powerkit: Callable[..., Done],
    monkeypatch: pytest.MonkeyPatch,
    name: str,
    columns: str,
) -> None:
    monkeypatch.setenv("COLUMNS", columns)
    done = powerkit(name, "--help")
    assert done.code == 0
    assert "..." not in done.out.split("Commands:")[1]
    assert "completion" not in done.out
    assert max(map(len, done.out.splitlines())) <= int(columns)


def test_the_help_names_all_groups(powerkit: Callable[..., Done]) -> None:
    listed = powerkit("--help").out
    assert set(GROUPS) < set(LAZY)
    for name, lazy in LAZY.items():
        assert f"  {name} " in listed
        assert lazy.about in " ".join(listed.split())


def test_every_group_says_of_itself_what_the_help_says(
    powerkit: Callable[..., Done],
) -> None:
    for name in GROUPS:
        assert LAZY[name].about[:-1] in powerkit(name, "--help").out
