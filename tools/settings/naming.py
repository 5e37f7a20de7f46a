"""The file of settings that the command line names, for as long as the command runs."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

__all__ = ["VARIABLE", "settings_named"]

VARIABLE = "POWERKIT_CONFIG"
"""Names the file of settings in the environment."""


@contextmanager
def settings_named(path: Path) -> Iterator[None]:
    """Name a file of settings in the environment, which what we start inherits.

    Args:
        path: the file; `~` is expanded, and it is made independent of the folder.

    """
    before = os.environ.get(VARIABLE)
    try:
        expanded = path.expanduser()
    except RuntimeError:  # nobody's home: reading it says that it is not there
        expanded = path
    os.environ[VARIABLE] = os.path.abspath(expanded)  # noqa: PTH100  keeps links
    try:
        yield
    finally:
        if before is None:
            del os.environ[VARIABLE]
        else:
            os.environ[VARIABLE] = before
