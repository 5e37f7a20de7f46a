"""Arrivals in real time under a server that is too slow for them.

    python benchmarks/open_loop.py [--seconds 60] [--rate 50] [--service-ms 30]

Runs `powerkit load run` on a web service on loopback, a process of its own that serves
so many requests at once and sleeps for each, and prints a Markdown table: how near the
rate of sent requests came to the plan's, how late requests were sent, and the latency
from when each was due beside what queueing theory says for the same plan (Lindley's
recursion). The last row asks one after the other, as a closed loop would: it never sees
the queue, which is what coordinated omission means.
"""

from __future__ import annotations

import argparse
import asyncio
import heapq
import json
import math
import multiprocessing
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from tools.load.plan import make_plan, read_plan, write_plan  # noqa: E402

if TYPE_CHECKING:
    from multiprocessing.connection import Connection

HEAD = (
    "| server | load | rate planned | sent | off by | sent late p50 / p99 / max ms |"
    " latency p50 / p99 s | theory p50 / p99 s | answered a second | verdict |"
    " CPU s |\n"
    "|---|---|---|---|---|---|---|---|---|---|---|"
)


def serve(places: int, seconds: float, ready: Connection) -> None:
    """Answer on a free port: so many requests at once, each after a sleep."""

    async def main() -> None:
        free = asyncio.Semaphore(places)

        async def answer(
            reader: asyncio.StreamReader, writer: asyncio.StreamWriter
        ) -> None:
            try:
                while await reader.readuntil(b"\r\n\r\n"):
                    async with free:
                        await asyncio.sleep(seconds)
                    writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
            except (asyncio.IncompleteReadError, ConnectionError):
                writer.close()

        server = await asyncio.start_server(answer, "127.0.0.1", 0, backlog=4096)
        ready.send(server.sockets[0].getsockname()[1])
        await server.serve_forever()

    asyncio.run(main())


def theory(plan: Path, places: int, seconds: float) -> list[float]:
    """Latencies of the plan's requests, ascending, if the server were ideal."""
    free = [0.0] * places
    latencies = []
    for time_ns in read_plan(plan).requests.times or ():
        due = time_ns / 1e9
        end = max(heapq.heappop(free), due) + seconds
        heapq.heappush(free, end)
        latencies.append(end - due)
    return sorted(latencies)


def nearest(values: list[float], share: float) -> float:
    """The smallest value that at least this share does not exceed."""
    return values[max(1, math.ceil(share * len(values))) - 1]


def load(plan: Path, port: int, *options: str) -> tuple[dict[str, Any], float]:
    """Run a plan; the result and the CPU seconds of the process."""
    command = (sys.executable, "-m", "tools", "load", "run", str(plan), "--json")
    place = ("--sut", f"http://127.0.0.1:{port}/{{item}}", "--timeout", "600")
    with subprocess.Popen(
        (*command, *place, *options), cwd=ROOT, stdout=subprocess.PIPE
    ) as process:
        out = process.stdout.read() if process.stdout else b""
        _, _, used = os.wait4(process.pid, 0)
        process.returncode = 0
    return json.loads(out), used.ru_utime + used.ru_stime


def row(
    name: str, kind: str, facts: dict[str, Any], expected: list[float], cpu: float
) -> str:
    """One line of the table."""
    rate, late = facts["rate"], facts["start_delay_seconds"]
    latency = facts["latency_seconds"]
    off = (
        ""
        if rate["planned"] is None
        else f"{rate['issued'] / rate['planned'] - 1:+.3%}"
    )
    planned = "" if rate["planned"] is None else f"{rate['planned']:.3f}"
    late_ms = " / ".join(f"{late[key] * 1e3:.2f}" for key in ("p50", "p99", "max"))
    ideal = " / ".join(f"{nearest(expected, p):.3f}" for p in (0.5, 0.99))
    cells = (
        name,
        kind,
        planned,
        f"{rate['issued']:.3f}",
        off,
        late_ms,
        f"{latency['p50']:.3f} / {latency['p99']:.3f}",
        ideal,
        f"{rate['completed']:.1f}",
        rate["verdict"],
        f"{cpu:.1f}",
    )
    return f"| {' | '.join(cells)} |"


def main() -> None:
    """Run all and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--rate", type=float, default=50.0)
    parser.add_argument("--service-ms", type=float, default=30.0)
    given = parser.parse_args()
    service = given.service_ms / 1e3
    print(HEAD)
    with tempfile.TemporaryDirectory() as folder:
        plan = Path(folder) / "plan.jsonl"
        arrivals = f"poisson:rate={given.rate}"
        made = make_plan(["a"], "equal", arrivals, duration=given.seconds, seed=1)
        write_plan(made, plan)
        for places in (8, 1):
            near, far = multiprocessing.Pipe()
            server = multiprocessing.Process(target=serve, args=(places, service, far))
            server.start()
            port = near.recv()
            name = f"{places} at once, {given.service_ms:g} ms"
            expected = theory(plan, places, service)
            facts, cpu = load(plan, port, "--max-in-flight", "4000")
            print(row(name, "open", facts, expected, cpu), flush=True)
            if places == 1:
                facts, cpu = load(plan, port, "--scenario", "single-stream")
                print(row(name, "one after the other", facts, expected, cpu))
            server.terminate()
            server.join()


if __name__ == "__main__":
    main()
