"""From an experiment to its records: the order of runs, the folder, the service.

launch = prepare(spec)
runs = perform_launch(launch, place, watch=lambda run, done, total: None)
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Final

from registry.documents.findings import RegistryError
from tools.experiments.experiment import Watch, perform_all
from tools.experiments.folders import Reuse, free_name, open_folder
from tools.experiments.loads import load_plan, ordered
from tools.experiments.occupancy import in_use
from tools.experiments.orders import Order, Target, targets
from tools.experiments.performing import Bench
from tools.experiments.record import Run
from tools.experiments.sampling import absent_sources
from tools.experiments.spec import Spec
from tools.load.plan import write_plan
from tools.load.requests import Plan
from tools.services.running import Service
from tools.services.specification import read_service
from tools.settings.resolved import setting

__all__ = ["Launch", "Place", "perform_launch", "prepare", "service_of"]

PLAN: Final = "plan.jsonl"
"""The load plan that an experiment followed, in its folder."""

Parameter = str | int | float | bool | None


@dataclass(frozen=True, slots=True)
class Launch:
    """An experiment with everything that it runs, before anything starts.

    Attributes:
        spec: the experiment.
        orders: its runs in order.
        plan: the load plan that gave the order, if one did.
        parameters: conditions by name, kept in every record.
        comparison: a name of its own if variants are compared.
    """

    spec: Spec
    orders: Sequence[Order]
    plan: Plan | None = None
    parameters: Mapping[str, Parameter] = field(default_factory=dict)
    comparison: str | None = None

    def document(self) -> dict[str, Any]:
        """Return the runs to be made as a JSON document, planned-runs/1."""
        plan = None
        if self.plan is not None:
            plan = {
                "closed": self.plan.closed,
                "items": [
                    {"name": one.name, "weight": one.weight} for one in self.plan.items
                ],
            }
        return {
            "schema": "planned-runs/1",
            "experiment": self.spec.name,
            "parameters": dict(self.parameters),
            "load": plan,
            "runs": [order.document() for order in self.orders],
        }


@dataclass(frozen=True, slots=True)
class Place:
    """Where results go.

    Attributes:
        folder: the experiment's folder.
        base: the folder of all results.
        reuse: what to do if runs lie there already.
    """

    folder: Path
    base: Path
    reuse: Reuse


def prepare(spec: Spec, orders: Sequence[Order] | None = None) -> Launch:
    """Find out what an experiment runs, in which order.

    Args:
        spec: the experiment.
        orders: its runs, if something else decides them.

    Raises:
        RegistryError: Q codes, B031: its items or its plan do not fit.
    """
    parameters = conditions(spec)
    if orders is not None:
        return Launch(spec, orders, None, parameters)
    chosen: list[Target] = targets(spec)
    plan = load_plan(spec, chosen)
    return Launch(spec, ordered(spec, chosen, plan), plan, parameters)


def conditions(spec: Spec) -> dict[str, Parameter]:
    """Return what results of different experiments are compared by."""
    load = spec.load
    return {
        "concurrency": spec.concurrency,
        "iterations": spec.iterations,
        "models_percentage": spec.models_percentage,
        "distribution": "none" if load is None else load.distribution,
        "distribution_params": ""
        if load is None
        else ",".join(f"{one:g}" for one in load.params),
    }


def service_of(
    spec: Spec, folder: Path, environment: Mapping[str, str] | None = None
) -> Service | None:
    """Describe the service of an experiment; a `with` block starts and ends it.

    Args:
        spec: the experiment.
        folder: where the service's log and trace go.
        environment: further variables of the service.

    Raises:
        RegistryError: F codes, its file is refused.
    """
    if spec.service is None:
        return None
    told = dict(environment or {})
    if spec.visible_devices not in {
        None,
        "all",
    }:  # by option: else it takes the setting
        told = {"CUDA_VISIBLE_DEVICES": spec.visible_devices or ""} | told
    return Service(
        read_service(Path(spec.service)),
        log=free_name(folder, "service.log"),
        trace=free_name(folder, "service-trace.json") if spec.trace else None,
        environment=told,
    )


def perform_launch(
    launch: Launch,
    place: Place,
    watch: Watch,
    service_environment: Mapping[str, str] | None = None,
    running: Service | None = None,
) -> list[Run]:
    """Make all runs of an experiment, with its service if it has one.

    Args:
        launch: the experiment.
        place: where results go.
        watch: told of each run that ended.
        service_environment: further variables of the service.
        running: a service that runs already, and goes on; else it is started and ended.

    Raises:
        RegistryError: nothing ran: a monitor is not here (O001), the folder cannot be
            used (B011 to B014), the service does not start (F codes). Or F021: all ran,
            but the service had ended before.
    """
    spec = launch.spec
    devices = setting("visible_devices", spec.visible_devices)
    if absent := absent_sources(spec.monitors, devices):
        raise RegistryError(absent)
    if running is None:  # its file is refused before anything is deleted
        service_of(spec, place.folder, service_environment)
    about = {"name": spec.name, "description": spec.description}
    open_folder(place.folder, place.base, place.reuse, about)
    if launch.plan is not None:
        write_plan(launch.plan, free_name(place.folder, PLAN))
    bench = Bench(
        spec=spec,
        folder=place.folder,
        time_limit=setting("run_timeout_seconds", spec.time_limit_seconds),
        devices=devices,
        interval_ms=setting("monitor_interval_ms", spec.monitor_interval_ms),
        parameters=launch.parameters,
        comparison=launch.comparison,
    )
    with ExitStack() as stack:
        stack.enter_context(in_use(place.folder))
        service = running
        if service is None:
            service = service_of(spec, place.folder, service_environment)
            if service is not None:
                stack.enter_context(service)
        if service is None:
            return perform_all(launch.orders, bench, watch)
        told = {k: v for k, v in service.info().items() if k not in {"log", "ended"}}
        runs = perform_all(launch.orders, replace(bench, service=told), watch)
        service.check()
        return runs
