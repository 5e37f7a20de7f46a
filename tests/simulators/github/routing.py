"""From a request to the function that answers it, and whether the asker may ask."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qs, quote, unquote, urlencode, urlsplit

if TYPE_CHECKING:
    from tests.simulators.github.hub import FakeGitHub
    from tests.simulators.github.state import Account, Repository, Token

__all__ = [
    "Ask",
    "Refused",
    "Reply",
    "Route",
    "declared",
    "find",
    "invalid",
    "page",
    "route",
    "split",
]

_DOCUMENTATION = "https://docs.github.com/rest"
_LONG = frozenset({"path", "ref", "branch", "basehead"})
"""Parameters that may hold slashes."""


class Refused(Exception):  # noqa: N818  an answer, not a fault of the fake
    """An answer with an error status."""

    def __init__(
        self,
        status: int,
        message: str,
        *,
        errors: list[Any] | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> None:
        """Say what GitHub would say."""
        super().__init__(message)
        self.status = status
        self.headers = dict(headers or {})
        self.body: dict[str, Any] = {
            "message": message,
            "documentation_url": _DOCUMENTATION,
            "status": str(status),
        }
        if errors is not None:
            self.body["errors"] = errors


def invalid(resource: str, field_name: str, code: str, message: str = "") -> Refused:
    """A 422 about a field, as GitHub words it."""
    error = {"resource": resource, "field": field_name, "code": code}
    if message:
        error["message"] = message
    return Refused(422, "Validation Failed", errors=[error])


@dataclass(slots=True)
class Reply:
    """An answer: JSON, or raw bytes."""

    status: int
    body: Any = None
    headers: dict[str, str] = field(default_factory=dict)
    raw: bytes | None = None


@dataclass(slots=True)
class Ask:
    """A request to the API.

    Attributes:
        params: what stood in the place of ``{name}`` in the path.
        account: who asks; None without a token.
        repository: the one that the path names.
    """

    hub: FakeGitHub
    method: str
    path: str
    params: dict[str, str]
    query: dict[str, str]
    body: bytes
    headers: Mapping[str, str]
    account: Account | None
    token: Token | None
    found: Repository | None = None

    @property
    def repository(self) -> Repository:
        assert self.found is not None
        return self.found

    @property
    def user(self) -> Account:
        """Who asks.

        Raises:
            Refused: 401, nobody.
        """
        if self.account is None:
            raise Refused(401, "Requires authentication")
        return self.account

    @property
    def json(self) -> Any:
        """The body.

        Raises:
            Refused: 400, it is no JSON.
        """
        if not self.body:
            return {}
        try:
            return json.loads(self.body)
        except ValueError:
            raise Refused(400, "Problems parsing JSON") from None

    def number(self, name: str) -> int:
        """A number in the path.

        Raises:
            Refused: 404, it is none.
        """
        if not self.params[name].isdigit():
            raise Refused(404, "Not Found")
        return int(self.params[name])


@dataclass(frozen=True, slots=True)
class Route:
    """How one operation is answered.

    Attributes:
        template: the path as GitHub's document writes it.
        needs: the permission and level that a job's token must hold.
        role: what a person must be in the repository.
    """

    method: str
    template: str
    pattern: re.Pattern[str]
    answer: Callable[[Ask], Reply]
    needs: tuple[str, str]
    role: str
    upload: bool


_ROUTES: list[Route] = []


def route(
    method: str,
    template: str,
    *,
    needs: tuple[str, str] = ("metadata", "read"),
    role: str = "read",
    upload: bool = False,
) -> Callable[[Callable[[Ask], Reply]], Callable[[Ask], Reply]]:
    """Declare that a function answers an operation.

    Args:
        method: of the request.
        template: as GitHub's document writes it; ``R`` stands for the repository.
        needs: permission and level (``read`` or ``write``) for a job's token.
        role: ``read``, ``write`` or ``admin``: what a person must be.
        upload: whether it is reached at the address for uploads, with any body.
    """
    full = re.sub(r"^R(?=/|$)", "/repos/{owner}/{repo}", template)
    names = re.compile(r"\{(\w+)\}")
    text = "".join(
        part if at % 2 == 0 else f"(?P<{part}>{'.+' if part in _LONG else '[^/]+'})"
        for at, part in enumerate(names.split(full))
    )
    prefix = "/uploads" if upload else ""

    def declare(answer: Callable[[Ask], Reply]) -> Callable[[Ask], Reply]:
        pattern = re.compile(prefix + text)
        _ROUTES.append(Route(method, full, pattern, answer, needs, role, upload))
        # What names more of the path in plain words goes first.
        _ROUTES.sort(key=lambda known: (-_plain_parts(known), known.template))
        return answer

    return declare


def _plain_parts(known: Route) -> int:
    return sum("{" not in part for part in known.template.split("/"))


def find(method: str, path: str) -> tuple[Route, dict[str, str]]:
    """The route of a request and the parameters in its path.

    Raises:
        Refused: 404.
    """
    for known in _ROUTES:
        if known.method != method:
            continue
        match = known.pattern.fullmatch(path)
        if match is not None:
            return known, {k: unquote(v) for k, v in match.groupdict().items()}
    raise Refused(404, "Not Found")


def split(target: str) -> tuple[str, dict[str, str]]:
    """The path and the query of a request's target."""
    parts = urlsplit(target)
    query = parse_qs(parts.query, keep_blank_values=True)
    return parts.path, {name: values[-1] for name, values in query.items()}


def page(ask: Ask, items: list[Any], key: str | None = None) -> Reply:
    """One page of a list, with the Link header that leads to the others.

    Args:
        ask: its query may hold ``per_page`` (30, at most 100) and ``page``.
        items: all of them.
        key: the field that holds them, if the answer is an object with a count.
    """
    size = _whole(ask.query.get("per_page"), 30)
    size = min(size, 100) if size > 0 else 30
    number = max(1, _whole(ask.query.get("page"), 1))
    last = max(1, -(-len(items) // size))
    shown = items[(number - 1) * size : number * size]
    links = {}
    if number > 1:
        links |= {"prev": min(number - 1, last), "first": 1}
    if number < last:
        links |= {"next": number + 1, "last": last}
    texts = []
    for relation, target in links.items():
        query = urlencode({**ask.query, "page": str(target)})
        texts.append(
            f'<{ask.hub.api}{quote(ask.path)}?{query}>; rel="{relation}"',
        )
    body: Any = shown if key is None else {"total_count": len(items), key: shown}
    return Reply(200, body, {"Link": ", ".join(texts)} if texts else {})


def _whole(text: str | None, otherwise: int) -> int:
    return int(text) if text is not None and text.isdigit() else otherwise


def declared() -> set[tuple[str, str]]:
    """Method and path of all operations."""
    return {(known.method, known.template) for known in _ROUTES}
