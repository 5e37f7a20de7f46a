"""What is held out together: servers, workloads, blocks of time or of load.

Rows that were measured one after another are nearly copies of each other. An error on
rows drawn by chance would therefore be the error on rows already seen.
"""

from __future__ import annotations

from typing import Final, Literal

import numpy as np

from registry.modelling.table import Codes, Floats, Table

Protocol = Literal["server", "workload", "time-block", "load-block", "none"]

BLOCKS: Final = 5
"""Contiguous blocks of a recording or of a load curve."""
FOLDS: Final = {"server": 10, "workload": 5}
"""Most servers or workloads held out one by one; more are held out in groups."""
INNER: Final = 3
"""Most folds of the choice that is made inside each training part."""


def protocols(table: Table) -> tuple[Protocol, ...]:
    """List what can be held out of a table; the worse error of several is reported."""
    if _count(table.machine) > 1:
        return ("server",)
    if _count(table.block) < 2:
        return ("none",)
    if not table.recorded:
        return ("load-block",)
    if _count(table.workload) > 1:
        return ("workload", "time-block")
    return ("time-block",)


def groups(table: Table, protocol: Protocol, most: int | None = None) -> Codes:
    """Number the group of each row from 0, at most ``most`` groups, shape (n,)."""
    if protocol == "none":
        return np.zeros(len(table), dtype=np.int64)
    code = {
        "server": table.machine,
        "workload": table.workload,
        "time-block": table.block,
        "load-block": table.block,
    }[protocol]
    rank = np.unique(code, return_inverse=True)[1]
    return np.asarray(rank % (most or FOLDS.get(protocol, BLOCKS)), dtype=np.int64)


def time_blocks(rows: int) -> Codes:
    """Cut rows in time order into `BLOCKS` equal contiguous blocks, shape (rows,)."""
    return (np.arange(rows, dtype=np.int64) * BLOCKS) // max(rows, 1)


def load_blocks(load: Floats) -> Codes:
    """Cut load levels into `BLOCKS` contiguous blocks of levels, shape (n,).

    Args:
        load: Load of each row, shape (n,); loads within about 5 % are one level.
    """
    level = np.round(np.nan_to_num(load) * 20).astype(np.int64)
    levels, rank = np.unique(level, return_inverse=True)
    return (np.asarray(rank, dtype=np.int64) * BLOCKS) // len(levels)


def _count(codes: Codes) -> int:
    return len(np.unique(codes))
