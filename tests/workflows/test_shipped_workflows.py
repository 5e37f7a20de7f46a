"""The workflows as they ship, run on the simulated GitHub from event to effect."""

from __future__ import annotations

import hashlib
import shutil
from dataclasses import dataclass
from typing import TYPE_CHECKING

import pytest

from registry.documents.canonical import sha256
from registry.gate.paths import MAINTAINERS
from registry.gate.signing import public_line
from registry.publish.channels import publish
from registry.publish.index import Asset, index_bytes
from registry.publish.integrity import INDEX, SUMS, open_folder, sums_bytes
from registry.publish.release import build_release
from tests.simulators.github import FakeGitHub
from tests.simulators.github.hub import QUICK
from tests.simulators.mainlines import maintainers_file
from tests.simulators.registry import Simulator, small
from tests.simulators.runner import Event, Runner
from tests.simulators.source import commit_files
from tests.simulators.web import served

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from registry.publish.index import Index
    from tests.simulators.actions.stand_ins import Shelf
    from tests.simulators.runner import Run

JUDGES = [
    "Verify the pull request",
    "Verify the merge queue's candidate, on top of those before it",
    "Write the review packet, also of what was refused",
]


@dataclass
class Place:
    """A founded registry on the simulated GitHub."""

    hub: FakeGitHub
    root: Path
    state: Simulator
    runner: Runner

    def propose(self, changed: Simulator, branch: str, login: str = "person-42") -> int:
        fork = self.hub.bare_of(self.hub.fork(login))
        new = {
            path: content
            for path, content in changed.files.items()
            if self.state.files.get(path) != content
        }
        commit_files(fork, self.root / branch, new, branch=branch)
        return self.hub.open_pull(login, branch, title="::error::$(id)")


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Place]:
    root = tmp_path_factory.mktemp("place")
    with FakeGitHub(root / "hub") as hub:
        state = small()
        for person in state.people.values():
            hub.add_user(person.login, person.id, [public_line(person.key)])
        files = state.files | {MAINTAINERS: maintainers_file(1, 2, 3)}
        commit_files(hub.bare, root / "founding", files, source=True)
        yield Place(hub, root, state, Runner(hub, root / "runs"))
        assert hub.violations == []


def with_bundle() -> Simulator:
    changed = small()
    changed.add_levels("server-d", 42)
    return changed


def ends(run: Run, job: str = "verify") -> dict[str, str]:
    return {step.name: step.conclusion for step in run.jobs[job].steps}


def test_a_good_pull_request_passes_and_gets_its_packet(place: Place) -> None:
    run = place.runner.pull_request(place.propose(with_bundle(), "good"))
    assert run.conclusion == "success", run.log
    assert [ends(run)[name] for name in JUDGES] == ["success", "skipped", "success"]
    assert [one for one in run.annotations if one.level == "error"] == []
    assert "server-d" in run.summary
    assert run.concurrency["cancel-in-progress"] == "true"


def test_a_bad_pull_request_fails_and_gets_its_packet_too(place: Place) -> None:
    changed = with_bundle()
    signature = "datasets/server-d/manifest.json.sig"
    changed.files[signature] = small().files["datasets/server-a/manifest.json.sig"]
    run = place.runner.pull_request(place.propose(changed, "bad"))
    assert run.conclusion == "failure"
    assert ends(run)[JUDGES[0]] == "failure"
    assert ends(run)[JUDGES[2]] != "skipped"
    wrong = [one for one in run.annotations if one.level == "error"]
    assert wrong
    assert all(one.file.startswith("datasets/server-d/") for one in wrong)
    assert all(one.title[0] == "S" for one in wrong)


