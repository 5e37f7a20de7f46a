"""Places of files by URL, opened with fsspec: folders, S3, SFTP and many others.

    store = open_store("s3://results/runs")
    store.info("0ab…/trace.json.gz")

Whatever a store raises becomes a finding without passwords and keys in it.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlsplit

from registry.documents.findings import RegistryError, Severity, code, finding, shown
from tools.settings.redaction import redacted, urls_redacted

__all__ = ["Store", "asking", "open_store", "parted", "scheme_of"]

A001 = code(
    "A001",
    Severity.ERROR,
    "A URL cannot be used here.",
    "Give a path or a URL such as s3://bucket/folder; `powerkit publish --help` says"
    " which ones there are.",
)
A002 = code(
    "A002",
    Severity.ERROR,
    "A store of files did not do what it was asked.",
    "Check the URL, your credentials for it and the network, and run it again: what is"
    " there already is not sent twice.",
)

_EXTRAS: Final = {
    "s3": "pip install 'power-dataset-registry[s3]'",
    "s3a": "pip install 'power-dataset-registry[s3]'",
    "hf": "pip install huggingface_hub",
}
# Here an object appears whole or not at all; elsewhere it is renamed into its place.
_OBJECTS: Final = frozenset(
    ("s3", "s3a", "gs", "gcs", "az", "abfs", "adl", "oci", "oss", "tos", "hf", "memory")
)
_MANY_AT_ONCE: Final = frozenset(("file", "local", "memory"))
_USER: Final = re.compile(r"[^\s'\"<>@/]+:(?!//)[^\s'\"<>@]+@")


@dataclass(frozen=True, slots=True)
class Store:
    """A folder of a file system somewhere.

    Attributes:
        fs: the fsspec file system.
        root: the folder in it, without a slash at its end unless it is "/".
        shown: its URL as it may be printed, without a slash at its end.
        objects: whether a file appears whole or not at all, and needs no folders.
        parallel: whether several threads may use it at once.

    """

    fs: Any
    root: str
    shown: str
    objects: bool
    parallel: bool

    def path(self, key: str) -> str:
        """The path of a key in the file system."""
        return f"{self.root}{key}" if self.root in {"", "/"} else f"{self.root}/{key}"

    def url(self, key: str) -> str:
        """The URL of a key as it may be printed."""
        return f"{self.shown}/{key}"

    def info(self, key: str) -> Mapping[str, Any] | None:
        """What the store knows of a file now, or None if there is none.

        Raises:
            RegistryError: A002.
        """
        with asking(self.url(key)):
            self.fs.invalidate_cache()
            try:
                found: Mapping[str, Any] = self.fs.info(self.path(key))
            except FileNotFoundError:
                return None
            return found


def scheme_of(url: str) -> str:
    """The scheme of a URL in small letters; "file" for a path."""
    before, mark, _ = url.partition("://")
    return before.lower() if mark else "file"


def open_store(url: str, options: Mapping[str, Any] | None = None) -> Store:
    """Open a folder by its URL; nothing is asked of it yet.

    Args:
        url: a path, or a URL that fsspec knows. Credentials come from where the file
            system looks for them, as AWS_ACCESS_KEY_ID for S3.
        options: further options of the file system, as fsspec has them.

    Raises:
        RegistryError: A001, no such file system, or its package is missing.

    """
    scheme = _checked(url)
    where = url if "://" in url else os.fspath(Path(url).absolute())
    import fsspec  # noqa: PLC0415  slow import

    named = redacted(url).rstrip("/") if "://" in url else url.rstrip("/")
    try:
        fs, root = fsspec.core.url_to_fs(where, **dict(options or {}))
    except ImportError as error:
        how = _EXTRAS.get(scheme)
        fix = f"Install what it needs: {how}" if how else None
        what = f"{named}: {error}" if how is None else f"{named} needs a package more"
        raise RegistryError(finding(A001, named, what, fix=fix)) from None
    except Exception as error:  # noqa: BLE001  any file system's constructor
        raise RegistryError(finding(A001, named, _said(error))) from None
    objects = scheme in _OBJECTS
    many = scheme in _MANY_AT_ONCE or bool(getattr(fs, "async_impl", False))
    return Store(fs, root.rstrip("/") or root[:1], named, objects, many)


def parted(url: str) -> tuple[str, str]:
    """Split the URL of a file into that of its folder and its name.

    Raises:
        RegistryError: A001, it names no file.

    """
    if "://" not in url:
        url = os.fspath(Path(url).absolute())
    folder, slash, name = url.rpartition("/")
    if not slash or not name or folder.endswith((":/", ":")) or name in {".", ".."}:
        what = "it names no file in a folder"
        raise RegistryError(finding(A001, redacted(url), what))
    return folder or "/", name


@contextmanager
def asking(place: str) -> Iterator[None]:
    """Turn what goes wrong while a store is asked into a finding.

    Args:
        place: what it is asked for, as it may be printed.

    Raises:
        RegistryError: A002.

    """
    try:
        yield
    except RegistryError:
        raise
    except Exception as error:
        if _is_ours(error):
            raise
        raise RegistryError(finding(A002, place, _said(error))) from error


def _is_ours(error: Exception) -> bool:
    """Whether an error is our mistake; stores raise the usual ones or their own."""
    usual = (OSError, ValueError, NotImplementedError, ImportError, EOFError)
    return type(error).__module__ == "builtins" and not isinstance(error, usual)


def _said(error: Exception) -> str:
    """What an error says, without secrets of URLs in it."""
    text = getattr(error, "strerror", None) or str(error)
    # A bucket that has no name of one is repeated with what stands before its @.
    clean = _USER.sub("***@", urls_redacted(str(text).strip()))
    kind = type(error).__name__
    return shown(clean, 240) if clean else kind


def _checked(url: str) -> str:
    """Give the scheme of a URL that may be used.

    Raises:
        RegistryError: A001.
    """
    named, scheme = redacted(url), scheme_of(url)
    what = None
    if not url or not url.isprintable():
        what = "it is no path and no URL"
    elif "::" in url:
        what = "it is a chain of URLs"
    elif "://" in url and (urlsplit(url).query or urlsplit(url).fragment):
        what = "it has a query or a fragment, which names no folder"
    elif scheme in {"http", "https"}:
        what = "the web is read only"
    elif scheme != "file" and scheme not in _known():
        what = f'nobody knows "{shown(scheme)}://"'
    if what is not None:
        raise RegistryError(finding(A001, named, what))
    return scheme


def _known() -> frozenset[str]:
    from fsspec.registry import available_protocols  # noqa: PLC0415  slow import

    return frozenset(available_protocols())
