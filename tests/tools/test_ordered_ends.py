"""A signal that ends `powerkit` leaves nothing half-made, and a shell's exit code."""

from __future__ import annotations

import signal
from typing import TYPE_CHECKING, Any

import pytest

from tools import cli

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.simulators.commands import Done


@pytest.mark.parametrize("sign", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_every_subcommand_unwinds(
    powerkit: Callable[..., Done],
    monkeypatch: pytest.MonkeyPatch,
    sign: signal.Signals,
) -> None:
    put_down: list[str] = []

    def ordered() -> None:
        try:
            signal.raise_signal(sign)
        finally:
            put_down.append("all")

    before = signal.getsignal(sign)
    monkeypatch.setattr(cli, "app", ordered)
    done = powerkit("check")
    assert (done.code, done.out, done.err) == (128 + sign, "", "")
    assert put_down == ["all"]
    assert signal.getsignal(sign) is before


def test_a_closed_terminal_ends_nothing_under_nohup(
    powerkit: Callable[..., Done], monkeypatch: pytest.MonkeyPatch
) -> None:
    def closed() -> Any:
        signal.raise_signal(signal.SIGHUP)

    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        monkeypatch.setattr(cli, "app", closed)
        assert powerkit("check").code == 0
    finally:
        signal.signal(signal.SIGHUP, before)


def test_event_loops_let_orders_through() -> None:
    import asyncio

    from tools.processes.orders import OrderedEndError, orders_unwind

    async def ordered() -> None:
        asyncio.get_running_loop().call_soon(signal.raise_signal, signal.SIGTERM)
        await asyncio.sleep(5)

    with pytest.raises(OrderedEndError), orders_unwind():
        asyncio.run(ordered())