def test_the_candidate_is_never_laid_out_or_run(place: Place) -> None:
    """W3: what a candidate brings stays in git's objects."""
    changed = with_bundle()
    mark = place.root / "executed"
    attack = f"open({str(mark)!r}, 'w').close()\n".encode()
    names = ["registry/__init__.py", "sitecustomize.py", "json.py", ".ci/setup"]
    changed.files |= dict.fromkeys(names, attack)
    seen: list[Path] = []
    place.runner.before_step = lambda _job, _step: seen.extend(
        file for file in place.root.glob("runs/*/verify/**/server-d*")
    )
    try:
        run = place.runner.pull_request(place.propose(changed, "attack"))
    finally:
        place.runner.before_step = lambda _job, _step: None
    assert run.conclusion == "failure"
    assert {one.title for one in run.annotations if one.level == "error"} == {"T020"}
    assert not mark.exists()
    assert seen == []


def test_the_merge_queue_s_candidate_is_judged_on_top_of_those_before(
    place: Place,
) -> None:
    number = place.propose(with_bundle(), "queued")
    group = place.hub.queue(number)
    run = place.runner.merge_group(group)
    place.hub.drop_queue(group)
    assert run.conclusion == "success", run.log
    assert [ends(run)[name] for name in JUDGES] == ["skipped", "success", "skipped"]


@pytest.fixture(scope="module")
def published(place: Place) -> Run:
    return place.runner.dispatch("publish")


def test_publish_builds_twice_compares_attests_releases_and_serves(
    place: Place, published: Run
) -> None:
    assert published.conclusion == "success", published.log
    assert list(published.jobs) == [
        "build (ubuntu-24.04)",
        "build (ubuntu-24.04-arm)",
        "compare",
        "release",
        "pages",
    ]
    (release,) = place.hub.releases
    assert not release.draft
    files = {asset.name: asset.data for asset in release.assets}
    assert release.tag_name == f"r-{sha256(files['index.json'])[:16]}"
    attested = dict(published.attested)
    assert len(attested) == len(published.attested)
    assert set(files) - set(attested) == {"folder.zip"}
    for name, digest in attested.items():
        assert hashlib.sha256(files[name]).hexdigest() == digest, name
    assert published.pages is not None
    assert (published.pages / "index.json").read_bytes() == files["index.json"]
    assert (published.pages / "models").is_dir()


def test_nothing_leaves_when_two_processors_disagree(
    place: Place, published: Run
) -> None:
    """P3: a build that was poisoned on one machine shows on the other.

    The second run of a commit takes all models over on one machine and fits all on the
    other, so it also shows that taking over changes no byte but the poisoned one.
    """

    def poison(job: str, shelf: Shelf) -> None:
        if job == "build (ubuntu-24.04)":
            index = shelf.artifacts["release-ubuntu-24.04"] / "index.json"
            index.write_bytes(index.read_bytes().replace(b"1", b"2", 1))

    before = [(one.id, one.tag_name) for one in place.hub.releases]
    place.runner.after_job = poison
    try:
        run = place.runner.dispatch("publish")
    finally:
        place.runner.after_job = lambda _job, _shelf: None
    first, second = (
        run.jobs[f"build ({one})"] for one in ("ubuntu-24.04", "ubuntu-24.04-arm")
    )
    built = "Build the release folder"
    assert "\n0 models fitted" in first.step(built).log
    assert ", 0 taken over" in second.step(built).log
    compared = run.jobs["compare"].step("Demand the same bytes of both processors")
    assert compared.log.count("diff --recursive") == 1
    conclusions = [run.jobs[one].conclusion for one in ("compare", "release", "pages")]
    assert conclusions == ["failure", "skipped", "skipped"]
    assert run.attested == []
    assert [(one.id, one.tag_name) for one in place.hub.releases] == before


