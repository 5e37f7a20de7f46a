"""Cut GitHub's description of its API down to the operations that the fake answers.

The document is ``generated/api.github.com.json`` of the npm package
``@octokit/openapi`` 23.0.2 (MIT, Copyright (c) 2020 Octokit contributors). To make the
cut again::

    npm pack @octokit/openapi@23.0.2
    tar xzf octokit-openapi-23.0.2.tgz package/generated/api.github.com.json
    python tests/simulators/github/trim.py package/generated/api.github.com.json

Descriptions and examples go; what decides whether a reply is right stays.
"""

from __future__ import annotations

import gzip
import json
import sys
from pathlib import Path
from typing import Any

__all__ = ["DOCUMENT", "trimmed"]

DOCUMENT = Path(__file__).with_name("openapi.json.gz")

_REPOSITORY = "/repos/{owner}/{repo}"
_PATHS = (
    "/orgs/{org}/teams/{team_slug}/members",
    "/rate_limit",
    "/user",
    "/user/{account_id}",
    "/users/{username}",
    "/users/{username}/gpg_keys",
    "/users/{username}/keys",
    "/users/{username}/ssh_signing_keys",
)
_IN_REPOSITORY = (
    "",
    "/actions/permissions",
    "/actions/permissions/fork-pr-contributor-approval",
    "/actions/permissions/selected-actions",
    "/actions/permissions/workflow",
    "/automated-security-fixes",
    "/branches",
    "/branches/{branch}",
    "/code-scanning/default-setup",
    "/codeowners/errors",
    "/collaborators",
    "/collaborators/{username}",
    "/collaborators/{username}/permission",
    "/commits",
    "/commits/{commit_sha}/pulls",
    "/commits/{ref}",
    "/commits/{ref}/check-runs",
    "/compare/{basehead}",
    "/contents/{path}",
    "/environments",
    "/environments/{environment_name}",
    "/environments/{environment_name}/deployment-branch-policies",
    "/environments/{environment_name}/deployment-branch-policies/{branch_policy_id}",
    "/forks",
    "/git/blobs",
    "/git/commits",
    "/git/commits/{commit_sha}",
    "/git/matching-refs/{ref}",
    "/git/ref/{ref}",
    "/git/refs",
    "/git/refs/{ref}",
    "/git/trees",
    "/git/trees/{tree_sha}",
    "/immutable-releases",
    "/issues",
    "/issues/comments/{comment_id}",
    "/issues/{issue_number}",
    "/issues/{issue_number}/comments",
    "/issues/{issue_number}/labels",
    "/issues/{issue_number}/labels/{name}",
    "/labels",
    "/labels/{name}",
    "/merge-upstream",
    "/pages",
    "/private-vulnerability-reporting",
    "/pulls",
    "/pulls/{pull_number}",
    "/pulls/{pull_number}/commits",
    "/pulls/{pull_number}/files",
    "/pulls/{pull_number}/merge",
    "/pulls/{pull_number}/requested_reviewers",
    "/pulls/{pull_number}/reviews",
    "/releases",
    "/releases/assets/{asset_id}",
    "/releases/latest",
    "/releases/tags/{tag}",
    "/releases/{release_id}",
    "/releases/{release_id}/assets",
    "/rules/branches/{branch}",
    "/rulesets",
    "/rulesets/{ruleset_id}",
    "/tags",
    "/topics",
    "/vulnerability-alerts",
)
_METHODS = ("get", "post", "put", "patch", "delete")


def trimmed(document: dict[str, Any]) -> dict[str, Any]:
    """The part of the document that the fake needs.

    Args:
        document: the whole OpenAPI document.

    Raises:
        KeyError: the document lacks one of the paths.
    """
    wanted = (*_PATHS, *(_REPOSITORY + path for path in _IN_REPOSITORY))
    paths = {
        path: {
            method: _operation(document["paths"][path][method])
            for method in _METHODS
            if method in document["paths"][path]
        }
        for path in wanted
    }
    kept: dict[str, dict[str, Any]] = {}
    _collect(paths, document["components"], kept)
    return {
        "openapi": document["openapi"],
        "info": {
            "title": document["info"]["title"],
            "version": document["info"]["version"],
            "license": document["info"]["license"],
            "x-source": "npm @octokit/openapi 23.0.2, trimmed",
        },
        "paths": paths,
        "components": kept,
    }


def _operation(operation: dict[str, Any]) -> dict[str, Any]:
    kept: dict[str, Any] = {"responses": _bare(operation["responses"])}
    if "requestBody" in operation:
        kept["requestBody"] = _bare(operation["requestBody"])
    return kept


def _collect(
    part: object, components: dict[str, Any], kept: dict[str, dict[str, Any]]
) -> None:
    """Add all components that a part of the document refers to."""
    if isinstance(part, list):
        for item in part:
            _collect(item, components, kept)
    if not isinstance(part, dict):
        return
    reference = part.get("$ref")
    if isinstance(reference, str):
        section, name = reference.split("/")[2:]
        if name not in kept.setdefault(section, {}):
            kept[section][name] = _bare(components[section][name])
            _collect(kept[section][name], components, kept)
    for item in part.values():
        _collect(item, components, kept)


def _bare(part: Any, named: bool = False) -> Any:
    """A part of the document without prose.

    Args:
        part: any part.
        named: whether its keys are names of fields, which may be "description".
    """
    if isinstance(part, list):
        return [_bare(item) for item in part]
    if not isinstance(part, dict):
        return part
    prose = {"description", "example", "examples", "title", "default", "headers"}
    return {
        key: _bare(value, named=key == "properties" and not named)
        for key, value in part.items()
        if named or not (key in prose or key.startswith("x-") or key == "externalDocs")
    }


def _main(path: str) -> None:
    document = json.loads(Path(path).read_bytes())
    text = json.dumps(trimmed(document), separators=(",", ":"), sort_keys=True)
    packed = gzip.compress(text.encode(), compresslevel=9, mtime=0)
    DOCUMENT.write_bytes(packed)


if __name__ == "__main__":
    _main(sys.argv[1])
