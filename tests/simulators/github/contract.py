"""Checks every reply of the fake, and every body sent to it, against GitHub's document.

A fake drifts: it answers what its author remembers. GitHub publishes what it answers,
so each reply is held against that; what differs is listed in ``violations``.
"""

from __future__ import annotations

import gzip
import json
import re
from functools import cache
from typing import Any
from urllib.parse import urlsplit

from jsonschema import Draft4Validator, FormatChecker

from tests.simulators.github.trim import DOCUMENT

__all__ = ["Contract"]

_RELEASE = "/repos/{owner}/{repo}/releases/{release_id}"
_ASSET = "/repos/{owner}/{repo}/releases/assets/{asset_id}"
_UNDOCUMENTED = {
    ("PATCH", _RELEASE, 422): "immutable, or a tag that cannot be made",
    ("DELETE", _RELEASE, 422): "immutable",
    ("PATCH", _ASSET, 422): "immutable, or a name that is taken",
    ("DELETE", _ASSET, 422): "immutable",
    (
        "GET",
        "/repos/{owner}/{repo}/actions/permissions/selected-actions",
        409,
    ): "all actions are allowed",
    ("GET", "/repos/{owner}/{repo}/commits/{commit_sha}/pulls", 422): "no such commit",
}
"""Replies that GitHub is known to give although its document leaves them out."""
_ANYWHERE = frozenset({401, 403, 404, 429})
"""Statuses that the document rarely lists, since they depend on the token only."""
_DATE = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)")
_FORMATS = FormatChecker(formats=())


@_FORMATS.checks("date-time")
def _date_time(value: object) -> bool:
    return not isinstance(value, str) or _DATE.fullmatch(value) is not None


@_FORMATS.checks("uri")
def _uri(value: object) -> bool:
    return not isinstance(value, str) or bool(urlsplit(value).netloc)


@cache
def _document() -> Any:
    with gzip.open(DOCUMENT) as file:
        document = json.load(file)
    # The document names the states "uploaded" and "open"; the text of GitHub's
    # documentation and its server call a broken upload "starter".
    asset = document["components"]["schemas"]["release-asset"]
    asset["properties"]["state"]["enum"].append("starter")
    return document


@cache
def _component(section: str, name: str) -> dict[str, Any]:
    """A component whose references are replaced by what they stand for.

    Components may hold themselves, so the answer is made first and filled later.
    """
    made: dict[str, Any] = {}
    _PENDING[section, name] = made
    made.update(_plain(_document()["components"][section][name]))
    return made


_PENDING: dict[tuple[str, str], dict[str, Any]] = {}


def _plain(part: Any, named: bool = False) -> Any:
    """A part without references and without ``nullable``, as JSON Schema wants it."""
    if isinstance(part, list):
        return [_plain(item) for item in part]
    if not isinstance(part, dict):
        return part
    reference = part.get("$ref")
    if isinstance(reference, str) and not named:
        section, name = reference.split("/")[2:]
        known = _PENDING.get((section, name))
        return _component(section, name) if known is None else known
    plain = {
        key: _plain(value, named=key == "properties" and not named)
        for key, value in part.items()
    }
    if named or plain.pop("nullable", False) is not True:
        return plain
    if "enum" in plain:
        plain["enum"] = [*plain["enum"], None]
    if isinstance(plain.get("type"), str):
        plain["type"] = [plain["type"], "null"]
        return plain
    return {"anyOf": [plain, {"type": "null"}]}


@cache
def _reply(method: str, template: str, status: int) -> Draft4Validator | bool:
    """What checks a reply; True if any body is right, False if nothing is said."""
    operation = _document()["paths"].get(template, {}).get(method.lower())
    if operation is None:
        return False
    found = operation["responses"].get(str(status))
    if found is None:
        known = (method, template, status) in _UNDOCUMENTED or status in _ANYWHERE
        return _validator(_component("schemas", "basic-error")) if known else False
    if "$ref" in found:
        found = _document()["components"]["responses"][found["$ref"].split("/")[-1]]
    schema = found.get("content", {}).get("application/json", {}).get("schema")
    return True if schema is None else _validator(_plain(schema))


