"""Cost of `registry verify --base` for one new bundle, by what is merged already.

    python benchmarks/verify_change.py [--sizes 10,100,1000,3000]

Makes registries of simulated `load-levels` bundles, one contributor to three bundles,
in packed git repositories, proposes one more bundle and prints a Markdown table: the
process in seconds, the median of three, then its parts in milliseconds, of five each.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT), str(ROOT / "benchmarks")]

from scale import REGISTRY, imports, run  # noqa: E402

from registry.gate.git import commit_of  # noqa: E402
from registry.gate.git_tree import GitTree, git_tree  # noqa: E402
from registry.gate.merged_manifests import related_manifests  # noqa: E402
from registry.gate.merged_trust import merged_keyring  # noqa: E402
from registry.gate.opening import open_manifest  # noqa: E402
from registry.gate.verify import verify_change  # noqa: E402
from tests.simulators.machines import Machine  # noqa: E402
from tests.simulators.registry import NOW, registry_of, run_git  # noqa: E402

if TYPE_CHECKING:
    from collections.abc import Callable

NEW = "one-more"
AUTHOR = 1000
HEAD = (
    "| bundles | process s | after imports s | all but expectations ms | listing ms"
    " | trust files ms | manifests ms |"
)


def propose(size: int, folder: Path) -> Path:
    """A repository with a registry on main and one more bundle on the branch change."""
    repo = folder / f"registry-{size}"
    merged = registry_of(size, max(3, size // 3))
    merged.record(repo)
    machine = Machine(NEW, "AMD EPYC 7763", seed=size)
    merged.add_levels(NEW, AUTHOR, machine)
    merged.record(repo, "change", "main", when=NOW)
    run_git(repo, "gc", "-q")
    return repo


def median(call: Callable[[], object], times: int = 5) -> float:
    """Seconds that a call takes."""
    taken = []
    for _ in range(times):
        started = time.perf_counter()
        call()
        taken.append(time.perf_counter() - started)
    return statistics.median(taken)


def measure(size: int, start: float, folder: Path) -> str:
    """Measure one registry and give its row of the table.

    Args:
        size: number of merged bundles.
        start: seconds that a process takes to import what the gate needs.
        folder: where the repository is made.
    """
    repo = propose(size, folder)
    range_of = ("--base", "main", "--head", "change", "--author", str(AUTHOR))
    process = median(
        lambda: run(*REGISTRY, "verify", "--root", str(repo), *range_of, cwd=ROOT), 3
    )
    base, head = git_tree(repo, "main"), git_tree(repo, "change")
    trust = merged_keyring(base)
    blob = trust.contributors[AUTHOR].keys[0].public_key.blob
    manifest = open_manifest(head, NEW, trust=trust, at=NOW).manifest

    def verify() -> None:
        report = verify_change(
            repo, "main", "change", author=AUTHOR, now=NOW, expectations=False
        )
        if report.findings:
            raise SystemExit(f"the bundle was refused: {report.findings[0]}")

    parts = (
        verify,
        lambda: [GitTree(repo, commit_of(repo, rev)) for rev in ("main", "change")],
        lambda: merged_keyring(base).key(AUTHOR, blob),
        lambda: related_manifests(base, [manifest], ()),
    )
    cells = " | ".join(f"{1000 * median(part):.0f}" for part in parts)
    return f"| {size} | {process:.2f} | {process - start:.2f} | {cells} |"


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sizes", default="10,100,1000,3000")
    sizes = map(int, parser.parse_args().sizes.split(","))
    print(HEAD)
    print("|---" * HEAD.count(" |") + "|")
    start = statistics.median(imports("great_expectations", "polars") for _ in "123")
    with tempfile.TemporaryDirectory() as folder:
        for size in sizes:
            print(measure(size, start, Path(folder)), flush=True)


if __name__ == "__main__":
    main()
