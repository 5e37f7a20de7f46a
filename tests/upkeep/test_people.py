"""Maintainers, code owners and teams: who is missing, unknown or one too many."""

from __future__ import annotations

import base64
from typing import TYPE_CHECKING, Any

import pytest

from registry.documents.maintainers import Maintainer, Maintainers, maintainers_bytes
from registry.upkeep.audit import audit
from registry.upkeep.codeowners import owners_of, read_owners
from registry.upkeep.people import GUARDED, check_owners
from tests.simulators.told import NAME, PEOPLE, good

if TYPE_CHECKING:
    from pathlib import Path

    from tests.simulators.told import Told

HERE = f"/repos/{NAME}"
OWNERS = f"{HERE}/contents/.github/CODEOWNERS?ref=main"
NAMED = f"{HERE}/contents/registry/trust/maintainers.yaml?ref=main"
TEAM = "/orgs/power/teams/keepers/members"


def look(told: Told) -> list[tuple[str, str]]:
    done = audit(told)  # type: ignore[arg-type]  # reads as a connection does
    return [(one.code, one.what) for one in done.findings]


def content(data: bytes) -> dict[str, Any]:
    return {"type": "file", "content": base64.encodebytes(data).decode("ascii")}


def named(*people: tuple[int, str], approvals: int = 2) -> dict[str, Any]:
    document = Maintainers(
        schema_id="maintainers/1",
        approvals=approvals,
        maintainers=tuple(Maintainer(id=who, login=name) for who, name in people),
    )
    return content(maintainers_bytes(document))


DOCS = """# Owners
*       @all @more
*.js    @js # who knows
*.go    mail@example.com
/build/logs/ @doctocat
docs/*  @docs
apps/   @apps
/docs/  @docs-root
/scripts/ @a @b
**/logs @logs
/apps/github
"""


@pytest.mark.parametrize(
    ("path", "owners"),
    [
        ("README.md", ("@all", "@more")),
        ("a/deep/file.rb", ("@all", "@more")),
        ("a/deep/file.js", ("@js",)),
        ("main.go", ("mail@example.com",)),
        ("build/logs/today.txt", ("@logs",)),
        ("build/log.txt", ("@all", "@more")),
        ("docs/start.md", ("@docs-root",)),
        ("docs/build/trouble.md", ("@docs-root",)),
        ("other/docs/start.md", ("@all", "@more")),
        ("x/apps/y/z", ("@apps",)),
        ("apps/github", ()),
        ("apps/github/x", ()),
        ("scripts/x/y", ("@a", "@b")),
        ("deep/logs", ("@logs",)),
        ("deep/logs/x/y", ("@logs",)),
        ("logs/x", ("@logs",)),
    ],
)
def test_the_last_line_that_fits_decides(path: str, owners: tuple[str, ...]) -> None:
    line = owners_of(read_owners(DOCS), path)
    assert line is not None
    assert line.owners == owners


def test_a_pattern_of_files_means_no_folder_below() -> None:
    lines = read_owners("docs/* @docs\n")
    assert owners_of(lines, "docs/a.md") is not None
    assert owners_of(lines, "docs/b/a.md") is None
    assert owners_of(read_owners("docs/** @d\n"), "docs/b/a.md") is not None
    assert owners_of(read_owners("a?c @d\n"), "abc") is not None
    assert owners_of(read_owners("a?c @d\n"), "a/c") is None


def test_the_repositorys_own_file_covers_what_matters(repository: Path) -> None:
    text = (repository / ".github/CODEOWNERS").read_text("utf-8")
    findings, _ = check_owners(text, None)
    assert findings == []


@pytest.mark.parametrize("path", GUARDED)
def test_a_path_without_owner_is_found(path: str) -> None:
    findings, _ = check_owners(f"* @ada\n/{path}\n", None)
    assert [(one.code, one.line) for one in findings] == [("N042", 2)]
    assert path in findings[0].what


def test_a_file_that_owns_nothing_is_found_path_by_path() -> None:
    told = good()
    told.answers[OWNERS] = content(b"/datasets/ @ada\n")
    assert len(look(told)) == len(GUARDED)


def test_no_file_is_found() -> None:
    told = good()
    del told.answers[OWNERS]
    assert look(told) == [("N042", "main has no such file")]


def test_an_owner_who_is_no_maintainer_is_found() -> None:
    told = good()
    told.answers[OWNERS] = content(b"* @ADA @mallory someone@example.com\n")
    assert look(told) == [
        ("N042", "@mallory is no maintainer"),
        ("N042", "someone@example.com is no account, so nobody can say who it is"),
    ]


