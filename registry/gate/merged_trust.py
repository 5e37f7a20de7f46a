"""Trust of a branch, parsed when it is asked for: a change concerns few contributors.

A contributor's file is named by the id. Who owns a key is found in the bytes of all
trust files, where a key stands as its one line of base64; only files in which it stands
are parsed.
"""

from __future__ import annotations

import base64
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, TypeVar

from registry.documents.findings import RegistryError
from registry.documents.trust import read_trust, trust_path
from registry.gate.identity import Keyring
from registry.gate.paths import PAGES, check_entry
from registry.gate.tree import TRUST

if TYPE_CHECKING:
    from registry.documents.trust import Contributor
    from registry.gate.tree import Tree

__all__ = ["joined_by", "merged_keyring"]

_Key = TypeVar("_Key")
_Value = TypeVar("_Value")


def merged_keyring(tree: Tree) -> Keyring:
    """The keyring of a branch: that of `read_keyring`, without what is wrong.

    All trust files are read at once, so that looking somebody up cannot fail.

    Raises:
        RegistryError: T001, git does not hold a trust file that is listed.
    """
    listed = (entry for entry in tree.entries(TRUST) if entry.path not in PAGES)
    paths = [entry.path for entry in listed if not check_entry(entry)]
    files = _TrustFiles(dict(tree.read_many(paths)))
    return Keyring(_Contributors(files), _Owners(files))


def joined_by(keyring: Keyring, new: Contributor) -> Keyring:
    """A keyring with one more contributor; keys that others own stay theirs."""
    blobs = [key.public_key.blob for key in new.keys]
    owners = {blob: new.id for blob in blobs if blob not in keyring.owners}
    return Keyring(
        _Extended(keyring.contributors, {new.id: new}),
        _Extended(keyring.owners, owners),
    )


class _TrustFiles:
    """Trust files by path, each parsed once and only if it is asked for."""

    def __init__(self, contents: Mapping[str, bytes]) -> None:
        self._contents = contents
        self._parsed: dict[str, Contributor | None] = {}

    def contributor(self, path: str) -> Contributor | None:
        """Whom a file describes, or None if there is none that can be read."""
        if path not in self._parsed:
            content = self._contents.get(path)
            try:
                found = None if content is None else read_trust(content, path)
            except RegistryError:  # no fault of whoever proposes a change
                found = None
            self._parsed[path] = found
        return self._parsed[path]

    def holding(self, text: bytes) -> list[Contributor]:
        """The contributors in whose files a text stands, by id."""
        paths = (path for path, content in self._contents.items() if text in content)
        found = [self.contributor(path) for path in paths]
        return sorted((one for one in found if one), key=lambda one: one.id)


class _Contributors(Mapping[int, "Contributor"]):
    """Contributors by id."""

    def __init__(self, files: _TrustFiles) -> None:
        self._files = files

    def __getitem__(self, number: int) -> Contributor:
        found = self._files.contributor(trust_path(number))
        if found is None:
            raise KeyError(number)
        return found

    def __iter__(self) -> Iterator[int]:
        return (one.id for one in self._files.holding(b""))

    def __len__(self) -> int:
        return len(self._files.holding(b""))


class _Owners(Mapping[bytes, int]):
    """Blobs of keys to the id that owns each; the first in the order of ids."""

    def __init__(self, files: _TrustFiles) -> None:
        self._files = files

    def __getitem__(self, blob: bytes) -> int:
        for one in self._files.holding(base64.b64encode(blob)):
            if one.key(blob) is not None:
                return one.id
        raise KeyError(blob)

    def __iter__(self) -> Iterator[bytes]:
        return iter(Keyring.of(self._files.holding(b"")).owners)

    def __len__(self) -> int:
        return len(Keyring.of(self._files.holding(b"")).owners)


class _Extended(Mapping[_Key, _Value]):
    """A mapping and what was added to it, without a copy, which would read it all."""

    def __init__(
        self, first: Mapping[_Key, _Value], added: Mapping[_Key, _Value]
    ) -> None:
        self._first, self._added = first, added

    def __getitem__(self, key: _Key) -> _Value:
        return self._added[key] if key in self._added else self._first[key]

    def __iter__(self) -> Iterator[_Key]:
        return iter(dict.fromkeys((*self._first, *self._added)))

    def __len__(self) -> int:
        return len(tuple(iter(self)))
