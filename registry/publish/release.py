"""Build a release folder: fit what changed, take over the rest, write it all at once.

A release is a function of a commit. It holds no time of building, no host and no path,
and nothing tells whether a model was fitted or taken over from an earlier release.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from registry.documents.findings import RegistryError
from registry.modelling.plan import plan, read_catalogue
from registry.publish.header import header
from registry.publish.integrity import tag_of
from registry.publish.previous import open_previous
from registry.publish.source import open_source
from registry.publish.staging import Staging, recover

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from registry.modelling.plan import Catalogue, Plan, PreviousRelease, Reason
    from registry.publish.index import Index
    from registry.publish.previous import Previous
    from registry.publish.source import Source

    Progress = Callable[[str], None]

__all__ = ["BuildResult", "build_from", "build_release", "plan_release"]


@dataclass(frozen=True, slots=True)
class BuildResult:
    """What a build did.

    Attributes:
        changed: False if the folder already was the release of these inputs.
        out: The release folder.
        tag: The name under which channels publish it.
        index: Its index.
        fitted: How many models were fitted.
        reused: How many were taken over from the earlier release.
        dropped: Ids of models of the earlier release that are gone.
        reasons: Why models were fitted or dropped.
    """

    changed: bool
    out: Path
    tag: str
    index: Index
    fitted: int
    reused: int
    dropped: tuple[str, ...]
    reasons: tuple[Reason, ...]

    @property
    def published(self) -> int:
        """How many models the release offers."""
        return sum(model.status == "published" for model in self.index.models)

    @property
    def withheld(self) -> int:
        """How many models were fitted and found no better than simpler ones."""
        return len(self.index.models) - self.published


def build_release(
    root: Path,
    out: Path,
    *,
    rev: str | None = None,
    since: Path | None = None,
    jobs: int = 1,
    progress: Progress | None = None,
) -> BuildResult:
    """Build the release of a registry.

    Args:
        root: A checkout of the registry, or any folder of that layout.
        out: The release folder, which appears or changes only when it is complete.
        rev: A git revision; without one, the work tree.
        since: An earlier release whose unchanged models are taken over; by default
            what is in ``out``.
        jobs: Processes that fit models; the bytes do not depend on it.
        progress: Called with lines for people.

    Raises:
        RegistryError: The registry is not sound, or a G or R code.

    """
    source = open_source(root, rev)
    return build_from(source, out, since=since, jobs=jobs, progress=progress)


def plan_release(
    root: Path, *, rev: str | None = None, since: Path | None = None
) -> Plan:
    """Say what a build would fit, take over and drop, and why."""
    previous = None if since is None else open_previous(since)
    earlier = None if previous is None else previous.for_plan()
    return plan(_catalogue(open_source(root, rev), earlier), earlier)


def build_from(
    source: Source,
    out: Path,
    *,
    since: Path | None = None,
    jobs: int = 1,
    progress: Progress | None = None,
) -> BuildResult:
    """Build the release of an opened registry; see `build_release`.

    Args:
        source: The registry.
        out: As in `build_release`.
        since: As in `build_release`.
        jobs: As in `build_release`.
        progress: As in `build_release`.

    """
    out = out.resolve()  # a folder is replaced by renaming, so it needs a name
    recover(out)
    previous = _earlier(out, since)
    earlier = None if previous is None else previous.for_plan()
    catalogue = _catalogue(source, earlier)
    planned = plan(catalogue, earlier)
    head = header(source, catalogue, previous)
    if previous is not None and _nothing_to_do(previous, planned, head, out):
        return _result(previous.index, previous.data, planned, out, changed=False)
    # Fitting and drawing take seconds to import, and a build that changes nothing
    # needs neither.
    from registry.modelling.build import fit_models  # noqa: PLC0415
    from registry.publish.assembly import assemble  # noqa: PLC0415

    models = (
        fit_models(
            source.tree,
            planned,
            arrivals=source.arrivals,
            now=source.now,
            jobs=jobs,
            progress=progress,
        )
        if planned.fit
        else []
    )
    if progress is not None:
        progress(f"writing {len(planned.fit) + len(planned.reuse)} models")
    staging = Staging(out)
    try:
        index, data = assemble(staging, head, planned, models, previous)
    except BaseException:
        staging.abandon()
        raise
    return _result(index, data, planned, out, changed=True)


def _catalogue(source: Source, earlier: PreviousRelease | None) -> Catalogue:
    return read_catalogue(
        source.tree, earlier, arrivals=source.arrivals, now=source.now
    )


def _earlier(out: Path, since: Path | None) -> Previous | None:
    if since is not None:
        return open_previous(since)
    try:
        return open_previous(out)
    except RegistryError:
        return None  # nobody asked for what lies there; it is replaced


def _nothing_to_do(previous: Previous, planned: Plan, head: Index, out: Path) -> bool:
    if planned.fit or planned.drop or not previous.is_complete():
        return False
    same = previous.index.model_copy(update={"models": (), "assets": ()})
    if same != head:
        return False
    here = out / "index.json"
    return here.is_file() and here.read_bytes() == previous.data


def _result(
    index: Index, data: bytes, planned: Plan, out: Path, *, changed: bool
) -> BuildResult:
    return BuildResult(
        changed=changed,
        out=out,
        tag=tag_of(data),
        index=index,
        fitted=len(planned.fit),
        reused=len(planned.reuse),
        dropped=planned.drop,
        reasons=planned.reasons,
    )
