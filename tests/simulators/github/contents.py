"""Operations on files at their paths, which commit for the client."""

from __future__ import annotations

import base64
import binascii
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from tests.simulators.github.git import GitFailed
from tests.simulators.github.history import git_commit, identity
from tests.simulators.github.objects import landed, tree_with
from tests.simulators.github.routing import Ask, Refused, Reply, invalid, route

if TYPE_CHECKING:
    from tests.simulators.github.git import Bare

__all__: list[str] = []

_KINDS = {"tree": "dir", "blob": "file", "commit": "submodule"}


def _bare(ask: Ask) -> Bare:
    return ask.hub.git(ask.repository)


def _entries(bare: Bare, commit: str, path: str, *inside: str) -> list[list[str]]:
    """Mode, type, object, size and path of what lies at a path."""
    text = bare.git("ls-tree", "-z", "-l", commit, "--", f"{path}{''.join(inside)}")
    lines = (line.split("\t", 1) for line in text.split("\0")[:-1])
    return [[*about.split(), name] for about, name in lines]


def _shown(ask: Ask, entry: list[str], ref: str) -> dict[str, Any]:
    _, kind, sha, size, path = entry
    name = ask.hub.full_name(ask.repository)
    start = f"{ask.hub.api}/repos/{name}"
    own = f"{start}/contents/{quote(path)}?ref={quote(ref)}"
    git = f"{start}/git/{kind}s/{sha}"
    shape = "tree" if kind == "tree" else "blob"
    html = f"{ask.hub.web}/{name}/{shape}/{ref}/{quote(path)}"
    raw = f"{ask.hub.web}/{name}/raw/{ref}/{quote(path)}"
    return {
        "name": path.rsplit("/", 1)[-1],
        "path": path,
        "sha": sha,
        "size": int(size) if size.isdigit() else 0,
        "url": own,
        "html_url": html,
        "git_url": git,
        "download_url": raw if kind == "blob" else None,
        "type": _KINDS[kind],
        "_links": {"self": own, "git": git, "html": html},
    }


@route("GET", "R/contents/{path}", needs=("contents", "read"))
def _get(ask: Ask) -> Reply:
    bare = _bare(ask)
    ref = ask.query.get("ref") or ask.repository.default_branch
    commit = bare.branch(ref) or bare.resolve(ref)
    path = ask.params["path"].strip("/")
    found = [] if commit is None else _entries(bare, commit, path)
    if commit is None or not found:
        raise Refused(404, "Not Found" if commit else f"No commit found for ref {ref}")
    if found[0][1] == "tree":
        inside = _entries(bare, commit, path, "/")
        return Reply(200, [_shown(ask, entry, ref) for entry in inside])
    data = bare.raw("cat-file", "blob", found[0][2])
    if "raw" in ask.headers.get("Accept", ""):
        return Reply(200, raw=data)
    shown = _shown(ask, found[0], ref)
    # GitHub leaves the content out of answers about files of 1 to 100 MB.
    small = len(data) <= 1 << 20
    shown["content"] = base64.encodebytes(data).decode() if small else ""
    shown["encoding"] = "base64" if small else "none"
    return Reply(200, shown)


@route("PUT", "R/contents/{path}", needs=("contents", "write"), role="write")
def _put(ask: Ask) -> Reply:
    wanted = ask.json
    if not isinstance(wanted.get("message"), str):
        raise Refused(422, '"message" wasn\'t supplied.')
    try:
        data = base64.b64decode(
            wanted.get("content", "").replace("\n", ""), validate=True
        )
    except binascii.Error:
        raise Refused(422, "content is not valid Base64") from None
    sha = _bare(ask).git("hash-object", "-w", "--stdin", data=data)
    before = _change(ask, sha)
    path = ask.params["path"].strip("/")
    head = _bare(ask).branch(_branch(ask))
    assert head is not None
    entry = _entries(_bare(ask), head, path)[0]
    shown = _shown(ask, entry, _branch(ask))
    commit = git_commit(ask.hub, ask.repository, head)
    return Reply(201 if before is None else 200, {"content": shown, "commit": commit})


@route("DELETE", "R/contents/{path}", needs=("contents", "write"), role="write")
def _delete(ask: Ask) -> Reply:
    if _change(ask, None) is None:
        raise Refused(404, "Not Found")
    head = _bare(ask).branch(_branch(ask))
    assert head is not None
    commit = git_commit(ask.hub, ask.repository, head)
    return Reply(200, {"content": None, "commit": commit})


def _branch(ask: Ask) -> str:
    given = ask.json.get("branch") or ask.query.get("branch")
    return str(given or ask.repository.default_branch)


def _change(ask: Ask, sha: str | None) -> str | None:
    """Commit another content of a file; gives the object that was there.

    Raises:
        Refused: 404 without the branch, 409 or 422 if ``sha`` is not the file's.
    """
    bare, branch, path = _bare(ask), _branch(ask), ask.params["path"].strip("/")
    head = bare.branch(branch)
    empty = not bare.refs("refs/heads/")
    if head is None and not (empty and branch == ask.repository.default_branch):
        raise Refused(404, f"Branch {branch} not found")
    found = [] if head is None else _entries(bare, head, path)
    before = found[0][2] if found else None
    given = ask.json.get("sha") or ask.query.get("sha")
    if before is not None and given is None:
        raise Refused(422, 'Invalid request.\n\n"sha" wasn\'t supplied.')
    if given is not None and given != before:
        raise Refused(409, f"{path} does not match {given}")
    if sha is None and before is None:
        return None
    try:
        tree = tree_with(bare, head, [("100644", path, sha)])
    except GitFailed:
        raise invalid("Commit", "path", "invalid") from None
    commit = bare.commit(
        tree,
        [] if head is None else [head],
        ask.json.get("message") or ask.query.get("message", ""),
        author=identity(ask.user),
        when=int(ask.hub.time()),
    )
    landed(ask, f"refs/heads/{branch}", commit)
    return before
