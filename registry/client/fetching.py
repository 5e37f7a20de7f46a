"""Fetch the right model for a server, with Kepler's settings and the expected error."""

from __future__ import annotations

import contextlib
import os
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from registry.client.choice import Server, choose, server_by_number, server_by_spec
from registry.client.opening import Release, open_release
from registry.client.settings import Settings, baked_in_name, for_file, for_url
from registry.documents.findings import RegistryError, Severity, code, finding
from registry.modelling.model import parse_id, predict_rows
from registry.publish.assets import flat_name
from registry.publish.kepler import go_reader
from registry.publish.kepler.readback import read_components
from registry.publish.kepler.vocabulary import COMPONENTS
from registry.publish.kepler.weights import misreadings

if TYPE_CHECKING:
    from pathlib import Path

    from registry.documents.findings import Finding
    from registry.publish.index import ModelEntry

__all__ = ["LOADS", "Fetched", "Offer", "fetch"]

LOADS: Final = (0, 50, 100)
"""Loads, in per cent of all logical processors, at which predictions are shown."""

ONE_OF = code(
    "R055",
    Severity.ERROR,
    "It is not said which server a model is wanted for.",
    "Give either `--spec FILE` or `--class N`; class 0 is the generic one.",
)
WRONG_MODEL = code(
    "R056",
    Severity.ERROR,
    "Kepler's estimator cannot use models of dynamic power.",
    "It loads the node's model for processes, too; leave out `--estimator`.",
)
UNUSABLE = code(
    "R057",
    Severity.ERROR,
    "A weight file is one that Kepler Go would misread.",
    "Do not use it, and report the release to its maintainers.",
    "P1",
    "P3",
)
NOT_WRITTEN = code(
    "R058",
    Severity.ERROR,
    "A file cannot be written.",
    "Name a folder in which you may write.",
)

_CPU_TIME: Final = "bpf_cpu_time_ms"


@dataclass(frozen=True, slots=True)
class Offer:
    """A model for one use, and how to use it.

    Attributes:
        model: Its entry in the index, with the held-out error.
        settings: What to configure in Kepler.
        file: The verified file that was written, or None.
        watts: Predicted power by load in per cent and component; empty if the number
            of processors is unknown or the model needs hardware counters.
    """

    model: ModelEntry
    settings: Settings
    file: Path | None
    watts: dict[int, dict[str, float]]


@dataclass(frozen=True, slots=True)
class Fetched:
    """What `fetch` found.

    Attributes:
        release: The release, checked.
        server: The server and its class.
        offers: A model for each energy source that the release serves.
    """

    release: Release
    server: Server
    offers: tuple[Offer, ...]


def fetch(
    place: str,
    *,
    spec: Path | None = None,
    number: int | None = None,
    source: str | None = None,
    output: str = "AbsPower",
    estimator: bool = False,
    out: Path | None = None,
    state: Path | None = None,
    now: int | None = None,
    digest: str | None = None,
) -> Fetched:
    """Check a release and choose the models for a server.

    Args:
        place: As in `open_release`.
        spec: The hardware spec of the server; or
        number: the number of its class.
        source: ``acpi`` or ``rapl-sysfs``; by default all that the release serves.
        output: ``AbsPower`` for nodes, ``DynPower`` for processes.
        estimator: For Kepler's Python estimator instead of Kepler Go.
        out: Write the verified files into this folder.
        state: As in `open_release`.
        now: As in `open_release`.
        digest: As in `open_release`.

    Raises:
        RegistryError: The release is refused, or there is no model.

    """
    if (spec is None) == (number is None):
        raise RegistryError(finding(ONE_OF, "--spec", "one of both is needed"))
    if estimator and output != "AbsPower":
        raise RegistryError(finding(WRONG_MODEL, "--estimator", f"with {output}"))
    release = open_release(place, state=state, now=now, digest=digest)
    index = release.index
    if spec is not None:
        server = server_by_spec(index, spec)
    else:
        server = server_by_number(index, number or 0)
    offers = []
    problems: list[Finding] = []
    for wanted in COMPONENTS if source is None else (source,):
        try:
            model = choose(index, server, wanted, output, estimator=estimator)
        except RegistryError as error:
            problems.extend(error.findings)
        else:
            offers.append(_offer(release, server, model, out, estimator=estimator))
    if not offers:
        raise RegistryError(problems)
    return Fetched(release, server, tuple(offers))


def _offer(
    release: Release,
    server: Server,
    model: ModelEntry,
    out: Path | None,
    *,
    estimator: bool,
) -> Offer:
    identity = parse_id(model.id)
    path = flat_name(identity, "zip" if estimator else "json")
    data = release.read(path)
    if not estimator and (problems := misreadings(data, identity.source)):
        raise RegistryError([finding(UNUSABLE, path, what) for what in problems])
    watts = _predict(model, data, server.logical_cpus)
    url = release.origin.url(path)
    file = None
    if out is not None:
        file = _write(out, path if estimator else baked_in_name(identity), data)
    if estimator:
        folder = release.origin.folder
        local = file or (None if folder is None else folder / path)
        address = local.resolve().as_uri() if local is not None else str(url)
        latest = None if local is not None else release.origin.latest_url(path)
        settings = for_url(identity, address, estimator=True, latest=latest)
    elif file is not None:
        settings = for_file(identity, file)
    elif url is not None:
        latest = release.origin.latest_url(path)
        settings = for_url(identity, url, estimator=False, latest=latest)
    else:
        steps = ("Run again with `--out DIR`: Kepler Go reads no file:// address.",)
        settings = Settings((), steps)
    return Offer(model, settings, file, watts)


def _predict(
    model: ModelEntry, data: bytes, processors: int | None
) -> dict[int, dict[str, float]]:
    """Predict power at some loads exactly as Kepler will compute it."""
    identity = parse_id(model.id)
    if processors is None or _CPU_TIME not in model.features:
        return {}
    if identity.group not in {"BPFOnly", "BPFIRQ"}:  # counters are not known from load
        return {}
    rows = {load: {_CPU_TIME: load * 10.0 * processors} for load in LOADS}
    if data[:1] == b"{":
        weights = go_reader.load(data)
        return {
            load: {
                name: go_reader.watts(weights, name, row) for name in weights.components
            }
            for load, row in rows.items()
        }
    import numpy as np  # noqa: PLC0415 - only for trees

    parts = read_components(identity, data)
    found: dict[int, dict[str, float]] = {load: {} for load in LOADS}
    columns = {name: np.zeros(len(LOADS)) for name in model.features}
    columns[_CPU_TIME] = np.array([row[_CPU_TIME] for row in rows.values()])
    for name, part in parts.items():
        powers = predict_rows(part, columns, len(LOADS))
        for load, power in zip(LOADS, powers, strict=True):
            found[load][name] = max(float(power), 0.0)
    return found


def _write(out: Path, name: str, data: bytes) -> Path:
    target = out / name
    fresh = out / f".{name}.{os.getpid()}"
    try:
        out.mkdir(parents=True, exist_ok=True)
        fresh.write_bytes(data)
        fresh.replace(target)
    except OSError as error:
        with contextlib.suppress(OSError):
            fresh.unlink()
        what = f"{error.strerror}"
        raise RegistryError(finding(NOT_WRITTEN, f"{out.name}/{name}", what)) from None
    return target
