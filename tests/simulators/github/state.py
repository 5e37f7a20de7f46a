"""What GitHub remembers: accounts, repositories, pull requests, releases, issues."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

__all__ = [
    "Account",
    "Asset",
    "Comment",
    "Issue",
    "Label",
    "MergeGroup",
    "Pull",
    "Release",
    "Repository",
    "Request",
    "Review",
    "Settings",
    "SigningKey",
    "Token",
]


@dataclass(frozen=True, slots=True)
class Request:
    """A request that was answered, or cut (status 0).

    Attributes:
        method: GET, POST …
        path: with the query.
        login: whose token came with it.
        status: of the answer.
        server: ``api``, ``web`` or ``blobs``.
    """

    method: str
    path: str
    login: str | None
    status: int
    server: str = "api"


@dataclass(frozen=True, slots=True)
class MergeGroup:
    """An entry of the merge queue.

    Attributes:
        ref: ``refs/heads/gh-readonly-queue/main/pr-N-<base sha>``.
        base_sha: the commit that it was built on.
        head_sha: the commit that becomes the branch's.
        number: the pull request.
    """

    ref: str
    base_sha: str
    head_sha: str
    number: int


@dataclass(slots=True)
class SigningKey:
    id: int
    key: str
    title: str
    created_at: str


@dataclass(slots=True)
class Account:
    id: int
    login: str
    created_at: str
    kind: str = "User"
    name: str | None = None
    signing_keys: list[SigningKey] = field(default_factory=list)
    login_keys: list[SigningKey] = field(default_factory=list)
    gpg_keys: list[dict[str, Any]] = field(default_factory=list)


@dataclass(slots=True)
class Token:
    """A token.

    Attributes:
        account: id of the account that acts.
        permissions: of a workflow's job, or of a fine-grained token, such as
            ``{"contents": "read"}``; None for a token that may do all that its person
            may.
        repository: id of the only repository of a job's token.
    """

    value: str
    account: int
    permissions: dict[str, str] | None = None
    repository: int | None = None
    used: int = 0


@dataclass(slots=True)
class Review:
    id: int
    user: int
    state: str
    commit_id: str
    submitted_at: str
    body: str = ""


@dataclass(slots=True)
class Label:
    id: int
    name: str
    color: str = "ededed"
    description: str | None = None
    default: bool = False


@dataclass(slots=True)
class Comment:
    id: int
    user: int
    body: str
    created_at: str
    updated_at: str


@dataclass(slots=True)
class Issue:
    id: int
    number: int
    user: int
    title: str
    body: str | None
    created_at: str
    updated_at: str
    state: str = "open"
    state_reason: str | None = None
    closed_at: str | None = None
    labels: list[str] = field(default_factory=list)
    assignees: list[int] = field(default_factory=list)
    comments: list[Comment] = field(default_factory=list)


@dataclass(slots=True)
class Pull:
    """A pull request.

    Attributes:
        issue: number, title, body, state, labels and comments, as for an issue.
        base: name of the branch that it wants to change.
        base_sha: that branch's commit.
        shown_base: the same when the head last changed, which GitHub's replies show.
        head_repository: id of the repository that holds its branch; None if deleted.
        head: name of its branch.
        head_sha: that branch's commit.
        test_merge: the commit of ``refs/pull/N/merge``; None if it conflicts.
        merged_sha: the commit that merged it.
        landed: the commits that came to the base with it.
    """

    issue: Issue
    base: str
    base_sha: str
    head_repository: int | None
    head_owner: int
    head: str
    head_sha: str
    shown_base: str = ""
    draft: bool = False
    maintainer_can_modify: bool = True
    test_merge: str | None = None
    merged_sha: str | None = None
    merged_at: str | None = None
    merged_by: int | None = None
    commits: list[str] = field(default_factory=list)
    landed: list[str] = field(default_factory=list)
    reviews: list[Review] = field(default_factory=list)
    reviewers: list[int] = field(default_factory=list)

    @property
    def number(self) -> int:
        return self.issue.number

    @property
    def open(self) -> bool:
        return self.issue.state == "open"


@dataclass(slots=True)
class Asset:
    """A file of a release; ``state`` is ``starter`` if its upload broke."""

    id: int
    name: str
    content_type: str
    data: bytes
    uploader: int
    created_at: str
    updated_at: str
    digest: str | None
    label: str | None = None
    state: str = "uploaded"
    downloads: int = 0


@dataclass(slots=True)
class Release:
    id: int
    author: int
    tag_name: str
    target_commitish: str
    name: str | None
    body: str | None
    draft: bool
    prerelease: bool
    created_at: str
    updated_at: str
    published_at: str | None = None
    published: int = 0
    immutable: bool = False
    assets: list[Asset] = field(default_factory=list)


@dataclass(slots=True)
class Settings:
    """The settings of a repository, as they are right after it was made."""

    flags: dict[str, Any] = field(
        default_factory=lambda: {
            "has_issues": True,
            "has_projects": True,
            "has_wiki": True,
            "has_discussions": False,
            "has_downloads": True,
            "is_template": False,
            "allow_forking": True,
            "allow_merge_commit": True,
            "allow_squash_merge": True,
            "allow_rebase_merge": False,
            "allow_auto_merge": False,
            "allow_update_branch": False,
            "delete_branch_on_merge": False,
            "web_commit_signoff_required": False,
            "archived": False,
            "description": None,
            "homepage": None,
        }
    )
    security: dict[str, str] = field(
        default_factory=lambda: {
            "dependabot_security_updates": "disabled",
            "secret_scanning": "disabled",
            "secret_scanning_push_protection": "disabled",
        }
    )
    topics: list[str] = field(default_factory=list)
    rulesets: list[dict[str, Any]] = field(default_factory=list)
    actions: dict[str, Any] = field(
        default_factory=lambda: {
            "enabled": True,
            "allowed_actions": "all",
            "sha_pinning_required": False,
        }
    )
    selected_actions: dict[str, Any] = field(
        default_factory=lambda: {
            "github_owned_allowed": True,
            "verified_allowed": False,
            "patterns_allowed": [],
        }
    )
    workflow: dict[str, Any] = field(
        default_factory=lambda: {
            "default_workflow_permissions": "read",
            "can_approve_pull_request_reviews": False,
        }
    )
    fork_approval: str = "first_time_contributors"
    environments: dict[str, dict[str, Any]] = field(default_factory=dict)
    immutable_releases: bool = False
    pages: dict[str, Any] | None = None
    private_vulnerability_reporting: bool = False
    vulnerability_alerts: bool = False
    automated_security_fixes: bool = False
    codeowners_errors: list[dict[str, Any]] = field(default_factory=list)
    code_scanning: dict[str, Any] = field(
        default_factory=lambda: {"state": "not-configured"}
    )


@dataclass(slots=True)
class Repository:
    """A repository.

    Attributes:
        bare: its bare git repository on disk; named by id, so that it stays in place
            when its owner is renamed.
        collaborators: role by account id; the owner is ``admin``.
        visible: False while a new fork is still being made.
        latest: id of the release that was marked as the latest.
        burnt_tags: tags of deleted immutable releases; they cannot be used again.
    """

    id: int
    owner: int
    name: str
    bare: Path
    created_at: str
    pushed_at: str
    private: bool = False
    parent: int | None = None
    default_branch: str = "main"
    visible: bool = True
    collaborators: dict[int, str] = field(default_factory=dict)
    pulls: list[Pull] = field(default_factory=list)
    issues: list[Issue] = field(default_factory=list)
    labels: list[Label] = field(default_factory=list)
    releases: list[Release] = field(default_factory=list)
    latest: int | None = None
    burnt_tags: set[str] = field(default_factory=set)
    check_runs: list[dict[str, Any]] = field(default_factory=list)
    settings: Settings = field(default_factory=Settings)
    numbers: int = 0