def test_owners_of_data_may_be_others() -> None:
    told = good()
    told.answers[OWNERS] = content(b"* @ada\n/datasets/ @anybody\n")
    assert look(told) == []


def test_githubs_own_complaints_are_told() -> None:
    told = good()
    told.answers[f"{HERE}/codeowners/errors"] = {
        "errors": [
            {
                "line": 3,
                "column": 1,
                "kind": "Unknown owner",
                "message": "Unknown owner on line 3: make sure @gone exists\n\n* @gone",
                "path": ".github/CODEOWNERS",
            }
        ]
    }
    done = audit(told)  # type: ignore[arg-type]
    (found,) = done.findings
    assert (found.code, found.line) == ("N042", 3)
    assert found.what == "GitHub: Unknown owner on line 3: make sure @gone exists"


def test_complaints_that_cannot_be_read_are_not_none() -> None:
    told = good()
    del told.answers[f"{HERE}/codeowners/errors"]
    ((code, what),) = look(told)
    assert code == "N041"
    assert "needs Contents: read" in what


def test_too_few_maintainers_are_found() -> None:
    told = good()
    told.answers[NAMED] = named((11, "ada"), (12, "ben"))
    told.answers[OWNERS] = content(b"* @ada @ben\n")
    ((code, what),) = look(told)
    assert code == "N043"
    assert "2 named, but 2 must approve" in what
    assert "at least 3" in what


def test_nobody_named_is_found() -> None:
    told = good()
    told.answers[NAMED] = named()
    codes = [code for code, _ in look(told)]
    assert codes.count("N043") == 1
    del told.answers[NAMED]
    assert ("N043", "main has no such file: nobody can approve a change of trust") in (
        look(told)
    )


def test_a_broken_maintainers_file_gives_its_own_findings() -> None:
    told = good()
    told.answers[NAMED] = content(b"schema: maintainers/1\napprovals: 1\n")
    assert {code for code, _ in look(told)} == {"K031", "K032"}


def test_an_account_under_another_name_or_gone_is_found() -> None:
    told = good()
    told.answers["/user/11"]["login"] = "ada-renamed"
    told.answers["/user/12"]["login"] = "BEN"
    del told.answers["/user/13"]
    assert look(told) == [
        ("N043", "account 11 is ada-renamed now, the file says ada"),
        ("N043", "account 13 (cyd) does not exist"),
    ]


def test_an_account_that_cannot_be_read_is_not_fine() -> None:
    told = good()
    told.refusals["/user/12"] = 403
    ((code, what),) = look(told)
    assert code == "N041"
    assert "/user/12" in what


def test_a_team_equal_to_the_maintainers_is_fine() -> None:
    told = good()
    told.answers[OWNERS] = content(b"* @power/keepers\n")
    told.answers[TEAM] = [{"id": who, "login": name} for who, name in PEOPLE.items()]
    assert look(told) == []


def test_a_team_of_others_is_found() -> None:
    told = good()
    told.answers[OWNERS] = content(b"* @power/keepers\n")
    told.answers[TEAM] = [{"id": 11, "login": "ada"}, {"id": 66, "login": "mallory"}]
    assert look(told) == [
        ("N044", "@power/keepers lacks ben"),
        ("N044", "@power/keepers lacks cyd"),
        ("N044", "@power/keepers has mallory, who is no maintainer"),
    ]


def test_a_team_that_cannot_be_read_is_not_fine() -> None:
    told = good()
    told.answers[OWNERS] = content(b"* @power/keepers\n")
    ((code, what),) = look(told)
    assert code == "N041"
    assert f"{TEAM}: needs organisation Members: read" in what


def test_a_team_is_not_compared_with_a_file_that_cannot_be_read() -> None:
    told = good()
    told.answers[OWNERS] = content(b"* @power/keepers\n")
    told.answers[TEAM] = [{"id": 66, "login": "mallory"}]
    told.refusals[NAMED] = 403
    ((code, what),) = look(told)
    assert code == "N041"
    assert "maintainers.yaml" in what


@pytest.mark.parametrize("answer", [{"type": "file"}, {"content": "§"}, {}, []])
def test_a_file_in_another_form_is_not_readable(answer: Any) -> None:
    told = good()
    told.answers[OWNERS] = answer
    ((code, what),) = look(told)
    assert code == "N041"
    assert ".github/CODEOWNERS" in what
