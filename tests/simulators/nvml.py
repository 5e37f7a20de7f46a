"""NVIDIA's driver library without a GPU: a C library that pynvml loads as the real one.

with stubbed(library, "devices=2;low=60;high=300") as stub:
    stub.time(1.5)
"""

from __future__ import annotations

import ctypes
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pynvml
import pytest

__all__ = ["Stub", "compiled", "stubbed"]

_SOURCE = Path(__file__).with_name("libnvidia_ml.c")


class Stub:
    """The library, and what it pretends."""

    def __init__(self, library: ctypes.CDLL) -> None:
        """Take a library that was loaded."""
        self._library = library

    def configure(self, settings: str) -> None:
        """Choose what it pretends; see the head of libnvidia_ml.c."""
        self._library.stub_configure(settings.encode())

    def time(self, seconds: float) -> None:
        """Set its clock."""
        self._library.stub_time(ctypes.c_double(seconds))

    @property
    def users(self) -> int:
        """How often it was initialised and not shut down."""
        users: int = self._library.stub_users()
        return users


def compiled(folder: Path, *flags: str) -> Path:
    """Compile it as libnvidia-ml.so.1 in a folder; skip the test without a compiler."""
    compiler = shutil.which("gcc") or shutil.which("cc")
    if compiler is None:
        pytest.skip("there is no C compiler to make a libnvidia-ml.so.1 with")
    folder.mkdir(parents=True, exist_ok=True)
    library = folder / "libnvidia-ml.so.1"
    command = [compiler, "-shared", "-fPIC", "-O1", "-Wall", "-Wextra", "-Werror"]
    subprocess.run([*command, *flags, "-o", library, _SOURCE], check=True)
    return library


@contextmanager
def stubbed(library: Path, settings: str = "") -> Iterator[Stub]:
    """Let pynvml use it in this process, from 0 seconds on its clock, for a block."""
    loaded = ctypes.CDLL(str(library))
    kept = pynvml.nvmlLib
    pynvml.nvmlLib = loaded
    pynvml._nvmlGetFunctionPointer_cache.clear()
    loaded.stub_reset()
    stub = Stub(loaded)
    stub.configure(settings)
    stub.time(0)
    try:
        yield stub
    finally:
        stub.configure("")
        pynvml.nvmlLib = kept
        pynvml._nvmlGetFunctionPointer_cache.clear()
