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

__all__ = ["backend", "is_push", "protect"]

_HOOK = """#!/bin/sh
# Called by git for each ref of a push: refuses those that a ruleset protects.
case " $PROTECTED " in
*" $1 "*)
  echo "error: GH013: Repository rule violations found for $1." >&2
  echo "- Changes must be made through a pull request, or never." >&2
  exit 1 ;;
esac
"""


def is_push(path: str, query: str) -> bool:
    """Whether a request belongs to a push."""
    return path.endswith("/git-receive-pack") or "service=git-receive-pack" in query


def protect(repository: Repository) -> str:
    """The refs that nobody may push to, with spaces between."""
    protected = set()
    for ruleset in repository.settings.rulesets:
        kinds = {rule["type"] for rule in ruleset.get("rules", [])}
        if ruleset.get("enforcement") == "active" and "pull_request" in kinds:
            names = ruleset.get("conditions", {}).get("ref_name", {}).get("include", [])
            for name in names:
                if name in {"~DEFAULT_BRANCH", "~ALL"}:
                    protected.add(f"refs/heads/{repository.default_branch}")
                else:
                    protected.add(name)
    for release in repository.releases:
        if release.immutable:
            protected.add(f"refs/tags/{release.tag_name}")
    return " ".join(sorted(protected))


def backend(
    repository: Repository,
    inner: str,
    method: str,
    query: str,
    headers: Mapping[str, str],
    body: bytes,
    login: str | None,
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
        "PROTECTED": protect(repository),
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
