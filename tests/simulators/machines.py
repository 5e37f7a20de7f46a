"""Imagined servers: their specs, and tables as a recorder would write them.

Power follows load and frequency the way real servers do (a floor, a nearly linear part,
a cubic part of frequency), and every reading carries a little noise from the seed.
"""

from __future__ import annotations

import random
from dataclasses import dataclass, field

__all__ = ["LOADS", "Machine", "Point", "level_tables", "points", "sample_tables"]

GIB = 2**30
LOADS = tuple(tenth / 10 for tenth in range(11))
KINDS = ("fp", "vec", "branch", "l1", "llc", "membw", "mix")
DRAM = {"membw": 1.0, "llc": 0.4, "mix": 0.6}
"""How much of the memory's dynamic power a workload draws at full load."""
RUN_HEADER = (
    "run,workload,load_target_ratio,load_achieved_ratio,threads,placement,"
    "frequency_set_hertz,frequency_achieved_hertz,isolation,start_seconds,end_seconds,"
    "repeat,accepted,rejected_because,performance,performance_unit"
)


@dataclass(frozen=True, slots=True)
class Machine:
    """An imagined server.

    Attributes:
        name: machine id.
        model: processor model name.
        sockets: populated sockets.
        cores: cores of all sockets.
        gib: memory in GiB.
        seed: source of its noise and its small individual differences.
        zone_joules: range of each energy counter; small ones wrap during a recording.
    """

    name: str
    model: str = "Intel Xeon Gold 6248R"
    sockets: int = 2
    cores: int = 48
    gib: int = 384
    seed: int = 0
    zone_joules: float = 262143.32885

    @property
    def threads(self) -> int:
        """Logical CPUs."""
        return self.cores * 2

    def spec(self) -> dict[str, object]:
        """The spec as `HardwareSpec` takes it."""
        zones = [f"{kind}_{at}" for at in range(self.sockets) for kind in ZONES]
        return {
            "schema": "hardware-spec/1",
            "machine": self.name,
            "system": {
                "vendor": "Example Systems",
                "model": "R740",
                "form_factor": "rack-2u",
            },
            "cpu": {
                "vendor": "intel",
                "model": self.model,
                "architecture": "x86_64",
                "microarchitecture": "cascadelake",
                "sockets": {"populated": self.sockets, "total": self.sockets},
                "cores": self.cores,
                "threads_per_core": 2,
                "frequency": {
                    "min_hertz": 1_000_000_000,
                    "base_hertz": 3_000_000_000,
                    "max_hertz": 4_000_000_000,
                },
            },
            "memory": {"bytes": self.gib * GIB, "speed_mts": 2933, "type": "ddr4"},
            "storage": [{"type": "nvme", "count": 2}],
            "power_supplies": [{"count": 2, "watts": 1100}],
            "virtualisation": {"kind": "bare"},
            "nodes": {"count": 1, "shared_power": False},
            "rapl_zones": [
                {"zone": zone, "max_joules": self.zone_joules} for zone in zones
            ],
        }


ZONES = ("package", "dram")


@dataclass(frozen=True, slots=True)
class Point:
    """One run: a workload at a load and a frequency."""

    workload: str
    load: float
    hertz: int = 3_000_000_000
    repeat: int = 1


def points(frequencies: int = 12, kinds: tuple[str, ...] = KINDS) -> list[Point]:
    """Runs of a full recording: idle, a load curve, the kinds, a frequency sweep."""
    step = 2_000_000_000 // max(frequencies - 1, 1)
    sweep = [1_000_000_000 + step * at for at in range(frequencies)]
    return [
        Point("idle", 0.0),
        *(Point("int", load) for load in (0.25, 0.5, 0.75, 1.0)),
        *(Point(kind, load) for kind in kinds for load in (0.5, 1.0)),
        *(Point("int", 1.0, hertz, repeat=2) for hertz in sweep),
        Point("idle", 0.0, repeat=2),
    ]


