"""Cost of combining and summarising traces: CPU and memory, beside viztracer.

    python benchmarks/traces.py [--small] [--folder DIR]

Makes two traces of 100 MiB and one of 1 GB, always the same, runs whole processes on
them and prints a Markdown table. Targets: combining takes at most half the CPU time of
`viztracer --combine` and less than 150 MiB; summing up with self times less than 3 s
and 120 MiB (3 s where viztracer takes 9.5 s, and in proportion where it takes longer);
1 GB costs in proportion, in less than 250 MiB. A target that is missed ends it with
exit code 1. With --small, files are a twentieth, and only memory is held to its
targets.
"""

from __future__ import annotations

import argparse
import os
import random
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
MIB = 2**20
POWERKIT = (sys.executable, "-m", "tools")
VIZTRACER = (sys.executable, "-m", "viztracer", "--combine")
COPIES = 10

KERNELS = [f"void at::native::elementwise_kernel<{number}>" for number in range(40)]
CALLS = ["aten::conv2d", "aten::matmul", "aten::relu", "cudaLaunchKernel"]
CALLS += [f"layer_{number}" for number in range(60)]


@dataclass(frozen=True)
class Cost:
    """What one process took.

    Attributes:
        cpu: seconds of CPU time.
        peak: largest resident memory in MiB.
    """

    cpu: float
    peak: float


def us(ns: int) -> str:
    """Nanoseconds as microseconds with three decimals, as profilers write them."""
    return f"{ns // 1000}.{ns % 1000:03d}"


def names(rank: int) -> Iterator[str]:
    """The metadata events of a rank."""
    for pid in (1, 2):
        where = f'"ph":"M","pid":{pid}'
        args = f'"args":{{"name":"python rank {rank}"}}'
        yield f'{{"name":"process_name",{where},"tid":0,{args}}}'
        for tid in range(1, 5):
            args = f'"args":{{"name":"worker {tid}"}}'
            yield f'{{"name":"thread_name",{where},"tid":{tid},{args}}}'


def steps(draw: random.Random) -> Iterator[str]:
    """The events of a program: calls with others inside, kernels, arrows, counters."""
    now = number = 0
    while True:
        number += 1
        now += draw.randrange(20_000, 60_000)
        at = f'"pid":{1 + number % 2},"tid":{1 + number % 4},"ts":'
        gpu = f'"pid":{1 + number % 2},"tid":7,"ts":'
        long = draw.randrange(5000, 18_000)
        begun = now + draw.randrange(100, 4000)
        ended = begun + draw.randrange(100, 900)
        args = f'"args":{{"External id":{number},"Input Dims":[[8,64,56,56]]}}'
        call = f'"cat":"cpu_op","name":"{draw.choice(CALLS)}"'
        yield f'{{"ph":"X",{call},{at}{us(now)},"dur":{us(long)},{args}}}'
        yield f'{{"ph":"B","name":"{draw.choice(CALLS)}",{at}{us(begun)}}}'
        yield f'{{"ph":"E",{at}{us(ended)}}}'
        if number % 4 == 0:
            late = now + long + draw.randrange(1000)
            link = f'"id":{number:07d}'.replace(":0", ":1")
            arrow = f'{link},"cat":"ac2g","name":"ac2g"'
            kernel = f'"cat":"kernel","name":"{draw.choice(KERNELS)}"'
            args = f'"args":{{"stream":7,"grid":[{draw.randrange(1, 4096)},1,1]}}'
            yield f'{{"ph":"s",{arrow},{at}{us(now)}}}'
            yield f'{{"ph":"X",{kernel},{gpu}{us(late)},"dur":{us(long // 2)},{args}}}'
            yield f'{{"ph":"f","bp":"e",{arrow},{gpu}{us(late)}}}'
        if number % 8 == 0:
            args = f'"args":{{"watts":{60 + draw.random() * 200:.1f}}}'
            yield f'{{"ph":"C","name":"GPU power",{at}{us(now)},{args}}}'
        if number % 16 == 0:
            asked = f'"cat":"request","name":"infer","id":"0x{number:07x}"'
            yield f'{{"ph":"b",{asked},{at}{us(now)}}}'
            yield f'{{"ph":"e",{asked},{at}{us(ended)}}}'


def body(rank: int, size: int) -> bytes:
    """Events of a rank, of about so many bytes, without brackets around them."""
    lines, written = list(names(rank)), 0
    for line in steps(random.Random(rank)):
        lines.append(line)
        written += len(line) + 2
        if written >= size:
            return ",\n".join(lines).encode()
    raise AssertionError


