"""Git over HTTP and the addresses of release files; on another host, the files."""

from __future__ import annotations

import gzip
import re
import secrets
from typing import TYPE_CHECKING
from urllib.parse import quote, unquote

from tests.simulators.github import rulesets
from tests.simulators.github.api import Api
from tests.simulators.github.routing import Refused, Reply
from tests.simulators.github.smart_http import backend, is_push, pushed_refs
from tests.simulators.github.wire import Handler

if TYPE_CHECKING:
    from tests.simulators.github.state import Asset, Release, Repository

__all__ = ["Api", "Blobs", "Web"]

_GIT = re.compile(
    r"/([^/]+)/([^/]+?)(?:\.git)?(/info/refs|/git-upload-pack|/git-receive-pack)"
)
_DOWNLOAD = re.compile(
    r"/([^/]+)/([^/]+)/releases/(?:latest/download|download/([^/]+))/([^/]+)"
)


class Web(Handler):
    """What stands at ``GITHUB_SERVER_URL``."""

    kind = "web"

    def answer(self, body: bytes) -> Reply:
        path, _, query = self.path.partition("?")
        found = _GIT.fullmatch(path)
        if found is not None:
            return self._git(found, query, body)
        found = _DOWNLOAD.fullmatch(path)
        if found is not None and self.command in {"GET", "HEAD"}:
            with self.hub.lock:
                return self._download(found)
        raise Refused(404, "Not Found")

    def _git(self, found: re.Match[str], query: str, body: bytes) -> Reply:
        with self.hub.lock:
            known, moved = self.hub.find_repository(found[1], found[2])
            hidden = known is None or not known.visible
            role = "none" if hidden else self.hub.role(known, self.account, self.token)
        ask = {"WWW-Authenticate": 'Basic realm="GitHub"'}
        push = is_push(found[0], query)
        if self.account is None and (push or role == "none"):
            raise Refused(401, "Authentication required", headers=ask)
        if known is None or role == "none":
            raise Refused(404, "Repository not found.")
        if moved:
            place = f"{self.hub.web}/{self.hub.full_name(known)}.git{found[3]}"
            return Reply(301, raw=b"", headers={"Location": f"{place}?{query}"})
        if not self._may(push, role):
            raise Refused(403, "Permission to the repository denied.")
        login = self.account.login if self.account else None
        guards = ""
        if push and self.command == "POST":
            data = body
            if self.headers.get("Content-Encoding") == "gzip":
                data = gzip.decompress(body)
            with self.hub.lock:
                kinds = {r: rulesets.guards(known, r, role) for r in pushed_refs(data)}
            guards = "\n".join(f"{r} {' '.join(sorted(k))}" for r, k in kinds.items())
        reply = backend(
            known, found[3], self.command, query, self.headers, body, login, guards
        )
        if push and self.command == "POST":
            with self.hub.lock:
                self.hub.pushed(known)
        return reply

    def _may(self, push: bool, role: str) -> bool:
        if self.token is not None and self.token.permissions is not None:
            granted = self.token.permissions.get("contents", "none")
            if granted == "none" or (push and granted != "write"):
                return False
        return not push or role in {"write", "maintain", "admin"}

    def _download(self, found: re.Match[str]) -> Reply:
        known, _ = self.hub.find_repository(unquote(found[1]), unquote(found[2]))
        if known is None or self.hub.role(known, self.account, self.token) == "none":
            raise Refused(404, "Not Found")
        if found[3] is None:
            latest = self.hub.latest_release(known)
            if latest is None:
                raise Refused(404, "Not Found")
            tag = quote(latest.tag_name, safe="")
            name = f"{self.hub.full_name(known)}/releases/download/{tag}/{found[4]}"
            return Reply(302, raw=b"", headers={"Location": f"{self.hub.web}/{name}"})
        asset = _asset(known, unquote(found[3]), unquote(found[4]))
        if asset is None:
            raise Refused(404, "Not Found")
        place = self.hub.signed(asset)
        return Reply(302, raw=b"", headers={"Location": place})


def _asset(known: Repository, tag: str, name: str) -> Asset | None:
    releases: list[Release] = [
        release
        for release in known.releases
        if release.tag_name == tag and not release.draft
    ]
    for asset in (asset for release in releases for asset in release.assets):
        if asset.name == name and asset.state == "uploaded":
            return asset
    return None


class Blobs(Handler):
    """Where the bytes are, under signed addresses.

    It is another host, as on GitHub, where ``githubusercontent.com`` has the files.
    PyGithub's own ``download_asset`` follows to that name only, so not to this one.
    """

    kind = "blobs"

    def _identify(self) -> None:
        self.account, self.token, self.known = None, None, True

    def answer(self, body: bytes) -> Reply:  # noqa: ARG002
        if self.command not in {"GET", "HEAD"}:
            raise Refused(405, "Method Not Allowed")
        if self.headers.get("Authorization"):
            raise Refused(400, "Only one auth mechanism allowed")
        path = self.path.split("?")[0]
        with self.hub.lock:
            asset = self.hub.signatures.get(path.removeprefix("/"))
        if asset is None:
            raise Refused(403, "Signature not valid")
        asset.downloads += 1
        disposition = f'attachment; filename="{asset.name}"'
        headers = {"Content-Disposition": disposition, "Accept-Ranges": "bytes"}
        data = asset.data
        wanted = re.fullmatch(r"bytes=(\d+)-(\d*)", self.headers.get("Range", ""))
        if wanted is None:
            return Reply(200, raw=data, headers=headers)
        first = int(wanted[1])
        last = min(int(wanted[2] or len(data)), len(data) - 1)
        if first >= len(data):
            raise Refused(416, "Range Not Satisfiable")
        headers["Content-Range"] = f"bytes {first}-{last}/{len(data)}"
        return Reply(206, raw=data[first : last + 1], headers=headers)


def signature() -> str:
    """A name that nobody guesses."""
    return secrets.token_hex(16)
