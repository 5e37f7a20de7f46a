"""Clone, fetch and push over HTTP, answered by git's own ``http-backend``."""

from __future__ import annotations

import os
import re
import subprocess
from typing import TYPE_CHECKING

from tests.simulators.github.routing import Refused, Reply

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tests.simulators.github.state import Repository

__all__ = ["backend", "is_push", "pushed_refs"]

_HOOK = """#!/bin/sh
# Called by git for each ref of a push, with the ref, the old and the new object.
# GUARDS holds a line for each ref that rules protect: the ref, then kinds of changes.
none=0000000000000000000000000000000000000000
refuse() {
  echo "error: GH013: Repository rule violations found for $1." >&2
  echo "- $2" >&2
  exit 1
}
echo "$GUARDS" | while read -r ref kinds; do
  [ "$ref" = "$1" ] || continue
  change=update
  [ "$2" = $none ] && change=creation
  [ "$3" = $none ] && change=deletion
  for kind in $kinds; do
    case $kind in
    pull_request) refuse "$1" "Changes must be made through a pull request." ;;
    merge_queue) refuse "$1" "Changes must be made through the merge queue" ;;
    non_fast_forward)
      [ $change = update ] && ! git merge-base --is-ancestor "$2" "$3" &&
        refuse "$1" "Cannot force-push to this branch" ;;
    $change) refuse "$1" "Cannot change this ref: $change" ;;
    esac
  done
  exit 0
done
"""


def is_push(path: str, query: str) -> bool:
    """Whether a request belongs to a push."""
    return path.endswith("/git-receive-pack") or "service=git-receive-pack" in query


def pushed_refs(body: bytes) -> list[str]:
    """The refs that a push wants to change."""
    refs = []
    while (size := int(body[:4] or b"0", 16)) > 4:
        line = body[4:size].split(b"\0")[0].decode().strip()
        refs.append(line.split(" ")[-1])
        body = body[size:]
    return refs


def backend(
    repository: Repository,
    inner: str,
    method: str,
    query: str,
    headers: Mapping[str, str],
    body: bytes,
    login: str | None,
    guards: str,
) -> Reply:
    """Let git answer a request.

    Args:
        repository: whose bare repository is asked.
        inner: the path inside it, such as ``/info/refs``.
        method: GET or POST.
        query: the request's.
        headers: the request's.
        body: the request's, with chunks joined.
        login: who pushes.
        guards: a line for each ref that the pusher may not change: ref and kinds.

    Raises:
        Refused: 404, git has no such file.
    """
    hook = repository.bare / "hooks" / "update"
    if not hook.exists():
        hook.parent.mkdir(exist_ok=True)
        hook.write_text(_HOOK, encoding="utf-8")
        hook.chmod(0o755)
    kept = {k: v for k, v in os.environ.items() if not k.startswith("GIT_")}
    environment = {
        **kept,
        "GIT_CONFIG_GLOBAL": os.devnull,
        "GIT_CONFIG_SYSTEM": os.devnull,
        "GIT_PROJECT_ROOT": str(repository.bare.parent),
        "GIT_HTTP_EXPORT_ALL": "1",
        "PATH_INFO": f"/{repository.bare.name}{inner}",
        "GUARDS": guards,
        "QUERY_STRING": query,
        "REQUEST_METHOD": method,
        "CONTENT_TYPE": headers.get("Content-Type", ""),
        "CONTENT_LENGTH": str(len(body)),
        "HTTP_CONTENT_ENCODING": headers.get("Content-Encoding", ""),
        "GIT_PROTOCOL": headers.get("Git-Protocol", ""),
        "REMOTE_ADDR": "127.0.0.1",
        **({"REMOTE_USER": login} if login else {}),
    }
    done = subprocess.run(
        ["git", "http-backend"],
        input=body,
        capture_output=True,
        env=environment,
        check=False,
    )
    head, _, rest = done.stdout.partition(b"\r\n\r\n")
    answered = dict(
        re.findall(r"^([\w-]+): *(.*?)\r?$", head.decode("latin-1"), re.MULTILINE)
    )
    status = int(answered.pop("Status", "200").split()[0])
    if status >= 400 or not head:
        raise Refused(status if head else 500, "Not Found")
    return Reply(status, raw=rest, headers=answered)
