"""Every operation of the fake answers as GitHub's own document says."""

from __future__ import annotations

import base64
import json
from pathlib import Path
from typing import Any

import pytest
import requests

from tests.simulated.conftest import push
from tests.simulators.github import FakeGitHub
from tests.simulators.github.contract import Contract
from tests.simulators.github.routing import declared

R = "/repos/power/registry"
RULESET = {
    "name": "main",
    "target": "branch",
    "enforcement": "active",
    "bypass_actors": [],
    "conditions": {"ref_name": {"include": ["~DEFAULT_BRANCH"], "exclude": []}},
    "rules": [
        {"type": "deletion"},
        {
            "type": "pull_request",
            "parameters": {
                "dismiss_stale_reviews_on_push": True,
                "require_code_owner_review": True,
                "require_last_push_approval": True,
                "required_approving_review_count": 1,
                "required_review_thread_resolution": False,
            },
        },
    ],
}


class Client:
    """Sends requests as an account; any answer must be a success."""

    def __init__(self, hub: FakeGitHub, login: str) -> None:
        """Act as an account."""
        self.hub = hub
        self.session = requests.Session()
        self.session.headers["Authorization"] = f"Bearer {hub.token(login)}"

    def __call__(self, method: str, path: str, body: Any = None, **more: Any) -> Any:
        url = path if path.startswith("http") else self.hub.api + path
        sent = more.pop("data", None if body is None else json.dumps(body))
        answer = self.session.request(
            method, url, data=sent, timeout=30, allow_redirects=False, **more
        )
        assert answer.status_code < 400, (method, path, answer.text)
        return answer.json() if answer.content else None


def test_every_operation_once(hub: FakeGitHub, fork: Path) -> None:
    owner, alice, mia = (Client(hub, login) for login in ("power", "alice", "mia"))
    accounts(hub, alice)
    proposing(hub, fork, owner, alice, mia)
    contents(owner)
    releases(owner)
    issues(owner)
    settings(hub, owner)
    answered = {
        (method, path) for method, path, status in hub.contract.answered if status < 400
    }
    assert declared() - answered == set()


def accounts(hub: FakeGitHub, alice: Client) -> None:
    assert alice("GET", "/user")["id"] == 42
    assert alice("GET", "/user/43")["login"] == "bob"
    assert alice("GET", "/users/mia")["id"] == 7
    (key,) = alice("GET", "/users/alice/ssh_signing_keys")
    assert key["key"] == "ssh-ed25519 AAAAalice"
    for kind in ("keys", "gpg_keys"):
        assert alice("GET", f"/users/alice/{kind}") == []
    assert alice("GET", "/rate_limit")["rate"]["limit"] == 5000
    hub.teams["power/stewards"] = ["mia"]
    (member,) = alice("GET", "/orgs/power/teams/stewards/members")
    assert member["login"] == "mia"


