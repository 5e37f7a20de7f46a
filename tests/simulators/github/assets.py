"""Operations about the files of releases."""

from __future__ import annotations

import hashlib
import re
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from tests.simulators.github.routing import Ask, Refused, Reply, invalid, page, route
from tests.simulators.github.shapes import node, simple_user
from tests.simulators.github.state import Asset, Release, Repository

if TYPE_CHECKING:
    from tests.simulators.github.hub import FakeGitHub

__all__ = ["new_asset", "shown_asset", "start_asset"]

_READ = ("contents", "read")
_WRITE = ("contents", "write")


def shown_asset(
    hub: FakeGitHub, known: Repository, release: Release, asset: Asset
) -> dict[str, Any]:
    """A file of a release."""
    full_name = hub.full_name(known)
    tag = f"untagged-{release.id:020x}" if release.draft else release.tag_name
    place = f"{quote(tag, safe='')}/{quote(asset.name)}"
    return {
        "url": f"{hub.api}/repos/{full_name}/releases/assets/{asset.id}",
        "id": asset.id,
        "node_id": node("RA", asset.id),
        "name": asset.name,
        "label": asset.label,
        "uploader": simple_user(hub, asset.uploader),
        "content_type": asset.content_type,
        "state": asset.state,
        "size": len(asset.data),
        "digest": asset.digest,
        "download_count": asset.downloads,
        "created_at": asset.created_at,
        "updated_at": asset.updated_at,
        "browser_download_url": f"{hub.web}/{full_name}/releases/download/{place}",
    }


def stored_name(name: str) -> str:
    """The name that GitHub gives a file: special characters become dots."""
    plain = re.sub(r"[^A-Za-z0-9._+@~-]", ".", name)
    plain = re.sub(r"\.{2,}", ".", plain).rstrip(".")
    return f"default{plain}" if plain.startswith(".") else plain


def new_asset(
    hub: FakeGitHub, name: str, data: bytes, uploader: int, content_type: str
) -> Asset:
    """A file that was uploaded whole."""
    now = hub.stamp()
    digest = f"sha256:{hashlib.sha256(data).hexdigest()}"
    return Asset(hub.next_id(), name, content_type, data, uploader, now, now, digest)


def start_asset(ask: Ask) -> None:
    """Leave what a broken upload leaves: a file without bytes that holds the name."""
    release = _release(ask)
    name = stored_name(ask.query.get("name", ""))
    if release.immutable or any(a.name == name for a in release.assets):
        return
    asset = new_asset(ask.hub, name, b"", ask.user.id, "application/octet-stream")
    asset.state, asset.digest = "starter", None
    release.assets.append(asset)


def _release(ask: Ask) -> Release:
    drafts = ask.hub.may_push(ask.repository, ask.account, ask.token)
    number = ask.number("release_id")
    for release in ask.repository.releases:
        if release.id == number and (drafts or not release.draft):
            return release
    raise Refused(404, "Not Found")


def _asset(ask: Ask) -> tuple[Release, Asset]:
    drafts = ask.hub.may_push(ask.repository, ask.account, ask.token)
    number = ask.number("asset_id")
    for release in ask.repository.releases:
        for asset in release.assets:
            if asset.id == number and (drafts or not release.draft):
                return release, asset
    raise Refused(404, "Not Found")


def _changeable(release: Release) -> None:
    if release.immutable:
        text = "Cannot change the assets of an immutable release."
        raise invalid("ReleaseAsset", "release", "custom", text)


@route("GET", "R/releases/{release_id}/assets", needs=_READ)
def _list(ask: Ask) -> Reply:
    release = _release(ask)
    reply = page(ask, release.assets)
    reply.body = [
        shown_asset(ask.hub, ask.repository, release, asset) for asset in reply.body
    ]
    return reply


@route(
    "POST",
    "R/releases/{release_id}/assets",
    needs=_WRITE,
    role="write",
    upload=True,
)
def _upload(ask: Ask) -> Reply:
    release, name = _release(ask), stored_name(ask.query.get("name", ""))
    _changeable(release)
    if not name:
        raise invalid("ReleaseAsset", "name", "missing_field")
    kind = ask.headers.get("Content-Type")
    if not kind:
        raise invalid("ReleaseAsset", "content_type", "missing_field")
    if not ask.body:
        text = "size must be greater than or equal to 1"
        raise invalid("ReleaseAsset", "size", "custom", text)
    if any(asset.name == name for asset in release.assets):
        raise invalid("ReleaseAsset", "name", "already_exists")
    if len(release.assets) >= 1000:
        text = "A release may have at most 1000 assets."
        raise invalid("ReleaseAsset", "release", "custom", text)
    asset = new_asset(ask.hub, name, ask.body, ask.user.id, kind)
    asset.label = ask.query.get("label") or ""
    release.assets.append(asset)
    return Reply(201, shown_asset(ask.hub, ask.repository, release, asset))


@route("GET", "R/releases/assets/{asset_id}", needs=_READ)
def _get(ask: Ask) -> Reply:
    release, asset = _asset(ask)
    if "application/octet-stream" in ask.headers.get("Accept", ""):
        if asset.state != "uploaded":
            raise Refused(404, "Not Found")
        return Reply(302, raw=b"", headers={"Location": ask.hub.signed(asset)})
    return Reply(200, shown_asset(ask.hub, ask.repository, release, asset))


@route("PATCH", "R/releases/assets/{asset_id}", needs=_WRITE, role="write")
def _edit(ask: Ask) -> Reply:
    release, asset = _asset(ask)
    _changeable(release)
    name = stored_name(ask.json.get("name") or asset.name)
    if any(a.name == name and a is not asset for a in release.assets):
        raise invalid("ReleaseAsset", "name", "already_exists")
    asset.name, asset.updated_at = name, ask.hub.stamp()
    asset.label = ask.json.get("label", asset.label)
    return Reply(200, shown_asset(ask.hub, ask.repository, release, asset))


@route("DELETE", "R/releases/assets/{asset_id}", needs=_WRITE, role="write")
def _delete(ask: Ask) -> Reply:
    release, asset = _asset(ask)
    _changeable(release)
    release.assets.remove(asset)
    return Reply(204)
