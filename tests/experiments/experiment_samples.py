"""Records, experiments and children that tests of experiments share."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from tools.experiments.record import Init, Run, RunHost, write_run

__all__ = ["TRIMS_TABLE", "child", "reporting", "sample_run", "stored", "yaml_file"]

TRIMS_TABLE = """\
outputfile,description,concurrent,iterations,distribution,P1,P2,model_percentage
Pareto_xm1_l1_cncur5,Pareto distribution xm=1 lambda=1 concurrent=5,5,4,Pareto,1,1,50
//Pareto_xm1_l3,a row that is commented out,1,4,Pareto,1,3,50
Exponential_rt0.5,Exponential distribution rate=0.5 concurrent=1,1,3,Exponential,0.5
Uniform_min0_max1,"Uniform distribution, min=0 max=1",1,3,Uniform,0,1,100
"""
"""Written after the form of TRIMS's scripts/*.csv; the second-last row is short there,
too."""


def child(program: str) -> tuple[str, ...]:
    """A small program, started quickly."""
    return ("sh", "-c", program)


def reporting(**result: Any) -> str:
    """A program that says what it measured."""
    return f"printf '%s' '{json.dumps(result)}' > \"$POWERKIT_RESULT_FILE\""


def sample_run(number: int = 0, **changes: Any) -> Run:
    """A record as a run leaves it."""
    fields: dict[str, Any] = {
        "run_id": f"20260101T0000{number:02}Z-{number:012x}",
        "experiment": "sample",
        "workload": "work",
        "iteration": number + 1,
        "repeat": number + 1,
        "command": ("true",),
        "init": Init.EAGER,
        "warm": number > 0,
        "started": f"2026-01-01T00:00:{number:02}.000000Z",
        # Of a machine that has been up for a year, which needs more than 53 bits.
        "started_monotonic_ns": 31_536_000_000_000_000 + number,
        "wall_seconds": 1.0,
        "user_seconds": 0.5,
        "system_seconds": 0.25,
        "max_rss_bytes": 1 << 28,
        "returncode": 0,
        "timed_out": False,
        "host": RunHost(cpu="cpu", cores=2),
    }
    return Run(**{**fields, **changes})


def stored(folder: Path, *runs: Run) -> list[Run]:
    """Write records, each into a folder of its own."""
    for run in runs:
        place = folder / run.run_id
        place.mkdir(parents=True)
        write_run(run, place)
    return list(runs)


def yaml_file(path: Path, text: str) -> Path:
    """Write a document."""
    path.write_text(text, "utf-8")
    return path
