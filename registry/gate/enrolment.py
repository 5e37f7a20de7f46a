"""Whether keys were enrolled by their owners, and trust files only ever grow.

A key proves that its owner enrols it, the key before endorses it, and what a trust file
once said about a key stays: a revocation is never undone (threat-model.md S7 to S10).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from registry.documents import limits
from registry.documents.findings import RegistryError, Severity, code, finding
from registry.documents.names import NAMESPACE_ENROL
from registry.documents.sshkey import parse_public_key
from registry.documents.trust import FOUNDING, enrolment_statement, epoch, trust_path
from registry.gate.identity import valid_span
from registry.gate.sshsig import verify

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from registry.documents.findings import Finding
    from registry.documents.trust import Contributor, TrustedKey
    from registry.gate.identity import Keyring

__all__ = [
    "Proposal",
    "check_new_contributor",
    "check_proofs",
    "check_update",
    "published_blobs",
    "read_published_keys",
]

PROOF = code(
    "K020",
    Severity.ERROR,
    "A key's proof or endorsement is not a signature of its enrolment statement.",
    "Run `powerkit enrol` with the private key itself.",
    "S9",
)
TAKEN = code(
    "K021",
    Severity.ERROR,
    "A key belongs to another contributor already; it does so for ever.",
    "Make a key of your own with `ssh-keygen -t ed25519`.",
    "S9",
)
REWRITTEN = code(
    "K022",
    Severity.ERROR,
    "What a trust file said about a key was changed or taken away.",
    "Keep every key as it is; only add `not_after` (or an earlier one), `revoked`, and "
    "new keys at the end.",
    "S10",
)
UNENDORSED = code(
    "K023",
    Severity.ERROR,
    "A new key is not endorsed by a key that the contributor had before.",
    "Run `powerkit enrol --endorse-with OLD-KEY`. If all old keys are lost, "
    "revoke them in the same change and publish the new key on GitHub.",
    "S9",
)
NO_KEY = code(
    "K040",
    Severity.ERROR,
    "A line of a list of published keys is no public key that is accepted.",
    "Write the list as GitHub gives it: `gh api users/LOGIN/ssh_signing_keys --jq "
    "'.[].key'`; leave out keys of other kinds. Blank lines and lines that begin with "
    "# are skipped.",
    "S9",
)
UNPUBLISHED = code(
    "K024",
    Severity.ERROR,
    "GitHub does not say that the author's account publishes this key for signing.",
    "Add the key to the account as a signing key, then run the check again; by hand "
    "with `--author ID --published-keys FILE`.",
    "S7",
    "S9",
)
FUTURE = code(
    "K025",
    Severity.ERROR,
    "A trust file speaks of the future.",
    "Give the present time (UTC, with Z) as `added` or `revoked.at`.",
    "S10",
)
STRANGER = code(
    "K026",
    Severity.ERROR,
    "Somebody else adds keys to a trust file, and their owner does not vouch for them.",
    "Open the change from the account whose id names the file. Others may bring a "
    "first key that the account publishes, or a later one that an older one endorses.",
    "S7",
    "S8",
    "S9",
)
CLOSED = code(
    "K027",
    Severity.ERROR,
    "The founding contributor takes no further keys.",
    "Contribute under your own GitHub account's id.",
    "S9",
)


BY_OTHER = code(
    "K029",
    Severity.WARNING,
    "A trust file is changed by someone else than its owner.",
    "Reviewers: ask the owner, or make sure that this is the maintainers' decision.",
    "S10",
    "S11",
)


@dataclass(frozen=True, slots=True)
class Proposal:
    """Who proposes a change of trust, and when.

    Attributes:
        author: numeric id of the change's author, or None if nobody knows.
        published: key blobs that GitHub lists for the account whose trust file it is,
            or None if not asked.
        now: seconds since 1970.
        with_data: whether the same change brings data signed by the key.
    """

    author: int | None
    published: frozenset[bytes] | None
    now: int
    with_data: bool = False


def published_blobs(lines: Sequence[str] | None) -> frozenset[bytes] | None:
    """The keys among lines as GitHub lists them.

    An account may list keys of kinds that are not accepted here; they are skipped.
    """
    if lines is None:
        return None
    blobs: set[bytes] = set()
    for line in lines:
        try:
            blobs.add(parse_public_key(line).blob)
        except RegistryError:
            continue
    return frozenset(blobs)


def read_published_keys(data: bytes, path: str) -> tuple[str, ...]:
    """Read a list of published keys that somebody wrote into a file.

    A line that is no key is refused, and not skipped as in GitHub's own answer: whoever
    gives another file by mistake must not be told that GitHub lacks the key.

    Args:
        data: the file's bytes; blank lines and lines that begin with # are skipped.
        path: the file's name, for findings.

    Raises:
        RegistryError: K040, one finding for every line that is no key.
    """
    keys: list[str] = []
    found: list[Finding] = []
    for number, line in enumerate(data.decode("utf-8", "replace").splitlines(), 1):
        if not line.strip() or line.startswith("#"):
            continue
        try:
            keys.append(parse_public_key(line).line)
        except RegistryError as error:
            what = error.findings[0].what
            found.append(finding(NO_KEY, path, what, line=number))
    if found:
        raise RegistryError(found[: limits.SHOWN_PER_DOCUMENT])
    return tuple(keys)


def check_proofs(keyring: Keyring) -> list[Finding]:
    """Whether each key of all contributors is proven and belongs to one of them."""
    found: list[Finding] = []
    for contributor in keyring.contributors.values():
        found += _check_keys(contributor, contributor.keys, keyring)
    return found


def check_new_contributor(
    new: Contributor, keyring: Keyring, proposal: Proposal
) -> list[Finding]:
    """Whether a trust file that is not on main yet may come in.

    Args:
        new: its content.
        keyring: trust as merged.
        proposal: who proposes it.
    """
    path = _path(new)
    if new.id == FOUNDING:
        return [finding(CLOSED, path, "id 0 is reserved")]
    published = proposal.published or frozenset()
    listed = all(key.public_key.blob in published for key in new.keys)
    vouched = listed and not proposal.with_data
    found = list(_check_author(new, proposal, vouched=vouched))
    found += _check_keys(new, new.keys, keyring)
    for key in new.keys:
        found += _check_now(key, path, proposal.now)
        found += _check_published(key, path, proposal)
    return found


def check_update(
    old: Contributor, new: Contributor, keyring: Keyring, proposal: Proposal
) -> list[Finding]:
    """Whether a merged trust file may change to this one.

    Args:
        old: its content on main.
        new: the proposed content.
        keyring: trust as merged.
        proposal: who proposes it.
    """
    path = _path(new)
    found = [
        finding(REWRITTEN, path, what) for what in _rewritten(old, new, proposal.now)
    ]
    added = new.keys[len(old.keys) :]
    if proposal.author not in (None, new.id) and not added:
        what = f"{proposal.author} changes the trust file of {new.id}"
        found.append(finding(BY_OTHER, path, what))
    if not added:
        return found
    if new.id == FOUNDING:
        return [*found, finding(CLOSED, path, "a key was added to id 0")]
    endorsed = {key for key in added if _endorsed(old, key, path, new.id, proposal.now)}
    found += _check_author(new, proposal, vouched=len(endorsed) == len(added))
    found += _check_keys(new, added, keyring)
    for key in added:
        found += _check_now(key, path, proposal.now)
        if key not in endorsed:
            found += _check_recovery(new, len(old.keys), key, proposal)
    return found


def _path(contributor: Contributor) -> str:
    return trust_path(contributor.id)


def _statement(key: TrustedKey, owner: int) -> bytes:
    return enrolment_statement(owner, key.fingerprint, key.added)


def _signers(text: str | None, key: TrustedKey, owner: int, path: str) -> bytes | None:
    """The key that signed another's enrolment statement, or None."""
    if text is None:
        return None
    try:
        signed = _statement(key, owner)
        return verify(text.encode("ascii"), signed, NAMESPACE_ENROL, path)
    except RegistryError:
        return None


