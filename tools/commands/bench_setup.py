"""From the options of `powerkit bench` to an experiment and a place for its results."""

from __future__ import annotations

import platform
import re
import shlex
from dataclasses import asdict
from pathlib import Path, PurePath
from typing import TYPE_CHECKING, Any, Final

import typer

from tools.commands.bench_items import items_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tools.commands.bench_options import Conditions, Outlet, What
    from tools.experiments.folders import Reuse
    from tools.experiments.launching import Place
    from tools.experiments.spec import Spec

__all__ = ["base_spec", "conditioned", "place_of", "variables"]

_SHOWN: Final = "the command line"
_PLAIN: Final = (
    "iterations",
    "warm_up",
    "pin",
    "trace",
    "postprocess",
    "monitor_interval_ms",
    "visible_devices",
    "trims_environment",
    "profile_memory",
)


def base_spec(spec: Path | None, what: What, command: Sequence[str] | None) -> Spec:
    """Read the experiment's file, or make an experiment of what is named instead.

    Raises:
        typer.BadParameter: there is nothing to run, or twice.
        RegistryError: B and Y codes, the file or a name is refused; Q004, the items.
    """
    from tools.experiments.spec import changed, read_spec, spec_of

    if spec is not None:
        if what.workload or command or what.items or what.manifests:
            raise typer.BadParameter(
                "give either a SPEC, or workloads, items and a command"
            )
        return _described(changed(read_spec(spec), _SHOWN, _of_what(what)))
    workloads = _workloads(what, command)
    if not workloads:
        raise typer.BadParameter("give a SPEC, --workload or a command after --")
    name = what.name or (workloads[0]["name"] if len(workloads) == 1 else "bench")
    said = {key: value for key, value in _of_what(what).items() if value is not None}
    return _described(spec_of({"name": name, "workloads": workloads} | said, _SHOWN))


def _described(spec: Spec) -> Spec:
    """Give it the description of the settings if it has none of its own."""
    from tools.experiments.spec import changed
    from tools.settings.resolved import setting

    if spec.description:
        return spec
    text = setting("experiment_description", None)
    return changed(spec, "experiment_description", {"description": text or None})


def _of_what(what: What) -> dict[str, Any]:
    models = list(what.models or ())
    if what.large_models and what.manifests is None:
        models.append("^large_")
    return {
        "name": what.name,
        "description": what.experiment_description,
        "models": models or None,
        "models_percentage": what.models_percentage,
    }


def _workloads(what: What, command: Sequence[str] | None) -> list[dict[str, Any]]:
    from tools.experiments.spec import ITEM

    items = items_of(what.items, what.manifests, large=what.large_models)
    found: list[dict[str, Any]] = []
    for builtin in what.workload or ():
        name = _named(builtin.replace(ITEM, "").rstrip(":/"), whole=True)
        takes = ITEM in builtin
        own = {"items": items} if takes and items else {}
        found.append({"name": name, "builtin": builtin, "work": what.work or 1} | own)
    client, folder = (list(command), None) if command else _client(found)
    if client:
        name = what.name or _named(client[0])
        own = {"items": items} if items else {}
        place = {} if folder is None else {"cwd": folder}
        found.append({"name": name, "command": client} | own | place)
    return found


def _named(word: str, *, whole: bool = False) -> str:
    """Make a workload's name of a program, or of what the kit calls a workload."""
    text = word if whole else PurePath(word).name
    name = re.sub(r"[^A-Za-z0-9 ._:+@=,/-]", "-", text).lstrip(" ._:+@=,/-")
    return name[:100] or "command"


def _client(others: Sequence[object]) -> tuple[list[str], str | None]:
    """Return the client of the settings, and where it runs, if nothing else runs."""
    from tools.settings.resolved import setting

    words = [] if others else shlex.split(setting("client_run_command", None))
    if not words:
        return [], None
    return words, str(setting("client_directory", None).expanduser().resolve())


