"""Stands where `pip` is in environments of simulated machines, for speed.

It downloads nothing. `install -r LOCK` demands what pip would: hashes, wheels only, and
that each pinned package is there in its very version. `install --editable .` makes the
folder importable and writes its commands. Whatever else is asked fails.
"""

from __future__ import annotations

import re
import sys
import sysconfig
import tomllib
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

_SCRIPT = """#!PYTHON
import sys
from MODULE import FUNCTION
sys.exit(FUNCTION())
"""
_QUIET = {"--quiet", "--disable-pip-version-check"}
_LOCKED = {"--require-hashes", "--only-binary=:all:"}
_OWN = {"--no-deps", "--no-build-isolation"}


def main(words: list[str]) -> None:
    """Do what the command line asks."""
    if words[:1] != ["install"]:
        sys.exit(f"pip stand-in: only `install`, not {words}")
    rest = [word for word in words[1:] if word not in _QUIET]
    if rest[-2:-1] == ["-r"] and set(rest[:-2]) == _LOCKED:
        _demand(Path(rest[-1]).read_text("utf-8"))
    elif rest[-2:] == ["--editable", "."] and set(rest[:-2]) == _OWN:
        _install(Path.cwd())
    else:
        sys.exit(f"pip stand-in: not these options: {rest}")


def _demand(lock: str) -> None:
    """Demand that what a lock names is installed."""
    for block in re.split(r"\n(?=\S)", lock.replace("\\\n", " ")):
        match = re.match(r"([A-Za-z0-9._-]+)==(\S+)([^#]*)", block)
        if match is None:
            continue
        name, wanted, rest = match.groups()
        if "--hash=sha256:" not in rest:
            sys.exit(f"pip stand-in: {name} has no hash")
        try:
            there = version(name)
        except PackageNotFoundError:
            there = None
        # A package for other systems or Pythons has a marker and may be missing.
        if there != wanted and not (there is None and ";" in rest):
            sys.exit(f"pip stand-in: {name} is {there}, not {wanted}")


def _install(folder: Path) -> None:
    """Make a folder's packages importable, and write its commands."""
    project = tomllib.loads((folder / "pyproject.toml").read_text("utf-8"))["project"]
    packages = Path(sysconfig.get_path("purelib"))
    (packages / f"{project['name']}.pth").write_text(f"{folder}\n", "utf-8")
    for command, place in project["scripts"].items():
        module, _, function = place.partition(":")
        text = _script(module, function)
        script = Path(sysconfig.get_path("scripts")) / command
        script.write_text(text, "utf-8")
        script.chmod(0o755)


def _script(module: str, function: str) -> str:
    """The text of a command; its slow subcommands may borrow an interpreter."""
    caller = Path(__file__).with_name("caller")
    text = caller.read_text("utf-8") if caller.exists() else _SCRIPT
    words = {"PYTHON": sys.executable, "MODULE": module, "FUNCTION": function}
    for word, meant in words.items():
        text = text.replace(word, meant)
    return text


if __name__ == "__main__":
    main(sys.argv[1:])