def _check_keys(
    owner: Contributor, keys: Iterable[TrustedKey], keyring: Keyring
) -> Iterator[Finding]:
    path = _path(owner)
    others = {key.public_key.blob for key in owner.keys}
    for key in keys:
        blob = key.public_key.blob
        first = keyring.owners.get(blob, owner.id)
        if first != owner.id:
            what = f"{key.fingerprint} belongs to contributor {first}"
            yield finding(TAKEN, path, what)
        if _signers(key.proof, key, owner.id, path) != blob:
            yield finding(PROOF, path, f"the proof of {key.fingerprint} does not hold")
        endorser = _signers(key.endorsement, key, owner.id, path)
        if key.endorsement is not None and endorser not in others - {blob}:
            what = f"the endorsement of {key.fingerprint} does not hold"
            yield finding(PROOF, path, what)


def _check_author(
    new: Contributor, proposal: Proposal, *, vouched: bool
) -> Iterator[Finding]:
    """Whether the account adds its keys itself, or vouched for what another brings."""
    if proposal.author is not None and proposal.author != new.id:
        what = f"{proposal.author} proposes keys of {new.id}"
        yield finding(BY_OTHER if vouched else STRANGER, _path(new), what)


def _check_now(key: TrustedKey, path: str, now: int) -> Iterator[Finding]:
    if epoch(key.added) > now:
        what = f"{key.fingerprint} is added at {key.added}, which is not yet"
        yield finding(FUTURE, path, what)


