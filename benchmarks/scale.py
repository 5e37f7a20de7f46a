"""Cost of verify, build and a build that has nothing to do, by number of bundles.

    python benchmarks/scale.py [--sizes 10,100,1000] [--jobs 2]

Makes registries of simulated `load-levels` bundles in temporary git repositories, runs
the commands as whole processes and prints a Markdown table: seconds, seconds a bundle
beyond the start-up of the process, and the peak resident memory of the largest process.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from tests.simulators.registry import registry_of  # noqa: E402

REGISTRY = (sys.executable, "-m", "registry")
MIB = 2**20


@dataclass(frozen=True)
class Cost:
    """What one process took.

    Attributes:
        wall: seconds by the clock.
        cpu: seconds of CPU time, children included.
        peak: largest resident memory of the process in MiB, children not added.
    """

    wall: float
    cpu: float
    peak: float


def run(*arguments: str, cwd: Path) -> Cost:
    """Run a command and measure it; its failure ends the benchmark."""
    started = time.perf_counter()
    process = subprocess.Popen(
        arguments, cwd=cwd, stdout=subprocess.DEVNULL, env={**os.environ, "CI": "1"}
    )
    _, status, usage = os.wait4(process.pid, 0)
    wall = time.perf_counter() - started
    if status:
        raise SystemExit(f"{' '.join(arguments)} ended with status {status}")
    return Cost(wall, usage.ru_utime + usage.ru_stime, usage.ru_maxrss * 1024 / MIB)


def imports(*modules: str) -> float:
    """Seconds that a process takes to start and import the modules."""
    return run(sys.executable, "-c", f"import {', '.join(modules)}", cwd=ROOT).wall


def measure(size: int, jobs: int, folder: Path) -> list[str]:
    """Measure all commands on one registry and give the rows of the table."""
    root = folder / f"registry-{size}"
    registry_of(size).commit(root)
    out, more = str(folder / f"release-{size}"), ("--jobs", str(jobs))
    build = (*REGISTRY, "build", "--root", str(root), "--out", out, *more)
    gate = imports("great_expectations", "polars")
    fits = imports("registry.publish.release", "registry.modelling.build")
    plan = imports("registry.publish.release")
    rows = []
    for name, start, cost in (
        ("verify", gate, run(*REGISTRY, "verify", "--root", str(root), cwd=ROOT)),
        ("build", fits, run(*build, cwd=ROOT)),
        ("build again", plan, run(*build, cwd=ROOT)),
    ):
        each = max(cost.wall - start, 0.0)
        rows.append(
            f"| {name} | {size} | {cost.wall:.1f} | {cost.cpu:.1f} | {each:.2f}"
            f" | {1000 * each / size:.1f} | {cost.peak:.0f} |"
        )
    return rows


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sizes", default="10,100,1000")
    parser.add_argument("--jobs", type=int, default=1)
    options = parser.parse_args()
    print(
        "| command | bundles | wall s | CPU s | s after imports | ms a bundle | MiB |"
    )
    print("|---|---|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as folder:
        for size in map(int, options.sizes.split(",")):
            for row in measure(size, options.jobs, Path(folder)):
                print(row, flush=True)


if __name__ == "__main__":
    main()
