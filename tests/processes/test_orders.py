"""Orders to end: they unwind, but never while a program is being started."""

from __future__ import annotations

import os
import signal
import subprocess
from typing import Any

import pytest

from tools.processes import child as children
from tools.processes.child import Child
from tools.processes.orders import OrderedEndError, orders_held, orders_unwind


@pytest.mark.parametrize("sign", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_an_order_unwinds(sign: signal.Signals) -> None:
    before = signal.getsignal(sign)
    with pytest.raises(OrderedEndError) as caught, orders_unwind():
        signal.raise_signal(sign)
    assert caught.value.sign == sign
    assert signal.getsignal(sign) is before


def test_what_was_ignored_stays_so(monkeypatch: pytest.MonkeyPatch) -> None:
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        with orders_unwind():
            signal.raise_signal(signal.SIGHUP)
        assert signal.getsignal(signal.SIGHUP) is signal.SIG_IGN
    finally:
        signal.signal(signal.SIGHUP, before)


def test_an_order_is_held_until_the_outermost_block_ends() -> None:
    done: list[int] = []

    def start_both() -> None:
        with orders_unwind(), orders_held():
            with orders_held():
                signal.raise_signal(signal.SIGTERM)
                signal.raise_signal(signal.SIGINT)
                done.append(1)
            done.append(2)

    with pytest.raises(OrderedEndError) as caught:
        start_both()
    assert caught.value.sign == signal.SIGTERM, "the first one counts"
    assert done == [1, 2]
    with orders_held():
        pass  # it counted once


def test_an_order_while_a_program_starts_ends_it_too(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    started: list[subprocess.Popen[bytes]] = []
    real = subprocess.Popen

    def ordered(*arguments: Any, **options: Any) -> subprocess.Popen[bytes]:
        process = real(*arguments, **options)
        started.append(process)
        os.kill(os.getpid(), signal.SIGTERM)
        return process

    monkeypatch.setattr(children.subprocess, "Popen", ordered)
    with pytest.raises(OrderedEndError), orders_unwind():
        Child(["sleep", "60"], stdout=subprocess.PIPE)
    (process,) = started
    assert process.returncode == -signal.SIGTERM
    assert process.stdout is not None
    assert process.stdout.closed
