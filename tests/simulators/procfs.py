"""A /proc of a test's own: processor time, memory, pressure and processes.

proc = FakeProc(tmp_path / "proc")
proc.stat(user=250)
proc.process(7, parent=1, ticks=12)
"""

from __future__ import annotations

import shutil
from pathlib import Path

__all__ = ["FakeProc"]

_STAT = """\
cpu  {user} 20 {system} 9000 {iowait} 3 4 {steal} 6 1
cpu0 {user} 20 {system} 9000 {iowait} 3 4 {steal} 6 1
intr 12345 0 7 8
ctxt {switches}
btime 1600000000
processes 77
procs_running 2
procs_blocked 1
softirq 99 1 2 3
"""


class FakeProc:
    """Files as the kernel writes them, below a new folder."""

    def __init__(self, root: Path) -> None:
        """Make an idle machine without processes."""
        self.root = root
        (root / "pressure").mkdir(parents=True)
        self.stat()
        self.memory()
        for resource in ("cpu", "memory", "io"):
            self.pressure(resource)

    def stat(
        self,
        user: int = 100,
        system: int = 50,
        iowait: int = 30,
        steal: int = 5,
        switches: int = 1000,
    ) -> None:
        """Write /proc/stat, in ticks."""
        text = _STAT.format(
            user=user, system=system, iowait=iowait, steal=steal, switches=switches
        )
        (self.root / "stat").write_text(text)

    def memory(self, available: int = 600, faults: int = 10) -> None:
        """Write /proc/meminfo in kB, and /proc/vmstat."""
        text = (
            "MemTotal:           1000 kB\nMemFree:             100 kB\n"
            f"MemAvailable:        {available} kB\nCached:              300 kB\n"
            "Dirty:                 7 kB\nHugePages_Total:       0\n"
        )
        (self.root / "meminfo").write_text(text)
        (self.root / "vmstat").write_text(
            f"nr_free_pages 25\npgpgin 5\npgpgout 6\npswpin 1\npswpout 2\n"
            f"pgfault {faults}\npgmajfault 3\n"
        )

    def pressure(self, resource: str, some: int = 1000, full: int = 500) -> None:
        """Write a file of /proc/pressure, totals in microseconds."""
        averages = "avg10=0.00 avg60=1.50 avg300=12.00"
        (self.root / "pressure" / resource).write_text(
            f"some {averages} total={some}\nfull {averages} total={full}\n"
        )

    def process(
        self,
        pid: int,
        parent: int = 1,
        ticks: int = 0,
        waited: int = 0,
        started: int = 1000,
        pages: int = 10,
        threads: int = 1,
        children: str | None = None,
    ) -> None:
        """Write /proc/PID/stat of a process with a name that is hard to read."""
        folder = self.root / str(pid)
        folder.mkdir(exist_ok=True)
        (folder / "stat").write_text(
            f"{pid} (a) b ( c) S {parent} 5 5 0 -1 4194304 9 8 7 6 {ticks} 0 {waited}"
            f" 0 20 0 {threads} 0 {started} 99999 {pages} 18446744073709551615 1 1\n"
        )
        if children is not None:
            (folder / f"task/{pid}").mkdir(parents=True, exist_ok=True)
            (folder / f"task/{pid}/children").write_text(children)

    def end(self, pid: int) -> None:
        """Let a process be gone."""
        shutil.rmtree(self.root / str(pid))
