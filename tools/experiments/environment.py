"""What a run finds in its environment: our pins, the experiment's variables, TRIMS's.

Only what we set is recorded. What the user's own environment holds stays private, and
so does the value of a variable whose name tells of a secret.
"""

from __future__ import annotations

import os
import re
import subprocess
import time
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Final

from registry.documents.instants import precise_instant
from tools.experiments.orders import Order
from tools.experiments.record import Init, RunHost
from tools.experiments.spec import Spec

__all__ = [
    "PINS",
    "TRIMS_PINS",
    "RunPaths",
    "base_directory",
    "host",
    "run_environment",
    "shareable",
    "trims_environment",
    "trims_flags",
]

PINS: Final = {
    "OMP_NUM_THREADS": "1",
    "OPENBLAS_NUM_THREADS": "1",
    "MKL_NUM_THREADS": "1",
    "BLIS_NUM_THREADS": "1",
    "NUMEXPR_NUM_THREADS": "1",
    "VECLIB_MAXIMUM_THREADS": "1",
}
"""Libraries compute in one thread unless told otherwise, as runs are to be compared."""
TRIMS_PINS: Final = {
    "OMP_NUM_THREADS": "1",
    "MXNET_CPU_PRIORITY_NTHREADS": "1",
    "MXNET_GPU_WORKER_NTHREADS": "1",
    "MXNET_ENGINE_TYPE": "NaiveEngine",
    "MXNET_CUDNN_AUTOTUNE_DEFAULT": "0",
}
"""What TRIMS's client sets for MXNet (pkg/client/run.go, RunOnce)."""
_DEBUG: Final = {"GLOG_logtostderr": "1", "GLOG_v": "0", "GLOG_stderrthreshold": "0"}
_SECRET: Final = re.compile(r"(?i)token|secret|passw|credential|api_?key|private")
_DEVICE: Final = re.compile(r"\b(GPU|MIG)-[0-9A-Fa-f][0-9A-Fa-f/-]*")
_INPUTS: Final = {
    "channels": "3",
    "height": "224",
    "width": "224",
    "mean_r": "0",
    "mean_g": "0",
    "mean_b": "0",
}
"""What TRIMS takes where a manifest says nothing."""


@dataclass(frozen=True, slots=True)
class RunPaths:
    """Where one run writes.

    Attributes:
        folder: its folder.
        trace: where the workload writes its trace.
        result: where it says what it measured itself.
    """

    folder: Path
    trace: Path
    result: Path


@cache
def host() -> RunHost:
    """Return what this machine is, without its name."""
    model = os.uname().machine
    try:
        text = Path("/proc/cpuinfo").read_text("utf-8", "replace")
    except OSError:
        text = ""
    if found := re.search(r"^model name\s*:\s*(.+)$", text, re.MULTILINE):
        model = found[1].strip()[:200]
    try:
        cores = len(os.sched_getaffinity(0))
    except AttributeError:  # macOS
        cores = os.cpu_count() or 1
    return RunHost(cpu=model, cores=cores)


def run_environment(
    spec: Spec, order: Order, run_id: str, paths: RunPaths, devices: str
) -> tuple[dict[str, str], dict[str, str]]:
    """Return the environment of a run, and of that what we set and may show.

    Args:
        spec: the experiment.
        order: which run.
        run_id: its name.
        paths: where it writes.
        devices: GPUs that it sees: numbers joined by commas, "all", or "" for none.
    """
    target = order.target
    said = dict(PINS) if spec.pin else {}
    if spec.debug:
        said |= _DEBUG
    if devices != "all":
        said["CUDA_VISIBLE_DEVICES"] = devices
    if spec.trims_environment:
        said |= trims_flags(spec, target.init)
    said |= target.environment
    ours = {
        "POWERKIT_RUN_ID": run_id,
        "POWERKIT_RESULT_FILE": str(paths.result),
        "POWERKIT_INIT": target.init.value,
        "POWERKIT_ITERATION": str(order.iteration),
        "POWERKIT_WORKLOAD": target.workload,
        "POWERKIT_ITEM": target.item or "",
    }
    if spec.trace:
        ours["POWERKIT_TRACE_FILE"] = str(paths.trace)
    if spec.trims_environment:
        ours |= trims_environment(order, run_id, paths)
    # Of an outer run: the workload would write into that one's file.
    inherited = {k: v for k, v in os.environ.items() if k != "POWERKIT_TRACE_FILE"}
    return inherited | ours | said, shareable(said)


def trims_flags(spec: Spec, init: Init) -> dict[str, str]:
    """Return what TRIMS's flags become, which says how a run was made.

    As there, UPR_ENABLED says true or false, and the others are set or not.
    """
    switches = {
        "UPR_ENABLE_MEMORY_PROFILE": spec.profile_memory,
        "UPR_INITIALIZE_EAGER": init is Init.EAGER,
        "UPR_INITIALIZE_EAGER_ASYNC": init is Init.ASYNC,
    }
    return {
        **(TRIMS_PINS if spec.pin else {}),
        "UPR_CLIENT": "1",
        "UPR_ENABLED": str(spec.trims_enabled).lower(),
        **{name: "true" for name, on in switches.items() if on},
    }


def trims_environment(order: Order, run_id: str, paths: RunPaths) -> dict[str, str]:
    """Return TRIMS's variables of one run (its pkg/client/run.go)."""
    target = order.target
    found = {
        "DATE": precise_instant(time.time_ns()),
        "UPR_RUN_ID": run_id,
        "UPR_MODEL_NAME": target.item or target.workload,
        "UPR_PROFILE_TARGET": str(paths.trace),
        "UPR_BASE_DIR": str(base_directory()),
    }
    for name, usual in _INPUTS.items():
        found[f"UPR_INPUT_{name.upper()}"] = target.parameters.get(name, usual)
    return found | _git(str(target.cwd or Path.cwd()))


def base_directory() -> Path:
    """Return the folder of models: UPR_BASE_DIR of the user, or that of assets."""
    from tools.settings.resolved import setting  # noqa: PLC0415  reads a file

    given = os.environ.get("UPR_BASE_DIR")
    return Path(given) if given else setting("assets_directory", None)


@cache
def _git(folder: str) -> dict[str, str]:
    """Return the commit of a checkout; nothing where there is no git or no checkout."""

    def said(*words: str) -> str:
        done = subprocess.run(
            ["git", "-C", folder, *words],
            capture_output=True,
            text=True,
            timeout=10,
            check=True,
        )
        return done.stdout.strip()

    try:
        commit, date = said("log", "-1", "--format=%H%n%cI").splitlines()
        branch = said("rev-parse", "--abbrev-ref", "HEAD")
    except (OSError, ValueError, subprocess.SubprocessError):
        return {}
    return {"UPR_GIT_SHA": commit, "UPR_GIT_BRANCH": branch, "UPR_GIT_Date": date}


def shareable(environment: Mapping[str, str]) -> dict[str, str]:
    """Withhold what may be secret, by its name, and which very GPUs these are."""
    return {
        name: "withheld"
        if _SECRET.search(name)
        else _DEVICE.sub(r"\1-withheld", value[:4096])
        for name, value in sorted(environment.items())
    }
