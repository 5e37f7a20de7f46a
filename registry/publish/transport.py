"""The nested files of a release as one file, for places that know no folders.

`folder.zip` is a function of the files in it: a stored zip of fixed layout. So its size
is known before it is read, and what is read must be those bytes and no others. Nothing
is asked of a zip library: a duplicate, a link, an encrypted or lying member, a comment
or trailing data is simply not what is expected next.
"""

from __future__ import annotations

import hashlib
import struct
import zlib
from typing import IO, TYPE_CHECKING, Final

from registry.documents.findings import RegistryError, Severity, code, finding

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from pathlib import Path

    from registry.publish.index import Asset

__all__ = ["PACKED", "pack", "packed", "packed_bytes", "unpack"]

PACKED: Final = "folder.zip"
"""The name of the file beside a release's other files."""

TOO_MUCH = code(
    "R070",
    Severity.ERROR,
    "The nested files of a release do not fit into one zip.",
    "Publish to a folder, `--to dir:PATH`, and serve that.",
)
NOT_OURS = code(
    "R071",
    Severity.ERROR,
    "folder.zip is not the one that a release's index gives.",
    "Do not use it; download the release again from the registry itself.",
    "B5",
    "P2",
)

_CHUNK: Final = 1 << 20
_MOST_BYTES: Final = (1 << 32) - 1
_MOST_FILES: Final = (1 << 16) - 1
_VERSION: Final = 20
_UNIX: Final = 3 << 8
_MODE: Final = 0o100644 << 16
_DAY: Final = (0 << 9) | (1 << 5) | 1  # 1980-01-01, the first day that a zip can name
_LOCAL: Final = struct.Struct("<4s5H3I2H")
_CENTRAL: Final = struct.Struct("<4s6H3I5H2I")
_END: Final = struct.Struct("<4s4H2IH")


def packed(assets: Iterable[Asset]) -> tuple[Asset, ...]:
    """List the files that travel in `folder.zip`: nested ones, and empty ones.

    GitHub takes neither a name with a slash nor a file without a byte.
    """
    chosen = [asset for asset in assets if "/" in asset.path or not asset.bytes]
    return tuple(sorted(chosen, key=lambda asset: asset.path))


def packed_bytes(assets: Sequence[Asset]) -> int:
    """Give the size of the zip of some files.

    Raises:
        RegistryError: R070.

    """
    each = _LOCAL.size + _CENTRAL.size
    size = _END.size + sum(each + 2 * len(a.path) + a.bytes for a in assets)
    if size > _MOST_BYTES or len(assets) > _MOST_FILES:
        what = f"{len(assets)} files of {size} bytes in all"
        raise RegistryError(finding(TOO_MUCH, PACKED, what))
    return size


def pack(folder: Path, assets: Sequence[Asset], target: IO[bytes]) -> None:
    """Write the zip of some files of a release folder.

    Args:
        folder: The release.
        assets: The files, as `packed` lists them.
        target: Where the zip is written.

    Raises:
        RegistryError: R070.

    """
    packed_bytes(assets)
    sums = []
    for asset in assets:
        with (folder / asset.path).open("rb") as file:
            total = 0
            while piece := file.read(_CHUNK):
                total = zlib.crc32(piece, total)
        sums.append(total)
        target.write(_local(asset, total))
        with (folder / asset.path).open("rb") as file:
            while piece := file.read(_CHUNK):
                target.write(piece)
    for piece in _directory(assets, sums):
        target.write(piece)


def unpack(source: IO[bytes], assets: Sequence[Asset], folder: Path) -> None:
    """Read the zip of some files and write them into a folder.

    A file appears in the folder only under a name of the index, and nothing is read
    beyond the size that the index gives.

    Args:
        source: The zip; it is read once, from front to end.
        assets: The files that must be in it, as `packed` lists them.
        folder: Where they are written; none of them may be there.

    Raises:
        RegistryError: R070, or R071 at the first byte that is another one.

    """
    packed_bytes(assets)
    sums = []
    for asset in assets:
        header = _exactly(source, _LOCAL.size + len(asset.path), asset.path)
        (said,) = struct.unpack_from("<I", header, 14)
        if header != _local(asset, said):
            raise _wrong(asset.path, "its header is not the expected one")
        _copy(source, asset, said, folder)
        sums.append(said)
    rest = b"".join(_directory(assets, sums))
    if _exactly(source, len(rest), PACKED) != rest:
        raise _wrong(PACKED, "its directory lists something else")
    if source.read(1):
        raise _wrong(PACKED, "something follows its end")


def _copy(source: IO[bytes], asset: Asset, said: int, folder: Path) -> None:
    target = folder / asset.path
    target.parent.mkdir(parents=True, exist_ok=True)
    digest, total, left = hashlib.sha256(), 0, asset.bytes
    with target.open("xb") as file:
        while left:
            piece = source.read(min(_CHUNK, left))
            if not piece:
                raise _wrong(asset.path, "the zip ends in the middle of it")
            file.write(piece)
            digest.update(piece)
            total = zlib.crc32(piece, total)
            left -= len(piece)
    if digest.hexdigest() != asset.sha256 or total != said:
        raise _wrong(asset.path, "its digest is another one")


def _exactly(source: IO[bytes], size: int, path: str) -> bytes:
    data = b""
    while len(data) < size:
        piece = source.read(size - len(data))
        if not piece:
            raise _wrong(path, "the zip ends before it")
        data += piece
    return data


def _local(asset: Asset, crc: int) -> bytes:
    name, size = asset.path.encode("ascii"), asset.bytes
    head = (b"PK\3\4", _VERSION, 0, 0, 0, _DAY, crc, size, size, len(name), 0)
    return _LOCAL.pack(*head) + name


def _directory(assets: Sequence[Asset], sums: Sequence[int]) -> Iterator[bytes]:
    offset = size = 0
    for asset, crc in zip(assets, sums, strict=True):
        name = asset.path.encode("ascii")
        made, known = _UNIX | _VERSION, (asset.bytes, asset.bytes, len(name))
        head = (b"PK\1\2", made, _VERSION, 0, 0, 0, _DAY, crc, *known)
        yield _CENTRAL.pack(*head, 0, 0, 0, 0, _MODE, offset) + name
        offset += _LOCAL.size + len(name) + asset.bytes
        size += _CENTRAL.size + len(name)
    yield _END.pack(b"PK\5\6", 0, 0, len(assets), len(assets), size, offset, 0)


def _wrong(path: str, what: str) -> RegistryError:
    return RegistryError(finding(NOT_OURS, path, what))
