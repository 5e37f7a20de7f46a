"""The nightly watch: whatever is wrong with a release fails the check about it."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from typer.testing import CliRunner

from registry.cli import app
from registry.client.downloading import collect
from registry.client.rebuilding import Rebuilt
from registry.documents.findings import Severity, code, finding
from registry.publish.integrity import tag_of
from registry.upkeep import downloads, rebuilds, watching
from registry.upkeep.outcomes import CHECKS, as_lines, read_outcomes
from registry.upkeep.watching import checks
from tests.simulators.registry import ARRIVED, run_git
from tests.simulators.releases import poison
from tests.simulators.web import served
from tests.upkeep.conftest import HOUR, codes, of, statuses

if TYPE_CHECKING:
    from tests.upkeep.conftest import World

DAY = 24 * HOUR


@pytest.fixture(autouse=True)
def _no_rebuilding(
    request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Building takes seconds; only tests that are about it do it."""
    if "rebuilding" not in request.fixturenames:
        fine = Rebuilt("r", "c", 1, ())
        monkeypatch.setattr(rebuilds, "rebuild_and_compare", lambda *_, **__: fine)


@pytest.fixture
def rebuilding() -> None:
    """Build releases for true."""


def test_every_check_has_a_meaning() -> None:
    assert [one.id for one in checks()] == [one for one in CHECKS if one != "watch"]


@pytest.mark.usefixtures("rebuilding")
def test_a_good_release_passes_every_check(world: World) -> None:
    with served(world.release) as site:
        outcomes = world.watch(pages=site)
    assert statuses(outcomes) in ({}, {"maintainers": "failed", "settings": "failed"})
    for check in ("download", "pages", "release", "rebuild", "fresh", "keys"):
        assert of(outcomes, check).status == "ok", check
    tag = tag_of((world.release / "index.json").read_bytes())
    assert of(outcomes, "rebuild").note.endswith(f"files of {tag}")
    assert of(outcomes, "download").note == f"{len(world.index.assets)} files of {tag}"


def test_downloads_carry_no_token_and_follow_redirects(world: World) -> None:
    world.hub.requests.clear()
    assert of(world.watch(), "download").status == "ok"
    asked = [one for one in world.hub.requests if "/releases/" in one.path]
    web = [one for one in asked if one.server == "web"]
    latest = [one for one in web if "/releases/latest/download/" in one.path]
    names = {one.path.rpartition("/")[2] for one in latest}
    flat = {one.path for one in world.index.assets if "/" not in one.path}
    assert flat | {"index.json", "SHA256SUMS", "folder.zip"} <= names
    assert {one.login for one in web} == {None}
    assert {one.status for one in latest} == {302}
    assert any(one.server == "blobs" for one in world.hub.requests)


def test_a_swapped_file_is_found(world: World) -> None:
    world.asset("RELEASE_NOTES.md").data = b"better\n"
    outcomes = world.watch()
    (found,) = of(outcomes, "download").findings
    assert (found.code, found.path) == ("R013", "RELEASE_NOTES.md")
    assert of(outcomes, "fresh").status == "ok"
    assert of(outcomes, "keys").status == "ok"


def test_a_swapped_file_of_the_same_size_is_found(world: World) -> None:
    asset = world.asset("power_curves.svg")
    asset.data = bytes([asset.data[0] ^ 1]) + asset.data[1:]
    assert codes(of(world.watch(), "download")) == {"R013"}


def test_swapped_nested_files_are_found(world: World) -> None:
    asset = world.asset("folder.zip")
    asset.data = asset.data[:-200] + bytes(200)
    assert codes(of(world.watch(), "download")) == {"R071"}


@pytest.mark.parametrize("name", ["node_type_index.json", "folder.zip"])
def test_a_missing_file_is_found(world: World, name: str) -> None:
    world.drop(name)
    (found,) = of(world.watch(), "download").findings
    assert (found.code, found.path) == ("R012", name)


@pytest.mark.parametrize("name", ["SHA256SUMS", "provenance.jsonl"])
def test_broken_vouchers_fail_download_and_release(world: World, name: str) -> None:
    world.asset(name).data = b"{}\n"
    outcomes = world.watch()
    assert of(outcomes, "download").status == "failed"
    assert of(outcomes, "release").status == "failed"
    assert of(outcomes, "fresh").status == "ok"


def test_another_index_under_the_tag_is_found(world: World) -> None:
    index = world.asset("index.json")
    index.data = index.data.replace(b'"serial":', b'"serial": ')
    outcomes = world.watch()
    for check in ("download", "release", "rebuild", "fresh"):
        assert of(outcomes, check).status == "failed", check
    assert of(outcomes, "keys").status == "ok"


