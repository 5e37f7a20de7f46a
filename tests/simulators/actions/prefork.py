"""Lends started interpreters: commands on simulated machines begin with slow packages.

Every `registry verify` of a workflow is a process of its own, and most of its time goes
into importing Great Expectations. Here one process has imported such packages, and
only those of others, and is copied for each command. The copy takes over the caller's
files, folder, environment and packages, so what runs is the code that the job has
checked out.
"""

from __future__ import annotations

import array
import atexit
import json
import os
import signal
import socket
import subprocess
import sys
import sysconfig
import tempfile
import threading
import time
from functools import cache
from pathlib import Path
from typing import Any, Final

__all__ = ["LENT", "caller", "lender", "own_command"]

LENT: Final = ("verify", "review", "check", "submit")
"""Subcommands that are lent an interpreter. A build sets up its own numeric library."""
_PACKAGES: Final = (
    "great_expectations",
    "great_expectations.expectations.metrics",
    "matplotlib.pyplot",
    "matplotlib.backends.backend_svg",
    "jsonschema",
    "cryptography.hazmat.primitives.serialization.ssh",
)
_FILES: Final = 3
_START_SECONDS: Final = 120


@cache
def lender() -> Path:
    """Start the process that is copied, once in a test process; gives its address."""
    folder = Path(tempfile.mkdtemp(prefix="lender-"))
    address = folder / "socket"
    # Not the environment of the tests, which would find our own packages. And without
    # options: joblib would hand them on to its workers.
    python = getattr(sys, "_base_executable", sys.executable)
    process = subprocess.Popen(
        [python, __file__, str(address), sysconfig.get_path("purelib")],
        env={"PATH": "/usr/bin:/bin", "HOME": str(folder), "LANG": "C.UTF-8"},
        cwd="/",
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        start_new_session=True,
    )
    atexit.register(process.kill)
    limit = time.monotonic() + _START_SECONDS
    while not address.exists():
        assert process.poll() is None, "the lender of interpreters died"
        assert time.monotonic() < limit, "the lender of interpreters is late"
        time.sleep(0.02)
    return address


def caller(address: Path) -> str:
    """The text of a command that borrows an interpreter for its slow subcommands.

    PYTHON, MODULE and FUNCTION in it are still to be replaced: the interpreter of the
    command's environment, what it imports, and what of that it calls.
    """
    return _CALLER.replace("ADDRESS", repr(str(address))).replace("LENT", repr(LENT))


def own_command(folder: Path, name: str) -> Path:
    """Write one of the tests' own commands so that it borrows; gives its path."""
    path = folder / name
    if not path.exists():
        module = {"registry": "registry.cli", "powerkit": "tools.cli"}[name]
        words = {"PYTHON": sys.executable, "MODULE": module, "FUNCTION": "main"}
        text = caller(lender())
        for word, meant in words.items():
            text = text.replace(word, meant)
        folder.mkdir(exist_ok=True)
        path.write_text(text, "utf-8")
        path.chmod(0o755)
    return path


_CALLER: Final = """#!PYTHON -S
import sys
if sys.argv[1:2] and sys.argv[1] in LENT:
    import array, json, os, socket
    near = socket.socket(socket.AF_UNIX)
    near.connect(ADDRESS)
    said = {"argv": sys.argv, "cwd": os.getcwd(), "env": dict(os.environ),
            "python": "PYTHON", "module": "MODULE", "function": "FUNCTION"}
    files = array.array("i", [0, 1, 2])
    near.sendmsg([b"!"], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, files)])
    near.sendall(json.dumps(said).encode())
    near.shutdown(socket.SHUT_WR)
    code = near.makefile("rb").read()
    sys.exit(int(code) if code else "the borrowed interpreter died")
import site
site.main()
from MODULE import FUNCTION
sys.exit(FUNCTION())
"""


def _lend(address: str, packages: str) -> None:
    """Import what is slow, then copy this process for every caller, for ever."""
    own = str(Path(__file__).parent)
    keep = [path for path in sys.path if "site-packages" not in path and path != own]
    sys.path[:] = [*keep, packages]
    for name in _PACKAGES:
        __import__(name)
    far = socket.socket(socket.AF_UNIX)
    far.bind(f"{address}.new")
    far.listen(16)
    Path(f"{address}.new").rename(address)
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # nobody waits for the copies
    parent = os.getppid()
    far.settimeout(5)
    while os.getppid() == parent:  # a killed test run leaves nothing behind
        try:
            near, _ = far.accept()
        except TimeoutError:
            continue
        if os.fork() == 0:
            far.close()
            near.settimeout(None)
            _copy(near)
        near.close()


def _copy(near: socket.socket) -> None:
    """Be the caller: its files, its place, its packages; then say how it ended."""
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    files = array.array("i")
    _, held, _, _ = near.recvmsg(1, socket.CMSG_LEN(_FILES * files.itemsize))
    files.frombytes(held[0][2])
    with near.makefile("rb") as stream:
        said: dict[str, Any] = json.loads(stream.read())
    for number, file in enumerate(files):
        os.dup2(file, number)
        os.close(file)
    code = 1
    try:
        code = _called(said)
    finally:
        threading._shutdown()  # what an interpreter does at its end; os._exit does not
        atexit._run_exitfuncs()
        sys.stdout.flush()
        sys.stderr.flush()
        near.sendall(str(code).encode())
        os._exit(code)


def _called(said: dict[str, Any]) -> int:
    import site

    os.chdir(said["cwd"])
    os.environ.clear()
    os.environ.update(said["env"])
    sys.argv = said["argv"]
    sys.executable = said["python"]
    prefix = Path(said["python"]).parent.parent
    version = f"python{sys.version_info[0]}.{sys.version_info[1]}"
    sys.prefix = sys.exec_prefix = str(prefix)
    sys.path.insert(0, str(Path(sys.argv[0]).parent))
    site.addsitedir(str(prefix / "lib" / version / "site-packages"))
    try:
        function = getattr(__import__(said["module"], fromlist=["_"]), said["function"])
        function()
    except SystemExit as leaving:
        if isinstance(leaving.code, str):
            sys.stderr.write(leaving.code + "\n")
            return 1
        return leaving.code or 0
    except BaseException:  # noqa: BLE001  as an interpreter ends
        sys.excepthook(*sys.exc_info())
        return 1
    return 0


if __name__ == "__main__":
    _lend(*sys.argv[1:])
