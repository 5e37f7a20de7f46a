"""Options that subcommands of `powerkit bench` share, in groups."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

__all__ = ["Conditions", "Outlet", "What"]


@dataclass(frozen=True, slots=True, kw_only=True)
class What:
    """Options that say what runs."""

    workload: Annotated[
        list[str] | None,
        typer.Option(
            help="A workload of the kit: numpy:matmul, onnx:FILE …; again for more."
        ),
    ] = None
    work: Annotated[
        int | None,
        typer.Option(min=1, help="Iterations of such a workload within one run."),
    ] = None
    items: Annotated[
        str | None,
        typer.Option(
            help="What {item} stands for: names with commas, or a file of names."
        ),
    ] = None
    manifests: Annotated[
        Path | None,
        typer.Option(
            help="Instead of --items: a manifest of a model, or a folder of them.",
            exists=True,
        ),
    ] = None
    name: Annotated[
        str | None, typer.Option(help="The experiment's name, and its command's.")
    ] = None
    experiment_description: Annotated[
        str | None, typer.Option(help="Free text, kept in every record.")
    ] = None
    models: Annotated[
        list[str] | None,
        typer.Option(
            help="The items to use: names or regular expressions, with commas."
        ),
    ] = None
    models_percentage: Annotated[
        float | None,
        typer.Option(help="The share of items to use: up to 1, or percent above that."),
    ] = None
    large_models: Annotated[
        bool,
        typer.Option("--large-models", help="Items whose name or manifest says large."),
    ] = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Conditions:
    """Options that say how it runs."""

    iterations: Annotated[
        int | None,
        typer.Option(
            "--iterations",
            "-n",
            min=1,
            help="Runs of each, or all of a distribution; by default 1.",
        ),
    ] = None
    warm_up: Annotated[
        int | None, typer.Option(min=0, help="Runs of each that do not count, before.")
    ] = None
    concurrent: Annotated[
        int | None,
        typer.Option(
            "--concurrent", "--concurrency", min=1, help="Runs that go on at once."
        ),
    ] = None
    plan: Annotated[
        Path | None,
        typer.Option(
            help="A load plan, which says what runs in which order.",
            exists=True,
            dir_okay=False,
        ),
    ] = None
    distribution: Annotated[
        str | None,
        typer.Option(
            help="Popularity of items: pareto, zipf …; none for each in turn."
        ),
    ] = None
    distribution_params: Annotated[
        str | None, typer.Option(help="Its parameters, with commas between.")
    ] = None
    max_per_item: Annotated[
        int | None,
        typer.Option(
            "--max-per-item", "--model-iterations", help="Runs of an item at most."
        ),
    ] = None
    seed: Annotated[
        int | None, typer.Option(min=0, help="Where random numbers start.")
    ] = None
    trims_compatible: Annotated[
        bool | None,
        typer.Option(
            "--trims-compatible/--no-trims-compatible", help="Draw items as TRIMS does."
        ),
    ] = None
    init: Annotated[
        str | None,
        typer.Option(help="lazy, eager or async: when workloads make ready."),
    ] = None
    eager: Annotated[
        bool | None,
        typer.Option("--eager/--lazy", help="Short for --init eager or lazy."),
    ] = None
    eager_async: Annotated[
        bool, typer.Option("--eager-async", help="Short for --init async.")
    ] = False
    time_limit: Annotated[
        float | None,
        typer.Option(
            min=0,
            help="Seconds a run has, 0 for no limit; the setting run_timeout_seconds.",
        ),
    ] = None
    env: Annotated[
        list[str] | None,
        typer.Option(help="NAME=VALUE for every run; again for more."),
    ] = None
    pin: Annotated[
        bool | None,
        typer.Option("--pin/--no-pin", help="Libraries compute in one thread."),
    ] = None
    monitor: Annotated[
        str | None,
        typer.Option(
            help="cpu, memory, process, rapl, nvml with commas, or all; else none."
        ),
    ] = None
    monitor_interval_ms: Annotated[
        int | None,
        typer.Option(
            min=1, help="From one sample to the next; the setting monitor_interval_ms."
        ),
    ] = None
    trace: Annotated[
        bool | None,
        typer.Option("--trace/--no-trace", help="Workloads write a trace."),
    ] = None
    postprocess: Annotated[
        bool | None,
        typer.Option(
            "--postprocess/--raw", help="Check, label and compress traces, or do not."
        ),
    ] = None
    service: Annotated[
        Path | None,
        typer.Option(
            help="The file of a service that runs meanwhile.",
            exists=True,
            dir_okay=False,
        ),
    ] = None
    visible_devices: Annotated[
        str | None, typer.Option(help="GPUs: numbers with commas, all, or empty.")
    ] = None
    trims_environment: Annotated[
        bool | None,
        typer.Option(
            "--trims-environment/--no-trims-environment",
            help="Set the variables of TRIMS's client too.",
        ),
    ] = None
    original: Annotated[
        bool,
        typer.Option("--original", help="With --trims-environment, UPR_ENABLED=false."),
    ] = False
    profile_memory: Annotated[
        bool | None,
        typer.Option(
            "--profile-memory/--no-profile-memory",
            help="With --trims-environment, UPR_ENABLE_MEMORY_PROFILE.",
        ),
    ] = None
    debug: Annotated[
        bool,
        typer.Option(
            "--debug", "-d", help="Have programs that use glog say everything."
        ),
    ] = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Outlet:
    """Options that say where results go."""

    profile_output: Annotated[
        str | None, typer.Option(help="The sub-folder; YYYY-MM-DD-HH by default.")
    ] = None
    profile_output_overwrite: Annotated[
        bool | None,
        typer.Option(
            "--profile-output-overwrite/--no-profile-output-overwrite",
            help="Delete the runs that lie there.",
        ),
    ] = None
    append: Annotated[
        bool, typer.Option("--append", help="Add to the runs that lie there.")
    ] = False
    profile_output_directory: Annotated[
        Path | None, typer.Option(help="The folder of all results.")
    ] = None
    host_label: Annotated[
        str | None,
        typer.Option(help="The folder of this machine's results; its name by default."),
    ] = None
    publish: Annotated[
        str | None, typer.Option(help="Copy the results to this URL at the end.")
    ] = None
    verbose: Annotated[
        bool, typer.Option("--verbose", "-v", help="A line for each run.")
    ] = False