@pytest.mark.parametrize(
    ("age", "failed"), [(334 * DAY, False), (336 * DAY, True), (400 * DAY, True)]
)
def test_a_release_that_ends_is_found_in_time(
    world: World, age: int, failed: bool
) -> None:
    outcome = of(world.watch(now=ARRIVED + age), "release")
    assert (outcome.status == "failed") is failed
    assert codes(outcome) == ({"R093"} if failed else set())


def test_data_that_waits_too_long_is_found(world: World) -> None:
    world.change(when=ARRIVED + HOUR)
    in_time = world.watch(now=ARRIVED + 20 * HOUR)
    assert of(in_time, "fresh").status == "ok"
    late = of(world.watch(now=ARRIVED + 26 * HOUR), "fresh")
    (found,) = late.findings
    assert found.code == "R090"
    assert "1 change of main waiting for a release" in found.what


@pytest.mark.parametrize(
    ("path", "counts"),
    [
        ("specs/x.yaml", True),
        ("registry/trust/9.yaml", True),
        ("docs/x.md", False),
        ("registry/cli.py", False),
    ],
)
def test_only_data_and_trust_wait(world: World, path: str, counts: bool) -> None:
    file = world.root / path
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text("x\n")
    run_git(world.root, "add", path)
    run_git(world.root, "commit", "-q", "-m", "x", when=ARRIVED + HOUR)
    outcome = of(world.watch(now=ARRIVED + 26 * HOUR), "fresh")
    assert (outcome.status == "failed") is counts


def test_a_merge_counts_once_and_by_its_own_time(world: World) -> None:
    run_git(world.root, "checkout", "-q", "-b", "side")
    world.change("server-b", when=ARRIVED + HOUR)
    world.change("server-c", when=ARRIVED + HOUR)
    run_git(world.root, "checkout", "-q", "main")
    merge = ("merge", "-q", "--no-ff", "-m", "Merge", "side")
    run_git(world.root, *merge, when=ARRIVED + 10 * HOUR)
    assert of(world.watch(now=ARRIVED + 33 * HOUR), "fresh").status == "ok"
    late = of(world.watch(now=ARRIVED + 35 * HOUR), "fresh")
    assert "1 change of main" in late.findings[0].what


def test_a_release_of_a_commit_that_main_lacks_is_found(world: World) -> None:
    run_git(world.root, "commit", "-q", "--amend", "-m", "another history")
    outcomes = world.watch()
    for check in ("release", "rebuild", "fresh"):
        assert codes(of(outcomes, check)) == {"R091"}, check
    run_git(world.root, "reflog", "expire", "--expire=now", "--all")
    run_git(world.root, "update-ref", "-d", "refs/remotes/origin/main")
    run_git(world.root, "update-ref", "-d", "refs/remotes/origin/HEAD")
    run_git(world.root, "gc", "-q", "--prune=now")
    assert codes(of(world.watch(), "fresh")) == {"R091"}


def test_a_release_with_another_serial_or_no_commit_is_found(
    world: World, tmp_path: Path
) -> None:
    for change in ({"serial": ARRIVED + 5}, {"commit": None}):
        folder = tmp_path / "-".join(change)
        shutil.copytree(world.release, folder)
        poison(folder, world.index.model_copy(update=change), {})
        outcomes = world.watch(place=str(folder))
        wanted = {"R092"} if "serial" in change else {"R091"}
        assert codes(of(outcomes, "fresh")) == wanted
        assert of(outcomes, "rebuild").status == "failed"


def test_nothing_published_is_no_failure_until_data_waits(world: World) -> None:
    world.hub.releases.clear()
    young = world.watch()
    assert {of(young, one).status for one in ("download", "release", "rebuild")} == {
        "skipped"
    }
    assert of(young, "fresh").status == "ok"
    assert of(young, "fresh").note == "nothing is published yet"
    old = of(world.watch(now=ARRIVED + 25 * HOUR), "fresh")
    assert codes(old) == {"R090"}


@pytest.mark.parametrize("kind", [503, "cut"])
def test_a_server_that_does_not_answer_fails_what_needs_it(
    world: World, kind: int | str
) -> None:
    world.hub.fail("GET", "/releases/", kind, times=9999)
    outcomes = world.watch()
    for check in ("download", "release", "rebuild", "fresh"):
        assert codes(of(outcomes, check)) == {"R040"}, check
    assert of(outcomes, "keys").status == "ok"


def test_a_hiccup_is_tried_again(world: World) -> None:
    world.hub.fail("GET", "/releases/latest/download/RELEASE", 502)
    world.hub.fail("GET", "/releases/latest/download/index", 503)
    assert of(world.watch(), "download").status == "ok"


