"""What the registry's main branch holds: by GitHub, or by the checkout's own git."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING
from urllib.parse import quote

from registry.documents.findings import RegistryError
from registry.gate.github.connection import ABSENT, asking

if TYPE_CHECKING:
    from registry.gate.github.connection import Connection
    from registry.gate.tree import Tree

__all__ = ["LocalMain", "RemoteMain"]


@dataclass(frozen=True, slots=True)
class LocalMain:
    """The main branch as the checkout knows it, which may be behind."""

    tree: Tree

    def names(self, folder: str) -> set[str]:
        """Names of the files in a folder."""
        listed = (entry.path for entry in self.tree.entries(folder))
        return {path.removeprefix(folder) for path in listed}


@dataclass(frozen=True, slots=True)
class RemoteMain:
    """The main branch as GitHub has it now.

    Attributes:
        connection: the registry on GitHub.
        name: ``OWNER/NAME`` as GitHub writes it now.
    """

    connection: Connection
    name: str
    _known: dict[str, set[str]] = field(default_factory=dict)

    def names(self, folder: str) -> set[str]:
        """Names of the files in a folder.

        Raises:
            RegistryError: N001 to N005.
        """
        if folder not in self._known:
            self._known[folder] = self._ask(folder.rstrip("/"))
        return self._known[folder]

    def _ask(self, folder: str) -> set[str]:
        path = f"/repos/{self.name}/contents/{quote(folder)}?ref=main"
        try:
            listed = self.connection.read(path)
        except RegistryError as error:
            if error.findings[0].code == ABSENT.id:
                return set()
            raise
        with asking(folder):
            return {str(one["name"]) for one in listed if one["type"] == "file"}
