"""powerkit submit: from a signed bundle to exactly the right pull request."""

from __future__ import annotations

import json
import time
from typing import TYPE_CHECKING, Any

import pytest

from registry.gate.paths import MAINTAINERS
from tests.simulators.commands import Done
from tests.simulators.github import FakeGitHub
from tests.simulators.mainlines import maintainers_file
from tests.simulators.registry import run_git, small
from tests.tools.submitting import FIRST, FOLDER, bundle, files, same, writes

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


def test_a_first_contribution(
    submit: Callable[..., Done], hub: FakeGitHub, checkout: Path
) -> None:
    bundle().write(checkout)
    done = submit("--yes")
    assert done.code == 0, done
    assert "account alice (4242) by the token from GH_TOKEN, to power/registry" in (
        done.out
    )
    assert "wall_watts" in done.out
    assert "registry/trust/4242.yaml: account 4242, alice, SHA256:" in done.out
    assert "the commit: by" in done.out
    assert "calls you" not in done.out
    assert f"{hub.web}/power/registry/pull/1" in done.out
    assert files(hub) == FIRST
    assert same(hub, bundle())
    pull = hub.pull(1)
    assert pull.issue.title == "Add server-n"
    assert (pull.issue.user, pull.head) == (4242, "data/server-n-v1")
    assert run_git(checkout, "branch", "--list").split() == ["*", "main"]


def test_what_is_submitted_passes_the_gate(
    submit: Callable[..., Done], hub: FakeGitHub, checkout: Path, tmp_path: Path
) -> None:
    from registry.gate.github.verify_pull import verify_pull

    elsewhere = tmp_path / "elsewhere"
    run_git(tmp_path, "clone", "-q", hub.git_url("power"), str(elsewhere))
    named = small()
    named.files[MAINTAINERS] = maintainers_file(1, 2, 3)
    named.commit(elsewhere)
    run_git(elsewhere, "push", "-q", hub.git_url("power"), "HEAD:main")
    bundle().write(checkout)
    assert submit("--yes").code == 0
    report = verify_pull(
        hub.bare,
        "main",
        hub.pull(1).head_sha,
        1,
        hub.connection(),
        now=int(time.time()),
        expectations=False,
    )
    assert (report.bundles, report.refused) == (1, False), report.findings


def test_the_text_is_the_template_filled_in(
    submit: Callable[..., Done], hub: FakeGitHub, checkout: Path, repository: Path
) -> None:
    bundle().write(checkout)
    assert submit("--yes").code == 0
    body = hub.pull(1).issue.body or ""
    template = (repository / ".github" / "PULL_REQUEST_TEMPLATE.md").read_text("utf-8")
    asked = [line for line in template.splitlines() if line.startswith("- ")]
    assert len(asked) >= 7
    for line in asked:
        start = line.replace("[ ]", "[x]")
        assert any(own.startswith(start) for own in body.splitlines()), line
    assert "`CDLA-Permissive-2.0`" in body
    assert "`load-levels`, 2026-03-01 to 2026-03-02" in body
    assert "`xeon-gold-" in body
    assert "no error (no warning; powerkit" in body


def test_again_and_with_other_content(
    submit: Callable[..., Done], hub: FakeGitHub, checkout: Path
) -> None:
    simulated = bundle()
    simulated.write(checkout)
    first = json.loads(submit("--yes", "--json").out)
    assert (first["new"], first["pushed"], first["by"]) == (True, True, "alice")
    again = json.loads(submit("--yes", "--json").out)
    assert again == first | {"new": False, "pushed": False}
    simulated.edit("server-n", lambda value: value | {"licence": "CC0-1.0"})
    value = simulated.manifest("server-n") | {"licence": "CC0-1.0"}
    simulated._write_manifest("server-n", value)
    simulated.sign("server-n")
    simulated.write(checkout)
    other = json.loads(submit("--yes", "--json").out)
    assert other == first | {"new": False, "pushed": True}
    assert (files(hub), same(hub, simulated)) == (FIRST, True)


def test_a_second_contribution_brings_no_trust_file(
    submit: Callable[..., Done], hub: FakeGitHub, checkout: Path
) -> None:
    simulated = bundle()
    simulated.write(checkout)
    submit("--yes")
    hub.merge(1, "power")
    # Neither the checkout nor the fork knows that yet.
    simulated.bump("server-n")
    simulated.sign("server-n")
    simulated.write(checkout)
    done = submit("--yes")
    assert done.code == 0, done
    assert "pull request 2 from alice:data/server-n-v2: opened" in done.out
    assert files(hub, 2) == {f"{FOLDER}/manifest.json", f"{FOLDER}/manifest.json.sig"}
    assert hub.pull(2).issue.title == "Update server-n to version 2"
    assert hub.count("POST", "/forks") == 1


