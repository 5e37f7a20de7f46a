"""The files that are combined: which they are, and what each is called."""

from __future__ import annotations

import glob
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from registry.documents.findings import Finding, RegistryError, Severity, code, finding
from tools.traces import limits
from tools.traces.found import Found
from tools.traces.inputs import choose
from tools.traces.reading import pieces

__all__ = ["Sources", "find_sources"]

V024 = code(
    "V024",
    Severity.ERROR,
    "The trace to be written is one of those to be read.",
    "Choose another --output.",
)
V025 = code(
    "V025",
    Severity.ERROR,
    "There are no traces to combine, or too many.",
    "Name traces, or folders that hold some; at most 4,096 at once.",
)
_ENDINGS: Final = (".gz", ".json", ".trace", ".pt")


@dataclass(frozen=True, slots=True)
class Sources:
    """What is combined.

    Attributes:
        files: the traces, in order.
        labels: what each is called in the result; all differ.
        passed_over: files of folders that are not used, and why.

    """

    files: tuple[Path, ...]
    labels: tuple[str, ...]
    passed_over: tuple[tuple[Path, str], ...] = ()


def find_sources(
    paths: Sequence[Path],
    output: Path,
    *,
    labels: Sequence[str] = (),
    skip_first: bool = False,
) -> Sources:
    """Find the traces that some paths mean.

    Of a folder, files that are made of other traces, the output, and files that are no
    traces are passed over; a file that is named twice is used once.

    Args:
        paths: files, folders and patterns such as ``runs/*.json``.
        output: the file to write, which must be none that is named.
        labels: what the files are called; their names if empty.
        skip_first: whether the first file is left out.

    Raises:
        RegistryError: V024, V025, or V032 of `choose`.
    """
    passed: list[tuple[Path, str]] = []
    files: list[Path] = []
    used: set[Path] = set()
    problems: list[Finding] = []
    for each in choose(_expanded(paths)):
        passed += [(path, "is made of other traces") for path in each.derived]
        for path in each.files:
            real = path.resolve()
            if real == output.resolve():
                if not each.folder:
                    what = "it would be read and written"
                    problems.append(finding(V024, str(path), what))
                passed.append((path, "is the output"))
            elif real in used:
                passed.append((path, "is named twice"))
            elif each.folder and (reason := _refusal(path)) is not None:
                passed.append((path, reason))
            else:
                files.append(path)
                used.add(real)
    if skip_first and files:
        passed.append((files.pop(0), "is the first file, which --skip-first leaves"))
    if not problems and not 0 < len(files) <= limits.INPUTS:
        what = f"{len(files)} files are left to combine"
        problems.append(finding(V025, str(output), what))
    if problems:
        raise RegistryError(problems)
    return Sources(tuple(files), _labels(files, labels), tuple(passed))


def _expanded(paths: Sequence[Path]) -> list[Path]:
    """Paths with patterns replaced by what they match; a shell may not have done it."""
    expanded: list[Path] = []
    for path in paths:
        matches = sorted(glob.glob(str(path), recursive=True))  # noqa: PTH207  absolute
        if path.exists() or not matches:
            expanded.append(path)
        else:
            expanded += [Path(match) for match in matches]
    return expanded


def _refusal(path: Path) -> str | None:
    """Why a file that nobody named is no trace; None if it is one."""
    try:
        next(pieces(path, Found()), None)
    except RegistryError as error:
        return f"{error.findings[0].code}: {error.findings[0].what}"
    except OSError as error:
        return error.strerror or "it cannot be read"
    return None


def _labels(files: Sequence[Path], given: Sequence[str]) -> tuple[str, ...]:
    """Names as given, or those of the files, with folders where they are alike."""
    names = list(given) or [_stem(path.name) for path in files]
    for depth in range(1, 4):
        many = {name for name, count in Counter(names).items() if count > 1}
        if not many or given:
            break
        names = [
            "/".join((*path.resolve().parts[-1 - depth : -1], _stem(path.name)))
            if name in many
            else name
            for name, path in zip(names, files, strict=True)
        ]
    seen: Counter[str] = Counter()
    unique = []
    for name in names:
        seen[name] += 1
        unique.append(name if seen[name] == 1 else f"{name} #{seen[name]}")
    return tuple(unique)


def _stem(name: str) -> str:
    for ending in _ENDINGS:
        shorter = name.removesuffix(ending)
        name = shorter or name
    return name
