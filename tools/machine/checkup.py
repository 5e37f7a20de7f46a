"""Everything that a machine is looked at for, in order.

    for check in checkup(Path("/sys"), Path("/proc")):
        print(check.level, check.name, check.state)

Files are read; nothing is run and nothing is changed.
"""

from __future__ import annotations

from pathlib import Path
from typing import Final

from tools.machine.activity import look_at_activity
from tools.machine.checks import Check, Looked
from tools.machine.counters import look_at_counters
from tools.machine.frequency import look_at_frequency
from tools.machine.kernel import look_at_kernel
from tools.machine.storage import look_at_disks

__all__ = ["checkup"]

_ALL: Final[tuple[Looked, ...]] = (
    look_at_frequency,
    look_at_kernel,
    look_at_activity,
    look_at_counters,
    look_at_disks,
)


def checkup(sysroot: Path, procroot: Path) -> tuple[Check, ...]:
    """Look at a machine.

    Args:
        sysroot: where sysfs is.
        procroot: where procfs is.
    """
    return tuple(check for look in _ALL for check in look(sysroot, procroot))
