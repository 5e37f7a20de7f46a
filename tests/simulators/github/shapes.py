"""Accounts and repositories as GitHub's replies show them."""

from __future__ import annotations

import base64
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tests.simulators.github.hub import FakeGitHub
    from tests.simulators.github.state import Account, Label, Repository

__all__ = [
    "full_repository",
    "label",
    "minimal_repository",
    "node",
    "public_user",
    "repository",
    "simple_user",
]

_USER_URLS = (
    "events_url:events{/privacy}",
    "followers_url:followers",
    "following_url:following{/other_user}",
    "gists_url:gists{/gist_id}",
    "organizations_url:orgs",
    "received_events_url:received_events",
    "repos_url:repos",
    "starred_url:starred{/owner}{/repo}",
    "subscriptions_url:subscriptions",
)
_REPOSITORY_URLS = (
    "archive_url:{archive_format}{/ref}",
    "assignees_url:assignees{/user}",
    "blobs_url:git/blobs{/sha}",
    "branches_url:branches{/branch}",
    "collaborators_url:collaborators{/collaborator}",
    "comments_url:comments{/number}",
    "commits_url:commits{/sha}",
    "compare_url:compare/{base}...{head}",
    "contents_url:contents/{+path}",
    "contributors_url:contributors",
    "deployments_url:deployments",
    "downloads_url:downloads",
    "events_url:events",
    "forks_url:forks",
    "git_commits_url:git/commits{/sha}",
    "git_refs_url:git/refs{/sha}",
    "git_tags_url:git/tags{/sha}",
    "hooks_url:hooks",
    "issue_comment_url:issues/comments{/number}",
    "issue_events_url:issues/events{/number}",
    "issues_url:issues{/number}",
    "keys_url:keys{/key_id}",
    "labels_url:labels{/name}",
    "languages_url:languages",
    "merges_url:merges",
    "milestones_url:milestones{/number}",
    "notifications_url:notifications{?since,all,participating}",
    "pulls_url:pulls{/number}",
    "releases_url:releases{/id}",
    "stargazers_url:stargazers",
    "statuses_url:statuses/{sha}",
    "subscribers_url:subscribers",
    "subscription_url:subscription",
    "tags_url:tags",
    "teams_url:teams",
    "trees_url:git/trees{/sha}",
)


def node(kind: str, number: int) -> str:
    """A GraphQL id; only its form matters."""
    return f"{kind}_" + base64.urlsafe_b64encode(str(number).encode()).decode()


def _urls(start: str, listed: tuple[str, ...]) -> dict[str, str]:
    parts = (text.partition(":") for text in listed)
    return {name: f"{start}/{rest}" for name, _, rest in parts}


def simple_user(hub: FakeGitHub, number: int) -> dict[str, Any]:
    """An account inside another reply."""
    account: Account = hub.accounts[number]
    start = f"{hub.api}/users/{account.login}"
    return {
        "login": account.login,
        "id": account.id,
        "node_id": node("U", account.id),
        "avatar_url": f"{hub.web}/avatars/{account.id}",
        "gravatar_id": "",
        "url": start,
        "html_url": f"{hub.web}/{account.login}",
        "type": account.kind,
        "site_admin": False,
        **_urls(start, _USER_URLS),
    }


def public_user(hub: FakeGitHub, account: Account) -> dict[str, Any]:
    """An account by itself."""
    return {
        **simple_user(hub, account.id),
        "name": account.name,
        "company": None,
        "blog": "",
        "location": None,
        "email": None,
        "hireable": None,
        "bio": None,
        "public_repos": 0,
        "public_gists": 0,
        "followers": 0,
        "following": 0,
        "created_at": account.created_at,
        "updated_at": account.created_at,
    }


def minimal_repository(hub: FakeGitHub, known: Repository) -> dict[str, Any]:
    """A repository in a list."""
    full_name = hub.full_name(known)
    start = f"{hub.api}/repos/{full_name}"
    return {
        "id": known.id,
        "node_id": node("R", known.id),
        "name": known.name,
        "full_name": full_name,
        "owner": simple_user(hub, known.owner),
        "private": known.private,
        "html_url": f"{hub.web}/{full_name}",
        "description": known.settings.flags["description"],
        "fork": known.parent is not None,
        "url": start,
        **_urls(start, _REPOSITORY_URLS),
    }


def repository(hub: FakeGitHub, known: Repository) -> dict[str, Any]:
    """A repository inside another reply."""
    full_name = hub.full_name(known)
    forks = sum(other.parent == known.id for other in hub.repositories.values())
    numbers = ("stargazers_count", "watchers", "watchers_count", "size")
    issues = sum(issue.state == "open" for issue in known.issues)
    issues += sum(pull.open for pull in known.pulls)
    flags = known.settings.flags
    names = ("has_issues", "has_projects", "has_wiki", "has_discussions")
    return {
        **minimal_repository(hub, known),
        **dict.fromkeys(numbers, 0),
        **{name: flags[name] for name in (*names, "has_downloads", "archived")},
        "clone_url": f"{hub.web}/{full_name}.git",
        "git_url": f"git://{full_name}.git",
        "ssh_url": f"git@github.com:{full_name}.git",
        "svn_url": f"{hub.web}/{full_name}",
        "mirror_url": None,
        "homepage": flags["homepage"],
        "language": None,
        "license": None,
        "default_branch": known.default_branch,
        "forks": forks,
        "forks_count": forks,
        "has_pages": known.settings.pages is not None,
        "disabled": False,
        "open_issues": issues,
        "open_issues_count": issues,
        "visibility": "private" if known.private else "public",
        "pushed_at": known.pushed_at,
        "created_at": known.created_at,
        "updated_at": known.pushed_at,
        "topics": list(known.settings.topics),
    }


def full_repository(hub: FakeGitHub, known: Repository, role: str) -> dict[str, Any]:
    """A repository by itself.

    Args:
        hub: the fake.
        known: the repository.
        role: of who asks; settings are shown to admins only.
    """
    shown = repository(hub, known)
    shown |= {"network_count": shown["forks"], "subscribers_count": 0}
    flags = known.settings.flags
    if known.parent is not None:
        parent = repository(hub, hub.repositories[known.parent])
        shown |= {"parent": parent, "source": parent}
    if role in {"admin", "write", "maintain"}:
        shown |= {name: flags[name] for name in flags if name.startswith("allow_")}
        shown["delete_branch_on_merge"] = flags["delete_branch_on_merge"]
        shown["web_commit_signoff_required"] = flags["web_commit_signoff_required"]
    if role == "admin":
        shown["security_and_analysis"] = {
            name: {"status": status} for name, status in known.settings.security.items()
        }
    shown["permissions"] = {
        "admin": role == "admin",
        "maintain": role in {"admin", "maintain"},
        "push": role in {"admin", "maintain", "write"},
        "triage": role in {"admin", "maintain", "write", "triage"},
        "pull": True,
    }
    return shown


def label(hub: FakeGitHub, known: Repository, shown: Label) -> dict[str, Any]:
    """A label."""
    start = f"{hub.api}/repos/{hub.full_name(known)}/labels"
    return {
        "id": shown.id,
        "node_id": node("LA", shown.id),
        "url": f"{start}/{shown.name}",
        "name": shown.name,
        "color": shown.color,
        "default": shown.default,
        "description": shown.description,
    }
