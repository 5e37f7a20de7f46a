"""What changed since the release before, for people: the text of a release on GitHub.

    body = change_notes(previous, index, repository="OWNER/NAME")

Unlike ``RELEASE_NOTES.md``, which is a function of one commit, this text depends on
which release came before, so it is no part of a release folder.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Final

from registry.documents.classkey import GENERIC
from registry.publish.changed import KINDS, changed
from registry.publish.escape import code_span, markdown
from registry.publish.index import index_bytes
from registry.publish.integrity import tag_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from registry.publish.changed import Changed, ModelChange
    from registry.publish.index import BundleEntry, Index, ModelEntry

__all__ = ["BODY_CHARACTERS", "WORDS", "change_notes", "error_of", "improvement"]

BODY_CHARACTERS: Final = 120_000
"""The longest text; GitHub refuses a release whose text is longer than 125,000."""

_ROWS: Final = (400, 200, 100, 50, 20, 5, 1)
"""How many rows a table may have: the first number with which all is short enough."""

WORDS: Final = {
    "new": "new",
    "published": "published again",
    "changed": "changed",
    "withheld": "withheld now",
    "gone": "gone",
}
"""What became of a model, in words."""

_VERIFY: Final = """\
## How to verify it

```console
$ registry fetch --from github:{repository}@{tag} --spec YOUR-SERVER.yaml --out model
$ sha256sum --check --ignore-missing SHA256SUMS
$ gh attestation verify index.json --repo {repository} \\
    --signer-workflow {repository}/.github/workflows/publish.yml \\
    --source-ref refs/heads/main{source}
$ registry rebuild --compare github:{repository}@{tag}
```

`fetch` checks digests and provenance, picks the model for a server and prints Kepler's
settings. `sha256sum` needs the downloaded files beside `SHA256SUMS`. The attestation
says that the publish workflow of this repository made the file from its branch main;
all three options belong to it, since the repository alone proves little. `rebuild`, in
a checkout of the commit, fits every model again and compares each byte.
"""


def change_notes(
    previous: Index | None, index: Index, *, repository: str = "OWNER/NAME"
) -> str:
    """Write the text of a release on GitHub.

    Args:
        previous: The index of the release before; None if this is the first one.
        index: The index of the release.
        repository: Where it is published, for the commands that verify it.

    Returns:
        Markdown of at most `BODY_CHARACTERS` characters. Equal arguments give equal
        text.
    """
    found = changed(previous, index)
    text = ""
    for most in _ROWS:
        lines = [*_head(previous, index, found), *_classes(found, most)]
        lines += [*_errors(found, most), *_data(found, most), *_causes(found)]
        text = "\n".join([*lines, _verify(index, repository)])
        if len(text) <= BODY_CHARACTERS:
            return text
    return text[:BODY_CHARACTERS]


def error_of(model: ModelEntry | None) -> str:
    """Write a model's held-out error: watts, their 95 % interval and per cent."""
    if model is None or not model.error.rows:
        return "–"
    error = model.error
    return (
        f"{error.mae:.1f} W ({error.mae_low:.1f} to {error.mae_high:.1f}),"
        f" {error.mape:.1f} %"
    )


def improvement(change: ModelChange) -> str:
    """Write by how much a model's error changed, in per cent of what it was."""
    before, after = change.before, change.after
    if before is None or after is None or not before.error.mae or not after.error.rows:
        return ""
    return f"{100 * (after.error.mae / before.error.mae - 1):+.1f} %".replace("-", "−")


def _head(previous: Index | None, index: Index, found: Changed) -> Iterator[str]:
    commit = "" if index.commit is None else f" of commit {code_span(index.commit)}"
    if previous is None:
        yield f"The first release{commit}: all models are new."
    else:
        tag = tag_of(index_bytes(previous))
        yield f"What changed since {code_span(tag)}, with the data{commit}."
    yield ""
    counts = Counter(one.kind for one in found.models)
    listed = [f"{counts[kind]} {WORDS[kind]}" for kind in KINDS if counts[kind]]
    yield f"Models: {', '.join([*listed, f'{found.same} the same byte by byte'])}."
    data = [
        f"{len(bundles)} {word}"
        for word, bundles in (
            ("added", found.added),
            ("with a new version", found.updated),
            ("no longer used", found.gone),
        )
        if bundles
    ]
    yield f"Signed bundles: {', '.join(data) or 'none changed'}."
    yield ""


