"""A proposal that broke off anywhere is finished by the next call, and done once."""

from __future__ import annotations

import random
import re
from dataclasses import dataclass, field
from pathlib import Path

from registry.documents.findings import RegistryError
from registry.gate.github.connection import Patience
from registry.gate.github.proposals import Proposed, propose
from tests.gate.proposing import BRANCH
from tests.simulators.github import FakeGitHub
from tests.simulators.github.faults import Fault
from tests.simulators.registry import run_git

ONCE = Patience(timeout=20, attempts=1, pause=0.0, rate_limit=0.0, between_writes=0.0)
"""Gives up at the first failure, so that each is seen."""


@dataclass(slots=True)
class Nth:
    """Faults for the n-th request only, of whatever kind it is."""

    number: int
    kind: str
    after: bool
    seen: list[str] = field(default_factory=list)

    def draw(self, method: str, path: str, **_: bool) -> Fault | None:
        """The fault, when its turn has come."""
        self.seen.append(f"{method} {path}")
        if len(self.seen) != self.number:
            return None
        return Fault(method, re.compile(""), self.kind, 0, self.after)


def sent(
    hub: FakeGitHub, root: Path, login: str, patience: Patience = ONCE
) -> Proposed:
    files = {"specs/server-n.yaml": f"of: {login}\n".encode()}
    return propose(
        hub.connection(login, patience),
        root,
        files,
        branch=BRANCH,
        title="Add server-n",
        body="Hello",
        message="Add server-n",
        fork=True,
    )


def check(hub: FakeGitHub, login: str) -> None:
    """Exactly one fork, one pull request, and one commit with one file."""
    id_ = hub.person(login).id
    (pull,) = [one for one in hub.main.pulls if one.issue.user == id_]
    assert pull.open
    head = hub.pull(pull.number).head_sha
    shown = run_git(hub.bare, "diff", "--raw", f"main...{head}").splitlines()
    assert [line.split("\t")[1] for line in shown] == ["specs/server-n.yaml"]
    blob = run_git(hub.bare, "cat-file", "blob", f"{head}:specs/server-n.yaml")
    assert blob == f"of: {login}\n"
    assert run_git(hub.bare, "rev-list", "--count", f"main..{head}").strip() == "1"
    assert len([one for one in hub.repositories.values() if one.owner == id_]) == 1


def attempt(hub: FakeGitHub, checkout: Path, nth: Nth, login: str) -> str:
    """One call that may meet a fault; gives what it complains of."""
    usual, hub.faults = hub.faults, nth  # type: ignore[assignment]
    try:
        sent(hub, checkout, login)
    except RegistryError as error:
        return str(error)
    finally:
        hub.faults = usual
    return ""


def broken_off(hub: FakeGitHub, checkout: Path, nth: Nth, login: str) -> bool:
    """One call that meets a fault, then one that does not; false if there was none."""
    hub.add_user(login, 1_000_000 + len(hub.accounts))
    said = attempt(hub, checkout, nth, login)
    assert hub.token(login) not in said
    if len(nth.seen) < nth.number:
        assert said == ""
        return False
    sent(hub, checkout, login)
    check(hub, login)
    return True


def test_after_a_failure_of_any_request_the_next_call_finishes(
    hub: FakeGitHub, checkout: Path
) -> None:
    number, writes = 1, []
    nth = Nth(number, "cut", after=True)
    while broken_off(hub, checkout, nth, f"lost-{number}"):
        if re.match(r"POST (?:/repos|.*receive-pack)", nth.seen[number - 1]):
            writes.append(number)
        number += 1
        nth = Nth(number, "cut", after=True)
    assert number > 12
    # What has an effect is also tried without it; a read has none to lose.
    assert len(writes) == 3  # the fork, the push, the pull request
    for number in writes:
        assert broken_off(hub, checkout, Nth(number, "502", after=False), f"u-{number}")


def test_with_patience_no_failure_is_even_seen(hub: FakeGitHub, checkout: Path) -> None:
    patience = Patience(20, 8, 0.0, 0.0, 0.0)
    for number in range(8):
        hub.add_user(f"user-{number}", 2000 + number)
        hub.misbehave(random.Random(number), 0.15)
        sent(hub, checkout, f"user-{number}", patience)
        hub.behave()
        check(hub, f"user-{number}")
    assert hub.faults.met > 0
