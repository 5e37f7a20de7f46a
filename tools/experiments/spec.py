"""What an experiment runs, and how: a strict YAML document of the form experiment/1.

    name: matmul
    workloads:
      - name: numpy
        builtin: numpy:matmul
      - name: mine
        command: ./predict --model {item}
        items: [alexnet, vgg16]
    iterations: 5
    monitors: [cpu, memory]

Options of the command line replace fields of the document, and so do rows of a matrix.
"""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Final, Literal, Self

from pydantic import BeforeValidator, Field, WithJsonSchema, model_validator
from pydantic_core import PydanticCustomError

from registry.documents import limits, strict_yaml
from registry.documents.findings import Severity, code
from registry.documents.strict_yaml import Location
from registry.documents.validation import (
    Document,
    DocumentCodes,
    contradictions,
    validate,
)
from tools.experiments.files import read_bytes
from tools.experiments.record import Init

__all__ = [
    "ITEM",
    "NO_VARIANT",
    "Item",
    "Load",
    "Spec",
    "Variant",
    "Workload",
    "changed",
    "read_spec",
    "spec_of",
]

ITEM: Final = "{item}"
"""What stands for the item in a command."""
_KEPT: Final = f"{{{ITEM}}}"
"""What leaves those very characters to the command."""
NO_VARIANT: Final = "none"
"""The name of the variant of an experiment that has no variants."""

CODES = DocumentCodes(
    unknown=code(
        "B020",
        Severity.ERROR,
        "An experiment holds a field that no experiment has.",
        "Remove the field; `powerkit bench schema` prints all fields.",
    ),
    missing=code(
        "B021",
        Severity.ERROR,
        "An experiment lacks a field.",
        "Add the field; `powerkit bench schema` prints all fields.",
    ),
    value=code(
        "B022",
        Severity.ERROR,
        "A value in an experiment is not allowed.",
        "Use the type and range that `powerkit bench schema` prints.",
    ),
    contradiction=code(
        "B023",
        Severity.ERROR,
        "Fields of an experiment contradict each other.",
        "Mend the one that is wrong.",
    ),
)


def _words(value: object) -> object:
    """Split a command that is given as one text, as a shell would, without one."""
    if not isinstance(value, str):
        return value
    try:
        return shlex.split(value)
    except ValueError as error:
        what = "it is no command line ({why})"
        raise PydanticCustomError("command", what, {"why": str(error)}) from None


def _item(value: object) -> object:
    return {"name": value} if isinstance(value, str) else value


def _listed(value: object) -> object:
    """Take one value for a list of one."""
    return [value] if isinstance(value, str | int | float) else value


Name = Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9 ._:+@=,/-]{0,149}$")]
Label = Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._+-]{0,63}$")]
Variable = Annotated[str, Field(pattern=r"^[A-Za-z_][A-Za-z0-9_]{0,127}$")]
Word = Annotated[str, Field(max_length=32_768, pattern=r"^[^\x00]*$")]
Value = Annotated[Word, WithJsonSchema({"type": ["string", "number", "boolean"]})]
Environment = dict[Variable, Value]
Command = Annotated[
    tuple[Word, ...],
    Field(min_length=1, max_length=4096),
    BeforeValidator(_words, json_schema_input_type=str | list[str]),
]
_LISTED: Final = BeforeValidator(_listed, json_schema_input_type=str | list[str])
Fraction = Annotated[float, Field(gt=0, le=100)]
Times = Annotated[int, Field(ge=1, le=1_000_000)]


class Item(Document):
    """A model or data set that a workload runs on.

    Attributes:
        name: What stands for ``{item}`` in the command.
        parameters: Values for further placeholders, ``{NAME}``; TRIMS's binaries get
            channels, height, width, mean_r, mean_g and mean_b from here.
        bytes: Its size, for plans that caches are simulated with.
    """

    name: Name
    parameters: dict[Label, Value] = Field(default_factory=dict)
    bytes: Annotated[int, Field(ge=0)] | None = None


