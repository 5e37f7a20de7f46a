"""Regular expressions that people give, in time linear in the text.

    Expression("resnet(50|101)").found_in("resnet50_v1")

Python's own engine tries alternatives again and again: `(a+)+$` on forty letters would
hold a program up for years, its signals and time limits too. These are the expressions
of Rust's regex crate, as pydantic has it: no look-around and no references back.
"""

from __future__ import annotations

from typing import Final

from pydantic_core import SchemaError, SchemaValidator, ValidationError, core_schema

__all__ = ["EXPRESSION_CHARACTERS", "Expression"]

EXPRESSION_CHARACTERS: Final = 500


class Expression:
    """One regular expression."""

    __slots__ = ("_validator", "text")

    def __init__(self, text: str, *, longest: int = EXPRESSION_CHARACTERS) -> None:
        """Compile an expression.

        Args:
            text: the expression.
            longest: how many characters it may have.

        Raises:
            ValueError: it is too long or no regular expression; says why on one line.
        """
        if len(text) > longest:
            raise ValueError(f"it has more than {longest} characters")
        self.text = text
        schema = core_schema.str_schema(pattern=text, regex_engine="rust-regex")
        try:
            self._validator = SchemaValidator(schema)
        except SchemaError as error:
            lines = str(error).strip().splitlines() or ["it cannot be read"]
            why = lines[-1].strip().removeprefix("error: ")
            raise ValueError(why) from None

    def found_in(self, text: str) -> bool:
        """Whether some part of a text is what the expression says."""
        try:
            self._validator.validate_python(text)
        except ValidationError:
            return False
        return True
