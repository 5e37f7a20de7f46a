"""Reads the catalogue of columns from ``columns.yaml``, the package's own file."""

from __future__ import annotations

import functools
from dataclasses import dataclass, field
from importlib import resources
from types import MappingProxyType
from typing import TYPE_CHECKING, Final, Literal, TypeAlias

from registry.documents import decimals, strict_yaml

if TYPE_CHECKING:
    from collections.abc import Mapping

    from registry.documents.strict_yaml import YamlValue

__all__ = ["RATE_MAXIMUM", "Column", "Kind", "catalogue"]

Kind: TypeAlias = Literal["counter", "gauge", "id", "text"]
"""Counters only grow, gauges move, ids are integers, text is of an enumeration."""

_FILE: Final = "columns.yaml"
_LARGEST: Final = 999_999_999_999_999_872.0  # the largest float below 10**18
_RANGES: Final = {
    "celsius": (-60.0, 200.0),
    "hertz": (1_000_000.0, 20_000_000_000.0),
    "joules": (0.0, 1_000_000_000_000.0),
    "ratio": (0.0, 1.0),
    "rpm": (0.0, 100_000.0),
    "seconds": (0.0, 1_000_000_000_000.0),
    "watts": (0.0, 100_000.0),
}
RATE_MAXIMUM: Final = {"joules": 100_000.0, "seconds": 65_536.0}
"""The largest rate of counters of a unit; other units keep the counter's own bound."""
_FIELDS: Final = frozenset(
    (
        "tables",
        "kind",
        "unit",
        "about",
        "from",
        "min",
        "max",
        "required",
        "filled",
        "values",
        "aliases",
        "feature",
        "scale",
        "power",
        "zone",
        "vm",
    )
)


@dataclass(frozen=True, slots=True)
class Column:
    """One column, or a family of columns that differ by an index.

    Attributes:
        name: The column; ``{n}`` in the catalogue's own entries is any index.
        tables: The tables in which it may stand.
        unit: An OpenMetrics base unit, ``ratio``, ``events``, or empty.
        kind: Counter, gauge, id or text.
        minimum: The smallest allowed value.
        maximum: The largest allowed value.
        meaning: What is measured, in one sentence.
        source: The interface it is read from.
        required: Tables that must have the column.
        filled: Tables in which every row must have a value.
        values: The enumeration of a text column; empty for labels of workloads, which
            ``workloads.LABEL_PATTERN`` describes.
        aliases: Names that other systems give it, by system.
        feature: Kepler's feature that it yields, or empty.
        scale: Kepler's unit of that feature for each base unit (a second).
        power: Kepler's name of the energy source, such as ``rapl-sysfs``, or empty.
        zone: The part of the machine that a power column covers, or empty.
        vm_visible: Whether a guest can read it as well.
        derived_from: The counter of which this gauge is the mean rate, or empty.

    """

    name: str
    tables: tuple[str, ...]
    unit: str
    kind: Kind
    minimum: float
    maximum: float
    meaning: str
    source: str
    required: tuple[str, ...] = ()
    filled: tuple[str, ...] = ()
    values: tuple[str, ...] = ()
    aliases: Mapping[str, str] = field(default_factory=dict)
    feature: str = ""
    scale: float = 1.0
    power: str = ""
    zone: str = ""
    vm_visible: bool = False
    derived_from: str = ""


@functools.cache
def catalogue() -> tuple[Column, ...]:
    """Return every entry, in the order of the catalogue's file."""
    data = resources.files("registry.documents").joinpath(_FILE).read_bytes()
    sections = strict_yaml.read_yaml(data, _FILE, comments=True).value
    return tuple(
        _entry(name, {**shared, **own})
        for section in sections.values()
        for shared, columns in [_section(section)]
        for name, own in columns.items()
    )


def _section(
    section: YamlValue,
) -> tuple[dict[str, YamlValue], dict[str, dict[str, YamlValue]]]:
    """Split a section into what its columns share and the columns themselves."""
    fields = _mapping(section)
    columns = _mapping(fields["columns"])
    shared = {key: value for key, value in fields.items() if key != "columns"}
    return shared, {name: _mapping(own) for name, own in columns.items()}


def _entry(name: str, fields: dict[str, YamlValue]) -> Column:
    unknown = fields.keys() - _FIELDS
    if unknown:
        message = f"{_FILE}: {name} has unknown fields {sorted(unknown)}"
        raise ValueError(message)
    unit = _text(fields, "unit")
    low, high = _RANGES.get(unit, (0.0, _LARGEST))
    kind = _text(fields, "kind") or ("counter" if name.endswith("_total") else "gauge")
    return Column(
        name=name,
        tables=_texts(fields, "tables"),
        unit=unit,
        kind=_kind(kind),
        minimum=_number(fields, "min", low),
        maximum=_number(fields, "max", high),
        meaning=_text(fields, "about"),
        source=_text(fields, "from"),
        required=_texts(fields, "required"),
        filled=_texts(fields, "filled"),
        values=_texts(fields, "values"),
        aliases=MappingProxyType(
            {
                system: str(alias)
                for system, alias in _mapping(fields.get("aliases", {})).items()
            }
        ),
        feature=_text(fields, "feature"),
        scale=_number(fields, "scale", 1.0),
        power=_text(fields, "power"),
        zone=_text(fields, "zone"),
        vm_visible=_text(fields, "vm") == "yes",
    )


def _kind(text: str) -> Kind:
    for kind in ("counter", "gauge", "id", "text"):
        if text == kind:
            return kind
    message = f"{_FILE}: {text} is no kind of column"
    raise ValueError(message)


def _mapping(value: YamlValue) -> dict[str, YamlValue]:
    if not isinstance(value, dict):
        message = f"{_FILE}: a mapping is missing"
        raise TypeError(message)
    return value


def _text(fields: dict[str, YamlValue], key: str) -> str:
    return str(fields.get(key, ""))


def _texts(fields: dict[str, YamlValue], key: str) -> tuple[str, ...]:
    return tuple(str(item) for item in fields.get(key, ()))


def _number(fields: dict[str, YamlValue], key: str, default: float) -> float:
    return decimals.read(_text(fields, key)) if key in fields else default
