"""Orders to end, for commands: see `tools.processes.orders`."""

from __future__ import annotations

from tools.processes.orders import OrderedEndError, orders_held, orders_unwind

__all__ = ["OrderedEndError", "orders_held", "orders_unwind"]