def conditioned(spec: Spec, conditions: Conditions) -> Spec:
    """Replace what the options say otherwise.

    Raises:
        typer.BadParameter: options contradict each other.
        RegistryError: B020 to B023, a value is not allowed.
    """
    from tools.experiments.spec import changed

    said = asdict(conditions)
    changes: dict[str, Any] = {name: said[name] for name in _PLAIN}
    changes["concurrency"] = conditions.concurrent
    changes["time_limit_seconds"] = conditions.time_limit
    changes["init"] = _init(conditions)
    changes["load"] = _load(spec, conditions)
    changes["debug"] = True if conditions.debug else None
    changes["trims_enabled"] = False if conditions.original else None
    if conditions.env:
        changes["env"] = spec.env | variables(conditions.env)
    if conditions.monitor is not None:
        changes["monitors"] = _parts(conditions.monitor)
    if conditions.service is not None:
        changes["service"] = str(conditions.service.resolve())
    return changed(spec, _SHOWN, changes)


def _init(conditions: Conditions) -> str | None:
    ways = {
        conditions.init,
        "async" if conditions.eager_async else None,
        {True: "eager", False: "lazy", None: None}[conditions.eager],
    } - {None}
    # TRIMS's --eager is on by default, so with --eager-async the latter decides.
    if conditions.eager_async and conditions.eager is not False:
        ways.discard("eager")
    if len(ways) > 1:
        raise typer.BadParameter("--init, --eager, --lazy and --eager-async differ")
    return next(iter(ways), None)


def _load(spec: Spec, conditions: Conditions) -> dict[str, Any] | None:
    given: dict[str, Any] = {
        "plan": None if conditions.plan is None else str(conditions.plan.resolve()),
        "distribution": conditions.distribution,
        "max_per_item": conditions.max_per_item,
        "seed": conditions.seed,
        "trims_compatible": conditions.trims_compatible,
    }
    if conditions.distribution_params is not None:
        given["params"] = _parts(conditions.distribution_params)
    given = {name: value for name, value in given.items() if value is not None}
    if not given:
        return None
    before = {} if spec.load is None else spec.load.model_dump(exclude_unset=True)
    return before | given


def _parts(text: str) -> list[str]:
    return [part.strip() for part in text.split(",") if part.strip()]


def variables(texts: Sequence[str]) -> dict[str, str]:
    """Read NAME=VALUE pairs.

    Raises:
        typer.BadParameter: a text is no such pair.
    """
    found: dict[str, str] = {}
    for text in texts:
        name, equals, value = text.partition("=")
        if not equals or not name:
            raise typer.BadParameter(f"{text!r} is not of the form NAME=VALUE")
        found[name] = value
    return found


def place_of(outlet: Outlet, name: str | None = None) -> Place:
    """Find where results go, and what to do with those that lie there.

    Args:
        outlet: the options.
        name: the sub-folder where no option or setting names one.

    Raises:
        typer.BadParameter: options contradict each other.
        RegistryError: B010, the sub-folder's name is refused; Z codes.
    """
    from tools.experiments.folders import experiment_folder, host_label
    from tools.experiments.launching import Place
    from tools.settings.resolved import setting

    base = setting("profile_output_directory", outlet.profile_output_directory)
    chosen = setting("profile_output", outlet.profile_output)
    label = host_label(outlet.host_label or platform.node())
    folder = experiment_folder(base, label, chosen or name)
    return Place(folder, base, _reuse(outlet, named=bool(chosen or name)))


def _reuse(outlet: Outlet, *, named: bool) -> Reuse:
    from tools.experiments.folders import Reuse
    from tools.settings.resolved import setting

    overwrite = setting("profile_output_overwrite", outlet.profile_output_overwrite)
    if overwrite and outlet.append:
        raise typer.BadParameter("--append and --profile-output-overwrite differ")
    # A folder that nobody named is that of the hour: TRIMS overwrites only named ones.
    if outlet.append or not named:
        return Reuse.APPEND
    return Reuse.OVERWRITE if overwrite else Reuse.REFUSE
