"""Runs the `powerkit` command as ``python -m tools``."""

from __future__ import annotations

from tools.cli import main

main()
