"""An ONNX model written piece by piece, however large: a few MiB are held at once.

Protocol buffers end at 2 GiB. A model below that is one file; the weights of a larger
one lie in a second file, page by page, which ONNX calls external data.
"""

from __future__ import annotations

import hashlib
import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, Final

from registry.documents.findings import (
    Finding,
    RegistryError,
    Severity,
    code,
    finding,
)
from tools.files.writing import part_beside
from tools.workloads.networks.graphs import (
    check_network,
    graph_of,
    model_of,
    tensor_header,
)
from tools.workloads.networks.layers import Network, Weight
from tools.workloads.networks.weights import weight_chunks

__all__ = ["ONE_FILE", "W024", "Written", "data_file", "refusals", "write_network"]

ONE_FILE: Final = (1 << 31) - (1 << 22)
"""The largest weights that stay in the model's own file; 4 MiB are for the rest."""
LARGEST: Final = 64 << 30
"""The largest model."""
PAGE: Final = 4096
"""Where arrays of external data begin, so that they can be mapped."""
GRAPH: Final = 7
INITIALIZER: Final = 5
RAW_DATA: Final = 9
"""Numbers of the fields of ModelProto, GraphProto and TensorProto (onnx/onnx.proto)."""

W024 = code(
    "W024",
    Severity.ERROR,
    "A model is there already.",
    "Name another folder, or say --overwrite.",
)
W025 = code(
    "W025",
    Severity.ERROR,
    "A model is too large.",
    "Choose a smaller input or width, or a folder with more space.",
)


@dataclass(frozen=True, slots=True)
class Written:
    """A file that was written.

    Attributes:
        path: where.
        bytes: its size.
        sha256: its digest.
    """

    path: Path
    bytes: int
    sha256: str


class _Part:
    """A file under a temporary name, with its digest so far."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.part = part_beside(path)
        self.bytes = 0
        self._digest = hashlib.sha256()
        self._file: BinaryIO = self.part.open("xb")

    def write(self, data: bytes) -> None:
        self._file.write(data)
        self._digest.update(data)
        self.bytes += len(data)

    def finish(self) -> Written:
        self._file.flush()
        os.fsync(self._file.fileno())
        self._file.close()
        return Written(self.path, self.bytes, self._digest.hexdigest())

    def discard(self) -> None:
        with suppress(OSError):
            self._file.close()
        self.part.unlink(missing_ok=True)


def write_network(
    network: Network,
    path: Path,
    *,
    seed: int,
    overwrite: bool = False,
    one_file: int = ONE_FILE,
    progress: Callable[[str], None] = lambda _: None,
) -> tuple[Written, ...]:
    """Write a network with random weights, whole or not at all.

    Args:
        network: the network.
        path: the model's file; its folder is made. External data is ``<path>.data``.
        seed: where random numbers start: equal seeds give equal bytes.
        overwrite: whether to replace what is there.
        one_file: the largest weights in bytes that stay in the model's own file.
        progress: is told in a line what is done.

    Returns:
        The model's file, and that of its external data if it has one.

    Raises:
        RegistryError: W023 to W025.
    """
    if problems := refusals(network, path, overwrite=overwrite):
        raise RegistryError(problems)
    data = data_file(path)
    check_network(network)
    path.parent.mkdir(parents=True, exist_ok=True)
    if network.weight_bytes > shutil.disk_usage(path.parent).free:
        what = f"it needs {network.weight_bytes} bytes, and so many are not free"
        raise RegistryError(finding(W025, str(path.parent), what))
    parts = [_Part(path)]
    try:
        if network.weight_bytes <= one_file:
            _write_inside(parts[0], network, seed, progress)
            return _placed(parts, stale=data)
        parts.insert(0, _Part(data))
        _write_beside(parts[1], parts[0], network, seed, progress)
        return _placed(parts, stale=None)[::-1]
    finally:
        for part in parts:
            part.discard()


def data_file(path: Path) -> Path:
    """Where the external data of a model lies."""
    return path.with_name(f"{path.name}.data")


def refusals(network: Network, path: Path, *, overwrite: bool) -> list[Finding]:
    """Say why a network cannot be written to a file, as far as that can be known."""
    there = [one for one in (path, data_file(path)) if os.path.lexists(one)]
    problems = [
        finding(W024, str(one), "it is a folder" if one.is_dir() else "it is there")
        for one in there
        if one.is_dir() or not overwrite
    ]
    if network.weight_bytes > LARGEST:
        what = f"its weights are {network.weight_bytes} bytes, the most is {LARGEST}"
        problems.append(finding(W025, network.name, what))
    return problems


def _placed(parts: list[_Part], stale: Path | None) -> tuple[Written, ...]:
    """Give the files their names, the model last, since it refers to the other."""
    written = tuple(part.finish() for part in parts)
    for part in parts:
        part.part.replace(part.path)
    if stale is not None:
        stale.unlink(missing_ok=True)
    return written


def _write_inside(
    part: _Part, network: Network, seed: int, progress: Callable[[str], None]
) -> None:
    graph = graph_of(network).SerializeToString(deterministic=True)
    heads = [_initializer_head(weight) for weight in network.weights]
    size = len(graph) + sum(map(len, heads)) + network.weight_bytes
    part.write(model_of(None).SerializeToString(deterministic=True))
    part.write(_head(GRAPH, size) + graph)
    for head, chunks in zip(heads, _all_chunks(network, seed, progress), strict=True):
        part.write(head)
        for chunk in chunks:
            part.write(chunk)


def _write_beside(
    model: _Part,
    data: _Part,
    network: Network,
    seed: int,
    progress: Callable[[str], None],
) -> None:
    graph = graph_of(network)
    for weight, chunks in zip(
        network.weights, _all_chunks(network, seed, progress), strict=True
    ):
        data.write(bytes(-data.bytes % PAGE))
        header = tensor_header(weight)
        header.data_location = header.EXTERNAL
        for key, value in (
            ("location", data.path.name),
            ("offset", data.bytes),
            ("length", weight.size * 4),
        ):
            header.external_data.add(key=key, value=str(value))
        for chunk in chunks:
            data.write(chunk)
        graph.initializer.append(header)
    model.write(model_of(graph).SerializeToString(deterministic=True))


def _all_chunks(
    network: Network, seed: int, progress: Callable[[str], None]
) -> Iterator[Iterator[bytes]]:
    for number, weight in enumerate(network.weights):
        progress(f"writing {weight.name} of {network.name}")
        yield weight_chunks(weight, seed, number)


def _initializer_head(weight: Weight) -> bytes:
    """Return what stands before a weight's numbers."""
    header: bytes = tensor_header(weight).SerializeToString(deterministic=True)
    raw = _head(RAW_DATA, weight.size * 4)
    size = len(header) + len(raw) + weight.size * 4
    return _head(INITIALIZER, size) + header + raw


def _head(field: int, length: int) -> bytes:
    """Return the tag and length of a field that holds bytes, protobuf's wire type 2."""
    return _varint(field << 3 | 2) + _varint(length)


def _varint(value: int) -> bytes:
    found = bytearray()
    while value > 0x7F:
        found.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes([*found, value])
