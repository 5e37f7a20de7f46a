"""What tests publish, what is in a store then, and what is refused."""

from __future__ import annotations

from collections.abc import Callable

import fsspec
import pytest

from registry.documents.canonical import sha256
from registry.documents.findings import Finding, RegistryError

__all__ = ["DIGEST", "findings_of", "held"]

DIGEST = sha256(b"a trace")
"""The digest of the fixture `trace`."""


def findings_of(call: Callable[[], object]) -> tuple[Finding, ...]:
    with pytest.raises(RegistryError) as refusal:
        call()
    return refusal.value.findings


def held(url: str) -> dict[str, bytes]:
    """Everything in a store."""
    fs, root = fsspec.core.url_to_fs(url)
    return {path.removeprefix(root): fs.cat_file(path) for path in fs.find(root)}
