"""The expectation suites: YAML of this package, read once, never from a candidate."""

from __future__ import annotations

import functools
from dataclasses import dataclass
from importlib import resources
from typing import TYPE_CHECKING, Final

from registry.documents import strict_yaml
from registry.gate.expectations.codes import EXPECTATION_CODES
from registry.gate.expectations.measure import NAMES

if TYPE_CHECKING:
    from registry.documents.findings import Code
    from registry.documents.strict_yaml import YamlValue

__all__ = ["PROFILES", "TYPE", "Expectation", "Suite", "parse", "suite"]

PROFILES: Final = ("timeseries", "load-levels")
"""Collection profiles; each has a suite of its name."""
TYPE: Final = "expect_measure_to_be_between"
"""The one kind of expectation: a measure lies between two bounds."""

_KEYS: Final = {"id", "type", "kwargs", "meta"}
_META: Final = {"code", "file", "what"}
_BOUNDS: Final = ("min_value", "max_value")


@dataclass(frozen=True, slots=True)
class Expectation:
    """One expectation of a suite.

    Attributes:
        id: Its name, stable and unique in the suite.
        measure: The measure that is judged.
        min_value: The lowest value that is as expected, or None.
        max_value: The highest one, or None.
        code: The code of its finding.
        file: The file of the bundle that the finding points to.
        what: The finding's text, with {observed}, {subjects}, {min} and {max}.

    """

    id: str
    measure: str
    min_value: float | None
    max_value: float | None
    code: Code
    file: str
    what: str


@dataclass(frozen=True, slots=True)
class Suite:
    """The expectations of one collection profile."""

    name: str
    expectations: tuple[Expectation, ...]

    def expectation(self, id: str) -> Expectation:  # noqa: A002 - the field's name
        """Return the expectation of an id.

        Raises:
            KeyError: There is none.

        """
        for expectation in self.expectations:
            if expectation.id == id:
                return expectation
        raise KeyError(id)


@functools.cache
def suite(profile: str) -> Suite:
    """Return the suite of a collection profile.

    Raises:
        ValueError: There is none, or it is not well formed.

    """
    if profile not in PROFILES:
        message = f"there is no suite for the profile {profile!r}"
        raise ValueError(message)
    folder = resources.files("registry.gate.expectations").joinpath("suites")
    return parse(folder.joinpath(f"{profile}.yaml").read_bytes(), f"{profile}.yaml")


def parse(data: bytes, path: str) -> Suite:
    """Read a suite.

    Raises:
        ValueError: A measure, code, key or bound is unknown or missing.
        RegistryError: The bytes are no strict YAML.

    """
    value = strict_yaml.read_yaml(data, path, comments=True).value
    entries = value.get("expectations")
    if not isinstance(entries, list) or not entries:
        message = f"{path} lists no expectations"
        raise ValueError(message)
    expectations = tuple(_expectation(entry, path) for entry in entries)
    ids = [expectation.id for expectation in expectations]
    if len(set(ids)) != len(ids):
        message = f"{path} names an expectation twice"
        raise ValueError(message)
    return Suite(str(value.get("name")), expectations)


def _expectation(entry: YamlValue, path: str) -> Expectation:
    fields = _mapping(entry, _KEYS, path)
    kwargs = _mapping(fields["kwargs"], {"measure", *_BOUNDS}, path, needed={"measure"})
    meta = _mapping(fields["meta"], _META, path)
    measure, code_id = str(kwargs["measure"]), str(meta["code"])
    low, high = (
        float(str(kwargs[bound])) if bound in kwargs else None for bound in _BOUNDS
    )
    if measure not in NAMES or code_id not in EXPECTATION_CODES:
        message = f"{path}: {measure} or {code_id} is unknown"
        raise ValueError(message)
    if fields["type"] != TYPE or (low is None and high is None):
        message = f"{path}: {fields['id']} is no {TYPE} with a bound"
        raise ValueError(message)
    return Expectation(
        id=str(fields["id"]),
        measure=measure,
        min_value=low,
        max_value=high,
        code=EXPECTATION_CODES[code_id],
        file=str(meta["file"]),
        what=str(meta["what"]),
    )


def _mapping(
    value: YamlValue, keys: set[str], path: str, needed: set[str] | None = None
) -> dict[str, YamlValue]:
    wanted = keys if needed is None else needed
    if not isinstance(value, dict) or not wanted <= set(value) <= keys:
        message = f"{path}: expected the keys {', '.join(sorted(wanted))}"
        raise ValueError(message)
    return value
