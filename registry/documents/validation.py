"""From pydantic's complaints to findings that name field, line and value."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, TypeVar

from pydantic import BaseModel, ConfigDict, ValidationError
from pydantic_core import PydanticCustomError

from registry.documents import limits
from registry.documents.findings import Code, Finding, RegistryError, finding, shown

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from pydantic_core import ErrorDetails

    from registry.documents.strict_yaml import Location

__all__ = ["Document", "DocumentCodes", "contradictions", "validate"]

Model = TypeVar("Model", bound=BaseModel)

_TYPES: Final = {
    "bool_type": "it must be true or false",
    "int_type": "it must be a whole number",
    "model_type": "it must be a block of fields",
    "tuple_type": "it must be a list",
}
_FORMS: Final = {"^[0-9]{4}-[0-9]{2}-[0-9]{2}$": "YYYY-MM-DD"}


class Document(BaseModel):
    """A part of a document: immutable, and without keys that nobody declared."""

    model_config = ConfigDict(
        extra="forbid",
        frozen=True,
        populate_by_name=True,
        hide_input_in_errors=True,
        allow_inf_nan=False,
    )


@dataclass(frozen=True, slots=True)
class DocumentCodes:
    """The codes of one kind of document."""

    unknown: Code
    missing: Code
    value: Code
    contradiction: Code


def contradictions(problems: Sequence[tuple[Location, str]]) -> PydanticCustomError:
    """Make the error of a model validator that found fields at odds with each other.

    Args:
        problems: The place of each, relative to the root of the document, and a
            sentence.

    """
    return PydanticCustomError(
        "contradiction", "fields contradict each other", {"problems": list(problems)}
    )


def validate(
    model: type[Model],
    value: object,
    path: str,
    codes: DocumentCodes,
    lines: Mapping[Location, int] | None = None,
) -> Model:
    """Check a parsed value against a model.

    Args:
        model: The pydantic model of the document.
        value: What the reader returned.
        path: The file's name in findings.
        codes: Codes to use.
        lines: Where each value stands, if the reader knows.

    Raises:
        RegistryError: One finding for every problem.

    """
    try:
        return model.model_validate(value)
    except ValidationError as error:
        raise RegistryError(_findings(error, path, codes, lines or {})) from None


def _findings(
    error: ValidationError,
    path: str,
    codes: DocumentCodes,
    lines: Mapping[Location, int],
) -> list[Finding]:
    found: list[Finding] = []
    for detail in error.errors(include_url=False):
        location = detail["loc"]
        if detail["type"] == "contradiction":
            for place, what in detail["ctx"]["problems"]:
                line = _line(place, lines)
                found.append(finding(codes.contradiction, path, what, line=line))
            continue
        code, what = _reason(detail["type"], codes), f"{_dotted(location)}: "
        if detail["type"] == "extra_forbidden":
            what += "no such field"
        elif detail["type"] == "missing":
            what += "the field is missing"
        else:
            got = detail["input"]
            what += _words(detail)
            if isinstance(got, str | int | float):
                what += f', but it is "{shown(got, 80)}"'
        found.append(finding(code, path, what, line=_line(location, lines)))
    more = len(found) - limits.SHOWN_PER_DOCUMENT
    if more > 0:
        del found[limits.SHOWN_PER_DOCUMENT :]
        found.append(finding(codes.value, path, f"{more} more problems are not shown"))
    return found


def _reason(kind: str, codes: DocumentCodes) -> Code:
    return {"extra_forbidden": codes.unknown, "missing": codes.missing}.get(
        kind, codes.value
    )


def _words(detail: ErrorDetails) -> str:
    """Say in plain words what a value should be; pydantic speaks of Python's types."""
    kind, context = detail["type"], detail.get("ctx", {})
    if kind == "string_pattern_mismatch":
        pattern = context["pattern"]
        return f"it must be of the form {_FORMS.get(pattern, pattern)}"
    if kind == "literal_error":
        return f"it must be {context['expected']}"
    return _TYPES.get(kind, detail["msg"])


def _line(location: Location, lines: Mapping[Location, int]) -> int | None:
    """Return the line of a place, or of the nearest place around it."""
    for end in range(len(location), -1, -1):
        line = lines.get(location[:end])
        if line is not None:
            return line
    return None


def _dotted(location: Location) -> str:
    parts = (f"[{p}]" if isinstance(p, int) else f".{shown(p, 40)}" for p in location)
    return "".join(parts).lstrip(".") or "document"
