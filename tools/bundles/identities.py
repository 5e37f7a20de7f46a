"""The names of this machine and its users, which must not be in anything published.

They are only searched for, never stored.
"""

from __future__ import annotations

import getpass
import ipaddress
import os
import re
from pathlib import Path
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

__all__ = ["local_identities"]

_FILES: Final = ("etc/hostname", "etc/machine-id", "var/lib/dbus/machine-id")
_LABELS: Final = (
    "product_serial",
    "product_uuid",
    "board_serial",
    "board_asset_tag",
    "chassis_serial",
    "chassis_asset_tag",
)
"""Files of ``/sys/class/dmi/id``; only root can read the serials."""
_ACCOUNTS: Final = ("USER", "LOGNAME", "SUDO_USER")
_BYTES: Final = 1_000_000
_DOMAIN: Final = re.compile(r"^(?:search|domain)\s+(.+)$", re.MULTILINE)
_LOCAL_IPV4: Final = re.compile(
    r"\|-- ((?:[0-9]{1,3}\.){3}[0-9]{1,3})\n\s+/32 host LOCAL"
)
_FIRMWARE_FILLER: Final = re.compile(
    r"to be filled.*|default string|not (?:specified|applicable|available)|none|unknown"
    r"|asset|0+|1234567890?|n/?a",
    re.IGNORECASE,
)


def local_identities(
    root: Path = Path("/"), environment: Mapping[str, str] = os.environ
) -> frozenset[str]:
    """Collect host and domain names, accounts, addresses, serial numbers and ids.

    Args:
        root: Where the system's files are; another one in tests.
        environment: Variables that name the account.

    """
    names = {*_host(root), *_accounts(environment), *_addresses(root), *_labels(root)}
    return frozenset(name for name in names if name)


def _host(root: Path) -> Iterator[str]:
    nodename = os.uname().nodename
    yield nodename
    yield nodename.partition(".")[0]
    for name in _FILES:
        text = _text(root / name)
        yield text
        yield text.partition(".")[0]
    for domains in _DOMAIN.findall(_text(root / "etc/resolv.conf")):
        yield from (one for one in domains.split() if "." in one.strip("."))


def _accounts(environment: Mapping[str, str]) -> Iterator[str]:
    for name in _ACCOUNTS:
        yield environment.get(name, "")
    yield Path(environment.get("HOME", "/")).name
    try:
        yield getpass.getuser()
    except (KeyError, OSError):  # a user without an entry, as in some containers
        return


def _addresses(root: Path) -> Iterator[str]:
    for device in sorted((root / "sys/class/net").glob("*/address")):
        yield _text(device)
    yield from _LOCAL_IPV4.findall(_text(root / "proc/net/fib_trie"))
    for line in _text(root / "proc/net/if_inet6").splitlines():
        digits = line.partition(" ")[0]
        if re.fullmatch(r"[0-9a-f]{32}", digits):
            yield str(ipaddress.IPv6Address(int(digits, 16)))


def _labels(root: Path) -> Iterator[str]:
    for name in _LABELS:
        text = _text(root / "sys/class/dmi/id" / name)
        if _FIRMWARE_FILLER.fullmatch(text) is None:
            yield text


def _text(path: Path) -> str:
    try:
        return path.read_bytes()[:_BYTES].decode("utf-8", "replace").strip()
    except OSError:
        return ""