class Workload(Document):
    """A command, or a workload that comes with the kit.

    Attributes:
        name: What records call it.
        command: The program and its arguments: a list, or a text that is split as a
            shell would; no shell is ever started.
        builtin: Instead of a command, ``numpy:matmul`` and the like.
        env: Variables for it alone.
        cwd: The folder that it starts in, relative to the document.
        items: What it runs on, one after the other.
        work: How often a workload of the kit repeats its work within one run.
    """

    name: Name
    command: Command | None = None
    builtin: Annotated[str, Field(min_length=1, max_length=4096)] | None = None
    env: Environment = Field(default_factory=dict)
    cwd: str | None = None
    items: tuple[
        Annotated[Item, BeforeValidator(_item, json_schema_input_type=str | Item)], ...
    ] = ()
    work: Times = 1


class Variant(Document):
    """How one variant differs: what is given replaces or adds to the workload's own."""

    command: Command | None = None
    env: Environment = Field(default_factory=dict)
    init: Init | None = None


class Load(Document):
    """Which item runs when.

    Attributes:
        plan: A file of `powerkit load plan`; its order of items is kept.
        distribution: The popularity of items: TRIMS's names, or what `powerkit load
            plan --popularity` takes.
        params: Its parameters, in TRIMS's order.
        seed: Where random numbers start.
        max_per_item: How often an item runs at most.
        trims_compatible: Sample as TRIMS does: a weight for each item is drawn.
    """

    plan: str | None = None
    distribution: Annotated[str, Field(max_length=64)] = "none"
    params: Annotated[
        tuple[float, ...],
        Field(max_length=8),
        BeforeValidator(_listed, json_schema_input_type=float | list[float]),
    ] = ()
    seed: Annotated[int, Field(ge=0, lt=2**53)] = 0
    max_per_item: Times | None = None
    trims_compatible: bool = False


class Spec(Document):
    """An experiment.

    Attributes:
        schema_id: The version of this format; ``schema`` in the document.
        name: What records call the experiment.
        description: Free text, kept in every record.
        workloads: What runs.
        variants: Differences by name, for comparisons.
        iterations: Runs of each workload and item, or all draws of a load.
        warm_up: Runs of each before that, which statistics leave out.
        init: When workloads initialise.
        concurrency: How many runs go on at once.
        time_limit_seconds: When a run is ended; 0 for never, absent for the setting.
        env: Variables for all workloads.
        pin: Whether the usual libraries are told to use one thread.
        monitors: What is sampled meanwhile.
        monitor_interval_ms: How often; absent for the setting.
        trace: Whether workloads write a trace.
        postprocess: Whether traces are checked, labelled and compressed.
        service: A file that describes the service under test.
        models: Names or regular expressions of the items to use.
        models_percentage: The share of items to use, by name; above 1 it is percent.
        load: Which item runs when; absent for each in turn.
        visible_devices: GPUs that workloads see; absent for the setting.
        trims_environment: Whether TRIMS's variables are set as well.
        trims_enabled: The value of UPR_ENABLED.
        profile_memory: The value of UPR_ENABLE_MEMORY_PROFILE.
        debug: Whether GLOG_* variables ask for all messages.
    """

    schema_id: Literal["experiment/1"] = Field(default="experiment/1", alias="schema")
    name: Name
    description: Annotated[str, Field(max_length=4096)] = ""
    workloads: Annotated[tuple[Workload, ...], Field(max_length=1000)]
    variants: dict[Label, Variant] = Field(default_factory=dict)
    iterations: Times = 1
    warm_up: Annotated[int, Field(ge=0, le=10_000)] = 0
    init: Init = Init.EAGER
    concurrency: Annotated[int, Field(ge=1, le=1024)] = 1
    time_limit_seconds: Annotated[float, Field(ge=0, le=10**7)] | None = None
    env: Environment = Field(default_factory=dict)
    pin: bool = True
    monitors: Annotated[tuple[Label, ...], _LISTED] = ()
    monitor_interval_ms: Annotated[int, Field(ge=1, le=3_600_000)] | None = None
    trace: bool = False
    postprocess: bool = True
    service: str | None = None
    models: Annotated[tuple[str, ...], _LISTED] = ()
    models_percentage: Fraction = 1.0
    load: Load | None = None
    visible_devices: Annotated[str, Field(max_length=1024)] | None = None
    trims_environment: bool = False
    trims_enabled: bool = True
    profile_memory: bool = True
    debug: bool = False

    @model_validator(mode="after")
    def _agrees(self) -> Self:
        problems = list(_disagreements(self))
        if problems:
            raise contradictions(problems)
        return self


