"""`powerkit workload scale`: large models at any input size, with their manifests."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from tools.commands.forms import Form, Format
from tools.options import Json

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tools.workloads.networks.catalogue import Architecture
    from tools.workloads.networks.layers import Network, Scale

__all__ = ["scale"]


def scale(
    arch: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME", help="A network; again for more. See --list for all."
        ),
    ] = None,
    size: Annotated[
        list[str] | None,
        typer.Option(
            "--input",
            metavar="WxH|N|xK",
            help="640x480 (width, height), 454 for a square, x2 or 227x2 for twice as"
            " wide and high (K up to 9), or as published; again for more.",
        ),
    ] = None,
    output: Annotated[
        Path,
        typer.Option("--output", "-o", file_okay=False, help="Folder of the models."),
    ] = Path(),
    classes: Annotated[
        int, typer.Option(min=2, max=1_000_000, help="How many outputs.")
    ] = 1000,
    width: Annotated[
        float,
        typer.Option(
            min=0.001, max=64, help="What numbers of channels are multiplied by."
        ),
    ] = 1.0,
    seed: Annotated[
        int, typer.Option(min=0, max=2**63 - 1, help="Equal seeds, equal bytes.")
    ] = 0,
    form: Format = Form.TABLE,
    *,
    trims: Annotated[
        bool,
        typer.Option(
            "--trims",
            help="All multiples that TRIMS's scripts make of a network, as --input.",
        ),
    ] = False,
    screens: Annotated[
        bool,
        typer.Option(
            "--screens", help="Sizes of screens, 640x480 to 2560x1440, as --input."
        ),
    ] = False,
    list_networks: Annotated[
        bool, typer.Option("--list", help="Print the networks, and write nothing.")
    ] = False,
    simulate: Annotated[
        bool,
        typer.Option(
            "--simulate", "--dry-run", help="Count parameters, and write nothing."
        ),
    ] = False,
    overwrite: Annotated[
        bool, typer.Option("--overwrite", help="Replace models that are there.")
    ] = False,
    json_output: Json = False,
) -> None:
    """Make published networks at sizes of their input as ONNX models, random weights.

    The first dense layer grows with the input, and so does the model. A model of NAME
    lies in DIR/NAME_1.0/model.onnx; weights over 2 GiB lie beside it. DIR/NAME_1.0.yaml
    is its manifest: `powerkit assets verify --manifests DIR --directory DIR --large`.
    Names have height and width, as TRIMS's do: large_alexnet_480x640 takes 640x480.
    """
    from registry.gate.progress import progress_line
    from tools.commands.tables import print_table
    from tools.commands.workload_models import Place, refuse, write_model
    from tools.workloads.networks.catalogue import ARCHITECTURES
    from tools.workloads.networks.layers import Scale

    form = Form.JSON if json_output else form
    if list_networks:
        networks = [_known(one) for one in ARCHITECTURES.values()]
        about = {"schema": "workload-networks/1", "networks": networks}
        print_table(networks, form, about)
        return
    if not arch:
        raise typer.BadParameter("--arch NAME is missing; --list names all")
    scaled = Scale(width, classes)
    wanted = _wanted(arch, size or [], scaled, trims=trims, screens=screens)
    places = [Place(network, output, scaled, seed) for network in wanted]
    if not simulate:
        refuse(places, overwrite=overwrite)
    rows = []
    with progress_line(hidden=form is Form.JSON) as progress:
        for place in places:
            row = place.counted()
            if not simulate:
                row |= write_model(place, overwrite=overwrite, progress=progress)
            rows.append(row)
    document = {"schema": "workload-models/1", "seed": seed, "models": rows}
    if form is Form.TABLE and not simulate:
        _print_written(rows)
    else:
        print_table(rows, form, document)


def _print_written(rows: Sequence[dict[str, Any]]) -> None:
    """Print what was written, digests as sha256sum does."""
    for row in rows:
        typer.echo(
            f"{row['model']}: {row['parameters']} parameters, {row['bytes']} bytes,"
            f" {row['manifest']}"
        )
        typer.echo(f"{row['sha256']}  {row['path']}")
        if row["data_sha256"]:
            typer.echo(f"{row['data_sha256']}  {row['path']}.data")


def _known(one: Architecture) -> dict[str, Any]:
    return {
        "network": one.name,
        "input": str(one.side) if one.row else f"{one.side}x{one.side}",
        "parameters": one.parameters,
        "counted by": one.source,
        "sizes of TRIMS": f"{one.trims_side}x1 to x{one.multiples}"
        + (", screens" if one.screens else "")
        if one.multiples
        else "",
    }


def _wanted(
    names: Sequence[str],
    sizes: Sequence[str],
    scaled: Scale,
    *,
    trims: bool,
    screens: bool,
) -> list[Network]:
    """Put all networks together; nothing is written unless all can be.

    Raises:
        RegistryError: W020 to W022, with every problem.
    """
    from registry.documents.findings import Finding, RegistryError
    from tools.workloads.networks.catalogue import (
        architecture,
        read_input,
        trims_inputs,
    )

    found: dict[tuple[str, tuple[int, ...]], Network] = {}
    problems: list[Finding] = []
    for name in names:
        try:
            network = architecture(name)
        except RegistryError as error:
            problems += error.findings
            continue
        texts = [*sizes]
        texts += trims_inputs(network, screens=False) if trims else []
        texts += trims_inputs(network, screens=True) if screens else []
        for text in texts or [""]:
            try:
                shape = read_input(text, network)
                found[name, shape] = network.build(shape, scaled)
            except RegistryError as error:
                problems += error.findings
    if problems:
        raise RegistryError(problems)
    return list(found.values())
