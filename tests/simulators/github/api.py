"""The API server: finds the operation, checks the asker, answers, checks the answer."""

from __future__ import annotations

import json
import re
import time
from typing import TYPE_CHECKING

from tests.simulators.github.routing import Ask, Refused, Reply, Route, find, split
from tests.simulators.github.wire import Handler

if TYPE_CHECKING:
    from tests.simulators.github.state import Repository

__all__ = ["Api"]

_ROLES = ("none", "read", "triage", "write", "maintain", "admin")
_LEVELS = ("none", "read", "write", "admin")


class Api(Handler):
    """What stands at ``GITHUB_API_URL``."""

    kind = "api"

    def answer(self, body: bytes) -> Reply:
        path, query = split(self.path)
        with self.hub.lock:
            by_id = re.fullmatch(r"/repositories/(\d+)(/.*)?", path)
            if by_id is not None:
                known = self.hub.repositories.get(int(by_id[1]))
                if known is None:
                    raise Refused(404, "Not Found")
                path = f"/repos/{self.hub.full_name(known)}{by_id[2] or ''}"
            found, params = find(self.command, path)
            ask = Ask(
                self.hub,
                self.command,
                path,
                params,
                query,
                body,
                self.headers,
                self.account,
                self.token,
            )
            try:
                self._limit()
                reply = self._admitted(found, ask)
            except Refused as refused:
                reply = Reply(refused.status, refused.body, refused.headers)
            if reply.raw is None and reply.status != 301:
                template, method = found.template, self.command
                self.hub.contract.check_reply(
                    method, template, reply.status, _as_sent(reply.body)
                )
            reply.headers = {**self._limits(), **reply.headers}
            return reply

    def _admitted(self, found: Route, ask: Ask) -> Reply:
        if "owner" in ask.params:
            ask.found = self._repository(ask)
            self._check_rights(found, ask)
        if not found.upload and self.command not in {"GET", "HEAD"}:
            if self.account is None:
                raise Refused(401, "Requires authentication")
            if ask.body:
                self.hub.contract.check_body(self.command, found.template, ask.json)
        return found.answer(ask)

    def _repository(self, ask: Ask) -> Repository:
        owner, name = ask.params["owner"], ask.params["repo"]
        known, moved = self.hub.find_repository(owner, name)
        if known is None or not known.visible or self._sees(known) == "none":
            raise Refused(404, "Not Found")
        if moved:
            rest = ask.path.removeprefix(f"/repos/{owner}/{name}")
            place = f"{self.hub.api}/repositories/{known.id}{rest}"
            raise Refused(301, "Moved Permanently", headers={"Location": place})
        return known

    def _sees(self, known: Repository) -> str:
        """The role of who asks; ``none`` if the repository is hidden from them."""
        return self.hub.role(known, self.account, self.token)

    def _check_rights(self, found: Route, ask: Ask) -> None:
        """Refuse what the asker's role, or the token's permissions, do not allow.

        GitHub lets tokens read some public things without the permission. In a private
        copy of the repository it does not, so the fake never does.
        """
        token = self.token
        job = token is not None and token.repository is not None
        who = "integration" if job else "personal access token"
        needs = {"X-Accepted-GitHub-Permissions": "=".join(found.needs)}
        refused = Refused(403, f"Resource not accessible by {who}", headers=needs)
        if token is not None and token.permissions is not None:
            if not self._permits(found, ask):
                raise refused
            if job:
                return
        role = self._sees(ask.repository)
        if _ROLES.index(role) >= _ROLES.index(found.role):
            return
        if self.account is None:
            raise Refused(401, "Requires authentication")
        if found.role == "admin":
            raise Refused(403, "Must have admin rights to Repository.", headers=needs)
        raise refused

    def _permits(self, found: Route, ask: Ask) -> bool:
        assert self.token is not None
        name, level = found.needs
        granted = (self.token.permissions or {}).get(name, "none")
        if name == "metadata":
            granted = "read"
        if self.token.repository not in {None, ask.repository.id} and level != "read":
            granted = "none"
        return _LEVELS.index(granted) >= _LEVELS.index(level)

    def _limit(self) -> None:
        used = self._count(1)
        if used > self._allowed():
            reset = {"X-RateLimit-Remaining": "0"}
            if self.account is None:
                text = "API rate limit exceeded for 127.0.0.1."
            else:
                text = f"API rate limit exceeded for user ID {self.account.id}."
            raise Refused(403, text, headers={**self._limits(), **reset})

    def _count(self, more: int) -> int:
        if self.token is None:
            self.hub.anonymous += more
            return self.hub.anonymous
        self.token.used += more
        return self.token.used

    def _allowed(self) -> int:
        return self.hub.hourly[0 if self.token is None else 1]

    def _limits(self) -> dict[str, str]:
        used, allowed = self._count(0), self._allowed()
        return {
            "X-RateLimit-Limit": str(allowed),
            "X-RateLimit-Remaining": str(max(0, allowed - used)),
            "X-RateLimit-Used": str(min(used, allowed)),
            "X-RateLimit-Reset": str(int(time.time()) + self.hub.limit_seconds),
            "X-RateLimit-Resource": "core",
            "X-GitHub-Request-Id": "FAKE:0001",
        }


def _as_sent(body: object) -> object:
    """The body as a client reads it, so that nothing but JSON passes the check."""
    return None if body is None else json.loads(json.dumps(body))
