"""What a workload says that it measured itself: phases and performance.

It may write a JSON object into the file that POWERKIT_RESULT_FILE names:

    {"phases": {"init": 0.05, "run": 1.2}, "performance": 830.0,
     "performance_unit": "operations per second"}

Keys that are not named here are the workload's own.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Final

from pydantic import Field

from registry.documents.findings import RegistryError, Severity, code
from registry.documents.validation import Document, DocumentCodes, validate
from tools.experiments.files import read_document

__all__ = ["Result", "read_result"]

_BYTES: Final = 1 << 20
_PHASES: Final = 1000

_VALUE = code(
    "B040",
    Severity.ERROR,
    "A workload's own result is not of the form that it must have.",
    "Write phases as seconds by name, performance as a number, performance_unit as a"
    " text.",
)
_CODES: Final = DocumentCodes(_VALUE, _VALUE, _VALUE, _VALUE)


class Result(Document):
    """What a workload measured itself.

    Attributes:
        phases: Seconds by name; ``init`` is the time to make ready.
        performance: More is better.
        performance_unit: Its unit.
    """

    phases: Annotated[
        dict[
            Annotated[str, Field(max_length=200)],
            Annotated[float, Field(ge=0, le=10**9)],
        ],
        Field(max_length=_PHASES),
    ] = Field(default_factory=dict)
    performance: float | None = None
    performance_unit: Annotated[str, Field(max_length=200)] | None = None


def read_result(path: Path) -> tuple[Result, tuple[str, ...]]:
    """Read what a workload wrote, and say what is wrong with it.

    Returns:
        The result, empty if there is none, and sentences for the record.
    """
    if not path.exists() and not path.is_symlink():
        return Result(), ()
    try:
        value = read_document(path, _BYTES, path.name)
        known = {name: value[name] for name in Result.model_fields if name in value}
        return validate(Result, known, path.name, _CODES), ()
    except RegistryError as error:
        said = [f"{one.code} {one.path}: {one.what}" for one in error.findings[:5]]
        return Result(), tuple(said)
