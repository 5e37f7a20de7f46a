"""A small valid registry in memory, whose parts tests mutate, write out or commit.

simulated = Simulator()
simulated.enrol(42)
simulated.add_levels("server-a", 42)
simulated.write(folder)
"""

from __future__ import annotations

import functools
import json
import os
import subprocess
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from registry.documents import canonical
from registry.documents.names import NAMESPACE_BUNDLE, REGISTRY
from registry.documents.sketch import sketch
from registry.documents.spec import HardwareSpec, write_spec
from registry.documents.strict_csv import read_table
from registry.gate.signing import PrivateKey, sign
from registry.gate.tree import Entry, below, missing
from tests.simulators.machines import Machine, level_tables, points, sample_tables
from tests.simulators.people import Person

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from pathlib import Path

__all__ = ["ARRIVED", "NOW", "MemoryTree", "Simulator", "registry_of", "small"]

NOW = 1_790_000_000
"""The present of tests: 21 September 2026."""
ARRIVED = 1_780_000_000
"""When bundles came to main unless a test says otherwise: 28 May 2026."""

MODELS = tuple(f"Intel Xeon Gold {6200 + number}R" for number in range(25))


class MemoryTree:
    """A tree of ordinary files that lies in a dictionary."""

    def __init__(self, files: dict[str, bytes]) -> None:
        """Keep the files; later changes of the dictionary are not seen."""
        self._files = dict(files)
        self._entries = [
            Entry(path, 0o100644, len(content), canonical.sha256(content))
            for path, content in sorted(files.items())
        ]

    def entries(self, prefix: str = "") -> list[Entry]:
        """The files under a prefix."""
        return below(self._entries, prefix)

    def read(self, path: str) -> bytes:
        """One file."""
        if path not in self._files:
            raise missing(path)
        return self._files[path]

    def read_many(self, paths: Iterable[str]) -> Iterator[tuple[str, bytes]]:
        """Several files."""
        for path in paths:
            yield path, self.read(path)