def proposing(
    hub: FakeGitHub, fork: Path, owner: Client, alice: Client, mia: Client
) -> None:
    assert alice("POST", f"{R}/forks", {})["full_name"] == "alice/registry"
    assert [one["name"] for one in alice("GET", f"{R}/forks")] == ["registry"]
    synced = alice("POST", "/repos/alice/registry/merge-upstream", {"branch": "main"})
    assert synced["merge_type"] == "none"
    sha = push(fork, "change", {"data/b.csv": "4\n", "data/a.csv": None})
    body = {"title": "T", "head": "alice:change", "base": "main", "body": "B"}
    number = alice("POST", f"{R}/pulls", body)["number"]
    path = f"{R}/pulls/{number}"
    assert alice("PATCH", path, {"title": "New"})["title"] == "New"
    (listed,) = alice("GET", f"{R}/pulls?state=open&head=alice:change")
    assert listed["head"]["sha"] == sha
    files = {one["filename"]: one["status"] for one in mia("GET", f"{path}/files")}
    assert files == {"data/a.csv": "removed", "data/b.csv": "added"}
    assert [one["sha"] for one in mia("GET", f"{path}/commits")] == [sha]
    mia("POST", f"{path}/requested_reviewers", {"reviewers": ["bob"]})
    assert mia("GET", f"{path}/requested_reviewers")["users"][0]["login"] == "bob"
    mia("POST", f"{path}/reviews", {"event": "APPROVE", "commit_id": sha})
    assert mia("GET", f"{path}/reviews")[0]["state"] == "APPROVED"
    merged = mia("PUT", f"{path}/merge", {"merge_method": "squash"})["sha"]
    mia("GET", f"{path}/merge")
    assert mia("GET", path)["merged_by"]["login"] == "mia"
    assert mia("GET", f"{R}/commits/{merged}/pulls")[0]["number"] == number
    assert mia("GET", f"{R}/commits?path=data/b.csv")[0]["sha"] == merged
    assert mia("GET", f"{R}/commits/main")["stats"]["additions"] == 1
    compared = mia("GET", f"{R}/compare/{merged}~1...main")
    assert (compared["status"], compared["ahead_by"]) == ("ahead", 1)
    assert mia("GET", f"{R}/commits/main/check-runs")["total_count"] == 0
    assert mia("GET", f"{R}/branches/main")["commit"]["sha"] == merged
    assert [one["name"] for one in mia("GET", f"{R}/branches")] == ["main"]
    owner("PUT", f"{R}/collaborators/bob", {"permission": "maintain"})
    owner("GET", f"{R}/collaborators/bob")
    assert len(owner("GET", f"{R}/collaborators")) == 3
    role = owner("GET", f"{R}/collaborators/bob/permission")
    assert (role["permission"], role["role_name"]) == ("write", "maintain")
    owner("DELETE", f"{R}/collaborators/bob")


def contents(owner: Client) -> None:
    path = f"{R}/contents/docs/new.txt"
    text = base64.b64encode(b"text").decode()
    made = owner("PUT", path, {"message": "add", "content": text})
    sha = made["content"]["sha"]
    assert owner("GET", path)["content"] == f"{text}\n"
    assert owner("GET", f"{R}/contents/docs")[0]["name"] == "new.txt"
    owner("DELETE", path, {"message": "remove", "sha": sha})
    blob = owner("POST", f"{R}/git/blobs", {"content": text, "encoding": "base64"})
    assert blob["sha"] == sha
    base = owner("GET", f"{R}/git/ref/heads/main")["object"]["sha"]
    entry = {"path": "a/b.txt", "mode": "100644", "type": "blob", "sha": sha}
    tree = owner("POST", f"{R}/git/trees", {"base_tree": base, "tree": [entry]})
    listed = owner("GET", f"{R}/git/trees/{tree['sha']}?recursive=1")["tree"]
    assert "a/b.txt" in {one["path"] for one in listed}
    body = {"message": "m", "tree": tree["sha"], "parents": [base]}
    commit = owner("POST", f"{R}/git/commits", body)["sha"]
    assert owner("GET", f"{R}/git/commits/{commit}")["parents"][0]["sha"] == base
    owner("POST", f"{R}/git/refs", {"ref": "refs/heads/topic", "sha": base})
    owner("PATCH", f"{R}/git/refs/heads/topic", {"sha": commit})
    assert len(owner("GET", f"{R}/git/matching-refs/heads/to")) == 1
    owner("DELETE", f"{R}/git/refs/heads/topic")


def releases(owner: Client) -> None:
    body = {"tag_name": "r-1", "draft": True, "name": "n", "body": "b"}
    made = owner("POST", f"{R}/releases", body)
    upload = made["upload_url"].partition("{")[0]
    kind = {"Content-Type": "application/octet-stream"}
    asset = owner("POST", f"{upload}?name=a.bin", data=b"abc", headers=kind)
    path = f"{R}/releases/assets/{asset['id']}"
    assert owner("PATCH", path, {"name": "b.bin"})["name"] == "b.bin"
    assert owner("GET", path)["size"] == 3
    release = f"{R}/releases/{made['id']}"
    assert owner("PATCH", release, {"draft": False})["published_at"]
    assert owner("GET", release)["tag_name"] == "r-1"
    assert len(owner("GET", f"{release}/assets")) == 1
    assert owner("GET", f"{R}/releases/latest")["id"] == made["id"]
    assert owner("GET", f"{R}/releases/tags/r-1")["id"] == made["id"]
    assert len(owner("GET", f"{R}/releases")) == 1
    assert owner("GET", f"{R}/tags")[0]["name"] == "r-1"
    owner("DELETE", path)
    owner("DELETE", release)


