"""What `powerkit trace summarize` and `memory` read: files, progress, refusals."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar

import typer

from registry.documents.findings import Finding, RegistryError, Severity, code, finding
from registry.gate.progress import progress_line
from tools.traces.choices import By
from tools.traces.found import Found
from tools.traces.inputs import Chosen, choose
from tools.traces.records import Records
from tools.traces.summaries import Summary

__all__ = ["Done", "Summarised", "each_file", "files_of", "summarised"]

_Result = TypeVar("_Result")

V033 = code(
    "V033",
    Severity.WARNING,
    "A file in a folder of traces is none, and was passed over.",
    "Name the traces themselves, or keep other files elsewhere.",
)
V034 = code(
    "V034",
    Severity.ERROR,
    "No file in a folder is a trace.",
    "Name the traces themselves; `powerkit trace validate` tells what a file lacks.",
)


@dataclass(slots=True)
class Summarised:
    """One summary, and what it is of.

    Attributes:
        title: the paths.
        summary: the summary.
        records: every slice, if that was wanted.
        derived: files that were passed over, being made of other traces.
        refused: files that were passed over, being no traces.

    """

    title: str
    summary: Summary
    records: Records | None
    derived: list[Path] = field(default_factory=list)
    refused: list[Finding] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Done:
    """All summaries, and what was wrong with files that were passed over."""

    summaries: list[Summarised]
    findings: list[Finding]


@contextmanager
def summarised(
    paths: Sequence[Path],
    by: By,
    output: Path | None,
    *,
    together: bool,
    tree: bool,
    detailed: bool,
    hidden: bool,
) -> Iterator[Done]:
    """Summarise the traces of some paths; records last until the end of the block.

    Args:
        paths: files and folders.
        by: what slices of one statistic have in common.
        output: where the summary will be written, which must be none of the traces.
        together: whether to make one summary of all paths, or one of each.
        tree: whether to gather the tree of calls.
        detailed: whether to keep every slice.
        hidden: whether to say nothing of the progress.

    Raises:
        RegistryError: a path that was named is no trace; all problems at once.
    """
    chosen = files_of(paths, output)
    groups = [chosen] if together else [[one] for one in chosen]
    done: list[Summarised] = []
    problems: list[Finding] = []
    with ExitStack() as stack:
        for group in groups:
            title = ", ".join(str(one.path) for one in group[:3])
            if len(group) > 3:
                title += f" and {len(group) - 3} more"
            records = stack.enter_context(closing(Records())) if detailed else None
            one = Summarised(title, Summary(by, tree=tree, records=records), records)
            one.derived = [path for each in group for path in each.derived]
            _, refused, bad = each_file(group, one.summary.add, hidden=hidden)
            one.refused = refused
            problems += bad
            done.append(one)
        if problems:
            raise RegistryError(problems)
        yield Done(done, [finding_ for one in done for finding_ in one.refused])


def files_of(paths: Sequence[Path], *written: Path | None) -> list[Chosen]:
    """Find the files of some paths; none of them may be one that is written.

    Raises:
        RegistryError: V032: there are none.
        typer.BadParameter: a file would be read and written.
    """
    chosen = choose(paths)
    for out in written:
        if out is None:
            continue
        if not out.parent.is_dir():
            raise typer.BadParameter(f"the folder of {out} does not exist")
        if any(out.resolve() == one.resolve() for each in chosen for one in each.files):
            raise typer.BadParameter(f"{out} would be read and written")
    return chosen


def each_file(
    group: Sequence[Chosen],
    read: Callable[[Path, Callable[[Found], None]], _Result],
    *,
    hidden: bool,
) -> tuple[list[_Result], list[Finding], list[Finding]]:
    """Read each file, and go on where one is refused.

    Returns:
        What came of the files; warnings for refused files of folders; errors for those
        that were named, and for folders without any trace.
    """
    results: list[_Result] = []
    refused: list[Finding] = []
    problems: list[Finding] = []
    with progress_line(hidden=hidden) as say:

        def reading(path: Path) -> _Result:
            return read(path, lambda found: say(_at(path, found)))

        for each in group:
            before = len(results)
            for path in each.files:
                try:
                    results.append(reading(path))
                except RegistryError as error:
                    if not each.folder:
                        problems += error.findings
                    else:
                        what = f"{error.findings[0].code}: {error.findings[0].what}"
                        refused.append(finding(V033, str(path), what))
            if each.folder and len(results) == before:
                what = f"none of its {len(each.files)} files is a trace"
                problems.append(finding(V034, str(each.path), what))
    return results, refused, problems


def _at(path: Path, found: Found) -> str:
    return f"{path.name}: {found.bytes_read / 2**20:,.0f} MiB, {found.events:,} events"