def _classes(found: Changed, most: int) -> Iterator[str]:
    groups = found.classes()
    fresh = {entry.key for entry in found.new_classes}
    lost = [entry for entry in found.gone_classes if entry.key != GENERIC]
    if not groups and not fresh and not lost:
        return
    yield "## For whom it matters"
    yield ""
    yield "`node_type_index.json` has the number of each class; 0 is for all others."
    yield ""
    rows = []
    for (key, number), models in groups.items():
        counts = Counter(one.kind for one in models)
        what = ", ".join(f"{counts[k]} {WORDS[k]}" for k in KINDS if counts[k])
        note = " (a new class)" if key in fresh and key != GENERIC else ""
        rows.append([code_span(key), str(number), f"{what}{note}", _advice(models)])
    served = {key for key, _ in groups}
    rows += [
        [code_span(c.key), str(c.number), "a new class without a model", ""]
        for c in found.new_classes
        if c.key not in served
    ]
    rows += [
        [code_span(c.key), str(c.number), "no data is left", "use class 0"]
        for c in lost
        if c.key not in served
    ]
    yield from _table(("class", "number", "models", "what to do"), rows, most)


def _advice(models: Sequence[ModelChange]) -> str:
    kinds = {one.kind for one in models}
    if kinds <= {"gone", "withheld"}:
        return "use class 0 instead"
    return "update" if kinds & {"changed", "withheld", "gone"} else "try it"


def _errors(found: Changed, most: int) -> Iterator[str]:
    if not found.models:
        return
    yield "## Errors before and after"
    yield ""
    yield "Mean absolute error on held-out servers, workloads, load levels or blocks of"
    yield "time, with its 95 % interval, and in per cent of the power."
    yield ""
    rows = [
        [
            f"{code_span(one.class_key)} ({one.number})",
            code_span(one.id.rpartition("_")[0] or one.id),
            WORDS[one.kind],
            error_of(one.before),
            error_of(one.after),
            improvement(one),
        ]
        for one in found.models
    ]
    columns = ("class", "model", "", "before", "after", "change")
    yield from _table(columns, rows, most)


def _data(found: Changed, most: int) -> Iterator[str]:
    rows = [_bundle_row(bundle, "added") for bundle in found.added]
    rows += [
        _bundle_row(after, f"version {after.version}, was {before.version}")
        for before, after in found.updated
    ]
    withdrawn = {one.dataset: one for one in found.withdrawn}
    for bundle in found.gone:
        why = withdrawn.pop(bundle.dataset, None)
        what = "no longer used" if why is None else _withdrawn(why.day, why.reason)
        rows.append(_bundle_row(bundle, what))
    rows += [
        [code_span(one.dataset), _withdrawn(one.day, one.reason), "", "", ""]
        for one in withdrawn.values()
    ]
    if rows:
        yield "## Data"
        yield ""
        columns = ("bundle", "what", "class", "contributor", "licence")
        yield from _table(columns, rows, most)


def _bundle_row(bundle: BundleEntry, what: str) -> list[str]:
    return [
        code_span(bundle.dataset),
        what,
        code_span(bundle.class_key),
        str(bundle.contributor),
        code_span(bundle.licence),
    ]


def _withdrawn(day: str, reason: str) -> str:
    return f"withdrawn on {markdown(day)}: {markdown(reason, 60)}"


def _causes(found: Changed) -> Iterator[str]:
    if found.causes:
        yield "## What else changed"
        yield ""
        yield from (f"- {markdown(cause)}" for cause in found.causes)
        yield ""


def _verify(index: Index, repository: str) -> str:
    source = ""
    if index.commit is not None:
        source = f" \\\n    --source-digest {index.commit}"
    tag = tag_of(index_bytes(index))
    return _VERIFY.format(repository=repository, tag=tag, source=source)


def _table(
    columns: Sequence[str], rows: Sequence[Sequence[str]], most: int
) -> Iterator[str]:
    yield f"| {' | '.join(columns)} |"
    yield "|" + "---|" * len(columns)
    yield from (f"| {' | '.join(row)} |" for row in rows[:most])
    yield ""
    if len(rows) > most:
        yield f"{len(rows) - most} more are in `index.json`."
        yield ""
