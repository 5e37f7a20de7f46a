"""Read the repository's settings from GitHub, each thing once, and say what is hidden.

GitHub answers "not found" both for what is off and for what a token may not see. Only
an administrator's "not found" is believed, unless everybody may read the thing.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import github

from registry.documents.findings import RegistryError, shown
from registry.gate.github.connection import LIMITED, UNREACHABLE
from registry.upkeep.wanted import wishes

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from registry.gate.github.connection import Connection
    from registry.upkeep.wanted import Reading

__all__ = ["Answer", "Unread", "ask", "read_settings", "silent"]

_FORBIDDEN: Final = frozenset({401, 403})
_ABSENT: Final = frozenset({404, 410})
_SILENT: Final = frozenset({UNREACHABLE.id, LIMITED.id})
_WHOLE: Final = frozenset(
    {"refs/tags/r-*", "refs/tags/*", "refs/tags/**", "refs/tags/**/*", "~ALL"}
)
"""Patterns of which each covers every tag of a release."""


@dataclass(frozen=True, slots=True)
class Unread:
    """Something that could not be read.

    Attributes:
        why: A sentence for people.
    """

    why: str


@dataclass(frozen=True, slots=True)
class Answer:
    """Something that was read.

    Attributes:
        value: GitHub's answer; an empty object for what does not exist.
        there: Whether it exists.
    """

    value: Any
    there: bool = True


def silent(error: RegistryError) -> bool:
    """Whether GitHub gives no answers for now: each further question would wait."""
    return error.findings[0].code in _SILENT


def ask(
    read: Callable[[str], Any], path: str, needs: str, *, believed: bool
) -> Answer | Unread:
    """Read one path.

    Args:
        read: Reads a path, as `Connection.read` does.
        path: The API path.
        needs: The permission for it, if GitHub does not say which.
        believed: Whether "not found" means that it does not exist.

    Raises:
        RegistryError: N001 or N003; nothing more is to be asked.
    """
    try:
        return Answer(read(path))
    except RegistryError as error:
        cause = error.__cause__
        if silent(error):
            raise
        if not isinstance(cause, github.GithubException):
            return Unread(error.findings[0].what)
        if cause.status in _ABSENT and believed:
            return Answer({}, there=False)
        if cause.status in _FORBIDDEN | _ABSENT:
            return Unread(f"{path}: needs {_permission(cause, needs)}")
        return Unread(error.findings[0].what)


def read_settings(connection: Connection) -> Mapping[str, Answer | Unread]:
    """Read everything that `wishes` names.

    Args:
        connection: The repository.

    Returns:
        What was read by the name of the reading.

    Raises:
        RegistryError: The repository itself cannot be read, or GitHub gives no answers.
    """
    readings = wishes().readings
    name = connection.name
    repository = connection.read(readings["repository"].path.format(name=name))
    admin = _is_admin(repository)
    found: dict[str, Answer | Unread] = {"repository": Answer(repository)}

    def one(reading: Reading) -> Answer | Unread:
        path = reading.path.format(name=name)
        believed = admin or reading.anyone
        answer = ask(connection.read, path, reading.needs, believed=believed)
        if reading.flag and isinstance(answer, Answer):
            return Answer({"enabled": answer.there}, there=answer.there)
        return answer

    for reading in readings.values():
        if "{ruleset_id}" not in reading.path and reading.id not in found:
            found[reading.id] = _unless_needless(reading, found) or one(reading)
    found |= _rulesets(connection, readings, found["main"])
    return found


def _unless_needless(
    reading: Reading, found: Mapping[str, Answer | Unread]
) -> Answer | Unread | None:
    """Skip what GitHub only has if something else is set."""
    if reading.id == "selected":
        policy = found["actions"]
        if isinstance(policy, Unread):
            return policy
        if policy.value.get("allowed_actions") != "selected":
            return Answer({}, there=False)
    if reading.id in {"release-branches", "site-branches"}:
        environment = found[reading.id.removesuffix("-branches")]
        if isinstance(environment, Unread) or not environment.there:
            return environment
    return None


def _rulesets(
    connection: Connection,
    readings: Mapping[str, Reading],
    main: Answer | Unread,
) -> dict[str, Answer | Unread]:
    """Read the rulesets that apply to main, and those that cover tags of releases."""
    rules = readings["main-rulesets"]

    def detail(number: int) -> Answer | Unread:
        path = rules.path.format(name=connection.name, ruleset_id=number)
        return ask(connection.read, path, rules.needs, believed=False)

    found: dict[str, Answer | Unread] = {}
    if isinstance(main, Unread):
        found["main-rulesets"] = main
    else:
        numbers = sorted({rule["ruleset_id"] for rule in _rules(main.value)})
        found["main-rulesets"] = _together(list(map(detail, numbers)))
    listed = ask(
        connection.read_all,
        f"/repos/{connection.name}/rulesets",
        readings["main"].needs,
        believed=True,
    )
    if isinstance(listed, Unread):
        found["tag-rulesets"] = listed
        return found
    tags = [one["id"] for one in listed.value or [] if _is_active_for_tags(one)]
    details = _together(list(map(detail, tags)))
    if isinstance(details, Answer):
        details = Answer([one for one in details.value if _covers_releases(one)])
    found["tag-rulesets"] = details
    return found


def _rules(value: Any) -> list[dict[str, Any]]:
    rules = value if isinstance(value, list) else []
    return [one for one in rules if isinstance(one.get("ruleset_id"), int)]


def _together(answers: list[Answer | Unread]) -> Answer | Unread:
    for one in answers:
        if isinstance(one, Unread):
            return one
    return Answer([one.value for one in answers if isinstance(one, Answer)])


def _is_active_for_tags(ruleset: Mapping[str, Any]) -> bool:
    return ruleset.get("target") == "tag" and ruleset.get("enforcement") == "active"


def _covers_releases(ruleset: Mapping[str, Any]) -> bool:
    """Whether a ruleset covers all tags of releases; one with exceptions never does."""
    names = (ruleset.get("conditions") or {}).get("ref_name") or {}
    return bool(_WHOLE & set(names.get("include") or [])) and not names.get("exclude")


def _is_admin(repository: Any) -> bool:
    permissions = repository.get("permissions") or {}
    return permissions.get("admin") is True


def _permission(error: github.GithubException, needs: str) -> str:
    """The permission in GitHub's own words, where its answer names it."""
    headers = {key.lower(): value for key, value in (error.headers or {}).items()}
    said = headers.get("x-accepted-github-permissions", "").strip()
    return shown(said.replace("=", ": "), 80) if said else needs
