"""Put bytes under a key of a store, once: looked at before and after, never half."""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Callable, Mapping
from contextlib import suppress
from enum import Enum, auto
from typing import Any, Final

from registry.documents.findings import RegistryError, Severity, code, finding
from tools.assets.contents import CHUNK, File
from tools.assets.published import SIDECAR_BYTES, Sidecar, read_sidecar, write_sidecar
from tools.assets.stores import Store, asking

__all__ = ["send_file", "send_sidecar", "sidecar_at"]

A004 = code(
    "A004",
    Severity.ERROR,
    "Other bytes are already where something is to be published.",
    "Nothing was overwritten. Look at what is there; if nobody needs it, remove it and"
    " publish again.",
)
A005 = code(
    "A005",
    Severity.ERROR,
    "What a store gives back is not what it was sent.",
    "It was removed again. See that nothing writes to the file meanwhile, and repeat.",
)

_MD5_FIELDS: Final = ("ETag", "etag", "md5")


class _Found(Enum):
    NOTHING = auto()
    SAME = auto()
    OTHER = auto()


def send_file(
    store: Store, file: File, key: str, tell: Callable[[str], None] | None = None
) -> bool:
    """Copy a file to a key.

    Args:
        store: the store.
        file: the file.
        key: where to.
        tell: is told in a line how much was sent, where the store says so.

    Returns:
        Whether it was sent; False if it was there already.

    Raises:
        RegistryError: A002, the store fails; A004, A005.

    """
    found = _look(store, file, key)
    if found is _Found.OTHER:
        raise RegistryError(finding(A004, store.url(key), "other bytes are there"))
    if found is _Found.SAME:
        return False
    _place(
        store,
        key,
        lambda path: store.fs.put_file(str(file.path), path, **_told(file, tell)),
        lambda at: _look(store, file, at) is _Found.SAME,
    )
    return True


def _told(file: File, tell: Callable[[str], None] | None) -> dict[str, Any]:
    """Arguments that make fsspec tell how much it has sent."""
    if tell is None:
        return {}
    from fsspec.callbacks import Callback  # noqa: PLC0415  slow import

    say = tell

    class Told(Callback):  # type: ignore[misc]  # fsspec has no types
        def call(self, *_: object, **__: object) -> None:
            say(f"{file.name}: {self.value} of {file.bytes} bytes")

    return {"callback": Told()}


def sidecar_at(store: Store, key: str) -> Sidecar | None:
    """Read a sidecar of a store, or None if there is none.

    Raises:
        RegistryError: A002; J001 to J007 and A007 to A010, it cannot be used.

    """
    data = _bytes(store, key)
    return None if data is None else read_sidecar(data, store.url(key))


def send_sidecar(store: Store, sidecar: Sidecar, key: str) -> bool:
    """Write a sidecar, after all that it describes; one of the same thing stays.

    Returns:
        Whether it was sent; False if one was there already.

    Raises:
        RegistryError: A002; A004, another is there; A005.

    """
    try:
        there = sidecar_at(store, key)
    except RegistryError as error:
        if any(one.code == "A002" for one in error.findings):
            raise
        what = "a description is there that cannot be read"
        raise RegistryError(finding(A004, store.url(key), what)) from None
    if there is not None:
        if (there.sha256, there.name, there.files) == (
            sidecar.sha256,
            sidecar.name,
            sidecar.files,
        ):
            return False
        what = "it describes something else"
        raise RegistryError(finding(A004, store.url(key), what))
    data = write_sidecar(sidecar)
    _place(
        store,
        key,
        lambda path: store.fs.pipe_file(path, data),
        lambda at: _bytes(store, at) == data,
    )
    return True


def _place(
    store: Store,
    key: str,
    write: Callable[[str], object],
    is_right: Callable[[str], bool],
) -> None:
    """Write to a key that is free.

    Where a file grows while it is written, that happens under another name.
    """
    folder, _, name = key.rpartition("/")
    at = key if store.objects else f"{folder}/.{name}.{secrets.token_hex(4)}.part"
    written = False
    try:
        with asking(store.url(key)):
            if not store.objects:
                store.fs.makedirs(store.path(folder), exist_ok=True)
            write(store.path(at))
        written = True
        _confirm(store, key, right=is_right(at))
        if at != key:
            with asking(store.url(key)):
                store.fs.mv(store.path(at), store.path(key))
    except BaseException:
        if written or at != key:
            with suppress(Exception):  # it may not even be there
                store.fs.rm_file(store.path(at))
        raise


def _confirm(store: Store, key: str, *, right: bool) -> None:
    if not right:
        what = "what was sent comes back different"
        raise RegistryError(finding(A005, store.url(key), what))


def _look(store: Store, file: File, key: str) -> _Found:
    """Compare what is at a key with a file: by size, by MD5 or by all bytes."""
    info = store.info(key)
    if info is None:
        return _Found.NOTHING
    if info.get("type") == "directory" or info.get("size") not in {None, file.bytes}:
        return _Found.OTHER
    if file.md5 in _md5s(info):
        return _Found.SAME
    # No MD5, or that of parts or of encrypted bytes: only the bytes themselves tell.
    same = _digest(store, key) == file.sha256
    return _Found.SAME if same else _Found.OTHER


def _md5s(info: Mapping[str, Any]) -> set[str]:
    return {str(info[name]).strip('"').lower() for name in _MD5_FIELDS if name in info}


def _digest(store: Store, key: str) -> str:
    sha256 = hashlib.sha256()
    with asking(store.url(key)), store.fs.open(store.path(key), "rb") as file:
        while chunk := file.read(CHUNK):
            sha256.update(chunk)
    return sha256.hexdigest()


def _bytes(store: Store, key: str) -> bytes | None:
    """Read a small file, or a byte more than it may have."""
    if store.info(key) is None:
        return None
    with asking(store.url(key)), store.fs.open(store.path(key), "rb") as file:
        data: bytes = file.read(SIDECAR_BYTES + 1)
    return data
