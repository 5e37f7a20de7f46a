"""Release notes for people: what is in a release, how good it is, how to check it.

They are a function of the index alone: two builds of one commit have the same notes,
whichever release came before. What is new is told by the arrival of the bundles.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Final

from registry.documents.instants import day
from registry.modelling.model import CURVE, LINEAR, TREES, parse_id
from registry.publish.escape import code_span, markdown

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from registry.publish.index import Index, ModelEntry

__all__ = ["notes_bytes"]

_GENERIC: Final = "generic"
_TRAINERS: Final = {LINEAR: "linear", TREES: "trees", CURVE: "curve"}
_MANY: Final = 500
"""The most rows of a table; the index has all of them."""
_VERIFY: Final = """\
## How to use and verify it

    registry fetch --from FOLDER-OR-URL --spec YOUR-SERVER.yaml
    sha256sum --check SHA256SUMS
    registry rebuild --compare FOLDER

The first verifies digests and provenance, picks the model for a server (the generic one
if its class was never measured) and prints Kepler's settings. The last fits every model
again from the signed bundles and compares the files byte by byte.
`provenance.jsonl` names, for each model, the bundles and keys behind it.
"""
_READING: Final = """\
Errors are held out: each row was predicted by a model that had not seen its server,
workload or block of time (column "held out"). "Constant" is what the best constant
power would have got; "generic" is the error of the pooled model on the same rows,
which it may have seen. All in watts of one node, mean absolute error with its 95 %
interval.
"""


def notes_bytes(index: Index, *, drawing: bool) -> bytes:
    """Write ``RELEASE_NOTES.md``.

    Args:
        index: The index; its assets are not read.
        drawing: Whether the release has a ``power_curves.svg``.

    """
    lines = [*_head(index), *_new(index)]
    if drawing:
        lines += ["![Power over load of each server class](power_curves.svg)", ""]
    lines += [*_errors(index), *_withheld(index), *_withdrawn(index), _VERIFY.rstrip()]
    return ("\n".join(lines) + "\n").encode("utf-8")


def _head(index: Index) -> Iterator[str]:
    published = [m for m in index.models if m.status == "published"]
    classes = [c for c in index.classes if c.key != _GENERIC]
    date = index.created and code_span(index.created)
    yield "# Power models for Kepler"
    yield ""
    commit = "" if index.commit is None else f", commit {code_span(index.commit)}"
    yield (
        f"Built from {date or 'an uncommitted work tree'}{commit},"
        f" serial {index.serial}."
    )
    yield ""
    yield (
        f"{_count(len(published), 'model')} for {_count(len(classes), 'server class')}"
        f" and the generic class, from {_count(len(index.bundles), 'signed bundle')};"
        f" {len(index.models) - len(published)} more were withheld."
    )
    licences = Counter(bundle.licence for bundle in index.bundles)
    if licences:
        listed = ", ".join(
            f"{code_span(name)} ({count})" for name, count in sorted(licences.items())
        )
        yield f"Licences of the bundles: {listed}; `index.json` cites their sources."
    yield ""


def _new(index: Index) -> Iterator[str]:
    arrivals = {b.arrived for b in index.bundles if b.arrived is not None}
    if not arrivals:
        return
    last = max(arrivals)
    new = [bundle for bundle in index.bundles if bundle.arrived == last]
    yield "## What is new"
    yield ""
    yield f"The newest data came on {day(last)}: {_count(len(new), 'bundle')} in"
    keys = sorted({bundle.class_key for bundle in new})
    shown = ", ".join(code_span(key) for key in keys[:20])
    rest = f" and {len(keys) - 20} more" if len(keys) > 20 else ""
    yield f"{shown}{rest}."
    yield "Operators of these classes, and users of the generic model, should update."
    yield ""


def _errors(index: Index) -> Iterator[str]:
    yield "## How good the models are"
    yield ""
    yield _READING
    numbers = {entry.key: entry.number for entry in index.classes}
    columns = "class|model|servers|error|%|constant|generic|held out|bundles"
    for output in ("AbsPower", "DynPower"):
        for source in ("acpi", "rapl-sysfs"):
            rows = sorted(
                (
                    model
                    for model in index.models
                    if model.status == "published"
                    and model.id.startswith(f"{source}/{output}/")
                ),
                key=lambda model: (model.class_key != _GENERIC, model.class_key),
            )
            if not rows:
                continue
            yield f"### {source}, {output}"
            yield ""
            yield from _table(columns, (_error_row(row, numbers) for row in rows))


def _error_row(model: ModelEntry, numbers: dict[str, int]) -> list[str]:
    error = model.error
    identity = parse_id(model.id)
    comparison = model.comparison
    trainer = _TRAINERS.get(identity.trainer, identity.trainer)
    return [
        f"{code_span(model.class_key)} ({numbers[model.class_key]})",
        f"{identity.group} {trainer}",
        str(model.machines),
        f"{error.mae:.1f} ({error.mae_low:.1f} to {error.mae_high:.1f})",
        f"{error.mape:.1f}",
        f"{error.baseline_mae:.1f}",
        "" if comparison is None else f"{comparison.generic_mae:.1f}",
        f"{markdown(error.protocol)}, {error.folds} times",
        str(len(model.bundles)),
    ]


def _withheld(index: Index) -> Iterator[str]:
    rows = [model for model in index.models if model.status == "withheld"]
    if not rows:
        return
    yield "## Withheld"
    yield ""
    yield "These models are not published, since they are no better than simpler ones."
    yield "Those that only the generic model surpasses are in the folder `withheld`."
    yield ""
    cells = ([code_span(row.id), markdown(_reason(row))] for row in rows)
    yield from _table("model|reason", cells)


def _reason(model: ModelEntry) -> str:
    if not model.files or model.comparison is None:
        return model.why
    comparison = model.comparison
    return (
        f"this model is off by {comparison.mae:.1f} W, the generic one by"
        f" {comparison.generic_mae:.1f} W on the same rows and by less on servers that"
        " it never saw"
    )


def _withdrawn(index: Index) -> Iterator[str]:
    if not index.withdrawn:
        return
    yield "## Withdrawn data"
    yield ""
    yield "No model of this release was fitted to these bundles."
    yield ""
    rows = (
        [code_span(w.dataset), markdown(w.day), markdown(w.reason)]
        for w in index.withdrawn
    )
    yield from _table("bundle|since|reason", rows)


def _table(columns: str, rows: Iterable[list[str]]) -> Iterator[str]:
    yield f"| {columns.replace('|', ' | ')} |"
    yield "|" + "---|" * (columns.count("|") + 1)
    left = 0
    for number, row in enumerate(rows):
        if number < _MANY:
            yield f"| {' | '.join(row)} |"
        else:
            left += 1
    if left:
        yield ""
        yield f"{left} more are in `index.json`."
    yield ""


def _count(number: int, noun: str) -> str:
    if number == 1:
        return f"1 {noun}"
    return f"{number} {noun}{'es' if noun.endswith('s') else 's'}"
