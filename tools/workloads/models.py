"""An ONNX file looked over before anything runs it: sizes, inputs, external data.

External data names files. A name that leads out of the model's folder would have any
file of this machine read, so that it is refused (as in CVE-2022-25882 of onnx).
"""

from __future__ import annotations

import stat
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any, Final

from registry.documents.findings import (
    Finding,
    RegistryError,
    Severity,
    code,
    finding,
    shown,
)
from tools.workloads.requirements import required

__all__ = ["Input", "Model", "open_model"]

FILE_BYTES: Final = (1 << 31) - 1
"""The largest model without its external data: protocol buffers end there."""
DATA_BYTES: Final = 64 << 30
"""The largest external data."""
TENSORS: Final = 1_000_000
SHOWN: Final = 20

W010 = code(
    "W010",
    Severity.ERROR,
    "A model cannot be read.",
    "Name an ONNX file; `powerkit workload scale` makes some.",
)
W011 = code(
    "W011",
    Severity.ERROR,
    "A model's external data is not beside it.",
    "Put all files of the model into one folder; names may not lead out of it.",
)
W012 = code(
    "W012",
    Severity.ERROR,
    "A model is too large to be run here.",
    "Choose a smaller one.",
)


@dataclass(frozen=True, slots=True)
class Input:
    """What a model takes.

    Attributes:
        name: its name.
        type: what its elements are, by ONNX's number.
        shape: its extents: numbers, names of open ones, or None for those without.
    """

    name: str
    type: int
    shape: tuple[int | str | None, ...]


@dataclass(frozen=True, slots=True)
class Model:
    """A model that may be run.

    Attributes:
        path: its file.
        inputs: what it takes, weights left out.
        bytes: its size, with external data.
    """

    path: Path
    inputs: tuple[Input, ...]
    bytes: int


def open_model(path: Path) -> Model:
    """Look a model over.

    Raises:
        RegistryError: W001, onnx is not installed; W010 to W012.
    """
    size = _size(path)
    if size > FILE_BYTES:
        raise RegistryError(finding(W012, str(path), f"{size} bytes"))
    onnx = required("onnx")
    try:
        proto = onnx.load(str(path), load_external_data=False)
    except Exception as error:  # noqa: BLE001  protobuf's errors have no public base
        what = f"it is no ONNX model: {' '.join(str(error).split())}"
        raise RegistryError(finding(W010, str(path), what)) from None
    if not proto.graph.node:
        raise RegistryError(finding(W010, str(path), "it has no operations"))
    data = _external_bytes(proto, path)
    weights = {one.name for one in proto.graph.initializer}
    inputs = [_input(one) for one in proto.graph.input if one.name not in weights]
    return Model(path, tuple(inputs), size + data)


def _size(path: Path) -> int:
    try:
        status = path.stat()
    except (OSError, ValueError) as error:
        what = getattr(error, "strerror", None) or str(error)
        raise RegistryError(finding(W010, str(path), what)) from None
    if not stat.S_ISREG(status.st_mode):
        raise RegistryError(finding(W010, str(path), "it is no plain file"))
    return status.st_size


def _input(value: Any) -> Input:
    tensor = value.type.tensor_type
    shape = tuple(
        one.dim_value if one.HasField("dim_value") else one.dim_param or None
        for one in tensor.shape.dim
    )
    return Input(value.name, tensor.elem_type, shape)


def _external_bytes(proto: Any, path: Path) -> int:
    """Return the size of all external data, after seeing where it is.

    Raises:
        RegistryError: W011, some is elsewhere or missing; W012, it is too large.
    """
    folder = path.parent.resolve()
    sizes: dict[str, int] = {}
    problems: dict[str, Finding] = {}
    for location in _locations(proto):
        if location in sizes or location in problems:
            continue
        file = _beside(folder, location)
        if isinstance(file, str):
            what = f"'{shown(location)}' {file}"
            problems[location] = finding(W011, str(path), what)
        else:
            sizes[location] = file.stat().st_size
    if problems:
        raise RegistryError(list(problems.values())[:SHOWN])
    if (total := sum(sizes.values())) > DATA_BYTES:
        raise RegistryError(finding(W012, str(path), f"{total} bytes beside it"))
    return total


def _beside(folder: Path, location: str) -> Path | str:
    """Return a file of external data, or what is wrong with it."""
    name = PurePosixPath(location)
    if not location or name.is_absolute() or ".." in name.parts or "\\" in location:
        return "leads out of its folder"
    try:
        file = (folder / name).resolve()
        if not file.is_relative_to(folder):
            return "leads out of its folder by a link"
        return file if file.is_file() else "is not there"
    except (OSError, ValueError):
        return "cannot be looked at"


def _locations(proto: Any) -> Iterator[str]:
    """Yield where tensors say that their numbers are, in all graphs and functions."""
    for number, tensor in enumerate(_tensors(proto)):
        if number >= TENSORS:
            raise RegistryError(finding(W012, "-", f"more than {TENSORS} tensors"))
        if tensor.data_location == tensor.EXTERNAL:
            places = [
                one.value for one in tensor.external_data if one.key == "location"
            ]
            yield from places or [""]


def _tensors(proto: Any) -> Iterator[Any]:
    for function in proto.functions:
        for node in function.node:
            yield from _of_node(node)
    yield from _of_graph(proto.graph)


def _of_graph(graph: Any) -> Iterator[Any]:
    """Yield a graph's tensors; protocol buffers bound how deep graphs lie in graphs."""
    yield from graph.initializer
    for sparse in graph.sparse_initializer:
        yield from (sparse.values, sparse.indices)
    for node in graph.node:
        yield from _of_node(node)


def _of_node(node: Any) -> Iterator[Any]:
    for attribute in node.attribute:
        yield from (attribute.t, *attribute.tensors)
        for sparse in (attribute.sparse_tensor, *attribute.sparse_tensors):
            yield from (sparse.values, sparse.indices)
        for graph in (
            *([attribute.g] if attribute.HasField("g") else ()),
            *attribute.graphs,
        ):
            yield from _of_graph(graph)
