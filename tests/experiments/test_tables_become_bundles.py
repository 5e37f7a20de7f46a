"""From runs of `bench` over tables to bundles that the gate and the models take."""

from __future__ import annotations

import csv
import functools
import io
import json
import platform
import time
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from registry.documents.strict_csv import read_table
from registry.gate.directory_tree import directory_tree
from registry.gate.opening import open_bundle
from registry.modelling.catalogue import trusted
from registry.modelling.extract import extract
from tests.experiments.recorded_runs import at, experiment, recorded
from tests.simulators import powercap
from tests.simulators.commands import Done
from tests.simulators.machines import Machine
from tests.simulators.powercap import FakePowercap
from tests.tools.conftest import write_key, write_machine
from tools.experiments import sampling
from tools.sources.rapl import RaplSource

NEWCOMER = 77
KINDS = ("idle", "int", "fp", "vec", "branch", "l1", "llc", "membw", "mix")


def rows_of(path: Path) -> list[dict[str, str]]:
    with path.open(newline="") as file:
        return list(csv.DictReader(file))


def bundled(
    powerkit: Callable[..., Done],
    tmp_path: Path,
    checkout: Path,
    tables: Path,
    machine: Machine,
    day: str,
) -> Path:
    """Pack and sign tables as the next step of the command says."""
    spec, key = write_machine(tmp_path / "spec.yaml", machine), tmp_path / "key"
    write_key(key, "newcomer")
    given = ("--spec", spec, "--dataset", "box", "--contributor", NEWCOMER)
    where = ("--registry", checkout, "--from", day, "--yes")
    packed = powerkit("pack", tables, *given, *where)
    assert packed.code == 0, packed
    who = ("--contributor", NEWCOMER, "--login", "newcomer", "--registry", checkout)
    enrolled = powerkit("enrol", "--key", key, *who)
    assert enrolled.code == 0, enrolled
    folder = checkout / "datasets" / "box"
    signed = powerkit("sign", folder, "--key", key)
    assert signed.code == 0, signed
    return folder


def findings(powerkit: Callable[..., Done], folder: Path, tmp_path: Path) -> Any:
    keys = ("--published-keys", tmp_path / "key.pub")
    checked = powerkit("check", folder, *keys, "--json")
    return json.loads(checked.out)["findings"]


