"""What came to main is judged again by GitHub's record of it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from registry.gate.paths import MAINTAINERS
from registry.gate.signing import public_line
from registry.gate.withdrawal import Withdrawal, withdrawal_bytes
from tests.simulators.gate import found
from tests.simulators.mainlines import DAY, Mainline, maintainers_file
from tests.simulators.people import private_key
from tests.simulators.registry import ARRIVED, Simulator, run_git, small

if TYPE_CHECKING:
    from pathlib import Path

NEW = "datasets/server-d/levels.csv"
ENDED = withdrawal_bytes(
    Withdrawal.model_validate(
        {"schema": "withdrawn/1", "day": "2026-05-20", "reason": "request"}
    )
)


@pytest.fixture
def line(tmp_path: Path) -> Mainline:
    return Mainline(tmp_path / "repo", small())


def with_bundle(name: str = "server-d", contributor: int = 42) -> Simulator:
    changed = small()
    changed.add_levels(name, contributor)
    return changed


def rotated() -> Simulator:
    changed = small()
    changed.enrol(changed.people[42].with_key(private_key("new")))
    return changed


@pytest.mark.parametrize("method", ["merge", "squash", "rebase"])
def test_a_merged_bundle_is_found_right(method: str, line: Mainline) -> None:
    line.merge(with_bundle(), method=method)
    report = line.verify()
    assert report.findings == ()
    assert report.bundles == 1
    assert not any("signing_keys" in path for path in line.record.asked)


def test_nothing_new_asks_nothing(line: Mainline) -> None:
    assert line.verify().findings == ()
    line.merge(with_bundle())
    assert line.verify(since="main").findings == ()
    assert line.record.asked == []


def test_only_what_is_newer_than_the_release_is_judged(line: Mainline) -> None:
    line.push(with_bundle())
    release = line.tip()
    later = with_bundle()
    later.add_levels("server-e", 43)
    line.merge(later, 43)
    assert found(line.verify()) == [("N013", NEW)]
    assert found(line.verify(release)) == []
    earlier = run_git(line.repo, "rev-parse", f"{line.founding}^").strip()
    assert found(line.verify(earlier)) == [("N013", NEW)]


def test_code_needs_no_pull_request(line: Mainline) -> None:
    changed = small()
    changed.files |= {"registry/cli.py": b"x", "registry/trust/README.md": b"x"}
    line.push(changed)
    assert line.verify().findings == ()
    assert line.record.asked == []


def test_founders_name_maintainers_first(tmp_path: Path) -> None:
    line = Mainline(tmp_path / "repo", small(), maintainers_file())
    line.merge(with_bundle())
    report = line.verify()
    assert found(report) == [("S021", MAINTAINERS)]
    assert "README.md" in report.findings[0].fix
    changed = with_bundle()
    changed.files[MAINTAINERS] = maintainers_file(1, 2)
    line.push(changed)
    assert line.verify().findings == ()


def test_another_or_a_shallow_history_is_refused(
    line: Mainline, tmp_path: Path
) -> None:
    small().record(line.repo, "apart", when=ARRIVED + 1)
    assert found(line.verify("apart")) == [("N014", "github")]
    assert found(line.verify("nobody")) == [("T003", ".git")]
    line.merge(with_bundle())
    assert found(line.verify(f"{line.tip()}^2")) == [("N014", "github")]
    run_git(tmp_path, "clone", "-q", "--depth=1", f"file://{line.repo}", "short")
    line.repo = tmp_path / "short"
    assert found(line.verify(head="HEAD")) == [("T003", ".git")]


def test_a_change_of_trust_needs_approvals(line: Mainline) -> None:
    number = line.merge(rotated())
    path = "registry/trust/42.yaml"
    line.record.account(42, "person-42", public_line(private_key("new")))
    report = line.verify()
    assert found(report) == [("S022", path)]
    assert "has 0 of 2 approvals" in report.findings[0].what
    line.record.review(number, 1, "APPROVED")
    line.record.review(number, 3, "APPROVED")
    assert line.verify().findings == ()
    line.record.review(number, 2, "CHANGES_REQUESTED", day=2)
    report = line.verify()
    assert found(report) == [("S022", path)]
    assert "changes are requested by maintainer-2 (2)" in report.findings[0].what


def test_maintainers_change_by_two_of_those_before(line: Mainline) -> None:
    changed = small()
    changed.files[MAINTAINERS] = maintainers_file(1, 2, 3, 4)
    line.merge(changed, 1, approved=[2, 3])
    assert line.verify().findings == ()
    # The fourth has a say from now on, not before.
    line.merge(rotated(), approved=[1, 4])
    line.record.account(42, "person-42")
    assert line.verify().findings == ()


def test_a_new_contributor_is_approved_and_asked_for_again(line: Mainline) -> None:
    changed = small()
    person = changed.enrol(99)
    changed.add_levels("server-d", 99)
    line.merge(changed, 99, approved=[1, 2])
    line.record.account(99, "person-99", "ssh-dss AAAA", public_line(person.key))
    assert line.verify().findings == ()
    line.record.keys["person-99"] = []
    signature = "datasets/server-d/manifest.json.sig"
    codes = [("S010", signature), ("K024", person.path)]
    assert found(line.verify()) == codes
    line.record.account(99, "renamed-since", public_line(person.key))
    assert line.verify().findings == ()


def test_a_rebased_pull_request_is_judged_as_a_whole(line: Mainline) -> None:
    half = with_bundle()
    del half.files["datasets/server-d/runs.csv"]
    line.merge(with_bundle(), steps=[half], method="rebase")
    assert line.verify().findings == ()
    after = with_bundle()
    after.files["README.md"] = b"x"
    after.add_levels("server-e", 42)
    first = with_bundle()
    first.files["README.md"] = b"x"
    line.merge(after, steps=[first], method="rebase")
    assert found(line.verify()) == [("T020", "README.md")]


def test_a_pull_request_on_top_of_another_is_its_own(line: Mainline) -> None:
    """GitHub names both for the commits that they share."""
    code = small()
    code.files["README.md"] = b"x"
    line.merge(code, method="rebase")
    shared = line.tip()
    data = with_bundle()
    data.files["README.md"] = b"x"
    line.merge(data, method="rebase")
    line.record.commits[shared] = [1, 2]
    assert line.verify().findings == ()


def test_s5_many_copies_of_a_pull_request_hide_nothing(line: Mainline) -> None:
    """Copies by others, opened first, neither help nor harm the owner's own."""
    number = line.merge(with_bundle())
    own = line.record.pulls.pop(number)
    for copy in range(1, 31):
        user = {"id": 600 + copy, "login": f"mallory-{copy}"}
        line.record.pulls[copy] = own | {"number": copy, "user": user}
    copies = list(line.record.pulls)
    line.record.commits[line.tip()] = copies
    assert found(line.verify()) == [("S015", "datasets/server-d/manifest.json")]
    line.record.pulls[31] = own | {"number": 31}
    line.record.commits[line.tip()] = [*copies, 31]
    assert line.verify().findings == ()


