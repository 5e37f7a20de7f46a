"""Are the people right: maintainers, code owners and teams, as main and GitHub say?"""

from __future__ import annotations

import base64
from typing import TYPE_CHECKING, Any, Final

from registry.documents.findings import RegistryError, Severity, code, finding, shown
from registry.documents.maintainers import read_maintainers
from registry.gate.paths import MAINTAINERS
from registry.upkeep.audit import UNREAD
from registry.upkeep.codeowners import owners_of, read_owners
from registry.upkeep.readings import Answer, Unread, ask

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from registry.documents.findings import Finding
    from registry.documents.maintainers import Maintainers
    from registry.gate.github.connection import Connection
    from registry.upkeep.codeowners import Owned

__all__ = [
    "CODEOWNERS",
    "GUARDED",
    "check_accounts",
    "check_numbers",
    "check_owners",
    "check_people",
]

OWNERS = code(
    "N042",
    Severity.ERROR,
    "CODEOWNERS does not give the paths that matter to the maintainers.",
    "Mend .github/CODEOWNERS by a pull request: trust, code and workflows belong to "
    "the accounts of registry/trust/maintainers.yaml, or to a team of just them.",
    "S11",
    "W2",
)
PEOPLE = code(
    "N043",
    Severity.ERROR,
    "The maintainers' file names too few accounts, or one that is not as it says.",
    "Mend registry/trust/maintainers.yaml by a pull request that two maintainers "
    "approve; `gh api users/LOGIN --jq .id` prints an account's number.",
    "S8",
    "S11",
)
TEAM = code(
    "N044",
    Severity.ERROR,
    "A team that owns trust, code or workflows is not the maintainers.",
    "Add to the team, or take from it, whom the finding names, or change "
    "registry/trust/maintainers.yaml by a pull request.",
    "S11",
)

CODEOWNERS: Final = ".github/CODEOWNERS"
GUARDED: Final = (
    MAINTAINERS,
    "registry/trust/1.yaml",
    ".github/workflows/publish.yml",
    CODEOWNERS,
    "registry/gate/verify.py",
    "registry/publish/kepler/weights.py",
    "registry/upkeep/settings.yaml",
    "tools/cli.py",
    ".ci/setup",
    "pyproject.toml",
    "requirements.lock",
)
"""Paths of which each must have an owner: one for each kind of change that could turn
the registry against its users."""


def check_people(connection: Connection) -> tuple[Finding, ...]:
    """Check maintainers, code owners and teams of a repository.

    Args:
        connection: The repository.
    """
    findings: list[Finding] = []
    maintainers, problems = _maintainers(connection)
    findings += problems
    if maintainers is not None:
        findings += check_numbers(maintainers)
        accounts = {
            one.id: _read(connection, f"/user/{one.id}", "no permission")
            for one in maintainers.maintainers
        }
        findings += check_accounts(maintainers, accounts)
    return (*findings, *_code_owners(connection, maintainers))


def check_numbers(document: Maintainers) -> list[Finding]:
    """Check that each maintainer can have a change of trust approved by the others."""
    named, needed = len(document.maintainers), document.approvals + 1
    if named >= needed:
        return []
    what = (
        f"{named} named, but {document.approvals} must approve what another proposes:"
        f" at least {needed} are needed"
    )
    return [finding(PEOPLE, MAINTAINERS, what)]


def check_accounts(
    document: Maintainers, accounts: Mapping[int, Answer | Unread]
) -> list[Finding]:
    """Check that the accounts exist under the names that are written down.

    Args:
        document: The maintainers' file.
        accounts: GitHub's answers by id.
    """
    findings: list[Finding] = []
    for one in document.maintainers:
        answer = accounts[one.id]
        if isinstance(answer, Unread):
            findings.append(_unread(answer))
            continue
        login = str(answer.value.get("login", ""))
        if not answer.there:
            what = f"account {one.id} ({one.login}) does not exist"
            findings.append(finding(PEOPLE, MAINTAINERS, what))
        elif login.casefold() != one.login.casefold():
            what = f"account {one.id} is {shown(login)} now, the file says {one.login}"
            findings.append(finding(PEOPLE, MAINTAINERS, what))
    return findings


