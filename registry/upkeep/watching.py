"""Look at what is published as a stranger would: several checks, none hides another."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from registry.client.origins import NoRelease
from registry.documents.findings import RegistryError, Severity, code, finding
from registry.upkeep.downloads import check_download, check_pages
from registry.upkeep.history import check_fresh
from registry.upkeep.outcomes import Outcome, Outcomes
from registry.upkeep.rebuilds import check_rebuild, check_release
from registry.upkeep.situation import Situation, Skip

if TYPE_CHECKING:
    from collections.abc import Callable

    from registry.documents.findings import Finding
    from registry.upkeep.outcomes import CheckId

__all__ = ["Check", "check_keys", "checks", "watch"]

BROKE = code(
    "N045",
    Severity.ERROR,
    "A check of the nightly watch came to no result.",
    "Run `registry watch check` again; if it happens again, report it as a bug.",
    "P3",
)


@dataclass(frozen=True, slots=True)
class Check:
    """One check.

    Attributes:
        id: Its name.
        run: Gives a few words on what was done, and what is wrong. It raises
            `RegistryError` for what keeps it from going on, and `Skip`.
    """

    id: CheckId
    run: Callable[[Situation], tuple[str, list[Finding]]]


def watch(situation: Situation) -> Outcomes:
    """Run all checks, whatever becomes of each.

    Args:
        situation: What to look at.
    """
    done: list[Outcome] = []
    silence = False
    for check in checks():
        if silence and check.id in _OF_GITHUB:
            done.append(Outcome.of(check.id, "skipped", _SILENCE))
            continue
        situation.progress(f"checking: {check.id}")
        done.append(_outcome(check, situation))
        silence = silence or done[-1].note == _SILENCE
    return Outcomes(schema_id="watch/1", checks=tuple(done))


def checks() -> tuple[Check, ...]:
    """All checks in their order."""
    return (
        Check("download", check_download),
        Check("pages", check_pages),
        Check("release", check_release),
        Check("rebuild", check_rebuild),
        Check("fresh", check_fresh),
        Check("keys", check_keys),
        Check("settings", check_settings),
        Check("maintainers", check_maintainers),
    )


def check_keys(situation: Situation) -> tuple[str, list[Finding]]:
    """Which contributors will soon have no key."""
    from registry.gate.expiry import expiring  # noqa: PLC0415 - reads all trust files

    found = expiring(situation.tree, situation.now, situation.days)
    return f"the next {situation.days} days", found


def check_settings(situation: Situation) -> tuple[str, list[Finding]]:
    """Which settings differ; what the token may not read is no failure here."""
    from registry.upkeep.audit import compare  # noqa: PLC0415 - asks GitHub
    from registry.upkeep.readings import read_settings  # noqa: PLC0415

    connection = situation.connected()
    done = compare(connection.name, read_settings(connection))
    if done.states["main-approval"] == "unread":
        raise Skip("the token may not read the rules of main", done.findings)
    unread = sum(state == "unread" for state in done.states.values())
    return f"{unread} of {len(done.states)} not readable", list(done.findings)


def check_maintainers(situation: Situation) -> tuple[str, list[Finding]]:
    """Whether maintainers and code owners are right."""
    from registry.upkeep.people import check_people  # noqa: PLC0415 - asks GitHub

    return "", list(check_people(situation.connected()))


_OF_GITHUB: Final[frozenset[CheckId]] = frozenset({"settings", "maintainers"})
"""Checks that ask GitHub's API; their warnings say that something was not readable."""
_SILENCE: Final = "GitHub gives no answers"


def _outcome(check: Check, situation: Situation) -> Outcome:
    from registry.upkeep.readings import silent  # noqa: PLC0415 - asks GitHub

    try:
        note, findings = check.run(situation)
    except NoRelease:
        return Outcome.of(check.id, "skipped", "nothing is published yet")
    except Skip as skip:
        return Outcome.of(check.id, "skipped", str(skip), skip.findings)
    except RegistryError as error:
        if check.id in _OF_GITHUB and silent(error):
            return Outcome.of(check.id, "skipped", _SILENCE, error.findings)
        return Outcome.of(check.id, "failed", "", error.findings)
    except Exception as error:  # noqa: BLE001  one check must not end the others
        what = f"{type(error).__name__}: {error}"
        found = finding(BROKE, f"watch/{check.id}", what)
        return Outcome.of(check.id, "failed", "", (found,))
    errors = any(one.severity is Severity.ERROR for one in findings)
    failed = errors if check.id in _OF_GITHUB else bool(findings)
    return Outcome.of(check.id, "failed" if failed else "ok", note, tuple(findings))
