"""Findings about systems under test."""

from __future__ import annotations

from registry.documents.findings import Severity, code

__all__ = ["Q011", "Q012"]

Q011 = code(
    "Q011",
    Severity.ERROR,
    "A system under test is not understood.",
    "Give cmd:PROGRAM ARGUMENTS, http://HOST/PATH or python:MODULE:FUNCTION; {item}"
    " stands for the item's name.",
)
Q012 = code(
    "Q012",
    Severity.ERROR,
    "A Python function under test cannot be loaded.",
    "Check that the module can be imported from this folder and has the function.",
)
