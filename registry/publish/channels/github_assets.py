"""The assets of one release on GitHub: listed, compared, sent, and read back."""

from __future__ import annotations

import contextlib
import hashlib
import urllib.parse
from typing import TYPE_CHECKING, Final

import github

from registry.documents.findings import RegistryError, Severity, code, finding
from registry.gate.github.connection import asking
from registry.gate.github.writing import settle
from registry.publish.web import TooLarge, read_url

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from github.GitRelease import GitRelease
    from github.GitReleaseAsset import GitReleaseAsset

    from registry.documents.findings import Finding
    from registry.gate.github.connection import Connection
    from registry.publish.channels.parcels import Parcel

__all__ = ["clear", "differences", "fill", "listed", "read_asset"]

ASSET_CHANGED = code(
    "R076",
    Severity.ERROR,
    "An asset of a release on GitHub is not the file of the release.",
    "Find out who changed it. Delete the release on GitHub and publish again; where "
    "releases are immutable its tag is spent, so merge a commit and publish that.",
    "P2",
    "W11",
)

_UPLOADED: Final = "uploaded"
_OCTETS: Final = "application/octet-stream"


def listed(release: GitRelease) -> list[GitReleaseAsset]:
    """List all assets of a release."""
    return list(release.get_assets())


def differences(
    connection: Connection, release: GitRelease, parcels: Sequence[Parcel]
) -> list[Finding]:
    """Compare the assets of a release with the files that it must have.

    Returns:
        One finding for each asset that is missing, another one or too many.

    """
    wanted = {parcel.name: parcel for parcel in parcels}
    found: dict[str, list[GitReleaseAsset]] = {}
    with asking(f"the assets of {release.tag_name}"):
        for asset in listed(release):
            found.setdefault(asset.name, []).append(asset)
        return [
            finding(ASSET_CHANGED, name, what)
            for name in sorted(wanted.keys() | found.keys())
            if (what := _wrong(connection, wanted.get(name), found.get(name, [])))
        ]


def fill(
    connection: Connection,
    release: GitRelease,
    parcels: Sequence[Parcel],
    progress: Callable[[str], None],
) -> None:
    """Send what a draft lacks, and take out what does not belong there.

    An asset that is there with the right digest is kept, so an interrupted publisher
    goes on where it stopped. What an upload that broke off has left holds the name, so
    it is deleted before the file is sent again.

    Raises:
        RegistryError: N001 to N005.

    """
    wanted = {parcel.name: parcel for parcel in parcels}
    with asking(f"the assets of {release.tag_name}"):
        there = listed(release)
        missing = dict(wanted)
        for asset in there:
            parcel = wanted.get(asset.name)
            if parcel is not None and _equal(connection, asset, parcel):
                missing.pop(asset.name, None)
    for asset in there:
        if asset.name not in wanted or asset.name in missing:
            clear(connection, asset)
    for number, parcel in enumerate(missing.values(), 1):
        progress(f"sending {number} of {len(missing)}: {parcel.name}")
        _send(connection, release, parcel)


def clear(connection: Connection, asset: GitReleaseAsset) -> None:
    """Delete an asset, unless somebody else has."""
    settle(
        lambda: None,
        lambda: _delete(asset),
        what=f"deleting {asset.name}",
        patience=connection.patience,
    )


def _delete(asset: GitReleaseAsset) -> bool:
    with contextlib.suppress(github.UnknownObjectException):
        asset.delete_asset()
    return True


def read_asset(connection: Connection, asset: GitReleaseAsset, most: int) -> bytes:
    """Read an asset through the API, which also serves drafts.

    Args:
        connection: The repository.
        asset: The asset.
        most: The most bytes that it may have.

    Raises:
        RegistryError: N001 to N005, or R076, it is larger.

    """
    path = f"/repos/{connection.name}/releases/assets/{asset.id}"
    ask = connection.api.requester
    with asking(f"asset {asset.name}"):
        status, headers, _ = ask.requestJson("GET", path, headers={"Accept": _OCTETS})
        if status >= 400:
            raise ask.createException(status, headers, {})
        url, secrets = f"{ask.base_url}{path}", {"Accept": _OCTETS}
        if status in {301, 302, 303, 307, 308}:
            url = urllib.parse.urljoin(url, headers["location"])
            secrets = {}
            if ask.base_url.startswith("https:") and not url.startswith("https:"):
                raise ValueError("it redirects from https to something else")
        elif connection.token is not None:
            secrets["Authorization"] = f"Bearer {connection.token}"
        try:
            return read_url(url, most, secrets)
        except TooLarge as error:
            problem = finding(ASSET_CHANGED, asset.name, f"{error}")
            raise RegistryError(problem) from None


def _send(connection: Connection, release: GitRelease, parcel: Parcel) -> None:
    first = True

    def look() -> GitReleaseAsset | None:
        nonlocal first
        if first:  # it was just seen that there is none
            first = False
            return None
        good = None
        for asset in listed(release):
            if asset.name == parcel.name:
                if _equal(connection, asset, parcel):
                    good = asset
                else:
                    _delete(asset)
        return good

    def write() -> GitReleaseAsset | None:
        with parcel.path.open("rb") as file:
            made = release.upload_asset_from_memory(
                file, parcel.bytes, parcel.name, parcel.content_type
            )
        return made if _equal(connection, made, parcel) else None

    settle(look, write, what=f"sending {parcel.name}", patience=connection.patience)


def _equal(connection: Connection, asset: GitReleaseAsset, parcel: Parcel) -> bool:
    return not _wrong(connection, parcel, [asset])


def _wrong(
    connection: Connection, parcel: Parcel | None, found: Sequence[GitReleaseAsset]
) -> str:
    """Say what is wrong with the assets of one name; nothing if all is well."""
    if parcel is None:
        return "the release has no such file"
    if len(found) != 1:
        return "it is missing" if not found else f"it is there {len(found)} times"
    (asset,) = found
    if asset.state != _UPLOADED:
        return "its upload broke off"
    if asset.size != parcel.bytes:
        return f"it has {asset.size} bytes, not {parcel.bytes}"
    if _digest(connection, asset) != parcel.sha256:
        return "its digest is another one"
    return ""


def _digest(connection: Connection, asset: GitReleaseAsset) -> str:
    """Give the SHA-256 that GitHub states, or compute it where it states none."""
    if asset.digest is not None:
        return asset.digest.removeprefix("sha256:")
    data = read_asset(connection, asset, asset.size)
    return hashlib.sha256(data).hexdigest()
