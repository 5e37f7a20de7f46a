"""The steps from a signed bundle to its pull request, each of which may end the way."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

from registry.documents.findings import RegistryError, Severity, code, finding
from registry.documents.trust import trust_path
from registry.gate.directory_tree import directory_tree
from registry.gate.drafting import is_checkout, start_of
from registry.gate.git_tree import git_tree
from registry.gate.github import by_hand
from registry.gate.github.accounts import published_keys
from registry.gate.github.entering import enter
from registry.gate.github.forks import acting, home
from registry.gate.github.prechecking import Precheck
from registry.gate.github.proposals import author_of, propose, rehearse
from registry.gate.verify_change import verify_change
from tools.bundles.check import check_bundle
from tools.bundles.review import review
from tools.submission.describing import branch_of, title_of
from tools.submission.gathering import besides
from tools.submission.main_branch import LocalMain, RemoteMain

if TYPE_CHECKING:
    from pathlib import Path

    from registry.gate.github.entering import Entry
    from registry.gate.github.forks import Account, Home
    from registry.gate.github.proposals import Proposed
    from registry.gate.outcome import Report
    from tools.submission.gathering import Merged, Submission

__all__ = [
    "Acting",
    "ByHand",
    "Place",
    "acting_for",
    "checked",
    "how_by_hand",
    "merged_branch",
    "proposed",
    "shown",
]

OTHER_ACCOUNT = code(
    "L080",
    Severity.ERROR,
    "The token is of another account than the bundle.",
    "Use a token of the account that the manifest names: the gate takes a bundle from "
    "nobody else. `powerkit pack --contributor ID` makes one for another account.",
    "S5",
    "S8",
)


@dataclass(frozen=True, slots=True)
class Place:
    """What a bundle is submitted from, and to.

    Attributes:
        root: the checkout.
        repository: ``OWNER/NAME`` of the registry, if it was said.
        base: the revision that is taken for the merged one, if it was said.
    """

    root: Path
    repository: str | None = None
    base: str | None = None

    @property
    def start(self) -> str:
        """The revision at which a branch begins."""
        return start_of(self.root, self.base)


@dataclass(frozen=True, slots=True)
class Acting:
    """The account that proposes, and the registry as GitHub names it now."""

    entry: Entry
    account: Account
    registry: Home


@dataclass(frozen=True, slots=True)
class ByHand:
    """How to go on without a token.

    Attributes:
        commands: for a shell.
        url: the page that opens the pull request.
        fork: the page that makes a fork.
        undone: what was not done, one sentence each.
    """

    commands: list[str]
    url: str
    fork: str
    undone: list[str]


def acting_for(place: Place, contributor: int) -> Acting | None:
    """Who acts for a contributor; None without a token.

    Raises:
        RegistryError: L080, the token is of another account; N001 to N006.
    """
    entry = enter(place.root, place.repository)
    if entry is None:
        return None
    account = acting(entry.connection)
    if account.id != contributor:
        what = (
            f"the token from {entry.source} is of {account.login} ({account.id}), the"
            f" bundle of contributor {contributor}"
        )
        raise RegistryError(finding(OTHER_ACCOUNT, "github", what))
    return Acting(entry, account, home(entry.connection))


def checked(submission: Submission, place: Place, who: Acting | None) -> Report:
    """Run the gate on the very change: on the main branch that GitHub has now.

    Without a token it is the main branch that the checkout knows, and keys of a
    newcomer are taken for published.

    Raises:
        RegistryError: T003, T040 to T042, N001 to N005.
    """
    now = int(time.time())
    if who is None:
        folder = place.root / "datasets" / submission.manifest.dataset
        return check_bundle(folder, now, registry=place.root, base=place.base)
    connection = who.entry.connection
    keys = published_keys(connection, who.account.id).signing_keys
    reports: list[Report] = []

    def check(repo: Path, main: str, head: str, account: Account) -> None:
        reports.append(
            verify_change(
                repo, main, head, author=account.id, published_keys=keys, now=now
            )
        )

    rehearse(connection, place.root, submission.files, check)
    return reports[0]


def merged_branch(place: Place, who: Acting | None) -> Merged:
    """The registry's main branch, by GitHub if it can be asked."""
    if who is not None:
        return RemoteMain(who.entry.connection, who.registry.name)
    if is_checkout(place.root):
        return LocalMain(git_tree(place.root, place.start))
    return LocalMain(directory_tree(place.root))


def shown(submission: Submission, place: Place, who: Acting | None) -> str:
    """All that becomes public, for people."""
    lines = [review(submission.tables).rstrip(), *besides(submission)]
    if who is not None:
        lines.append(f"the commit: by {author_of(place.root, who.account).text}")
        lines += _misnamed(submission, who.account.login)
    return "\n".join(lines)


def _misnamed(submission: Submission, login: str) -> list[str]:
    """Tell a newcomer of another login in the trust file, which nobody else looks at.

    The number decides over trust, so it is no error; but the file stays for good.
    """
    new = submission.newcomer
    if new is None or new.login.lower() == login.lower():
        return []
    said = f"look: {trust_path(new.id)} calls you {new.login}, GitHub {login}; to mend"
    return [f"{said} it, delete that file and run `powerkit enrol --login {login} …`"]


def proposed(submission: Submission, body: str, place: Place, who: Acting) -> Proposed:
    """Open the pull request, or bring the open one up to date.

    Raises:
        RegistryError: T, L and N codes of `propose`; whatever the gate finds.
    """
    title = title_of(submission)
    return propose(
        who.entry.connection,
        place.root,
        submission.files,
        branch=branch_of(submission),
        title=title,
        body=body,
        message=title,
        fork=True,
        check=Precheck(who.entry.connection),
    )


def how_by_hand(
    submission: Submission, body: str, place: Place, who: Acting | None
) -> ByHand:
    """Say how to do the same with git and a browser.

    Raises:
        RegistryError: N006, T003.
    """
    undone = []
    if who is None:
        server, name = by_hand.place_of(place.root, place.repository)
        new = submission.newcomer
        login = by_hand.LOGIN if new is None else new.login
        number = submission.manifest.contributor
        undone.append(f"GitHub was not asked whether you are account {number}")
        if new is not None:
            undone.append("nor whether that account publishes the signing key")
    else:
        server, name = who.entry.connection.server, who.registry.name
        login = who.account.login
    branch, title = branch_of(submission), title_of(submission)
    folder = f"datasets/{submission.manifest.dataset}"
    apart = [path for path in submission.files if not path.startswith(f"{folder}/")]
    commands = by_hand.commands(
        [folder, *apart], branch=branch, base=place.start, title=title
    )
    url = by_hand.compare_url(
        server, name, branch=branch, title=title, body=body, login=login
    )
    return ByHand(commands, url, f"{server}/{name}/fork", undone)
