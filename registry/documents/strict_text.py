"""From bytes to text: UTF-8 without marks, and no binary format under a text's name."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from registry.documents.findings import RegistryError, finding

if TYPE_CHECKING:
    from registry.documents.findings import Code

__all__ = ["binary_kind", "decode"]

_HEADS: Final = (
    (b"\xef\xbb\xbf", "a UTF-8 byte order mark"),
    (b"\xff\xfe", "UTF-16"),
    (b"\xfe\xff", "UTF-16"),
    (b"\x80\x02", "a Python pickle"),
    (b"\x80\x03", "a Python pickle"),
    (b"\x80\x04", "a Python pickle"),
    (b"\x80\x05", "a Python pickle"),
    (b"PAR1", "Parquet"),
    (b"ARROW1", "Arrow"),
    (b"\x1f\x8b", "gzip"),
    (b"BZh", "bzip2"),
    (b"\xfd7zXZ", "xz"),
    (b"\x28\xb5\x2f\xfd", "zstd"),
    (b"PK\x03\x04", "a zip archive (or xlsx, npz)"),
    (b"PK\x05\x06", "a zip archive"),
    (b"7z\xbc\xaf", "a 7z archive"),
    (b"Rar!", "a rar archive"),
    (b"\x93NUMPY", "a numpy array"),
    (b"\x89HDF", "HDF5"),
    (b"SQLite format 3", "an SQLite database"),
    (b"\xd0\xcf\x11\xe0", "an old Office file"),
    (b"\x7fELF", "a program"),
    (b"MZ", "a program"),
    (b"%PDF", "PDF"),
    (b"#!", "a script"),
    (b"version https://git-lfs", "a Git LFS pointer"),
)


def binary_kind(data: bytes) -> str | None:
    """Name the format that the first bytes betray, or None for what may be text."""
    for head, kind in _HEADS:
        if data.startswith(head):
            return kind
    if b"\x00" in data:
        return "binary data (it holds a zero byte)"
    return None


def decode(data: bytes, path: str, code: Code) -> str:
    """Decode strict UTF-8.

    Raises:
        RegistryError: With ``code``, if the bytes are another format, hold a zero byte
            or a byte order mark, or are not UTF-8.

    """
    kind = binary_kind(data)
    if kind is not None:
        raise RegistryError(finding(code, path, f"the file is {kind}, not plain text"))
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        what = f"byte {error.start} is not UTF-8"
        raise RegistryError(finding(code, path, what, line=line)) from None
