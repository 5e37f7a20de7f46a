"""GitHub Actions for the fake GitHub: runs the workflows that the repository holds.

with FakeGitHub(folder) as hub:
    runner = Runner(hub, folder / "runs")
    run = runner.pull_request(hub.open_pull("alice", "my-data"))
    assert run.conclusion == "success", run.log

`run:` blocks are executed by bash as they stand in the commit that GitHub would take
them from; actions are stand-ins. What the simulator does not know raises Unreadable.
"""

from __future__ import annotations

import json
import subprocess
import urllib.request
from typing import TYPE_CHECKING, Any, Protocol

from tests.simulators.actions.commands import Annotation
from tests.simulators.actions.documents import read_workflow
from tests.simulators.actions.expressions import Unreadable
from tests.simulators.actions.machine import Machine
from tests.simulators.actions.running import JobRun, Run, StepRun, Workplace
from tests.simulators.actions.running import run_workflow as _run
from tests.simulators.actions.stand_ins import Shelf
from tests.simulators.actions.triggers import Event, starts

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

__all__ = ["Annotation", "Event", "JobRun", "Run", "Runner", "StepRun", "Unreadable"]


class Hub(Protocol):
    """What the runner needs of a fake GitHub."""

    @property
    def bare(self) -> Path:
        """The repository, bare."""

    def environment(self) -> dict[str, str]:
        """GITHUB_REPOSITORY and the servers' addresses."""

    def job_token(self, permissions: Mapping[str, str]) -> str:
        """A token of one job of a workflow."""


class Group(Protocol):
    """A candidate of the merge queue."""

    ref: str
    base_sha: str
    head_sha: str


