"""One thing has one name in all subcommands, beside the names that it had elsewhere."""

from __future__ import annotations

from typing import Any, Final

import pytest
import typer

from tools import cli

NAMES: Final = [
    (("bench", "run"), {"--dry-run", "--simulate", "--simulate-run"}),
    (("bench", "matrix"), {"--dry-run"}),
    (("workload", "scale"), {"--dry-run", "--simulate"}),
    (("publish",), {"--dry-run"}),
    (("bench", "run"), {"--concurrent", "--concurrency"}),
    (("load", "plan"), {"--concurrent", "--concurrency"}),
    (("load", "run"), {"--concurrent", "--concurrency"}),
    (("cache", "simulate"), {"--concurrent", "--concurrency"}),
    (("fetch",), {"-o", "--out", "--output"}),
    (("bench", "tables"), {"-o", "--out", "--output"}),
    (("load", "show"), {"-f", "--format"}),
    (("trace", "summarize"), {"-f", "--format"}),
]


@pytest.mark.parametrize(("path", "names"), NAMES)
def test_an_option_has_its_names(path: tuple[str, ...], names: set[str]) -> None:
    command: Any = typer.main.get_command(cli.app)
    for name in path:
        command = command.get_command(None, name)
    assert any(names <= set(one.opts) for one in command.params)


def test_a_plan_says_what_comes_next(powerkit: Any, tmp_path: Any) -> None:
    path = tmp_path / "plan.jsonl"
    options = ("load", "plan", "--items", "2", "--popularity", "equal", "-n", 2)
    done = powerkit(*options, "-o", path)
    assert f"\nnext: powerkit load run {path} --sut " in done.out
    assert "next:" not in powerkit(*options, "-o", path, "--json").out