@dataclass
class Simulator:
    """A registry in memory.

    Attributes:
        files: path to content; tests change it freely.
        people: contributors by id, with their private keys.
    """

    files: dict[str, bytes] = field(default_factory=dict)
    people: dict[int, Person] = field(default_factory=dict)

    def copy(self) -> Simulator:
        """The same registry, to be changed apart."""
        return Simulator(dict(self.files), dict(self.people))

    def enrol(self, person: int | Person) -> Person:
        """Write a contributor's trust file."""
        someone = Person.new(person) if isinstance(person, int) else person
        self.people[someone.id] = someone
        self.files[someone.path] = someone.trust_file()
        return someone

    def add_spec(self, machine: Machine | dict[str, Any]) -> str:
        """Write a machine's spec and give its path."""
        value = machine.spec() if isinstance(machine, Machine) else machine
        path = f"specs/{value['machine']}.yaml"
        self.files[path] = write_spec(HardwareSpec.model_validate(value))
        return path

    def add_levels(
        self,
        dataset: str,
        contributor: int,
        machine: Machine | None = None,
        **fields: Any,
    ) -> None:
        """Add a signed load-levels bundle and its spec.

        Args:
            dataset: its id.
            contributor: who signs; enrolled before.
            machine: the server; by default one named as the dataset.
            fields: fields of the manifest that differ from the usual ones.
        """
        server = machine or Machine(dataset, seed=_seed(dataset))
        tables = level_tables(server)
        usual = {"profile": "load-levels", "workloads": ["idle", "ssj2008"]}
        self.add_bundle(dataset, contributor, server, tables, **usual | fields)

    def add_samples(
        self,
        dataset: str,
        contributor: int,
        machine: Machine | None = None,
        *,
        frequencies: int = 12,
        seconds: int = 30,
        **fields: Any,
    ) -> None:
        """Add a signed timeseries bundle and its spec; see `add_levels`."""
        server = machine or Machine(dataset, seed=_seed(dataset))
        runs = points(frequencies)
        tables = sample_tables(server, runs, seconds)
        labels = sorted({run.workload for run in runs})
        usual = {"profile": "timeseries", "workloads": labels}
        self.add_bundle(dataset, contributor, server, tables, **usual | fields)

    def add_bundle(
        self,
        dataset: str,
        contributor: int,
        machine: Machine | dict[str, Any],
        tables: dict[str, bytes],
        **fields: Any,
    ) -> None:
        """Add a signed bundle of any tables."""
        spec_path = self.add_spec(machine)
        for name, content in tables.items():
            self.files[f"datasets/{dataset}/{name}"] = content
        value: dict[str, Any] = {
            "schema": "bundle/1",
            "registry": REGISTRY,
            "dataset": dataset,
            "version": 1,
            "previous": None,
            "contributor": contributor,
            "spec": {"path": spec_path, "sha256": ""},
            "files": [],
            "objects": [],
            "licence": "CDLA-Permissive-2.0",
            "measured": {"from": "2026-03-01", "to": "2026-03-02"},
            "privacy": {"own_workloads": "none"},
            "derived": None,
            "tool": {"name": "powerkit", "version": "0.1.0"},
            "source": None,
        }
        self._write_manifest(dataset, value | fields)
        self.reseal(dataset)

    def manifest(self, dataset: str) -> dict[str, Any]:
        """The manifest as a plain value."""
        value: dict[str, Any] = json.loads(self.files[_manifest_path(dataset)])
        return value

    def edit(self, dataset: str, change: Callable[[dict[str, Any]], object]) -> None:
        """Change the manifest by hand and sign what comes out, right or wrong."""
        value = self.manifest(dataset)
        change(value)
        self._write_manifest(dataset, value)
        self.sign(dataset)

    def reseal(self, dataset: str) -> None:
        """Describe the files as they are now in the manifest, and sign it."""
        value = self.manifest(dataset)
        spec = self.files.get(value["spec"]["path"], b"")
        value["spec"]["sha256"] = canonical.sha256(spec)
        value["files"] = [
            self._entry(path)
            for path in sorted(self.files)
            if path.startswith(f"datasets/{dataset}/") and path.endswith(".csv")
        ]
        self._write_manifest(dataset, value)
        self.sign(dataset)

    def bump(self, dataset: str) -> None:
        """Make the manifest the next version of itself, not signed yet."""
        digest = canonical.sha256(self.files[_manifest_path(dataset)])
        value = self.manifest(dataset)
        value |= {"version": value["version"] + 1, "previous": digest}
        self._write_manifest(dataset, value)

    def sign(
        self,
        dataset: str,
        key: PrivateKey | None = None,
        namespace: str = NAMESPACE_BUNDLE,
    ) -> None:
        """Sign the manifest's bytes, by default with its contributor's newest key."""
        content = self.files[_manifest_path(dataset)]
        signer = key or self.people[self.manifest(dataset)["contributor"]].key
        text = sign(signer, content, namespace)
        self.files[_manifest_path(dataset) + ".sig"] = text.encode("ascii")

    def tree(self) -> MemoryTree:
        """The registry as the gate reads it."""
        return MemoryTree(self.files)

    def arrivals(self) -> dict[str, int]:
        """All bundles came at the usual time."""
        return {
            path.split("/")[1]: ARRIVED for path in self.files if "/manifest" in path
        }

    def write(self, root: Path) -> Path:
        """Write all files into a folder."""
        for path, content in self.files.items():
            target = root / path
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(content)
        return root

    def commit(self, repo: Path, message: str = "change", when: int = ARRIVED) -> str:
        """Make a repository's next commit hold exactly these files.

        Returns:
            The commit's full name.
        """
        if not (repo / ".git").exists():
            repo.mkdir(parents=True, exist_ok=True)
            run_git(repo, "init", "-q", "-b", "main")
        run_git(repo, "rm", "-r", "-q", "-f", "--ignore-unmatch", ".")
        self.write(repo)
        run_git(repo, "add", "-A", "-f")
        run_git(repo, "commit", "-q", "--allow-empty", "-m", message, when=when)
        return run_git(repo, "rev-parse", "HEAD").strip()

    def record(
        self, repo: Path, branch: str = "main", start: str = "", when: int = ARRIVED
    ) -> None:
        """Put a commit of exactly these files on a branch, without a work tree.

        Args:
            repo: a repository; made if there is none.
            branch: the branch that gets the commit.
            start: revision before it; the branch itself if empty.
            when: time of author and committer, in seconds since 1970.
        """
        if not repo.exists():
            repo.mkdir(parents=True)
            run_git(repo, "init", "-q", "-b", "main", "--template=")
        stamp = f"T <t@example.org> {when} +0000"
        lines = [f"commit refs/heads/{branch}\n", f"committer {stamp}\n", "data 0\n"]
        lines += [f"from {start}^0\n"] if start else []
        stream = ["".join([*lines, "deleteall\n"]).encode()]
        for path, content in self.files.items():
            stream.append(f"M 100644 inline {path}\ndata {len(content)}\n".encode())
            stream += [content, b"\n"]
        command = ["git", "-C", str(repo), "fast-import", "--quiet", "--force"]
        subprocess.run(command, input=b"".join(stream), check=True, capture_output=True)

    def _entry(self, path: str) -> dict[str, Any]:
        content, name = self.files[path], path.rpartition("/")[2]
        header, _, rows = content.partition(b"\n")
        table = name.removesuffix(".csv")
        marks = sketch(read_table(content, path, table)) if table != "runs" else ()
        return {
            "path": name,
            "bytes": len(content),
            "sha256": canonical.sha256(content),
            "rows": rows.count(b"\n"),
            "columns": header.decode("utf-8", "replace").split(","),
            "sketch": list(marks),
        }

    def _write_manifest(self, dataset: str, value: dict[str, Any]) -> None:
        self.files[_manifest_path(dataset)] = canonical.encode(value)


