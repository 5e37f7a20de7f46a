"""Operations about accounts and their keys, and the rate limit."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.simulators.github.routing import Ask, Refused, Reply, page, route
from tests.simulators.github.shapes import public_user

if TYPE_CHECKING:
    from tests.simulators.github.state import Account

__all__: list[str] = []


def _account(ask: Ask) -> Account:
    found = ask.hub.account(ask.params["username"])
    if found is None:
        raise Refused(404, "Not Found")
    return found


@route("GET", "/user")
def _user(ask: Ask) -> Reply:
    user = ask.user
    if ask.token is not None and ask.token.permissions is not None:
        raise Refused(403, "Resource not accessible by integration")
    shown = public_user(ask.hub, user) | {
        "private_gists": 0,
        "total_private_repos": 0,
        "owned_private_repos": 0,
        "disk_usage": 0,
        "collaborators": 0,
        "two_factor_authentication": True,
    }
    return Reply(200, shown)


@route("GET", "/users/{username}")
def _by_login(ask: Ask) -> Reply:
    return Reply(200, public_user(ask.hub, _account(ask)))


@route("GET", "/user/{account_id}")
def _by_id(ask: Ask) -> Reply:
    found = ask.hub.accounts.get(ask.number("account_id"))
    if found is None:
        raise Refused(404, "Not Found")
    return Reply(200, public_user(ask.hub, found))


@route("GET", "/users/{username}/ssh_signing_keys")
def _signing_keys(ask: Ask) -> Reply:
    shown = [
        {"key": k.key, "id": k.id, "title": k.title, "created_at": k.created_at}
        for k in _account(ask).signing_keys
    ]
    return page(ask, shown)


@route("GET", "/users/{username}/keys")
def _login_keys(ask: Ask) -> Reply:
    shown = [
        {"id": k.id, "key": k.key, "created_at": k.created_at}
        for k in _account(ask).login_keys
    ]
    return page(ask, shown)


@route("GET", "/users/{username}/gpg_keys")
def _gpg_keys(ask: Ask) -> Reply:
    return page(ask, _account(ask).gpg_keys)


@route("GET", "/rate_limit")
def _rate_limit(ask: Ask) -> Reply:
    allowed = ask.hub.hourly[0 if ask.token is None else 1]
    used = min(allowed, ask.hub.anonymous if ask.token is None else ask.token.used)
    reset = int(ask.hub.time()) + ask.hub.limit_seconds
    left = allowed - used
    core = {"limit": allowed, "remaining": left, "reset": reset, "used": used}
    search = {"limit": 30, "remaining": 30, "reset": reset, "used": 0}
    return Reply(200, {"resources": {"core": core, "search": search}, "rate": core})