def test_p3_a_release_that_somebody_planted_is_no_start(
    place: Place, published: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whoever may write releases could name any commit as the last that was right."""
    assert published.conclusion == "success"
    planted = place.root / "planted"
    build_release(place.hub.bare, planted, rev="refs/heads/main")
    index, _ = open_folder(planted)
    replant(planted, index.model_copy(update={"serial": index.serial + 1}))
    place.hub.add_maintainer("person-43")
    for name, value in place.hub.environment("person-43").items():
        monkeypatch.setenv(name, value)
    publish(planted, "github:", patience=QUICK)
    run = place.runner.dispatch("publish")
    job = run.jobs["build (ubuntu-24.04)"]
    step = job.step("Demand that this workflow made it, on main")
    assert (step.conclusion, "no attestation of" in step.log) == ("failure", True)
    assert job.step("Build the release folder").conclusion == "skipped"
    assert run.jobs["build (ubuntu-24.04-arm)"].conclusion == "cancelled"
    (false,) = [one for one in place.hub.releases if one.author == 43]
    place.hub.releases.remove(false)
    assert place.runner.dispatch("publish").conclusion == "success"


def replant(folder: Path, index: Index) -> None:
    """Write another index into a release folder, with sums that fit."""
    data = index_bytes(index)
    (folder / INDEX).write_bytes(data)
    own = Asset(path=INDEX, bytes=len(data), sha256=sha256(data))
    listed = sorted([*index.assets, own], key=lambda asset: asset.path)
    (folder / SUMS).write_bytes(sums_bytes(listed))


@pytest.mark.parametrize("name", ["publish", "watch"])
def test_the_button_does_nothing_on_another_branch(place: Place, name: str) -> None:
    bare = place.hub.bare
    tip = commit_files(bare, place.root / f"other-{name}", {"x": b"x"}, branch=name)
    event = Event("workflow_dispatch", tip, f"refs/heads/{name}", branch=name)
    run = place.runner.start(event, name)
    assert {job.conclusion for job in run.jobs.values()} == {"skipped"}


def test_what_was_not_proposed_is_not_published(place: Place, published: Run) -> None:
    """A push past every pull request reaches main, and no further."""
    changed = small()
    changed.add_levels("server-e", 42)
    tip = commit_files(place.hub.bare, place.root / "past", changed.files)
    run = place.runner.push(tip)
    assert run.jobs["build (ubuntu-24.04)"].conclusion == "failure"
    assert run.jobs["release"].conclusion == "skipped"
    assert len(place.hub.releases) == 1


def test_the_watch_opens_an_issue_for_what_fails_and_closes_it(
    place: Place, published: Run
) -> None:
    assert published.pages is not None
    site = place.root / "site"
    shutil.copytree(published.pages, site)
    with served(site) as address:
        place.runner.settings = {"SITE_URL": address}
        (site / "index.json").write_bytes(b"{}\n")
        run = place.runner.schedule()
        assert run.jobs["check"].conclusion == "failure"
        assert run.jobs["report"].conclusion == "success", run.log
        opened = [one for one in place.hub.issues if one.state == "open"]
        assert any("site" in one.title for one in opened), run.log
        shutil.copy(published.pages / "index.json", site / "index.json")
        run = place.runner.schedule()
        still = [one.title for one in place.hub.issues if one.state == "open"]
        assert not any("site" in title for title in still), run.log
        assert len(still) == len(opened) - 1


def test_a_watch_that_dies_is_told_as_well(place: Place, published: Run) -> None:
    def break_down(job: str, step: str) -> None:
        if (job, step) == ("check", "Install the pinned packages"):
            (script,) = place.root.glob("runs/*/check/work/.ci/setup")
            script.write_text("exit 1\n", "utf-8")

    for old in place.root.glob("runs/*/check"):
        shutil.rmtree(old)
    before = len(place.hub.issues)
    place.runner.before_step = break_down
    try:
        run = place.runner.schedule()
    finally:
        place.runner.before_step = lambda _job, _step: None
    assert run.jobs["check"].conclusion == "failure"
    assert run.jobs["report"].conclusion == "failure"
    assert len(place.hub.issues) == before + 1