def issues(owner: Client) -> None:
    label = {"name": "watch", "color": "ff0000", "description": "d"}
    owner("POST", f"{R}/labels", label)
    owner("PATCH", f"{R}/labels/watch", {"new_name": "watched"})
    assert owner("GET", f"{R}/labels/watched")["color"] == "ff0000"
    assert [one["name"] for one in owner("GET", f"{R}/labels")] == ["watched"]
    body = {"title": "t", "body": "b", "labels": ["watched"], "assignees": ["mia"]}
    number = owner("POST", f"{R}/issues", body)["number"]
    path = f"{R}/issues/{number}"
    assert owner("GET", f"{R}/issues?labels=watched")[0]["number"] == number
    assert owner("GET", path)["assignee"]["login"] == "mia"
    comment = owner("POST", f"{path}/comments", {"body": "c"})["id"]
    owner("PATCH", f"{R}/issues/comments/{comment}", {"body": "d"})
    assert owner("GET", f"{R}/issues/comments/{comment}")["body"] == "d"
    assert len(owner("GET", f"{path}/comments")) == 1
    owner("DELETE", f"{R}/issues/comments/{comment}")
    owner("POST", f"{path}/labels", {"labels": ["more"]})
    assert len(owner("GET", f"{path}/labels")) == 2
    owner("PUT", f"{path}/labels", {"labels": ["more"]})
    assert owner("DELETE", f"{path}/labels/more") == []
    owner("DELETE", f"{R}/labels/more")
    closed = owner("PATCH", path, {"state": "closed", "state_reason": "not_planned"})
    assert closed["state_reason"] == "not_planned"


def settings(hub: FakeGitHub, owner: Client) -> None:
    flags = {"has_wiki": False, "delete_branch_on_merge": True}
    scanning = {"secret_scanning": {"status": "enabled"}}
    changed = owner("PATCH", R, {**flags, "security_and_analysis": scanning})
    assert changed["has_wiki"] is False
    shown = owner("GET", R)["security_and_analysis"]
    assert shown["secret_scanning"]["status"] == "enabled"
    permissions = f"{R}/actions/permissions"
    owner("PUT", permissions, {"enabled": True, "allowed_actions": "selected"})
    wanted: dict[str, dict[str, Any]] = {
        "": {"sha_pinning_required": True, "enabled": True},
        "/selected-actions": {"github_owned_allowed": True, "patterns_allowed": []},
        "/workflow": {"can_approve_pull_request_reviews": False},
        "/fork-pr-contributor-approval": {
            "approval_policy": "all_external_contributors"
        },
    }
    for place, body in wanted.items():
        owner("PUT", f"{permissions}{place}", body)
        assert body.items() <= owner("GET", f"{permissions}{place}").items()
    for name in (
        "immutable-releases",
        "private-vulnerability-reporting",
        "vulnerability-alerts",
        "automated-security-fixes",
    ):
        owner("PUT", f"{R}/{name}")
        owner("GET", f"{R}/{name}")
        owner("DELETE", f"{R}/{name}")
    owner("PATCH", f"{R}/code-scanning/default-setup", {"state": "configured"})
    assert owner("GET", f"{R}/code-scanning/default-setup")["state"] == "configured"
    owner("PUT", f"{R}/topics", {"names": ["power"]})
    assert owner("GET", f"{R}/topics") == {"names": ["power"]}
    assert owner("GET", f"{R}/codeowners/errors") == {"errors": []}
    owner("POST", f"{R}/pages", {"build_type": "workflow"})
    owner("PUT", f"{R}/pages", {"https_enforced": True})
    assert owner("GET", f"{R}/pages")["build_type"] == "workflow"
    owner("DELETE", f"{R}/pages")
    environments(hub, owner)
    made = owner("POST", f"{R}/rulesets", RULESET)["id"]
    owner("PUT", f"{R}/rulesets/{made}", {**RULESET, "name": "the branch"})
    assert owner("GET", f"{R}/rulesets/{made}")["name"] == "the branch"
    assert len(owner("GET", f"{R}/rulesets")) == 1
    rules = owner("GET", f"{R}/rules/branches/main")
    assert [one["type"] for one in rules] == ["deletion", "pull_request"]
    owner("DELETE", f"{R}/rulesets/{made}")