def test_a_file_of_the_earlier_version_goes(
    submit: Callable[..., Done], hub: FakeGitHub, checkout: Path
) -> None:
    simulated = bundle()
    simulated.write(checkout)
    submit("--yes")
    hub.merge(1, "power")
    with_samples = bundle()
    with_samples.files = dict(simulated.files)
    digest = simulated.manifest("server-n")
    simulated.bump("server-n")
    follows = simulated.manifest("server-n")
    assert follows["version"] == digest["version"] + 1
    with_samples.add_samples("server-n", 4242)
    fields = {"version": 2, "previous": follows["previous"]}
    levels = f"{FOLDER}/levels.csv"
    del with_samples.files[levels]
    value = with_samples.manifest("server-n") | fields
    with_samples._write_manifest("server-n", value)
    with_samples.reseal("server-n")
    (checkout / levels).unlink()
    with_samples.write(checkout)
    done = submit("--yes")
    assert done.code == 0, done
    assert f"{levels}: goes" in done.out
    assert levels in files(hub, 2)
    head = hub.pull(2).head_sha
    kept = run_git(hub.bare, "ls-tree", "--name-only", "-r", head, FOLDER).split()
    assert f"{FOLDER}/samples.csv" in kept
    assert levels not in kept


def test_errors_stop_it_before_anything_is_written(
    submit: Callable[..., Done], hub: FakeGitHub, checkout: Path
) -> None:
    bundle().write(checkout)
    (checkout / FOLDER / "runs.csv").write_bytes(b"run\n")
    done = submit("--yes")
    assert (done.code, "M02" in done.out) == (1, True), done
    found = json.loads(submit("--yes", "--json").out)
    assert found["errors"] > 0
    assert (writes(hub), hub.main.pulls) == (0, [])


def test_that_github_is_down_is_told(
    submit: Callable[..., Done], hub: FakeGitHub, checkout: Path
) -> None:
    bundle().write(checkout)
    hub.fail("*", ".", 503, times=1000)
    done = submit("--yes")
    assert (done.code, "N001" in done.out) == (1, True), done
    hub.behave()
    assert submit("--yes").code == 0
    assert files(hub) == FIRST


def test_the_registry_is_found_by_the_forks_own_remote(
    submit: Callable[..., Done],
    hub: FakeGitHub,
    checkout: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delenv("GITHUB_REPOSITORY")
    bundle().write(checkout)
    done = submit("--yes")
    assert (done.code, "N006" in done.out) == (1, True), done
    hub.fork("alice")
    run_git(checkout, "remote", "add", "origin", f"{hub.web}/alice/registry.git")
    done = submit("--yes")
    assert done.code == 0, done
    assert f"{hub.web}/power/registry/pull/1" in done.out


def test_a_dry_run_changes_nothing(
    submit: Callable[..., Done], hub: FakeGitHub, checkout: Path
) -> None:
    bundle().write(checkout)
    done = submit("--dry-run")
    assert done.code == 0, done
    assert "nothing was proposed" in done.out
    assert writes(hub) == 0
    assert submit("--dry-run", login=None).code == 0


def test_nothing_is_public_without_a_yes(
    submit: Callable[..., Done],
    hub: FakeGitHub,
    checkout: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    bundle().write(checkout)
    assert submit().code == 2  # nobody can be asked
    asked: list[str] = []

    def no(question: str) -> bool:
        asked.append(question)
        return False

    monkeypatch.setattr("sys.stdin.isatty", lambda: True)
    monkeypatch.setattr("typer.confirm", no)
    done = submit()
    assert (done.code, "Nothing was proposed." in done.err) == (1, True)
    assert asked == ["May all of this be public at power/registry?"]
    assert writes(hub) == 0


def test_the_folder_names_dataset_and_checkout(
    powerkit: Callable[..., Done], hub: FakeGitHub, checkout: Path
) -> None:
    bundle().write(checkout)
    done = powerkit("submit", f"{checkout}/{FOLDER}/", "--dry-run")
    assert (done.code, "git switch -c data/server-n-v1" in done.out) == (0, True)
    for name in ("no-such", "../../etc", "datasets"):
        done = powerkit("submit", name, "--registry", checkout, "--dry-run")
        assert (done.code, "L081" in done.out) == (1, True), done


def test_what_is_shown_to_a_program_is_one_document(
    submit: Callable[..., Done], checkout: Path
) -> None:
    bundle().write(checkout)
    done = submit("--yes", "--json")
    document: dict[str, Any] = json.loads(done.out)
    assert document["schema"] == "submission/1"
    assert set(document["files"]) == FIRST
    assert "wall_watts" in done.err


def test_it_runs_anywhere_in_the_checkout(
    powerkit: Callable[..., Done],
    hub: FakeGitHub,
    checkout: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    bundle().write(checkout)
    monkeypatch.setenv("GH_TOKEN", hub.token("alice"))
    for folder in ("", "datasets", "specs"):
        monkeypatch.chdir(checkout / folder)
        done = powerkit("submit", "server-n", "--dry-run")
        assert (done.code, "nothing was proposed" in done.out) == (0, True), done
    monkeypatch.chdir(checkout / "specs")
    elsewhere = powerkit("submit", "server-n", "--registry", checkout / "datasets")
    assert (elsewhere.code, "L081" in elsewhere.out) == (1, True)