def test_a_release_that_appears_meanwhile_is_downloaded_instead(
    world: World, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    newer = tmp_path / "newer"
    shutil.copytree(world.release, newer)
    poison(newer, world.index.model_copy(update={"serial": ARRIVED + 1}), {})
    seen: list[str] = []

    def slow(origin: Any, index: Any, folder: Path) -> list[Any]:
        found = collect(origin, index, folder)
        if not seen:
            world.publish(newer)
        seen.append(origin.tag)
        return found

    monkeypatch.setattr(downloads, "collect", slow)
    outcome = of(world.watch(), "download")
    assert outcome.status == "ok"
    assert len(set(seen)) == 2
    assert outcome.note.endswith(seen[-1])


def test_a_site_with_another_release_is_found(world: World, tmp_path: Path) -> None:
    folder = tmp_path / "site"
    shutil.copytree(world.release, folder)
    tree = next(one for one in world.index.assets if one.path.startswith("models/"))
    with served(folder) as site:
        (folder / tree.path).write_bytes(b"x")
        (found,) = of(world.watch(pages=site), "pages").findings
        assert (found.code, found.path) == ("R013", tree.path)
        (folder / tree.path).unlink()
        assert codes(of(world.watch(pages=site), "pages")) == {"R012"}
        poison(folder, world.index.model_copy(update={"serial": 1}), {tree.path: b"x"})
        assert codes(of(world.watch(pages=f"{site}/"), "pages")) == {"R095"}
    assert codes(of(world.watch(pages=site), "pages")) == {"R040"}
    assert of(world.watch(), "pages").status == "skipped"


def test_keys_that_end_are_found(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    ends = code("T997", Severity.WARNING, "Ends.", "Renew.")
    asked: list[Any] = []

    def expiring(tree: Any, now: int, days: int) -> list[Any]:
        asked.append((tree.commit, now, days))
        return [finding(ends, "registry/trust/42.yaml", "it ends")]

    monkeypatch.setattr("registry.gate.expiry.expiring", expiring)
    outcome = of(world.watch(days=7), "keys")
    assert (outcome.status, codes(outcome)) == ("failed", {"T997"})
    head = run_git(world.root, "rev-parse", "HEAD").strip()
    assert asked == [(head, ARRIVED + HOUR, 7)]


def test_settings_that_differ_fail_and_those_unread_do_not(world: World) -> None:
    outcomes = world.watch()
    assert of(outcomes, "settings").status == "failed"
    assert "N040" in codes(of(outcomes, "settings"))
    assert of(outcomes, "maintainers").status == "failed"
    alone = world.watch(connection=None)
    assert of(alone, "settings").status == "skipped"
    assert of(alone, "maintainers").status == "skipped"


def test_rules_of_main_that_cannot_be_read_say_nothing(world: World) -> None:
    world.hub.fail("GET", "/rules/branches/", 500, times=99)
    outcome = of(world.watch(), "settings")
    assert outcome.status == "skipped"
    assert codes(outcome) == {"N001"}


@pytest.mark.parametrize("kind", [503, "limit"])
def test_a_github_that_gives_no_answers_is_asked_once(
    world: World, kind: int | str
) -> None:
    world.hub.fail("GET", "^/repos/", kind, times=999, seconds=7200)
    world.hub.requests.clear()
    outcomes = world.watch()
    assert of(outcomes, "settings").status == "skipped"
    assert codes(of(outcomes, "settings")) == {"N001" if kind == 503 else "N003"}
    assert of(outcomes, "maintainers").status == "skipped"
    assert of(outcomes, "maintainers").findings == ()
    asked = {one.path for one in world.hub.requests if one.path.startswith("/repos/")}
    assert asked == {"/repos/power/registry"}


def test_a_check_that_breaks_ends_no_other(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(_: object) -> Any:
        message = "\x1b[2Jboom"
        raise ZeroDivisionError(message)

    monkeypatch.setattr(watching, "check_fresh", broken)
    outcomes = world.watch()
    (found,) = of(outcomes, "fresh").findings
    assert found.code == "N045"
    assert "ZeroDivisionError" in found.what
    assert "\x1b" not in found.what
    assert of(outcomes, "download").status == of(outcomes, "keys").status == "ok"


def test_the_command(
    world: World, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in world.hub.environment().items():
        monkeypatch.setenv(name, value)
    for name in ("GH_TOKEN", "GITHUB_TOKEN"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr("time.time", lambda: ARRIVED + HOUR)
    out = tmp_path / "watch.json"
    command = ["watch", "check", "--out", str(out), "--root", str(world.root)]
    done = CliRunner().invoke(app, command)
    assert done.exit_code == 1  # the settings of a new repository
    outcomes = read_outcomes(out.read_bytes(), "watch.json")
    assert done.stdout.splitlines() == list(as_lines(outcomes))
    assert "ok      download: " in done.stdout
    assert "failed  settings" in done.stdout
    monkeypatch.delenv("GITHUB_REPOSITORY")
    done = CliRunner().invoke(
        app, [*command, "--json", "--from", "github:power/registry"]
    )
    assert done.exit_code == 0
    assert json.loads(done.stdout)["schema"] == "watch/1"
