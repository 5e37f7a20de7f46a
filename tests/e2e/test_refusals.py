"""A bad pull request of each kind, judged by the workflow as it ships.

Each is opened on the simulated GitHub; what is asserted are the annotations that its
author sees: level, file, line, code.
"""

from __future__ import annotations

import subprocess
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import pytest

from registry.gate.paths import MAINTAINERS
from tests.simulators.github import FakeGitHub
from tests.simulators.machines import Machine
from tests.simulators.mainlines import maintainers_file
from tests.simulators.people import Person, private_key
from tests.simulators.registry import Simulator, run_git, small
from tests.simulators.runner import Runner
from tests.simulators.source import commit_files

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from tests.simulators.runner import Run

NEW = "datasets/server-d/"
OLD = "datasets/server-a/"
START = 1_785_000_000
PACKET = "Write the review packet, also of what was refused"
"""It takes most of a run's time and has tests of its own."""


@dataclass
class Desk:
    """The simulated GitHub with a founded registry, and who proposes to it."""

    hub: FakeGitHub
    runner: Runner
    merged: Simulator
    base: str
    opened: int = field(default=0)

    def propose(self, changed: Simulator, author: int = 42) -> Run:
        """Open a pull request with what differs from main, and run the gate."""
        self.opened += 1
        branch, login = f"change-{self.opened}", f"person-{author}"
        fork = self.hub.bare_of(self.hub.fork(login))
        self._commit(fork, changed, branch)
        number = self.hub.open_pull(login, branch, title=f"::error::{branch}")
        return self.runner.pull_request(number)

    def _commit(self, repo: Path, changed: Simulator, branch: str) -> None:
        """Put the change on a branch of a fork; code stays as it is on main."""
        run_git(repo, "fetch", "-q", str(self.hub.bare), "main:upstream")
        old, new = self.merged.files, changed.files
        edits = [
            f"commit refs/heads/{branch}",
            "committer T <t@e.org> 1785000100 +0000",
        ]
        edits += ["data 0", "from refs/heads/upstream^0"]
        stream = ["\n".join(edits).encode() + b"\n"]
        stream += [b"D %s\n" % path.encode() for path in sorted(set(old) - set(new))]
        for path, content in new.items():
            if old.get(path) != content:
                head = f"M 100644 inline {path}\ndata {len(content)}\n"
                stream += [head.encode(), content, b"\n"]
        command = ["git", "-C", str(repo), "fast-import", "--quiet", "--force"]
        subprocess.run(command, input=b"".join(stream), check=True)


@pytest.fixture(scope="module")
def desk(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Desk]:
    root = tmp_path_factory.mktemp("desk")
    with FakeGitHub(root / "hub") as hub:
        simulated = small()
        for person in simulated.people.values():
            hub.add_user(person.login, person.id)
        files = simulated.files | {MAINTAINERS: maintainers_file(1, 2, 3)}
        base = commit_files(hub.bare, root / "founding", files, source=True, when=START)
        runner = Runner(hub, root / "runs")
        runner.leave_out = {PACKET}
        yield Desk(hub, runner, simulated, base)
        assert hub.violations == []


def with_bundle(contributor: int = 42) -> Simulator:
    changed = small()
    changed.add_levels("server-d", contributor)
    return changed


def errors(run: Run) -> set[tuple[str, str, int | None]]:
    """Code, file and line of each annotated error."""
    return {
        (one.title, one.file, one.line)
        for one in run.annotations
        if one.level == "error"
    }


def edited(path: str, old: bytes, new: bytes) -> Callable[[], Simulator]:
    """A new bundle of which one file is changed after signing."""

    def make() -> Simulator:
        changed = with_bundle()
        assert old in changed.files[path]
        changed.files[path] = changed.files[path].replace(old, new, 1)
        return changed

    return make


def resealed(path: str, old: bytes, new: bytes) -> Callable[[], Simulator]:
    """A new bundle that was changed before it was signed."""

    def make() -> Simulator:
        changed = edited(path, old, new)()
        changed.reseal("server-d")
        return changed

    return make


def unsigned() -> Simulator:
    changed = with_bundle()
    del changed.files[NEW + "manifest.json.sig"]
    return changed


def foreign_key() -> Simulator:
    changed = with_bundle()
    changed.sign("server-d", private_key("somebody"))
    return changed


def constant_power() -> Simulator:
    changed = with_bundle()
    path = NEW + "levels.csv"
    header, *rows = changed.files[path].splitlines()
    flat = [b",".join([row.split(b",")[0], b"200"]) for row in rows]
    assert header.count(b",") == 1
    changed.files[path] = b"\n".join([header, *flat, b""])
    changed.reseal("server-d")
    return changed


def with_code() -> Simulator:
    changed = with_bundle()
    changed.files["registry/gate/verify.py"] = b"x = 1\n"
    changed.files[".github/CODEOWNERS"] = b"* @mallory\n"
    return changed