@pytest.fixture
def rapl(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> FakePowercap:
    """Two sockets below a /sys of our own, whose counters grow with time."""
    tree = FakePowercap(tmp_path / "sys", powercap.TWO_SOCKETS)
    policy = tree.root / "devices/system/cpu/cpufreq/policy0"
    policy.mkdir(parents=True)
    (policy / "scaling_cur_freq").write_text("2400000\n")
    read, start = RaplSource.read, time.monotonic_ns()

    def current(source: RaplSource, now_ns: int) -> Sequence[int | None]:
        tree.at((now_ns - start) / 1e9)
        return read(source, now_ns)

    monkeypatch.setattr(RaplSource, "read", current)
    opened = functools.partial(sampling.open_sources, sysroot=tree.root)
    monkeypatch.setattr(sampling, "open_sources", opened)
    return tree


@pytest.mark.usefixtures("rapl")
def test_tiny_runs_become_a_bundle_that_lacks_only_measurements(
    bench: Callable[..., Done],
    powerkit: Callable[..., Done],
    folder: Path,
    checkout: Path,
    tmp_path: Path,
) -> None:
    sampled = ("--monitor", "rapl,cpu", "--monitor-interval-ms", 10)
    asked = ("--workload", "sleep:0.05", "--work", 3, *sampled, "--trace")
    assert bench(*asked).code == 0
    mine = bench(*sampled, "--append", command=("sh", "-c", "sleep 0.1; exit 3"))
    assert mine.code == 1
    assert bench(*sampled, "--append", command=("sleep", "0.1")).code == 0

    out = tmp_path / "tables"
    done = powerkit("bench", "tables", folder, "--out", out, "--json")
    assert done.code == 0, done
    said = json.loads(done.out)
    assert {path.name for path in out.iterdir()} == {"runs.csv", "samples.csv"}
    runs = rows_of(out / "runs.csv")
    assert [row["workload"] for row in runs] == ["idle", "other", "other"]
    assert [row["rejected_because"] for row in runs] == ["", "other", ""]
    assert runs[0]["performance_unit"] == "operations"
    assert 0 < float(runs[0]["performance"]) < 20.5
    samples = rows_of(out / "samples.csv")
    assert {row["run"] for row in samples} == {"", "0", "1", "2"}
    energy = [float(row["rapl_package_0_joules_total"]) for row in samples]
    passed = float(samples[-1]["time_seconds"]) - float(samples[0]["time_seconds"])
    assert (energy[-1] - energy[0]) / passed == pytest.approx(100, rel=0.02)
    assert said["rapl_zones"]["package_0"] == pytest.approx(262_143.32885)
    assert said["own_workloads"] == {"sh": "other", "sleep": "other"}

    text = (out / "runs.csv").read_text() + (out / "samples.csv").read_text()
    for secret in (platform.node(), "sleep", "sh", str(tmp_path), "host", "20260"):
        assert secret not in text, secret

    day = said["measured"]["from"]
    box = bundled(powerkit, tmp_path, checkout, out, Machine("box"), day)
    found = findings(powerkit, box, tmp_path)
    codes = {one["code"] for one in found if one["severity"] == "error"}
    assert {"E001", "E003", "E007"} <= codes
    assert {code[0] for code in codes} == {"E"}, found


def test_an_experiment_at_many_frequencies_passes_the_gate_and_is_modelled(
    powerkit: Callable[..., Done], checkout: Path, tmp_path: Path
) -> None:
    machine = Machine("box", seed=5)
    samples = experiment(tmp_path / "runs", machine)
    named = tmp_path / "labels"
    named.write_text("# ours\n" + "\n".join(f"my {one} = {one}" for one in KINDS))
    out = tmp_path / "tables"
    done = powerkit(
        *("bench", "tables", tmp_path / "runs", "--out", out),
        *("--workload-map", named),
    )
    assert done.code == 0, done
    packing = f"next: powerkit pack {out} --spec FILE --dataset NAME --contributor ID"
    assert done.out.splitlines()[-1] == f"{packing} --from 2026-01-01"
    assert "error" not in done.out + done.err

    # A recorder of the registry's own would have written the same.
    ours = read_table((out / "samples.csv").read_bytes(), "ours", "samples")
    theirs = read_table(samples, "theirs", "samples")
    assert ours.select(theirs.columns).equals(theirs)

    box = bundled(powerkit, tmp_path, checkout, out, machine, "2026-01-01")
    found = findings(powerkit, box, tmp_path)
    assert [one for one in found if one["severity"] == "error"] == []

    tree = directory_tree(checkout)
    bundle = open_bundle(tree, "box", trust=trusted(tree), at=round(time.time()))
    frame = extract(bundle)
    assert frame.recorded
    assert set(frame.rows["workload"].unique()) >= set(KINDS)
    busy = frame.rows.filter(frame.rows["workload"] == "vec")
    assert busy["rapl-sysfs:package"].mean() > 1.5 * frame.idle["rapl-sysfs:package"]
    assert io.StringIO((out / "runs.csv").read_text()).readline().startswith("run,")


def test_a_load_that_the_kit_sent_gives_its_window_and_rate(
    powerkit: Callable[..., Done], tmp_path: Path
) -> None:
    """Against what `load run` itself writes."""
    plan, result = tmp_path / "plan", tmp_path / "result.json"
    asked = ("--items", "a,b", "--popularity", "zipf:s=1", "--requests", 40)
    when = ("--arrivals", "constant:rate=400")
    planned = powerkit("load", "plan", *asked, *when, "--output", plan)
    assert planned.code == 0, planned
    begin = time.monotonic()
    # A busy machine may send late: how well the rate is kept is not asked here.
    sent = ("--sut", "python:builtins:len", "--rate-tolerance", 1, "--output", result)
    assert powerkit("load", "run", plan, *sent).code == 0
    end = time.monotonic()
    epoch = datetime.fromtimestamp(time.time() - (time.monotonic() - begin), UTC)
    started = epoch.isoformat(timespec="microseconds").replace("+00:00", "Z")
    count = round((end - begin) / 0.005) + 2
    listed = [
        (begin + k * 0.005, {"cpu_seconds_total": f"{k}.0"}) for k in range(count)
    ]
    recorded(tmp_path / "r", at(0, begin, end, started=started), listed)

    out = tmp_path / "t"
    named = ("--load-result", result, "--full-load", 800)
    done = powerkit("bench", "tables", tmp_path / "r", "--out", out, *named)
    assert done.code == 0, done
    (row,) = rows_of(out / "runs.csv")
    assert float(row["load_target_ratio"]) == pytest.approx(0.5, rel=0.01)
    completed = json.loads(result.read_text("utf-8"))["rate"]["completed"]
    assert float(row["load_achieved_ratio"]) == round(completed / 800, 6)
    assert row["performance_unit"] == "requests"
    length = float(row["end_seconds"]) - float(row["start_seconds"])
    assert 0.09 < length < end - begin