class Runner:
    """Runs workflows as GitHub would.

    Attributes:
        before_step: told the job and the step that comes next; may do anything.
        after_job: told the job that ended and what the run keeps, which it may alter.
        leave_out: names of steps that are skipped, where a test is about others.
        settings: the repository's variables, which workflows read as `vars`.
    """

    def __init__(self, hub: Hub, work: Path, *, real_pip: bool = False) -> None:
        """Run in folders below `work`, one a run.

        Args:
            hub: the fake GitHub.
            work: a folder.
            real_pip: let pip itself do what `.ci/setup` asks (about five seconds), not
                a stand-in that only checks that every pinned version is there.
        """
        self._real_pip = real_pip
        self._hub = hub
        self._work = work
        self._runs = 0
        self._attested = work / "attested"
        # Nothing listens there: no test asks the real site of some OWNER.github.io.
        self.settings: dict[str, str] = {"SITE_URL": "http://127.0.0.1:9"}
        self.before_step: Callable[[str, str], None] = lambda _job, _step: None
        self.after_job: Callable[[str, Shelf], None] = lambda _job, _shelf: None
        self.leave_out: set[str] = set()

    def pull_request(self, number: int, workflow: str = "verify") -> Run:
        """A pull request was opened or pushed to.

        GitHub runs nothing for one that conflicts; the run is then `skipped`.
        """
        pull = self._ask(f"/pulls/{number}")
        sha = pull["merge_commit_sha"]
        if sha is None or pull["mergeable"] is False:
            return Run(workflow, self._shelf())
        head = pull["head"]["repo"] or {"full_name": ""}
        base = self._git("merge-base", pull["base"]["sha"], sha)
        event = Event(
            "pull_request",
            sha,
            f"refs/pull/{number}/merge",
            branch=pull["base"]["ref"],
            payload={"action": "opened", "number": number, "pull_request": pull},
            action="opened",
            paths=self._changed(base, sha),
            actor=pull["user"]["login"],
            foreign=head["full_name"] != self._repository,
        )
        return self.start(event, workflow)

    def merge_group(self, group: Group, workflow: str = "verify") -> Run:
        """The merge queue asks for checks of a candidate."""
        shown = {
            "head_sha": group.head_sha,
            "head_ref": group.ref,
            "base_sha": group.base_sha,
            "base_ref": "refs/heads/main",
        }
        payload = {"action": "checks_requested", "merge_group": shown}
        event = Event(
            "merge_group",
            group.head_sha,
            group.ref,
            payload=payload,
            action="checks_requested",
        )
        return self.start(event, workflow)

    def push(self, sha: str, workflow: str = "publish") -> Run:
        """The branch main got this commit."""
        parents = self._git("rev-list", "--parents", "-n1", sha).split()[1:]
        before = (
            parents[0] if parents else self._git("hash-object", "-t", "tree", "--stdin")
        )
        payload = {"ref": "refs/heads/main", "before": before, "after": sha}
        event = Event(
            "push",
            sha,
            "refs/heads/main",
            payload=payload,
            paths=self._changed(before, sha),
        )
        return self.start(event, workflow)

    def dispatch(self, workflow: str) -> Run:
        """Somebody pressed the button on main."""
        sha = self._git("rev-parse", "refs/heads/main")
        return self.start(Event("workflow_dispatch", sha, "refs/heads/main"), workflow)

    def schedule(self, workflow: str = "watch") -> Run:
        """The time has come."""
        sha = self._git("rev-parse", "refs/heads/main")
        return self.start(Event("schedule", sha, "refs/heads/main"), workflow)

    def start(self, event: Event, workflow: str) -> Run:
        """Run one workflow of the event's commit; `skipped` if it does not start.

        Raises:
            Unreadable: the workflow says what is not known here.
        """
        name = f"{event.sha}:.github/workflows/{workflow}.yml"
        read = read_workflow(self._git("cat-file", "blob", name))
        shelf = self._shelf()
        if not starts(read, event):
            return Run(read.name, shelf)
        place = Workplace(
            lambda job, permissions: self._machine(event, shelf, job, permissions),
            self.before_step,
            self.after_job,
            self.leave_out,
        )
        run = _run(read, place, shelf)
        signer = f"{self._repository}/.github/workflows/{workflow}.yml {event.ref}"
        with self._attested.open("a", encoding="utf-8") as file:
            file.writelines(f"{digest} {signer}\n" for _, digest in shelf.attested)
        return run

    def _shelf(self) -> Shelf:
        self._runs += 1
        root = self._work / f"run-{self._runs}"
        (root / "kept").mkdir(parents=True)
        return Shelf(root / "kept")

    def _machine(
        self, event: Event, shelf: Shelf, job: str, permissions: Mapping[str, str]
    ) -> Machine:
        """Make a machine; a fork's token may read only, as GitHub has it."""
        given = {
            key: "read" if event.foreign and key != "id-token" else value
            for key, value in permissions.items()
            if not (event.foreign and key == "id-token")
        }
        environment = self._hub.environment()
        root = shelf.root.parent / job.replace(" ", "-")
        root.mkdir()
        return Machine(
            root=root,
            event=event,
            repository=environment["GITHUB_REPOSITORY"],
            server=environment["GITHUB_SERVER_URL"],
            token=self._hub.job_token(given),
            permissions=given,
            environment={
                "GITHUB_API_URL": environment["GITHUB_API_URL"],
                "ATTESTED": str(self._attested),
                "REGISTRY_WRITE_PAUSE": "0",
            },
            settings=self.settings,
            real_pip=self._real_pip,
        )

    @property
    def _repository(self) -> str:
        return self._hub.environment()["GITHUB_REPOSITORY"]

    def _ask(self, path: str) -> dict[str, Any]:
        where = self._hub.environment()
        address = f"{where['GITHUB_API_URL']}/repos/{self._repository}{path}"
        quiet = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        with quiet.open(address, timeout=60) as answer:
            return dict(json.load(answer))

    def _changed(self, old: str, new: str) -> tuple[str, ...]:
        names = self._git(
            "diff-tree", "-r", "-z", "--name-only", "--no-renames", old, new
        )
        return tuple(name for name in names.split("\0") if name)

    def _git(self, *words: str) -> str:
        done = subprocess.run(
            ["git", "-C", str(self._hub.bare), *words],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            check=True,
        )
        return done.stdout.decode("utf-8", "surrogateescape").removesuffix("\n")