def test_a_rebase_with_something_between_is_refused(line: Mainline) -> None:
    half = with_bundle()
    del half.files["datasets/server-d/runs.csv"]
    number = line.merge(half, method="rebase")
    other = half.copy()
    other.add_levels("server-e", 43)
    line.push(other)
    whole = other.copy()
    whole.files |= with_bundle().files
    line.merge(whole, method="rebase")
    line.record.pulls[number] = line.record.pulls.pop(2)
    line.record.commits = {sha: [number] for sha in line.record.commits}
    codes = found(line.verify())
    assert ("N015", "datasets/server-d/levels.csv") in codes


def test_what_was_taken_back_is_not_held_against_main(line: Mainline) -> None:
    line.push(with_bundle())
    assert found(line.verify()) == [("N013", NEW)]
    line.push(small())
    report = line.verify()
    assert found(report) == []
    assert {one.code for one in report.findings} == {"S025"}
    line.push(with_bundle())
    assert ("N013", NEW) in found(line.verify())


def test_what_was_accepted_before_and_after_a_reverted_push_stays(
    line: Mainline,
) -> None:
    """Only the push is taken back; the release does not wait for anything else."""
    good = small()
    good.bump("server-a")
    good.sign("server-a")
    line.merge(good)
    bad = good.copy()
    bad.bump("server-a")
    bad.sign("server-a")
    line.push(bad)
    assert ("N013", "datasets/server-a/manifest.json") in found(line.verify())
    line.push(good)
    assert found(line.verify()) == []
    better = good.copy()
    better.bump("server-a")
    better.sign("server-a")
    line.merge(better)
    report = line.verify()
    assert found(report) == []
    assert any(one.code == "S025" for one in report.findings)


def test_what_stands_on_a_push_does_not_settle_it(line: Mainline) -> None:
    line.push(with_bundle())
    later = with_bundle()
    later.bump("server-d")
    later.sign("server-d")
    line.merge(later)
    assert ("N013", NEW) in found(line.verify())


