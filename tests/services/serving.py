"""Small servers for tests, and waiting with an end."""

from __future__ import annotations

import socket
import sys
import time
from collections.abc import Callable

PATIENCE = 10.0

# Without `site` a child starts in a quarter of the time.
PYTHON = [sys.executable, "-S", "-c"]

SERVER = """
import os, pathlib, signal, socket, sys, time
options = dict(one.split("=", 1) for one in sys.argv[1:])
if "ignore" in options:
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
if "pid" in options:
    with open(options["pid"], "a") as file:
        file.write(f"{os.getpid()}\\n")
time.sleep(float(options.get("sleep", 0)))
if "trace" in options:
    name = os.environ["POWERKIT_TRACE_FILE"]
    pathlib.Path(name).write_text(options["trace"])
if "die" in options:
    print("no memory", flush=True)
    sys.exit(int(options["die"]))
if "touch" in options:
    pathlib.Path(options["touch"]).touch()
if "say" in options:
    print(options["say"], flush=True)
if "port" not in options:
    time.sleep(60)
    sys.exit(9)
taker = socket.create_server(("127.0.0.1", int(options["port"])))
status = options.get("status", "200 OK").encode()
while True:
    caller, _ = taker.accept()
    caller.settimeout(1)
    try:
        if b"HTTP" in caller.recv(4096):
            head = b"HTTP/1.1 " + status + b"\\r\\nContent-Length: 0"
            caller.sendall(head + b"\\r\\n\\r\\n")
    except OSError:
        pass
    caller.close()
"""


def server(**options: object) -> list[str]:
    """The command of a server with options: see its program."""
    return [*PYTHON, SERVER, *(f"{name}={value}" for name, value in options.items())]


def free_port() -> int:
    """A port that nobody listens at."""
    with socket.create_server(("127.0.0.1", 0)) as taker:
        port: int = taker.getsockname()[1]
    return port


def until(condition: Callable[[], bool]) -> None:
    """Wait for something that must come soon."""
    limit = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < limit, "it did not come"
        time.sleep(0.01)