def environments(hub: FakeGitHub, owner: Client) -> None:
    path = f"{R}/environments/release"
    branches = {"protected_branches": False, "custom_branch_policies": True}
    body = {
        "reviewers": [{"type": "User", "id": 7}],
        "prevent_self_review": True,
        "deployment_branch_policy": branches,
    }
    owner("PUT", path, body)
    policies = f"{path}/deployment-branch-policies"
    made = owner("POST", policies, {"name": "main", "type": "branch"})["id"]
    assert owner("GET", policies)["branch_policies"][0]["name"] == "main"
    owner("DELETE", f"{policies}/{made}")
    reviewers, branch = owner("GET", path)["protection_rules"]
    assert reviewers["reviewers"][0]["reviewer"]["login"] == "mia"
    assert branch["type"] == "branch_policy"
    assert owner("GET", f"{R}/environments")["total_count"] == 1
    owner("DELETE", path)


USER = "/users/{username}"


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        ({"login": None}, "200 at /: "),
        ({"id": "42"}, "200 at /: "),
        ({"created_at": "yesterday"}, "200 at /: "),
        ({"html_url": "alice"}, "200 at /: "),
    ],
)
def test_a_reply_that_differs_is_a_violation(
    hub: FakeGitHub, change: dict[str, Any], expected: str
) -> None:
    right = Client(hub, "alice")("GET", "/users/alice")
    contract = Contract()
    contract.check_reply("GET", USER, 200, right)
    assert contract.violations == []
    contract.check_reply("GET", USER, 200, {**right, **change})
    (violation,) = contract.violations
    assert violation.startswith(f"GET {USER}: {expected}")


def test_items_of_a_list_are_checked_one_by_one() -> None:
    contract = Contract()
    key = {"key": "k", "id": 1, "title": "t", "created_at": "2026-01-01T00:00:00Z"}
    path = f"{USER}/ssh_signing_keys"
    contract.check_reply("GET", path, 200, [key, {**key, "id": 2}])
    assert contract.violations == []
    contract.check_reply("GET", path, 200, [key, {**key, "id": None}])
    assert contract.violations == [
        f"GET {path}: 200 at /id: None is not of type 'integer'"
    ]


def test_long_lists_inside_an_object_are_checked_too(hub: FakeGitHub) -> None:
    owner = Client(hub, "power")
    made = owner("POST", f"{R}/releases", {"tag_name": "r-1", "draft": True})
    upload = made["upload_url"].partition("{")[0]
    kind = {"Content-Type": "application/octet-stream"}
    for number in range(5):
        owner("POST", f"{upload}?name={number}", data=b"abc", headers=kind)
    release = owner("GET", f"{R}/releases/{made['id']}")
    contract, path = Contract(), "/repos/{owner}/{repo}/releases/{release_id}"
    contract.check_reply("GET", path, 200, release)
    assert contract.violations == []
    del release["assets"][3]["digest"]
    contract.check_reply("GET", path, 200, release)
    (violation,) = contract.violations
    expected = f"GET {path}: 200 at /assets/: 'digest' is a required property"
    assert violation == expected


def test_an_undocumented_status_and_a_wrong_body_are_violations() -> None:
    contract = Contract()
    contract.check_reply("GET", USER, 418, {"message": "teapot"})
    contract.check_body("POST", "/repos/{owner}/{repo}/issues", {"body": "no title"})
    status, body = contract.violations
    assert status == f"GET {USER}: undocumented status 418"
    assert "request at /: 'title' is a required property" in body
