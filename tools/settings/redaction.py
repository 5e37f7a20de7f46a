"""URLs as they may be printed: without passwords, keys and signatures in them."""

from __future__ import annotations

import re
from typing import Final
from urllib.parse import quote, urlsplit, urlunsplit

__all__ = ["redacted", "urls_redacted"]

# What may stand openly in a query; all else could be a key, a token or a signature.
_OPEN: Final = frozenset(
    ("version", "versionid", "ref", "rev", "revision", "region", "download", "format")
)
_URL: Final = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://[^\s'\"<>]+")
_HIDDEN: Final = "***"
_USER: Final = re.compile(
    r"(?P<scheme>[A-Za-z][A-Za-z0-9+.:-]*://)"
    # Keys hold slashes, and are pasted as they are: what follows a colon is no port.
    r"(?:[^/?#]*|[^/?#@:\[]+:(?![0-9]*(?:[/?#]|\Z))[^@]*)@"
)


def redacted(url: str) -> str:
    """Hide what in a URL may be secret.

    The part before `@` goes, since tokens stand there as user names too, and so do the
    values of a query but for those of well-known harmless names, and the fragment.
    """
    shown = _USER.sub(rf"\g<scheme>{_HIDDEN}@", url)
    if "://" not in shown:
        return shown
    try:
        parts = urlsplit(shown)
    except ValueError:  # no URL at all, so nobody can say what is a secret in it
        return shown.partition("://")[0] + "://" + _HIDDEN
    query = "&".join(map(_pair, parts.query.split("&"))) if parts.query else ""
    fragment = _HIDDEN if parts.fragment else ""
    return urlunsplit(parts._replace(query=query, fragment=fragment))


def urls_redacted(text: str) -> str:
    """Hide what may be secret in every URL of a text, such as a command line."""
    return _URL.sub(lambda url: redacted(url[0]), text)


def _pair(pair: str) -> str:
    name, equals, _ = pair.partition("=")
    if not equals:
        return _HIDDEN
    if name.lower() in _OPEN:
        return pair
    return f"{quote(name, safe='%-_.~$[]')}={_HIDDEN}"
