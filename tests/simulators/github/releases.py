"""Operations about releases: drafts, tags, which one is the latest."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tests.simulators.github.assets import shown_asset
from tests.simulators.github.routing import Ask, Refused, Reply, invalid, page, route
from tests.simulators.github.shapes import node, simple_user
from tests.simulators.github.state import Release

if TYPE_CHECKING:
    from tests.simulators.github.hub import FakeGitHub
    from tests.simulators.github.state import Repository

__all__ = ["shown_release"]

_READ = ("contents", "read")
_WRITE = ("contents", "write")


def shown_release(hub: FakeGitHub, known: Repository, release: Release) -> Any:
    """A release with its assets."""
    full_name = hub.full_name(known)
    start = f"{hub.api}/repos/{full_name}/releases/{release.id}"
    tag = f"untagged-{release.id:020x}" if release.draft else release.tag_name
    upload = f"{hub.api}/uploads/repos/{full_name}/releases/{release.id}/assets"
    ball = f"{hub.api}/repos/{full_name}"
    return {
        "url": start,
        "assets_url": f"{start}/assets",
        "upload_url": f"{upload}{{?name,label}}",
        "html_url": f"{hub.web}/{full_name}/releases/tag/{tag}",
        "id": release.id,
        "author": simple_user(hub, release.author),
        "node_id": node("RE", release.id),
        "tag_name": release.tag_name,
        "target_commitish": release.target_commitish,
        "name": release.name,
        "body": release.body,
        "draft": release.draft,
        "immutable": release.immutable,
        "prerelease": release.prerelease,
        "created_at": release.created_at,
        "updated_at": release.updated_at,
        "published_at": release.published_at,
        "assets": [shown_asset(hub, known, release, a) for a in release.assets],
        "tarball_url": None if release.draft else f"{ball}/tarball/{tag}",
        "zipball_url": None if release.draft else f"{ball}/zipball/{tag}",
    }


def _reply(ask: Ask, status: int, release: Release) -> Reply:
    return Reply(status, shown_release(ask.hub, ask.repository, release))


def _release(ask: Ask) -> Release:
    number = ask.number("release_id")
    for release in _visible(ask):
        if release.id == number:
            return release
    raise Refused(404, "Not Found")


def _visible(ask: Ask) -> list[Release]:
    """The releases that who asks may see: drafts need push access."""
    drafts = ask.hub.may_push(ask.repository, ask.account, ask.token)
    return [r for r in ask.repository.releases if drafts or not r.draft]


@route("GET", "R/releases", needs=_READ)
def _list(ask: Ask) -> Reply:
    reply = page(ask, _visible(ask)[::-1])
    reply.body = [shown_release(ask.hub, ask.repository, r) for r in reply.body]
    return reply


@route("POST", "R/releases", needs=_WRITE, role="write")
def _create(ask: Ask) -> Reply:
    known, wanted, now = ask.repository, ask.json, ask.hub.stamp()
    if not wanted.get("tag_name"):
        raise invalid("Release", "tag_name", "missing_field")
    release = Release(
        id=ask.hub.next_id(),
        author=ask.user.id,
        tag_name=wanted["tag_name"],
        target_commitish=wanted.get("target_commitish") or known.default_branch,
        name=wanted.get("name"),
        body=wanted.get("body"),
        draft=True,
        prerelease=bool(wanted.get("prerelease", False)),
        created_at=now,
        updated_at=now,
    )
    if not wanted.get("draft", False):
        _publish(ask, release, wanted.get("make_latest", "true"))
    known.releases.append(release)
    return _reply(ask, 201, release)


@route("GET", "R/releases/latest", needs=_READ)
def _latest(ask: Ask) -> Reply:
    found = ask.hub.latest_release(ask.repository)
    if found is None:
        raise Refused(404, "Not Found")
    return _reply(ask, 200, found)


@route("GET", "R/releases/tags/{tag}", needs=_READ)
def _by_tag(ask: Ask) -> Reply:
    for release in ask.repository.releases:
        if release.tag_name == ask.params["tag"] and not release.draft:
            return _reply(ask, 200, release)
    raise Refused(404, "Not Found")


@route("GET", "R/releases/{release_id}", needs=_READ)
def _get(ask: Ask) -> Reply:
    return _reply(ask, 200, _release(ask))


@route("PATCH", "R/releases/{release_id}", needs=_WRITE, role="write")
def _edit(ask: Ask) -> Reply:
    release, wanted = _release(ask), ask.json
    _check_immutable(release, wanted)
    names = ("tag_name", "target_commitish", "name", "body", "prerelease")
    before = {name: getattr(release, name) for name in names}
    for name in names:
        if wanted.get(name) is not None:
            setattr(release, name, wanted[name])
    try:
        if wanted.get("draft") is False and release.draft:
            _publish(ask, release, wanted.get("make_latest", "true"))
        elif not release.draft and "make_latest" in wanted:
            _mark(ask.repository, release, wanted["make_latest"])
    except Refused:
        for name, value in before.items():
            setattr(release, name, value)
        raise
    if wanted.get("draft") is True and not release.draft:
        release.draft, release.published_at = True, None
    release.updated_at = ask.hub.stamp()
    return _reply(ask, 200, release)


def _check_immutable(release: Release, wanted: dict[str, Any]) -> None:
    names = ("tag_name", "target_commitish", "draft", "prerelease")
    for name in names if release.immutable else ():
        if name in wanted and wanted[name] != getattr(release, name):
            raise invalid("Release", name, "custom", f"{name} is immutable")


@route("DELETE", "R/releases/{release_id}", needs=_WRITE, role="write")
def _delete(ask: Ask) -> Reply:
    release = _release(ask)
    ask.repository.releases.remove(release)
    if release.immutable:
        ask.repository.burnt_tags.add(release.tag_name)
    return Reply(204)


def _publish(ask: Ask, release: Release, make_latest: str) -> None:
    """Make a draft public; its tag is made if there is none.

    Raises:
        Refused: 422, the tag is taken by another release, or cannot be made.
    """
    known, tag = ask.repository, release.tag_name
    for other in known.releases:
        if other is not release and not other.draft and other.tag_name == tag:
            raise invalid("Release", "tag_name", "already_exists")
    if tag in known.burnt_tags:
        text = "tag_name was used by an immutable release"
        raise invalid("Release", "tag_name", "custom", text)
    bare = ask.hub.git(known)
    if bare.resolve(f"refs/tags/{tag}") is None:
        target = release.target_commitish
        commit = bare.branch(target) or bare.resolve(target)
        if commit is None:
            raise invalid("Release", "target_commitish", "invalid")
        bare.set_ref(f"refs/tags/{tag}", commit)
    release.draft = False
    release.published_at = ask.hub.stamp()
    release.published = ask.hub.next_id()
    release.immutable = known.settings.immutable_releases
    _mark(known, release, make_latest)


def _mark(known: Repository, release: Release, make_latest: str) -> None:
    if make_latest not in {"true", "false", "legacy"}:
        raise invalid("Release", "make_latest", "invalid")
    if make_latest != "false" and not release.prerelease:
        known.latest = release.id
    elif make_latest == "false" and known.latest == release.id:
        known.latest = None
