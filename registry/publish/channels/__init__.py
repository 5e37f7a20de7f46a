"""Ways out of the house: where a release folder is put for others to find."""

from __future__ import annotations

from typing import TYPE_CHECKING

from registry.documents.findings import RegistryError, Severity, code, finding

if TYPE_CHECKING:
    from pathlib import Path

    from registry.publish.channels.directory import Published

__all__ = ["publish"]

UNKNOWN_CHANNEL = code(
    "R030",
    Severity.ERROR,
    "A release cannot be published to a place of this kind.",
    "Name a folder as dir:PATH, for example `--to dir:/srv/power-models`.",
)


def publish(release: Path, to: str) -> Published:
    """Publish a release folder to a channel.

    Args:
        release: A folder that `registry build` made.
        to: The channel, ``dir:PATH``.

    Raises:
        RegistryError: R030, the channel is unknown; or what the channel refuses.

    """
    from registry.publish.channels import directory  # noqa: PLC0415 - only when used

    kind, separator, place = to.partition(":")
    if kind != "dir" or not separator or not place.strip():
        raise RegistryError(finding(UNKNOWN_CHANNEL, to or "--to", f"it is {to!r}"))
    return directory.publish(release, place)
