"""Packages that a workload needs, and what to install where one is missing."""

from __future__ import annotations

from importlib import import_module
from importlib.util import find_spec
from typing import Any, Final

from registry.documents.findings import RegistryError, Severity, code, finding

__all__ = ["INSTALL", "lacking", "required"]

INSTALL: Final = {
    "onnx": "pip install 'power-dataset-registry[workloads]'",
    "onnxruntime": "pip install 'power-dataset-registry[workloads]'",
    "torch": "pip install torch; see https://pytorch.org for builds for GPUs",
}
"""How to get a package; what is not named here comes with the kit."""
ITSELF: Final = "pip install power-dataset-registry"

W001 = code(
    "W001",
    Severity.ERROR,
    "A workload needs a package that is not installed.",
    "Install it, or choose another workload; `powerkit workload list` says which can"
    " run.",
)


def lacking(packages: tuple[str, ...]) -> tuple[str, ...]:
    """Which of some packages are not installed; none is loaded."""
    return tuple(name for name in packages if not _present(name))


def required(package: str) -> Any:
    """Load a package.

    Raises:
        RegistryError: W001, it is not installed or does not load.
    """
    fix = INSTALL.get(package, ITSELF)
    try:
        return import_module(package)
    except ImportError as error:
        what = "it is not installed" if not _present(package) else f"{error}"
        raise RegistryError(finding(W001, package, what, fix=fix)) from None


def _present(package: str) -> bool:
    try:
        return find_spec(package) is not None
    except (ImportError, ValueError):  # a module that somebody put in place by hand
        return True
