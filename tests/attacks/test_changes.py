"""Attacks by what a change touches: threat-model.md S7, W2 to W5, W10 and W12."""

from __future__ import annotations

import subprocess
import sys
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

import pytest

from registry.gate import report as shown
from registry.gate.changes import changes
from registry.gate.withdrawal import Withdrawal, withdrawal_bytes
from tests.simulators.gate import Proposals, found
from tests.simulators.machines import Machine
from tests.simulators.registry import NOW, Simulator, run_git, small

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

NEW = "datasets/server-d/"
OLD = "datasets/server-a/"


@pytest.fixture
def proposals(tmp_path: Path) -> Proposals:
    return Proposals(tmp_path / "repo", small())


def with_new_bundle() -> Simulator:
    changed = small()
    changed.add_levels("server-d", 42)
    return changed


def withdrawal(reason: str = "request", day: str = "2026-09-01") -> bytes:
    value = {"schema": "withdrawn/1", "day": day, "reason": reason}
    return withdrawal_bytes(Withdrawal.model_validate(value))


def test_a_new_bundle_is_accepted(proposals: Proposals) -> None:
    report = proposals.check(with_new_bundle())
    assert report.findings == ()
    assert report.bundles == 1
    assert report.expectation_results == {}


def test_nothing_and_code_only_are_not_judged(proposals: Proposals) -> None:
    assert proposals.check(small()).findings == ()
    code = small()
    code.files |= {"registry/cli.py": b"x", "specs/schema.json": b"{}", "é": b"x"}
    report = proposals.check(code)
    assert (report.findings, report.bundles) == ((), 0)


@pytest.mark.parametrize(
    "path",
    [".github/workflows/verify.yml", "registry/gate/verify.py", "tools/cli.py",
     "pyproject.toml", "requirements.lock", "README.md", "specs/schema.json"],
)  # fmt: skip
def test_w2_data_and_code_do_not_mix(path: str, proposals: Proposals) -> None:
    changed = with_new_bundle()
    changed.files[path] = b"x"
    assert found(proposals.check(changed)) == [("T020", path)]


def test_w2_many_foreign_files_are_counted(proposals: Proposals) -> None:
    changed = with_new_bundle()
    changed.files |= {f"src/{number}": b"x" for number in range(30)}
    report = proposals.check(changed)
    assert len(report.findings) == 21
    assert any("30 files" in one.what for one in report.findings)


