"""The line of progress: for people at a terminal, whatever is worked at."""

from __future__ import annotations

import io

import pytest

from registry.gate.progress import progress_line


class Terminal(io.StringIO):
    """A terminal that keeps all that it is sent."""

    def isatty(self) -> bool:
        return True


def test_foreign_names_give_the_terminal_no_orders(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    terminal = Terminal()
    monkeypatch.setattr("sys.stderr", terminal)
    monkeypatch.setenv("TERM", "xterm")
    with progress_line() as progress:
        progress("reading a\x1b]0;mine\x07b\rc")
        progress("x" * 10_000)
        progress("reading a\x1b]0;mine\x07b\rc")
    assert "\x1b]0;" not in terminal.getvalue()
    assert r"reading a\x1b]0;mine\x07b\rc" in terminal.getvalue()


def test_nobody_is_told_what_is_hidden_or_goes_into_a_log(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    terminal, log = Terminal(), io.StringIO()
    for stream, hidden in ((terminal, True), (log, False)):
        monkeypatch.setattr("sys.stderr", stream)
        with progress_line(hidden=hidden) as progress:
            progress("working")
        assert stream.getvalue() == ""
