"""Ways out of the house: where a release folder is put for others to find."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from registry.documents.findings import RegistryError, Severity, code, finding

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from registry.gate.github.connection import Connection, Patience
    from registry.publish.channels.outcome import Published

__all__ = ["latest_commit", "publish"]

UNKNOWN_CHANNEL = code(
    "R030",
    Severity.ERROR,
    "A release cannot be published to a place of this kind.",
    "Name a folder as dir:PATH, for example `--to dir:/srv/power-models`, or a"
    " repository as github:OWNER/NAME.",
)


def publish(
    release: Path,
    to: str,
    *,
    environment: Mapping[str, str] | None = None,
    patience: Patience | None = None,
    progress: Callable[[str], None] | None = None,
) -> Published:
    """Publish a release folder to a channel.

    Args:
        release: A folder that `registry build` made.
        to: The channel, ``dir:PATH`` or ``github:OWNER/NAME``; ``github:`` alone is
            GITHUB_REPOSITORY.
        environment: For GitHub, as in `registry.gate.github.connection.connect`.
        patience: Likewise.
        progress: Called with lines for people.

    Raises:
        RegistryError: R030, the channel is unknown; or what the channel refuses.

    """
    kind, separator, place = to.partition(":")
    if separator and kind == "github":
        from registry.publish.channels import github  # noqa: PLC0415 - slow to import

        options: dict[str, Any] = {} if patience is None else {"patience": patience}
        return github.publish(
            release,
            place.strip() or None,
            environment=environment,
            progress=progress,
            **options,
        )
    if kind != "dir" or not separator or not place.strip():
        raise RegistryError(finding(UNKNOWN_CHANNEL, to or "--to", f"it is {to!r}"))
    from registry.publish.channels import directory  # noqa: PLC0415 - only when used

    return directory.publish(release, place)


def latest_commit(connection: Connection) -> str | None:
    """Give the commit of the newest release on GitHub; see `github_latest`."""
    from registry.publish.channels import github_latest  # noqa: PLC0415 - slow

    return github_latest.latest_commit(connection)