def two_datasets() -> Simulator:
    changed = with_bundle()
    changed.add_levels("server-e", 42)
    return changed


def deleted() -> Simulator:
    changed = small()
    del changed.files[OLD + "runs.csv"]
    return changed


def wrong_version() -> Simulator:
    changed = small()
    changed.bump("server-a")
    changed.edit("server-a", lambda value: value.update(version=5))
    return changed


def copied() -> Simulator:
    changed = small()
    changed.add_levels("server-d", 42, Machine("server-d", seed=1))
    for name in ("levels.csv", "runs.csv"):
        changed.files[NEW + name] = changed.files[f"datasets/server-c/{name}"]
    changed.reseal("server-d")
    return changed


def own_key_with_data() -> Simulator:
    """A key enrolled and used in one pull request, by somebody who is known already."""
    changed = with_bundle()
    changed.enrol(changed.people[42].with_key(private_key("new")))
    changed.sign("server-d")
    return changed


SPEC = "specs/server-d.yaml"
MANIFEST = NEW + "manifest.json"
LEVELS = NEW + "levels.csv"
KINDS: dict[str, tuple[Callable[[], Simulator], set[tuple[str, str, int | None]]]] = {
    "a changed byte": (
        edited(LEVELS, b"1", b"2"),
        {("M023", LEVELS, None)},
    ),
    "a formula": (edited(LEVELS, b"\n0,", b"\n0,=1+"), {("C003", LEVELS, 2)}),
    "no signature": (unsigned, {("S007", MANIFEST + ".sig", None)}),
    "a stranger's key": (foreign_key, {("S011", MANIFEST + ".sig", None)}),
    "constant power": (constant_power, {("E022", LEVELS, None)}),
    "a key used at once": (
        own_key_with_data,
        {
            ("T021", "registry/trust/42.yaml", None),
            ("S011", MANIFEST + ".sig", None),
        },
    ),
    "an unknown field": (
        resealed(SPEC, b"schema:", b"colour: red\nschema:"),
        {("H001", SPEC, 1)},
    ),
    "code beside data": (
        with_code,
        {
            ("T020", "registry/gate/verify.py", None),
            ("T020", ".github/CODEOWNERS", None),
        },
    ),
    "two datasets": (two_datasets, {("T022", "datasets/server-d", None)}),
    "a deleted file": (deleted, {("T023", OLD + "runs.csv", None)}),
    "a version too far": (
        wrong_version,
        {("S016", OLD + "manifest.json", None)},
    ),
    "a copy": (copied, {("D001", LEVELS, None)}),
}


@pytest.mark.parametrize("kind", KINDS)
def test_a_bad_pull_request(kind: str, desk: Desk) -> None:
    make, wanted = KINDS[kind]
    run = desk.propose(make())
    assert run.conclusion == "failure", run.log
    assert wanted <= errors(run), run.log
    allowed = {path for _, path, _ in wanted} | {MANIFEST, LEVELS, SPEC, OLD}
    for _, path, _ in errors(run):  # nobody else is blamed
        assert path.startswith(tuple(allowed)), path
    for code, _, _ in wanted:
        assert code in run.summary


def test_another_accounts_bundle(desk: Desk) -> None:
    run = desk.propose(with_bundle(), author=43)
    assert run.conclusion == "failure"
    assert errors(run) == {("S015", MANIFEST, None)}


def test_a_newcomer_whose_account_does_not_publish_the_key(desk: Desk) -> None:
    nora = Person.new(4242, "person-4242")
    changed = small()
    changed.enrol(nora)
    changed.add_levels("server-d", 4242)
    desk.hub.add_user(nora.login, nora.id)
    run = desk.propose(changed, author=4242)
    assert run.conclusion == "failure"
    assert ("K024", nora.path, None) in errors(run)
    desk.hub.publish_key(nora.login, nora.entries[0].ssh)
    run = desk.propose(changed, author=4242)
    assert run.conclusion == "success", run.log


def test_a_good_one_and_one_with_warnings_pass(desk: Desk) -> None:
    desk.runner.leave_out = set()
    run = desk.propose(with_bundle())
    desk.runner.leave_out = {PACKET}
    assert run.conclusion == "success", run.log
    assert errors(run) == set()
    assert "server-d" in run.summary
    near = small()
    near.add_levels("server-d", 42, Machine("server-d", seed=3))
    path = NEW + "levels.csv"
    rows = near.files["datasets/server-c/levels.csv"].splitlines(keepends=True)
    own = near.files[path].splitlines(keepends=True)
    near.files[path] = b"".join([*own[:2], *rows[2:]])
    near.reseal("server-d")
    run = desk.propose(near)
    levels = {(one.level, one.title) for one in run.annotations}
    assert ("warning", "D003") in levels, run.log
    assert run.conclusion == "success", run.log
