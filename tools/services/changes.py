"""Files that change, as bursts: what an editor or a checkout writes at once is one.

What version control, editors and builds write is not told of.
"""

from __future__ import annotations

import queue
import re
import threading
from collections.abc import Sequence
from fnmatch import translate
from pathlib import Path
from typing import Final, Protocol, Self

import watchfiles

from registry.documents.findings import RegistryError, Severity, code, finding

__all__ = ["Bursts", "Changes", "Relevant"]

F034 = code(
    "F034",
    Severity.ERROR,
    "A path cannot be watched.",
    "Name a file or folder that is there and that you may read.",
)

_FOLDERS: Final = frozenset(
    (
        *(".git", ".hg", ".svn", ".idea", ".vscode", ".venv", "node_modules"),
        *("__pycache__", ".mypy_cache", ".pytest_cache", ".ruff_cache", ".hypothesis"),
        *("build", "dist", "target", "CMakeFiles", ".ninja", ".cache"),
    )
)
_ENDS: Final = re.compile(
    r".*(?:~|\.(?:o|a|so|d|obj|lib|dll|dylib|exe|gch|pch|py[cod]|tmp|part|log|sw[a-z])"
    r"|\.so\.[0-9.]+|\.log\.[0-9]+)"
)
_STARTS: Final = (".#", "#", "flycheck_", ".___jb_")


class Bursts(Protocol):
    """Where bursts of changes come from."""

    def next(self, seconds: float) -> frozenset[Path] | None:
        """The next burst, or None if none came in so many seconds."""


class Relevant:
    """Decides which changes matter; the paths above a watched folder do not count."""

    def __init__(
        self,
        roots: Sequence[Path],
        ignore: Sequence[str] = (),
        own: Sequence[Path] = (),
    ) -> None:
        """Take what is watched.

        Args:
            roots: the watched files and folders, absolute.
            ignore: patterns of names or of paths below a root, as a shell has them.
            own: files that we write ourselves, absolute.
        """
        self._roots = sorted(roots, key=lambda root: len(root.parts), reverse=True)
        self._ignored = [re.compile(translate(pattern)) for pattern in ignore]
        self._own = frozenset(own)

    def __call__(self, _: watchfiles.Change, name: str) -> bool:
        """Whether a change matters."""
        path = Path(name)
        if path in self._roots:
            return path.is_file()
        root = next((one for one in self._roots if path.is_relative_to(one)), None)
        if root is None or path in self._own:
            return False
        below = path.relative_to(root)
        return not (
            _FOLDERS.intersection(below.parts)
            or _ENDS.fullmatch(path.name)
            or path.name.startswith(_STARTS)
            or any(one.fullmatch(str(below)) for one in self._ignored)
            or any(one.fullmatch(path.name) for one in self._ignored)
        )


class Changes:
    """Bursts of changed files; a thread of the `with` block watches them."""

    def __init__(
        self, roots: Sequence[Path], relevant: Relevant, *, debounce_ms: int = 200
    ) -> None:
        """Watch from the start of the `with` block.

        Args:
            roots: files and folders, absolute.
            relevant: which changes matter.
            debounce_ms: the quiet that ends a burst; one that never ends is cut after
                ten times as long.

        Raises:
            RegistryError: F034, a path is not there.
        """
        lacking = [str(root) for root in roots if not root.exists()]
        if lacking:
            what = "it is not there"
            raise RegistryError([finding(F034, name, what) for name in lacking])
        self._roots = roots
        self._relevant = relevant
        self._debounce = debounce_ms
        self._bursts: queue.SimpleQueue[frozenset[Path]] = queue.SimpleQueue()
        self._problem = ""
        self._over = threading.Event()
        self._begun = threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True)

    def __enter__(self) -> Self:
        """Begin to watch.

        Raises:
            RegistryError: F034, the system cannot watch so much.
        """
        self._thread.start()
        self._begun.wait()
        self._refuse()
        return self

    def __exit__(self, *_: object) -> None:
        """Watch no more."""
        self._over.set()
        self._thread.join()

    def next(self, seconds: float) -> frozenset[Path] | None:
        """The next burst, or None if none came in so many seconds.

        Raises:
            RegistryError: F034, the system watches no more.
        """
        try:
            return self._bursts.get(timeout=seconds)
        except queue.Empty:
            self._refuse()
            return None

    def _refuse(self) -> None:
        if self._problem:
            raise RegistryError([finding(F034, str(self._roots[0]), self._problem)])

    def _watch(self) -> None:
        try:
            self._watch_on()
        except (OSError, RuntimeError) as error:  # its own errors are RuntimeErrors
            self._problem = str(error) or type(error).__name__
        finally:
            self._begun.set()

    def _watch_on(self) -> None:
        for burst in watchfiles.watch(
            *self._roots,
            watch_filter=self._relevant,
            debounce=10 * self._debounce,
            step=self._debounce,
            stop_event=self._over,
            rust_timeout=200,
            yield_on_timeout=True,
            raise_interrupt=False,
        ):
            self._begun.set()
            if burst:
                self._bursts.put(frozenset(Path(name) for _, name in burst))
