"""The page of all finding codes, gathered from every module that declares some."""

from __future__ import annotations

import pkgutil
from importlib import import_module

from registry.documents.codes_page import codes_page

__all__ = ["all_codes_page"]

PACKAGES = ("registry", "tools")
"""The kit is named here only as text: the registry never depends on it."""


def all_codes_page() -> str:
    """Import all modules of the project and return the catalogue as Markdown."""
    for package in PACKAGES:
        found = import_module(package)
        for module in pkgutil.walk_packages(found.__path__, f"{package}."):
            if not module.name.endswith("__main__"):
                import_module(module.name)
    return codes_page()
