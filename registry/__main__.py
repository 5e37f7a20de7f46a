"""Runs the `registry` command as ``python -m registry``."""

from __future__ import annotations

from registry.cli import main

main()