def small() -> Simulator:
    """A registry of two contributors, 42 and 43, and their load-levels bundles.

    42 has server-a and server-b, 43 has server-c. Each call gives a copy of its own.
    """
    return _small().copy()


@functools.cache
def _small() -> Simulator:
    simulated = Simulator()
    simulated.enrol(42)
    simulated.enrol(43)
    simulated.add_levels("server-a", 42)
    simulated.add_levels("server-b", 42)
    simulated.add_levels("server-c", 43)
    return simulated


def registry_of(bundles: int, contributors: int = 3) -> Simulator:
    """A registry of load-levels bundles on machines of 25 classes."""
    simulated = Simulator()
    for number in range(contributors):
        simulated.enrol(1000 + number)
    for number in range(bundles):
        name = f"server-{number:04}"
        machine = Machine(name, MODELS[number % len(MODELS)], seed=number)
        simulated.add_levels(name, 1000 + number % contributors, machine)
    return simulated


def run_git(repo: Path, *arguments: str, when: int = ARRIVED) -> str:
    """Run git as a test's author, at a time of the test's choice."""
    stamp = f"{when} +0000"
    identity = {
        f"GIT_{role}_{what}": value
        for role in ("AUTHOR", "COMMITTER")
        for what, value in (("NAME", "T"), ("EMAIL", "t@example.org"), ("DATE", stamp))
    }
    plain = {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1"}
    done = subprocess.run(
        ["git", "-C", str(repo), *arguments],
        env=os.environ | identity | plain,
        check=True,
        capture_output=True,
        text=True,
    )
    return done.stdout


def _manifest_path(dataset: str) -> str:
    return f"datasets/{dataset}/manifest.json"


def _seed(dataset: str) -> int:
    return int(canonical.sha256(dataset.encode())[:6], 16)
