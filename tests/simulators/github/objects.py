"""Operations on git's own things: files, blobs, trees, commits and refs."""

from __future__ import annotations

import base64
import binascii
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from tests.simulators.github.git import GitFailed
from tests.simulators.github.history import git_commit, identity
from tests.simulators.github.routing import Ask, Refused, Reply, route
from tests.simulators.github.rulesets import blocked, guards
from tests.simulators.github.shapes import node

if TYPE_CHECKING:
    from tests.simulators.github.git import Bare

__all__ = ["landed", "tree_with"]

_READ = ("contents", "read")
_WRITE = ("contents", "write")


def _bare(ask: Ask) -> Bare:
    return ask.hub.git(ask.repository)


def _start(ask: Ask) -> str:
    return f"{ask.hub.api}/repos/{ask.hub.full_name(ask.repository)}"


def tree_with(
    bare: Bare, base: str | None, entries: list[tuple[str, str, str | None]]
) -> str:
    """The tree that has other files at some paths; a file without content goes.

    Args:
        bare: where.
        base: the tree, or commit, to start from.
        entries: mode, path and object of each file; the object is None to remove it.
    """
    index = bare.path / f"index-{id(entries)}"
    lines = [
        f"0 {'0' * 40}\t{path}\0" if sha is None else f"{mode} {sha}\t{path}\0"
        for mode, path, sha in entries
    ]
    try:
        if base is not None:
            bare.git("read-tree", base, GIT_INDEX_FILE=str(index))
        bare.git(
            "update-index",
            "-z",
            "--add",
            "--index-info",
            data="".join(lines).encode(),
            GIT_INDEX_FILE=str(index),
        )
        return bare.git("write-tree", GIT_INDEX_FILE=str(index))
    finally:
        index.unlink(missing_ok=True)


def landed(ask: Ask, ref: str, sha: str | None) -> None:
    """Move a ref, as a push would, and bring pull requests up to date.

    Raises:
        Refused: 422, a ruleset or an immutable release protects it.
    """
    bare = _bare(ask)
    role = ask.hub.role(ask.repository, ask.account, ask.token)
    kinds = guards(ask.repository, ref, role)
    old = bare.refs(ref).get(ref)
    forced = old is not None and sha is not None and not bare.contains(old, sha)
    if blocked(kinds, old, sha, forced):
        raise Refused(422, f"Repository rule violations found for {ref}")
    bare.set_ref(ref, sha)
    ask.hub.pushed(ask.repository)


def _shown_ref(ask: Ask, ref: str, sha: str) -> dict[str, Any]:
    kind = _bare(ask).git("cat-file", "-t", sha)
    return {
        "ref": ref,
        "node_id": node("REF", int(sha[:12], 16)),
        "url": f"{_start(ask)}/git/{quote(ref)}",
        "object": {"sha": sha, "type": kind, "url": f"{_start(ask)}/git/{kind}s/{sha}"},
    }


@route("GET", "R/git/ref/{ref}", needs=_READ)
def _ref(ask: Ask) -> Reply:
    name = f"refs/{ask.params['ref']}"
    found = _bare(ask).refs(name)
    if name not in found:
        raise Refused(404, "Not Found")
    return Reply(200, _shown_ref(ask, name, found[name]))


@route("GET", "R/git/matching-refs/{ref}", needs=_READ)
def _matching(ask: Ask) -> Reply:
    start = f"refs/{ask.params['ref']}"
    found = _bare(ask).refs("refs/")
    shown = [_shown_ref(ask, r, s) for r, s in found.items() if r.startswith(start)]
    return Reply(200, shown)


@route("POST", "R/git/refs", needs=_WRITE, role="write")
def _create_ref(ask: Ask) -> Reply:
    name, sha = ask.json["ref"], ask.json["sha"]
    if not name.startswith(("refs/heads/", "refs/tags/")):
        raise Refused(422, "Reference name must start with 'refs/heads' or 'refs/tags'")
    if _bare(ask).refs(name).get(name) is not None:
        raise Refused(422, "Reference already exists")
    if _bare(ask).resolve(sha) is None:
        raise Refused(422, "Object does not exist")
    landed(ask, name, sha)
    return Reply(201, _shown_ref(ask, name, sha))