def _disagreements(spec: Spec) -> list[tuple[Location, str]]:
    """Find workloads that cannot be told apart or cannot run."""
    found: list[tuple[Location, str]] = []
    if not spec.workloads:
        found.append((("workloads",), "there must be one at least"))
    seen: set[str] = set()
    for number, one in enumerate(spec.workloads):
        place: Location = ("workloads", number)
        if one.name in seen:
            found.append(((*place, "name"), "another workload has this name"))
        seen.add(one.name)
        commands = [v.command for v in spec.variants.values()]
        if one.command is not None and one.builtin is not None:
            found.append((place, "command and builtin exclude each other"))
        if one.command is None and one.builtin is None and None in (commands or [None]):
            found.append((place, "it needs a command or a builtin"))
        words = [*(one.command or ()), one.builtin or ""]
        if any(ITEM in word.replace(_KEPT, "") for word in words) and not one.items:
            found.append((place, "the command holds {item}, but there are no items"))
        names = [item.name for item in one.items]
        if len(set(names)) != len(names):
            found.append(((*place, "items"), "an item is listed twice"))
    if spec.load is not None and spec.load.plan and spec.load.distribution != "none":
        found.append((("load",), "a plan and a distribution exclude each other"))
    return found


def read_spec(path: Path) -> Spec:
    """Read an experiment; paths in it become absolute.

    Raises:
        RegistryError: B001, Y001 to Y008, B020 to B023, with every problem.
    """
    data = read_bytes(path, limits.YAML_BYTES)
    document = strict_yaml.read_yaml(data, str(path), comments=True)
    spec = spec_of(document.value, str(path), document.lines)
    return _placed(spec, path.resolve().parent)


def spec_of(
    value: Mapping[str, Any], path: str, lines: Mapping[Location, int] | None = None
) -> Spec:
    """Check an experiment that was read or made.

    Args:
        value: fields by name.
        path: where they are from, for findings.
        lines: where each value stands.

    Raises:
        RegistryError: B020 to B023.
    """
    return validate(Spec, dict(value), path, CODES, lines)


def changed(spec: Spec, path: str, changes: Mapping[str, Any]) -> Spec:
    """Replace fields of an experiment, and check it again.

    Args:
        spec: the experiment.
        path: what asks for the changes, for findings.
        changes: new values by field; None leaves the field as it is.

    Raises:
        RegistryError: B020 to B023.
    """
    wanted = {name: value for name, value in changes.items() if value is not None}
    if not wanted:
        return spec
    value = spec.model_dump(mode="json", by_alias=True, exclude_unset=True)
    return spec_of(value | wanted, path)


def _placed(spec: Spec, folder: Path) -> Spec:
    """Make the paths of a document absolute."""
    workloads = tuple(
        one.model_copy(update={"cwd": str(folder / one.cwd)}) if one.cwd else one
        for one in spec.workloads
    )
    update: dict[str, Any] = {"workloads": workloads}
    if spec.service:
        update["service"] = str(folder / spec.service)
    if spec.load is not None and spec.load.plan:
        plan = str(folder / spec.load.plan)
        update["load"] = spec.load.model_copy(update={"plan": plan})
    return spec.model_copy(update=update)