def test_a_rebase_that_takes_itself_back_is_judged(line: Mainline) -> None:
    line.merge(small(), steps=[with_bundle()], method="rebase")
    assert line.verify().findings == ()
    line.record.pulls[1]["merged_at"] = "2020-06-01T00:00:00Z"
    assert [one.code for one in line.verify().findings] == ["S025"]


def test_a_withdrawn_push_is_settled_but_not_by_a_push(line: Mainline) -> None:
    line.push(with_bundle())
    ended = with_bundle()
    ended.files["datasets/server-d/WITHDRAWN.yaml"] = ENDED
    line.push(ended)
    codes = found(line.verify())
    assert codes == [("N013", "datasets/server-d/WITHDRAWN.yaml")]


def test_a_withdrawn_push_is_settled(line: Mainline) -> None:
    line.push(with_bundle())
    ended = with_bundle()
    ended.files["datasets/server-d/WITHDRAWN.yaml"] = ENDED
    line.merge(ended, 1)
    report = line.verify()
    assert found(report) == []
    codes = {one.code for one in report.findings}
    assert codes == {"S025", "T032"}


def test_an_unpublished_key_is_settled_by_its_revocation(line: Mainline) -> None:
    changed = small()
    person = changed.enrol(99)
    line.merge(changed, 99, approved=[1, 2])
    line.record.account(99, "person-99")
    assert found(line.verify()) == [("K024", person.path)]
    for when, codes in (("2026-12-01T00:00:00Z", 2), ("2026-01-02T00:00:00Z", 0)):
        ended = small()
        ended.enrol(person.revoked(0, when))
        line.merge(ended, 1, approved=[2, 3])
        assert len(found(line.verify())) == codes


def test_s11_nobody_is_revoked_by_a_push(line: Mainline) -> None:
    changed = small()
    alice = changed.enrol(changed.people[42].revoked(0, "2026-02-01T00:00:00Z"))
    line.push(changed)
    assert found(line.verify()) == [("N013", alice.path)]


def test_a_pushed_spec_that_is_in_use_is_not_settled(line: Mainline) -> None:
    changed = small()
    spec = changed.files["specs/server-a.yaml"].replace(b"2933", b"3200")
    changed.files["specs/server-a.yaml"] = spec
    line.push(changed)
    assert ("N013", "specs/server-a.yaml") in found(line.verify())


def test_a_withdrawal_by_a_maintainer_is_a_warning(line: Mainline) -> None:
    changed = small()
    changed.files["datasets/server-a/WITHDRAWN.yaml"] = ENDED
    line.merge(changed, 1)
    report = line.verify()
    assert found(report, errors=False) == [("T032", "datasets/server-a/WITHDRAWN.yaml")]
    assert found(report) == []


@pytest.mark.parametrize("code", ["N001", "N002", "N003"])
def test_github_down_is_never_a_pass(code: str, line: Mainline) -> None:
    line.merge(with_bundle())
    more = with_bundle()
    more.add_levels("server-e", 43)
    line.merge(more, 43)
    line.record.failures["."] = code
    assert found(line.verify()) == [(code, "github")]
    assert len(line.record.asked) == 1
    broken = more.copy()
    broken.add_levels("server-f", 43)
    broken.files["datasets/server-f/runs.csv"] += b"x"
    line.merge(broken, 43)
    assert {("M023", "datasets/server-f/runs.csv"), (code, "github")} <= set(
        found(line.verify())
    )


@pytest.mark.parametrize("what", ["/reviews", "/files", "signing_keys", "/user/42"])
def test_each_question_must_be_answered(what: str, line: Mainline) -> None:
    line.merge(rotated(), approved=[1, 2])
    line.record.account(42, "person-42")
    assert line.verify().findings == ()
    line.record.failures[what] = "N001"
    assert found(line.verify()) == [("N001", "github")]


def test_a_failure_is_not_settled_by_a_revert(line: Mainline) -> None:
    line.merge(with_bundle())
    line.push(small())
    line.record.failures["."] = "N001"
    assert ("N001", "github") in found(line.verify())


def test_the_time_is_githubs(line: Mainline) -> None:
    """A commit may say any time; the merge was when GitHub says that it was."""
    line.when = ARRIVED - 400 * DAY
    number = line.merge(with_bundle())
    line.record.pulls[number]["merged_at"] = "2026-06-01T00:00:00Z"
    codes = found(line.verify())
    assert ("S024", NEW) in codes
