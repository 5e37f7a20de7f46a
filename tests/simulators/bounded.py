"""How much memory a command takes, in a process of its own."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

__all__ = ["peak_mib"]

_PROGRAM = """
import resource, sys
from tools.cli import main
try:
    main()
finally:
    print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024, file=sys.stderr)
"""


def peak_mib(*arguments: object) -> int:
    """Run `powerkit` and give the most memory that it held, in MiB."""
    done = subprocess.run(
        [sys.executable, "-c", _PROGRAM, *map(str, arguments)],
        cwd=Path(__file__).resolve().parent.parent.parent,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return int(done.stderr.split()[-1])
