r"""The trust files as an OpenSSH allowed_signers file, for `ssh-keygen -Y verify`.

    registry trust allowed-signers > allowed
    ssh-keygen -Y verify -f allowed -I 42 -n bundle@power-dataset-registry \
        -O verify-time=20260401000000Z -s manifest.json.sig < manifest.json

The principal is the numeric id. There is never a `*`, which would accept any name, and
every time ends with Z, without which ssh-keygen takes it for local time.
"""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING

from registry.documents.findings import RegistryError
from registry.documents.names import NAMESPACE_BUNDLE
from registry.gate.identity import read_keyring, valid_span

if TYPE_CHECKING:
    from collections.abc import Iterator

    from registry.documents.trust import TrustedKey
    from registry.gate.identity import Keyring
    from registry.gate.tree import Tree

__all__ = ["allowed_signers", "signer_lines"]


def allowed_signers(tree: Tree) -> str:
    """All trusted keys of a registry in OpenSSH's own format.

    Raises:
        RegistryError: a trust file cannot be read.
    """
    keyring, problems = read_keyring(tree)
    if problems:
        raise RegistryError(problems)
    return "".join(f"{line}\n" for line in signer_lines(keyring))


def signer_lines(keyring: Keyring) -> Iterator[str]:
    """One line a key that was ever valid, by id and in the order of the files."""
    for contributor in keyring.contributors.values():
        for key in contributor.keys:
            if keyring.key(contributor.id, key.public_key.blob) is not None:
                yield from _line(contributor.id, key)


def _line(principal: int, key: TrustedKey) -> Iterator[str]:
    first, last = valid_span(key)
    options = [f'namespaces="{NAMESPACE_BUNDLE}"', f'valid-after="{_stamp(first)}"']
    if last is not None:
        options.append(f'valid-before="{_stamp(last)}"')
    # OpenSSH refuses a whole file with an empty span; such a key never was valid.
    if last is None or last > first:
        yield f"{principal} {','.join(options)} {key.ssh}"


def _stamp(seconds: int) -> str:
    moment = datetime.fromtimestamp(seconds, tz=UTC)
    return f"{moment:%Y%m%d%H%M%S}Z"