def test_w3_nothing_of_the_candidate_is_executed(tmp_path: Path) -> None:
    """The candidate shadows every module that the verifier might import."""
    proposals = Proposals(tmp_path / "repo", small())
    changed = with_new_bundle()
    mark = tmp_path / "executed"
    evil = f"open({str(mark)!r}, 'w').close()\n".encode()
    names = ["registry/__init__.py", "sitecustomize.py", "json.py", "usercustomize.py",
             "polars.py", "registry/gate/verify.py", "conftest.py"]  # fmt: skip
    changed.files |= dict.fromkeys(names, evil)
    changed.files[".gitattributes"] = b"* filter=evil diff=evil\n"
    proposals.check(changed)
    run_git(proposals.repo, "checkout", "-q", "change")
    for kind in ("filter.evil.smudge", "diff.evil.textconv", "core.fsmonitor"):
        run_git(proposals.repo, "config", kind, f"touch {mark}")
    program = (
        "import sys; from pathlib import Path\n"
        "from registry.gate.verify import verify_change\n"
        f"report = verify_change(Path({str(proposals.repo)!r}), 'main', 'change',"
        f" author=42, now={NOW}, expectations=False)\n"
        "print(sorted({one.code for one in report.findings}))\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert done.stdout == "['T020']\n"
    assert not mark.exists()


ODD = ["$(id)`.csv", "a%0A::error::x", "<img src=x onerror=...>", "@all", "a|b", "é",
       "with space.csv", 'quo"te.csv', "new\nline.csv", "tab\t.csv", "::error::x",
       "back\\slash"]  # fmt: skip


def propose_files(proposals: Proposals, names: list[bytes]) -> None:
    """Put files with any names beside a new bundle, on the branch change."""
    changed = with_new_bundle()
    changed.record(proposals.repo, "change", "main")
    run_git(proposals.repo, "read-tree", "change")
    (proposals.repo / "x").write_text("x")
    oid = run_git(proposals.repo, "hash-object", "-w", "x").strip()
    records = b"".join(b"100644 %s\t%s\0" % (oid.encode(), name) for name in names)
    command = ["git", "-C", str(proposals.repo), "update-index", "-z", "--index-info"]
    subprocess.run(command, input=records, check=True)
    tree = run_git(proposals.repo, "write-tree").strip()
    parent = ("-p", "change", "-m", "odd")
    commit = run_git(proposals.repo, "commit-tree", tree, *parent).strip()
    run_git(proposals.repo, "update-ref", "refs/heads/change", commit)


def test_w4_names_mean_nothing_where_they_are_shown(proposals: Proposals) -> None:
    propose_files(proposals, [NEW.encode() + name.encode() for name in ODD])
    report = proposals.check_branch()
    assert len([one for one in report.findings if one.code == "T010"]) == len(ODD)
    for line in shown.workflow_commands(report.findings).splitlines():
        assert line.startswith("::error file=datasets/")
        assert "::error::" not in line.partition(",title=")[0]
    for line in shown.as_text(report.findings).splitlines():
        assert line.startswith(("error ", "    fix: "))
    page = shown.step_summary(report)
    assert not any(mark in page for mark in ("<img", "@all", "`", "$(", "http"))


def test_w5_no_name_escapes_the_comparison(proposals: Proposals) -> None:
    outside = [f"src/{name}".encode() for name in ODD] + [b"src/\xff\xfe.py"]
    propose_files(proposals, outside)
    repo = proposals.repo
    main, change = (
        run_git(repo, "rev-parse", one).strip() for one in ("main", "change")
    )
    listed = {
        one.path.encode("utf-8", "surrogateescape")
        for one in changes(repo, main, change)
    }
    assert set(outside) <= listed
    report = proposals.check_branch()
    assert len([one for one in report.findings if one.code == "T020"]) == len(outside)


def test_w5_renames_and_modes_are_seen(proposals: Proposals) -> None:
    changed = small()
    changed.files["datasets/server-a/run.csv"] = changed.files.pop(OLD + "runs.csv")
    codes = found(proposals.check(changed))
    assert ("T023", OLD + "runs.csv") in codes
    assert ("T023", OLD + "run.csv") in codes
    run_git(proposals.repo, "checkout", "-q", "-B", "change", "main")
    run_git(proposals.repo, "update-index", "--chmod=+x", OLD + "runs.csv")
    run_git(proposals.repo, "commit", "-q", "-m", "x")
    codes = found(proposals.check_branch())
    assert ("T011", OLD + "runs.csv") in codes
    assert ("T023", OLD + "runs.csv") in codes


def test_w10_a_change_is_judged_from_where_it_left(proposals: Proposals) -> None:
    """What main gained meanwhile is not taken for a deletion."""
    with_new_bundle().record(proposals.repo, "change", "main")
    later = small()
    later.add_levels("server-e", 43)
    proposals.merge(later)
    assert found(proposals.check_branch()) == []


def test_unrelated_and_crossing_histories_are_refused(proposals: Proposals) -> None:
    with_new_bundle().record(proposals.repo, "orphan")
    with_new_bundle().record(proposals.repo, "alone")
    repo = proposals.repo
    tree = run_git(repo, "rev-parse", "main^{tree}").strip()
    orphan = run_git(repo, "commit-tree", tree, "-m", "x").strip()
    run_git(repo, "update-ref", "refs/heads/orphan", orphan)
    assert found(proposals.check_branch("orphan")) == [("T003", ".git")]
    assert found(proposals.check_branch("nobody")) == [("T003", ".git")]
    one = run_git(repo, "commit-tree", tree, "-p", "main", "-m", "1").strip()
    two = run_git(repo, "commit-tree", tree, "-p", "main", "-m", "2").strip()
    both = ("-p", one, "-p", two)
    for name in ("main", "crossing"):
        merge = run_git(repo, "commit-tree", tree, *both, "-m", name).strip()
        run_git(repo, "update-ref", f"refs/heads/{name}", merge)
    assert found(proposals.check_branch("crossing")) == [("T003", ".git")]


def test_w12_one_dataset_a_change(proposals: Proposals) -> None:
    changed = with_new_bundle()
    changed.add_levels("server-e", 42)
    assert found(proposals.check(changed)) == [("T022", "datasets/server-d")]


MERGED: dict[str, Callable[[Simulator], object]] = {
    OLD + "runs.csv": lambda one: one.files.pop(OLD + "runs.csv"),
    OLD + "manifest.json": lambda one: one.files.pop(OLD + "manifest.json"),
    OLD + "levels.csv": lambda one: one.files.update({OLD + "levels.csv": b"run\n"}),
    "specs/server-a.yaml": lambda one: one.files.pop("specs/server-a.yaml"),
    "registry/trust/43.yaml": lambda one: one.files.pop("registry/trust/43.yaml"),
}


@pytest.mark.parametrize("path", MERGED)
@pytest.mark.parametrize("alone", [True, False], ids=["alone", "with-data"])
def test_w12_what_is_merged_stays(path: str, alone: bool, proposals: Proposals) -> None:
    changed = small() if alone else with_new_bundle()
    MERGED[path](changed)
    assert ("T023", path) in found(proposals.check(changed))


def test_w12_a_whole_dataset_cannot_be_deleted(proposals: Proposals) -> None:
    changed = small()
    for path in [path for path in changed.files if path.startswith(OLD)]:
        del changed.files[path]
    codes = found(proposals.check(changed))
    assert {path for code, path in codes if code == "T023"} == {
        path for path in small().files if path.startswith(OLD)
    }


def test_w12_a_new_version_replaces_files(proposals: Proposals) -> None:
    changed = small()
    del changed.files[OLD + "levels.csv"]
    changed.add_samples("server-a", 42, seconds=5)
    merged = small()
    fields = changed.manifest("server-a")
    changed.files[OLD + "manifest.json"] = merged.files[OLD + "manifest.json"]
    changed.bump("server-a")
    kept = ("version", "previous")
    version = {key: changed.manifest("server-a")[key] for key in kept}
    changed.edit("server-a", lambda value: value.update(fields | version))
    assert found(proposals.check(changed)) == []


def test_w12_specs_come_with_their_bundle(proposals: Proposals) -> None:
    changed = with_new_bundle()
    changed.add_spec(Machine("stray"))
    assert found(proposals.check(changed)) == [("T024", "specs/stray.yaml")]
    alone = small()
    alone.add_spec(Machine("stray"))
    assert found(proposals.check(alone)) == [("T024", "specs/stray.yaml")]


def test_w12_a_spec_that_others_were_signed_with_stays(proposals: Proposals) -> None:
    shared = small()
    shared.add_levels("server-d", 43, Machine("server-a", seed=5))
    shared.reseal("server-a")
    merged = Proposals(proposals.repo.parent / "shared", shared)
    changed = shared.copy()
    spec = changed.files["specs/server-a.yaml"].replace(b"2933", b"3200")
    changed.files["specs/server-a.yaml"] = spec
    changed.bump("server-a")
    changed.reseal("server-a")
    assert found(merged.check(changed)) == [("T025", "specs/server-a.yaml")]


def test_w12_withdrawal(proposals: Proposals) -> None:
    path = OLD + "WITHDRAWN.yaml"
    changed = small()
    changed.files[path] = withdrawal()
    assert proposals.check(changed).findings == ()
    report = proposals.check(changed, author=43)
    assert found(report) == []
    assert found(report, errors=False) == [("T032", path)]
    for content in (b"", b"schema: withdrawn/1\n", withdrawal() + b"\n",
                    withdrawal().replace(b"request", b"ask-bob")):  # fmt: skip
        bad = small()
        bad.files[path] = content
        assert {where for _, where in found(proposals.check(bad))} == {path}
    today = datetime.fromtimestamp(NOW, UTC).date()
    for days, wanted in ((1, []), (2, [("M034", path)])):
        later = small()
        day = (today + timedelta(days=days)).isoformat()
        later.files[path] = withdrawal(day=day)
        assert found(proposals.check(later)) == wanted
    broken = small()  # a broken manifest is no way around it
    broken.files[OLD + "manifest.json"] = b"{}\n"
    unread = Proposals(proposals.repo.parent / "unread", broken)
    later = broken.copy()
    later.files[path] = withdrawal(day="2999-01-01")
    assert ("M034", path) in found(unread.check(later))
    proposals.merge(changed)
    for content in (None, withdrawal("licence")):
        undone = changed.copy()
        if content is None:
            del undone.files[path]
        else:
            undone.files[path] = content
        assert ("T023", path) in found(proposals.check(undone))
    again = changed.copy()
    again.bump("server-a")
    again.reseal("server-a")
    assert found(proposals.check(again)) == [("T026", path)]


def test_w12_withdrawal_changes_nothing_else(proposals: Proposals) -> None:
    path = OLD + "WITHDRAWN.yaml"
    changed = small()
    changed.files[path] = withdrawal()
    changed.bump("server-a")
    changed.reseal("server-a")
    assert ("T023", path) in found(proposals.check(changed))
    changed = small()
    changed.files[path] = withdrawal()
    changed.add_spec(Machine("stray"))
    codes = found(proposals.check(changed))
    assert ("T024", "specs/stray.yaml") in codes


def test_others_are_never_blamed(tmp_path: Path) -> None:
    broken = small()
    broken.files["datasets/server-c/runs.csv"] = b"broken"
    broken.files["datasets/server-b/manifest.json"] = b"broken"
    broken.files["specs/Odd.yaml"] = b"broken"
    broken.files["registry/trust/43.yaml"] = b"broken"
    proposals = Proposals(tmp_path / "repo", broken)
    changed = broken.copy()
    changed.add_levels("server-d", 42)
    assert proposals.check(changed).findings == ()


def test_independent_chains_all_show(proposals: Proposals) -> None:
    changed = with_new_bundle()
    changed.files[NEW + "levels.csv"] = b"run,wall_watts\n0,=1+1\n"
    changed.files["specs/server-d.yaml"] += b"colour: red\n"
    changed.files[NEW + "extra.csv"] = b"x"
    changed.sign("server-d", changed.people[43].key)
    codes = {code for code, _ in found(proposals.check(changed, author=43))}
    assert {"M021", "M023", "M025", "S011", "S015", "H001"} <= codes
    assert any(code.startswith("C") for code in codes)
    first = proposals.check(changed, author=43).findings
    assert first == proposals.check(changed, author=43).findings