def check_owners(
    text: str, maintainers: Maintainers | None
) -> tuple[list[Finding], tuple[str, ...]]:
    """Check who owns the guarded paths.

    Args:
        text: CODEOWNERS.
        maintainers: The maintainers' file, or None if it cannot be read.

    Returns:
        Findings, and the teams among the owners, as ``organisation/team``.
    """
    lines = read_owners(text)
    findings: list[Finding] = []
    deciding: dict[int, Owned] = {}
    for path in GUARDED:
        line = owners_of(lines, path)
        if line is None or not line.owners:
            number = None if line is None else line.line
            what = f"{path} has no owner"
            findings.append(finding(OWNERS, CODEOWNERS, what, line=number))
        else:
            deciding[line.line] = line
    logins = set()
    if maintainers is not None:
        logins = {one.login.casefold() for one in maintainers.maintainers}
    teams: dict[str, None] = {}
    for line in deciding.values():
        for owner in line.owners:
            name = owner.removeprefix("@")
            if not owner.startswith("@"):
                what = f"{shown(owner)} is no account, so nobody can say who it is"
                findings.append(finding(OWNERS, CODEOWNERS, what, line=line.line))
            elif "/" in name:
                teams[name] = None
            elif maintainers is not None and name.casefold() not in logins:
                what = f"{shown(owner)} is no maintainer"
                findings.append(finding(OWNERS, CODEOWNERS, what, line=line.line))
    return findings, tuple(teams)


def _code_owners(
    connection: Connection, maintainers: Maintainers | None
) -> list[Finding]:
    answer = _file(connection, CODEOWNERS)
    if isinstance(answer, Unread):
        return [_unread(answer)]
    if not answer.there:
        return [finding(OWNERS, CODEOWNERS, "main has no such file")]
    text = answer.value.decode("utf-8", "replace")
    findings, teams = check_owners(text, maintainers)
    path = f"/repos/{connection.name}/codeowners/errors"
    said = _read(connection, path, "Contents: read", believed=False)
    if isinstance(said, Unread):
        findings.append(_unread(said))
    else:
        findings += [_error(one) for one in said.value.get("errors", ())]
    for team in teams:
        findings += _team(connection, team, maintainers)
    return findings


def _error(one: Mapping[str, Any]) -> Finding:
    text = str(one.get("message") or one.get("kind"))
    what = f"GitHub: {text.splitlines()[0]}" if text else "GitHub: unknown"
    number = one.get("line")
    line = number if isinstance(number, int) else None
    return finding(OWNERS, CODEOWNERS, what, line=line)


def _team(
    connection: Connection, team: str, maintainers: Maintainers | None
) -> list[Finding]:
    organisation, _, slug = team.partition("/")
    path = f"/orgs/{organisation}/teams/{slug}/members"
    members = ask(
        connection.read_all, path, "organisation Members: read", believed=False
    )
    if isinstance(members, Unread):
        return [_unread(members)]
    if maintainers is None:
        return []
    there = {one["id"]: str(one["login"]) for one in members.value}
    wanted = maintainers.logins
    return [
        finding(TEAM, CODEOWNERS, f"@{shown(team)} {words}")
        for words in (
            *(f"lacks {wanted[one]}" for one in sorted(wanted.keys() - there.keys())),
            *(
                f"has {shown(there[one])}, who is no maintainer"
                for one in sorted(there.keys() - wanted.keys())
            ),
        )
    ]


def _maintainers(
    connection: Connection,
) -> tuple[Maintainers | None, Sequence[Finding]]:
    answer = _file(connection, MAINTAINERS)
    if isinstance(answer, Unread):
        return None, [_unread(answer)]
    if not answer.there:
        what = "main has no such file: nobody can approve a change of trust"
        return None, [finding(PEOPLE, MAINTAINERS, what)]
    try:
        return read_maintainers(answer.value, MAINTAINERS), ()
    except RegistryError as error:
        return None, error.findings


def _file(connection: Connection, path: str) -> Answer | Unread:
    """Read a file of main."""
    address = f"/repos/{connection.name}/contents/{path}?ref=main"
    answer = _read(connection, address, "Contents: read")
    if isinstance(answer, Unread) or not answer.there:
        return answer
    try:
        content = answer.value["content"]
        return Answer(base64.b64decode(content.replace("\n", ""), validate=True))
    except (AttributeError, KeyError, TypeError, ValueError):
        return Unread(f"{path} is no plain file of at most 1 MiB")


def _read(
    connection: Connection, path: str, needs: str, *, believed: bool = True
) -> Answer | Unread:
    return ask(connection.read, path, needs, believed=believed)


def _unread(answer: Unread) -> Finding:
    return finding(UNREAD, "github/people", f"not readable: {answer.why}")