def write(path: Path, bodies: Iterator[bytes]) -> None:
    """Write a trace as PyTorch does, other keys around the events."""
    with path.open("wb") as file:
        file.write(b'{"schemaVersion":1,"traceEvents":[\n' + next(bodies))
        for one in bodies:
            file.write(b",\n" + one)
        file.write(b'\n],"baseTimeNanoseconds":1700000000000000000}\n')


def other_processes(events: bytes, number: int) -> bytes:
    """The same events of other processes, with arrows of their own."""
    for pid in (1, 2):
        events = events.replace(b'"pid":%d,' % pid, b'"pid":%d,' % (10 * number + pid))
    for begin in (b'"id":', b'"id":"0x'):
        digit = b"1" if begin.endswith(b":") else b""
        events = events.replace(begin + digit, begin + b"%d" % (number + 1) + digit)
    return events


def run(*arguments: object) -> Cost:
    """Run a command and measure it; its failure ends the benchmark."""
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    process = subprocess.Popen(
        [str(one) for one in arguments], stdout=subprocess.DEVNULL, env=environment
    )
    _, status, usage = os.wait4(process.pid, 0)
    if status:
        raise SystemExit(f"{arguments} ended with status {status}")
    return Cost(usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024)


def make(folder: Path, size: int) -> None:
    """Make two traces, and one of ten times the size of each."""
    events = body(0, size)
    write(folder / "a.json", iter([events]))
    write(folder / "b.json", iter([body(1, size)]))
    copies = (other_processes(events, number) for number in range(COPIES))
    write(folder / "large.json", copies)


def measure(folder: Path, size: int) -> dict[str, Cost]:
    """Make the traces and run everything once."""
    # In another process: a child's peak begins with the memory of its parent.
    run(sys.executable, __file__, "--make", size, "--folder", folder)
    files = ("a.json", "b.json", "large.json", "out.json")
    first, second, large, out = (folder / one for one in files)
    costs = {}
    pair = (*POWERKIT, "trace", "combine", first, second, "-o", out)
    costs["combine"] = run(*pair)
    costs["combine --zero"] = run(*pair, "--zero")
    out.unlink()
    costs["viztracer --combine"] = run(*VIZTRACER, first, second, "-o", out)
    out.unlink()
    totals = ("--together", "--json")
    costs["summarize"] = run(*POWERKIT, "trace", "summarize", first, second, *totals)
    costs["combine 1 GB"] = run(*POWERKIT, "trace", "combine", large, "-o", out)
    out.unlink()
    costs["summarize 1 GB"] = run(*POWERKIT, "trace", "summarize", large, *totals)
    return costs


def missed(costs: dict[str, Cost], *, small: bool) -> list[str]:
    """The targets that were missed."""
    ratio = costs["viztracer --combine"].cpu / costs["combine"].cpu
    growth = {
        name: costs[f"{name} 1 GB"].cpu / costs[name].cpu / (COPIES / 2)
        for name in ("combine", "summarize")
    }
    print(f"\nviztracer takes {ratio:.2f} times the CPU time of combine.")
    for name, times in growth.items():
        print(f"A byte of 1 GB costs {name} {times:.2f} times one of 200 MiB.")
    targets = {
        "combine below 150 MiB": costs["combine"].peak < 150,
        "summarize below 120 MiB": costs["summarize"].peak < 120,
        "combine of 1 GB below 250 MiB": costs["combine 1 GB"].peak < 250,
        "summarize of 1 GB below 250 MiB": costs["summarize 1 GB"].peak < 250,
    }
    # A busy machine takes longer for everything.
    seconds = 3 * max(1, costs["viztracer --combine"].cpu / 9.5)
    if not small:
        targets |= {
            "combine at most half of viztracer's CPU time": ratio >= 2,
            f"summarize below {seconds:.1f} s": costs["summarize"].cpu < seconds,
            "combine linear": growth["combine"] < 1.3,
            "summarize linear": growth["summarize"] < 1.3,
        }
    return [name for name, met in targets.items() if not met]


def main() -> int:
    """Measure, print and judge."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--small", action="store_true", help="files of a twentieth")
    parser.add_argument("--folder", type=Path, help="where 3 GB fit; a temporary one")
    parser.add_argument("--make", type=int, help="only make files of so many bytes")
    chosen = parser.parse_args()
    if chosen.make:
        make(chosen.folder, chosen.make)
        return 0
    size = 100 * MIB // (20 if chosen.small else 1)
    with tempfile.TemporaryDirectory(dir=chosen.folder) as folder:
        costs = measure(Path(folder), size)
    print("| command | CPU s | peak MiB |\n|---|---|---|")
    for name, cost in costs.items():
        print(f"| {name} | {cost.cpu:.1f} | {cost.peak:.0f} |")
    failures = missed(costs, small=chosen.small)
    for name in failures:
        print(f"missed: {name}", file=sys.stderr)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