def _check_published(
    key: TrustedKey, path: str, proposal: Proposal
) -> Iterator[Finding]:
    if proposal.published is None:
        severity = Severity.ERROR if proposal.with_data else Severity.WARNING
        what = f"GitHub was not asked about {key.fingerprint}"
        yield finding(UNPUBLISHED, path, what, severity=severity)
    elif key.public_key.blob not in proposal.published:
        what = f"{key.fingerprint} is not among the account's signing keys"
        yield finding(UNPUBLISHED, path, what)


def _endorsed(
    old: Contributor, key: TrustedKey, path: str, owner: int, now: int
) -> bool:
    blob = _signers(key.endorsement, key, owner, path)
    endorser = None if blob is None else old.key(blob)
    if endorser is None:
        return False
    first, last = valid_span(endorser)
    return first <= now and (last is None or now <= last)


def _check_recovery(
    new: Contributor, before: int, key: TrustedKey, proposal: Proposal
) -> Iterator[Finding]:
    """An owner without any old key: the account must vouch, and people must look."""
    path = _path(new)
    ends = [valid_span(old)[1] for old in new.keys[:before]]
    over = all(end is not None and end < proposal.now for end in ends)
    vouched = (
        proposal.author == new.id
        and proposal.published is not None
        and key.public_key.blob in proposal.published
    )
    if over and vouched:
        what = f"{key.fingerprint} replaces lost keys: ask its owner by another way"
        yield finding(UNENDORSED, path, what, severity=Severity.WARNING)
    else:
        yield finding(UNENDORSED, path, f"{key.fingerprint} has no valid endorsement")


def _rewritten(old: Contributor, new: Contributor, now: int) -> Iterator[str]:
    if len(new.keys) < len(old.keys):
        yield f"{len(old.keys) - len(new.keys)} keys are gone"
    for before, after in zip(old.keys, new.keys, strict=False):
        name = before.fingerprint
        fixed = ("ssh", "added", "proof", "endorsement")
        if any(getattr(before, one) != getattr(after, one) for one in fixed):
            yield f"{name} was changed or moved"
            continue
        if before.not_after is not None and (
            after.not_after is None or after.not_after > before.not_after
        ):
            yield f"{name} would be trusted for longer"
        elif before.not_after != after.not_after and _over(after, now):
            yield f"{name} would have ended before now: revoke it instead"
        if before.revoked is not None and after.revoked != before.revoked:
            yield f"the revocation of {name} was changed"
        elif after.revoked is not None and epoch(after.revoked.at) > now:
            yield f"{name} would be revoked in the future: use not_after"


def _over(key: TrustedKey, now: int) -> bool:
    """Whether a key ended by itself; what it signed while it held may be merged."""
    return key.not_after is not None and epoch(key.not_after) < now
