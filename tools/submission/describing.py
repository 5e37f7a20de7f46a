"""Title, branch and text of the pull request with a bundle.

Nothing free is quoted: every word is a name, a number or of a fixed list.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from registry import __version__
from registry.documents.classkey import class_key
from registry.documents.findings import Severity
from registry.gate.drafting import branch_for

if TYPE_CHECKING:
    from registry.gate.outcome import Report
    from tools.submission.gathering import Submission

__all__ = ["body_of", "branch_of", "title_of"]

_BODY = """\
- Dataset: `datasets/{dataset}`, version {version}
- Machine: `{spec}`
- Server class: `{key}`
- Profile and days of measurement: `{profile}`, {first} to {last}
- Licence of the data: `{licence}`
- First contribution: {newcomer}

- [x] `powerkit check` ran here and found no error ({found}; powerkit {kit})
"""


def branch_of(submission: Submission) -> str:
    """The branch that belongs to this version of this dataset."""
    manifest = submission.manifest
    return branch_for("data", f"{manifest.dataset}-v{manifest.version}")


def title_of(submission: Submission) -> str:
    """The title of the pull request and the first line of its commit."""
    manifest = submission.manifest
    if manifest.version == 1:
        return f"Add {manifest.dataset}"
    return f"Update {manifest.dataset} to version {manifest.version}"


def body_of(submission: Submission, report: Report) -> str:
    """The pull request's text: the repository's template, filled in."""
    manifest, who = submission.manifest, submission.newcomer
    return _BODY.format(
        dataset=manifest.dataset,
        version=manifest.version,
        spec=manifest.spec.path,
        key=class_key(submission.spec),
        profile=manifest.profile,
        first=manifest.measured.first,
        last=manifest.measured.last,
        licence=manifest.licence,
        newcomer="no" if who is None else f"yes, with the keys of account {who.id}",
        found=_found(report),
        kit=__version__,
    )


def _found(report: Report) -> str:
    count = Counter(
        one.code for one in report.findings if one.severity is Severity.WARNING
    )
    if not count:
        return "no warning"
    listed = ", ".join(
        f"`{name}`" if number == 1 else f"{number} × `{name}`"
        for name, number in sorted(count.items())
    )
    return f"warnings: {listed}"