@cache
def _body(method: str, template: str) -> Draft4Validator | None:
    operation = _document()["paths"].get(template, {}).get(method.lower(), {})
    content = operation.get("requestBody", {}).get("content", {})
    schema = content.get("application/json", {}).get("schema")
    return None if schema is None else _validator(_plain(schema))


def _validator(schema: dict[str, Any]) -> Draft4Validator:
    return Draft4Validator(schema, format_checker=_FORMATS)


class Contract:
    """The violations of one fake.

    Attributes:
        violations: what was not as the document says.
        answered: method, path and status of all replies.
    """

    def __init__(self) -> None:
        """Nothing is violated yet."""
        self.violations: list[str] = []
        self.answered: set[tuple[str, str, int]] = set()
        self._right: set[tuple[object, ...]] = set()

    def check_reply(self, method: str, template: str, status: int, body: Any) -> None:
        """Hold a reply against the document.

        Args:
            method: the request's.
            template: the path as the document writes it.
            status: the reply's.
            body: its JSON, or None if it has none.
        """
        self.answered.add((method, template, status))
        check = _reply(method, template, status)
        if check is False:
            self._note(method, template, f"undocumented status {status}")
        elif isinstance(check, Draft4Validator):
            items = check.schema.get("items")
            if isinstance(items, dict) and isinstance(body, list):
                check = _item(method, template, status)
                for item in body:
                    self._hold(check, (method, template, status), item)
            else:
                self._hold(check, (method, template, status), body)

    def check_body(self, method: str, template: str, body: Any) -> None:
        """Hold what a client sent against the document."""
        check = _body(method, template)
        if check is not None:
            self._hold(check, (method, template, "request"), body)

    def _hold(self, check: Draft4Validator, where: tuple[Any, ...], body: Any) -> None:
        body = self._hold_lists(check, where, body)
        # Most replies repeat what was said before: those are not checked again.
        key = (*where, json.dumps(body, sort_keys=True))
        if key in self._right:
            return
        errors = list(check.iter_errors(body))
        for error in errors:
            pointer = "/".join(str(part) for part in error.absolute_path)
            place = "/".join(["", *where[3:], pointer])
            text = f"{where[2]} at {place}: {_first_cause(error)}"
            self._note(where[0], where[1], text)
        if not errors:
            self._right.add(key)

    def _hold_lists(
        self, check: Draft4Validator, where: tuple[object, ...], body: Any
    ) -> Any:
        """Hold the items of long lists in an object one by one; gives it without them.

        A release with hundreds of files is then not checked whole after each upload.
        """
        if not isinstance(body, dict):
            return body
        body = dict(body)
        for name, schema in check.schema.get("properties", {}).items():
            items = schema.get("items")
            value = body.get(name)
            if isinstance(value, list) and len(value) > 3 and isinstance(items, dict):
                validator = _by_identity(id(items), items)
                for item in value:
                    self._hold(validator, (*where, name), item)
                body[name] = []
        return body

    def _note(self, method: str, template: str, text: str) -> None:
        self.violations.append(f"{method} {template}: {text}")


def _by_identity(number: int, schema: dict[str, Any]) -> Draft4Validator:
    """The validator of a schema, which is never freed, by the id of the object."""
    if number not in _KNOWN:
        _KNOWN[number] = _validator(schema)
    return _KNOWN[number]


_KNOWN: dict[int, Draft4Validator] = {}


@cache
def _item(method: str, template: str, status: int) -> Draft4Validator:
    whole = _reply(method, template, status)
    assert isinstance(whole, Draft4Validator)
    return _validator(whole.schema["items"])


def _first_cause(error: Any) -> str:
    """The message of an error, or of the first alternative that failed."""
    text = error.message[:160]
    if error.context:
        inner = min(error.context, key=lambda cause: len(cause.absolute_path))
        pointer = "/".join(str(part) for part in inner.absolute_path)
        text += f" (/{pointer}: {inner.message[:160]})"
    return text