@route("PATCH", "R/git/refs/{ref}", needs=_WRITE, role="write")
def _move_ref(ask: Ask) -> Reply:
    name, sha = f"refs/{ask.params['ref']}", ask.json["sha"]
    bare = _bare(ask)
    before = bare.refs(name).get(name)
    if before is None:
        raise Refused(422, "Reference does not exist")
    if bare.resolve(sha) is None:
        raise Refused(422, "Object does not exist")
    if not ask.json.get("force", False) and not bare.contains(before, sha):
        raise Refused(422, "Update is not a fast forward")
    landed(ask, name, sha)
    return Reply(200, _shown_ref(ask, name, sha))


@route("DELETE", "R/git/refs/{ref}", needs=_WRITE, role="write")
def _delete_ref(ask: Ask) -> Reply:
    name = f"refs/{ask.params['ref']}"
    if name not in _bare(ask).refs(name):
        raise Refused(422, "Reference does not exist")
    landed(ask, name, None)
    return Reply(204)


@route("POST", "R/git/blobs", needs=_WRITE, role="write")
def _create_blob(ask: Ask) -> Reply:
    data = ask.json["content"].encode()
    if ask.json.get("encoding") == "base64":
        data = _decoded(ask.json["content"])
    sha = _bare(ask).git("hash-object", "-w", "--stdin", data=data)
    return Reply(201, {"sha": sha, "url": f"{_start(ask)}/git/blobs/{sha}"})


def _decoded(text: str) -> bytes:
    try:
        return base64.b64decode(text.replace("\n", ""), validate=True)
    except binascii.Error:
        raise Refused(422, "content is not valid Base64") from None


@route("POST", "R/git/trees", needs=_WRITE, role="write")
def _create_tree(ask: Ask) -> Reply:
    bare, entries = _bare(ask), []
    for item in ask.json["tree"]:
        sha = item.get("sha")
        if "content" in item:
            data = item["content"].encode()
            sha = bare.git("hash-object", "-w", "--stdin", data=data)
        entries.append((item.get("mode", "100644"), item["path"], sha))
    try:
        made = tree_with(bare, ask.json.get("base_tree"), entries)
    except GitFailed as error:
        raise Refused(422, str(error)[:200]) from None
    return Reply(201, _shown_tree(ask, made, recursive=False))


@route("GET", "R/git/trees/{tree_sha}", needs=_READ)
def _tree(ask: Ask) -> Reply:
    try:
        words = ("rev-parse", "--verify", "--end-of-options")
        found = _bare(ask).git(*words, f"{ask.params['tree_sha']}^{{tree}}")
    except GitFailed:
        raise Refused(404, "Not Found") from None
    return Reply(200, _shown_tree(ask, found, recursive="recursive" in ask.query))


def _shown_tree(ask: Ask, sha: str, *, recursive: bool) -> dict[str, Any]:
    words = ["-r", "-t"] if recursive else []
    text = _bare(ask).git("ls-tree", "-z", "-l", *words, sha)
    shown = []
    for line in text.split("\0")[:-1]:
        about, path = line.split("\t", 1)
        mode, kind, item, size = about.split()
        entry: dict[str, Any] = {
            "path": path,
            "mode": mode,
            "type": kind,
            "sha": item,
            "url": f"{_start(ask)}/git/{kind}s/{item}",
        }
        if size != "-":
            entry["size"] = int(size)
        shown.append(entry)
    url = f"{_start(ask)}/git/trees/{sha}"
    return {"sha": sha, "url": url, "tree": shown, "truncated": False}


@route("GET", "R/git/commits/{commit_sha}", needs=_READ)
def _commit(ask: Ask) -> Reply:
    sha = _bare(ask).resolve(ask.params["commit_sha"])
    if sha is None:
        raise Refused(404, "Not Found")
    return Reply(200, git_commit(ask.hub, ask.repository, sha))


@route("POST", "R/git/commits", needs=_WRITE, role="write")
def _create_commit(ask: Ask) -> Reply:
    wanted, bare = ask.json, _bare(ask)
    who = identity(ask.user)
    given = wanted.get("author")
    author = (given["name"], given["email"]) if given else who
    try:
        sha = bare.commit(
            wanted["tree"],
            list(wanted.get("parents", [])),
            wanted["message"],
            author=author,
            when=int(ask.hub.time()),
            committer=author,
        )
    except GitFailed:
        raise Refused(422, "Tree SHA or parent does not exist") from None
    return Reply(201, git_commit(ask.hub, ask.repository, sha))