@dataclass(slots=True)
class _Meters:
    """The running counters of a machine."""

    machine: Machine
    chance: random.Random
    joules: dict[str, float] = field(default_factory=dict)
    cpu_seconds: float = 0.0
    cycles: int = 0
    instructions: int = 0
    misses: int = 0

    def __post_init__(self) -> None:
        start = self.machine.zone_joules - 5_000.0
        for at in range(self.machine.sockets):
            self.joules[f"package_{at}"] = start + 100 * at
            self.joules[f"dram_{at}"] = 1_000.0 + 100 * at

    def second(self, point: Point) -> float:
        """Advance all counters by one second and give the watts at the wall."""
        machine, busy = self.machine, point.load
        share = point.hertz / 3e9
        noise = 1.0 + self.chance.uniform(-0.004, 0.004)
        package = (25 + 10 * share + busy * (60 * share + 50 * share**3)) * noise
        dram = (6 + 12 * busy * DRAM.get(point.workload, 0.15)) * noise
        for at in range(machine.sockets):
            own = 1 + 0.01 * at  # no two sockets draw the same
            for zone, watts in ((f"package_{at}", package), (f"dram_{at}", dram)):
                joules = self.joules[zone] + watts * own
                self.joules[zone] = joules % machine.zone_joules
        self.cpu_seconds += (busy * machine.threads + 0.3) * noise
        work = int((busy * machine.cores + 0.2) * point.hertz * noise)
        self.cycles += work
        self.instructions += int(work * (1.6 if point.workload == "int" else 1.1))
        self.misses += int(work * 0.001 * (1 + 30 * DRAM.get(point.workload, 0.0)))
        return 55 + machine.seed % 7 + 1.08 * machine.sockets * (package + dram)

    def row(self, watts: float, hertz: int) -> str:
        """The counters' part of a row of samples.csv."""
        zones = ",".join(_decimal(value) for value in self.joules.values())
        return (
            f"{zones},{_decimal(self.cpu_seconds)},{_decimal(self.cpu_seconds)},"
            f"{self.cycles},{self.instructions},{self.misses},{hertz},"
            f"{_decimal(watts, 3)}"
        )


def _decimal(value: float, digits: int = 6) -> str:
    """A number as canonical tables write it: no exponent, no trailing zeros."""
    text = f"{value:.{digits}f}".rstrip("0").rstrip(".")
    return "0" if text == "-0" else text


def sample_tables(
    machine: Machine, runs: list[Point], seconds: int = 30
) -> dict[str, bytes]:
    """samples.csv and runs.csv of a recording at one sample a second.

    Args:
        machine: the server.
        runs: what it did, in order.
        seconds: length of each run; five seconds pass between runs.
    """
    chance = random.Random(machine.seed)
    meters = _Meters(machine, chance)
    zones = (
        f"rapl_{kind}_{at}_joules_total"
        for at in range(machine.sockets)
        for kind in ZONES
    )
    header = ",".join(
        ("time_seconds", "run", *zones, "cpu_seconds_total", "bpf_cpu_seconds_total",
         "cpu_cycles_total", "cpu_instructions_total", "cache_misses_total",
         "cpu_frequency_hertz", "wall_watts")
    )  # fmt: skip
    samples, table = [header], [RUN_HEADER]
    now, rest = 0, Point("idle", 0.0, 1_000_000_000)
    for number, point in enumerate(runs):
        for _ in range(5):
            watts = meters.second(rest)
            samples.append(f"{now},,{meters.row(watts, rest.hertz)}")
            now += 1
        start, achieved = now, int(point.hertz * 0.9985)
        for _ in range(seconds):
            watts = meters.second(point)
            samples.append(f"{now},{number},{meters.row(watts, achieved)}")
            now += 1
        threads = 0 if point.workload == "idle" else machine.threads
        speed = point.load * point.hertz / 1e6 * machine.cores
        performance = "," if point.workload == "idle" else f"{_decimal(speed)},bogo_ops"
        table.append(
            f"{number},{point.workload},{_decimal(point.load)},{_decimal(point.load)},"
            f"{threads},{'compact' if threads else 'none'},{point.hertz},{achieved},L1,"
            f"{start},{now - 1},{point.repeat},1,,{performance}"
        )
    return {"samples.csv": _text(samples), "runs.csv": _filled(table)}


def level_tables(machine: Machine, column: str = "wall_watts") -> dict[str, bytes]:
    """levels.csv and runs.csv of a load-level benchmark: idle and ten loads."""
    chance = random.Random(machine.seed)
    idle, peak = 60 + machine.seed % 13, 380 + machine.seed % 97
    levels, table = [f"run,{column}"], [RUN_HEADER]
    top = 4_000_000 + 1_000 * (machine.seed % 211)
    for number, load in enumerate(reversed(LOADS)):
        noise = chance.uniform(-0.4, 0.4)
        watts = idle + (peak - idle) * (0.25 * (load > 0) + 0.75 * load) + noise
        levels.append(f"{number},{_decimal(watts, 1)}")
        achieved = load * (1 + chance.uniform(-0.003, 0.003)) if load < 1 else 1.0
        label, ops = (
            ("ssj2008", f"{round(top * load)},ssj_ops") if load else ("idle", ",")
        )
        start = 300 * number
        table.append(
            f"{number},{label},{_decimal(load)},{_decimal(achieved, 4)},"
            f"{machine.threads if load else 0},none,,,L0,{start},{start + 240},"
            f"1,1,,{ops}"
        )
    return {"levels.csv": _text(levels), "runs.csv": _filled(table)}


def _filled(lines: list[str]) -> bytes:
    """A table without the columns that are empty in every row."""
    rows = [line.split(",") for line in lines]
    columns = zip(*rows, strict=True)
    kept = [column for column in columns if any(column[1:])]
    return _text([",".join(row) for row in zip(*kept, strict=True)])


def _text(lines: list[str]) -> bytes:
    return ("\n".join(lines) + "\n").encode("ascii")
