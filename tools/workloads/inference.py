"""Inference of an ONNX model by onnxruntime on the processor, with random inputs."""

from __future__ import annotations

from collections.abc import Mapping
from math import prod
from pathlib import Path
from typing import Any, Final

import numpy as np

from registry.documents.findings import (
    Finding,
    RegistryError,
    Severity,
    code,
    finding,
    shown,
)
from tools.workloads.models import Input, open_model
from tools.workloads.requirements import required
from tools.workloads.work import Conditions, Value, Work

__all__ = ["Inference"]

INPUT_BYTES: Final = 4 << 30
"""The most data that a model is given."""
IMAGE: Final = 4
"""Extents of a batch of images: number, channels, height, width."""
TYPES: Final[dict[int, str]] = {
    1: "f4",
    2: "u1",
    3: "i1",
    4: "u2",
    5: "i2",
    6: "i4",
    7: "i8",
    9: "?",
    10: "f2",
    11: "f8",
    12: "u4",
    13: "u8",
}
"""Elements that can be drawn, by ONNX's number (TensorProto.DataType)."""

W013 = code(
    "W013",
    Severity.ERROR,
    "A model takes inputs that cannot be made up.",
    "Give open extents with --dim NAME=N; texts and sequences cannot be drawn.",
)
W014 = code(
    "W014",
    Severity.ERROR,
    "A model does not run.",
    "See what onnxruntime says; other extents (--dim) or another model may help.",
)


class Inference(Work):
    """A model that is asked over and over, as a server would be."""

    def __init__(self, values: Mapping[str, Value], conditions: Conditions) -> None:
        """Look the model over, and choose the extents that it leaves open.

        Raises:
            RegistryError: W001, W010 to W013.
        """
        super().__init__(values, conditions)
        self.model = open_model(Path(str(values["file"])))
        self.shapes = _shapes(self.model.inputs, conditions.extents, values["file"])
        first = self.shapes[0] if self.shapes else ()
        self.unit = "images" if len(first) == IMAGE else "requests"
        self.answers = first[0] if len(first) > 1 else 1

    def prepare(self) -> None:
        """Draw inputs: uniform from 0 to 1, and 0 or 1 where whole numbers are."""
        random = np.random.default_rng(self.conditions.seed)
        self.given: dict[str, Any] = {}
        for one, shape in zip(self.model.inputs, self.shapes, strict=True):
            kind = np.dtype(TYPES[one.type])
            if kind.kind == "f":
                self.given[one.name] = random.random(shape, dtype="f4").astype(kind)
            else:
                # Zero and one are indices of any table of words.
                self.given[one.name] = random.integers(0, 2, shape).astype(kind)
        self.holds["inputs"] = sum(one.nbytes for one in self.given.values())

    def initialise(self) -> None:
        """Load the model into a session of as many threads as were asked for.

        Raises:
            RegistryError: W014.
        """
        runtime = required("onnxruntime")
        options = runtime.SessionOptions()
        options.intra_op_num_threads = self.conditions.threads
        options.inter_op_num_threads = 1
        options.log_severity_level = 4
        try:
            self.session = runtime.InferenceSession(
                str(self.model.path), options, providers=["CPUExecutionProvider"]
            )
        except Exception as error:  # noqa: BLE001  its errors have no public base
            raise self._failed(error) from None
        self.holds["model"] = self.model.bytes

    def iterate(self) -> float:
        """Ask the model once.

        Raises:
            RegistryError: W014.
        """
        try:
            self.given_back = self.session.run(None, self.given)
        except Exception as error:  # noqa: BLE001  its errors have no public base
            raise self._failed(error) from None
        return self.answers

    def _failed(self, error: Exception) -> RegistryError:
        what = " ".join(str(error).split())
        return RegistryError(finding(W014, str(self.model.path), what))


def _shapes(
    inputs: tuple[Input, ...], extents: Mapping[str, int], path: Value
) -> list[tuple[int, ...]]:
    """Choose every extent: as declared, as asked for, or 1 where a model leaves it."""
    problems: list[Finding] = []
    names = {part for one in inputs for part in one.shape if isinstance(part, str)}
    for name in sorted(extents.keys() - names):
        known = ", ".join(map(shown, sorted(names))) or "none"
        what = f"no open extent is called '{shown(name)}'; there are: {known}"
        problems.append(finding(W013, str(path), what))
    shapes, total = [], 0
    for one in inputs:
        if one.type not in TYPES:
            what = f"'{shown(one.name)}' is no tensor of numbers"
            problems.append(finding(W013, str(path), what))
            continue
        shape = tuple(
            max(part, 0) if isinstance(part, int) else extents.get(part or "", 1)
            for part in one.shape
        )
        total += prod(shape) * 8
        shapes.append(shape)
    if total > INPUT_BYTES:
        what = f"its inputs take more than {INPUT_BYTES >> 30} GiB"
        problems.append(finding(W013, str(path), what))
    if problems:
        raise RegistryError(problems)
    return shapes
