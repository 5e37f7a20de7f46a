"""The suites at work: sound bundles pass, results are stable, nothing leaks."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from registry.documents import canonical
from registry.documents.bundle import Bundle
from registry.documents.findings import CODES, Finding, Severity
from registry.gate.expectations import expect, great, judging
from registry.gate.expectations.measuring import measure
from registry.gate.expectations.suites import suite
from tests.simulators.bundles import changed, levels_bundle, samples_bundle, scaled
from tests.simulators.machines import Machine


@pytest.fixture(scope="module")
def recorded() -> Bundle:
    return samples_bundle()


@pytest.fixture(scope="module")
def loaded() -> Bundle:
    return levels_bundle()


def judged(bundle: Bundle) -> tuple[tuple[Finding, ...], dict[str, Any]]:
    findings, result = expect(bundle)
    assert isinstance(result, dict)
    return findings, result


def result_of(bundle: Bundle) -> dict[str, Any]:
    return judged(bundle)[1]


def test_sound_bundles_raise_no_findings(recorded: Bundle, loaded: Bundle) -> None:
    assert expect(recorded)[0] == ()
    assert expect(loaded)[0] == ()


@pytest.mark.parametrize("sockets", [1, 2, 4])
def test_sound_recordings_of_other_machines_raise_no_findings(sockets: int) -> None:
    machine = Machine("other", sockets=sockets, cores=16 * sockets, zone_joules=9000.0)
    bundle = changed(
        samples_bundle(machine, frequencies=10),
        spec={"power_supplies": [{"count": 4, "watts": 1100}]},
    )
    assert expect(bundle)[0] == ()


def test_the_result_is_complete(loaded: Bundle) -> None:
    result = result_of(loaded)
    ids = {entry["id"] for entry in result["results"]} | set(result["not_applicable"])
    assert result["suite"] == "load-levels"
    assert result["success"] is True
    assert ids == {expected.id for expected in suite("load-levels").expectations}
    assert result["statistics"]["evaluated_expectations"] == len(result["results"])
    idle = result["results"][0]
    assert idle["kwargs"] == {"measure": "idle_runs", "min_value": 1.0}
    assert idle["result"]["observed_minimum"] == 1.0


def test_a_failure_is_told_in_words_and_in_the_result(loaded: Bundle) -> None:
    bundle = changed(loaded, levels=scaled("wall_watts", 100))
    findings, result = judged(bundle)
    first = findings[0]
    assert (first.code, first.path) == ("E017", "datasets/server-a/levels.csv")
    assert first.what.startswith("mean watts of a run between 1 and 2e+04: wall_watts")
    assert first.what.endswith("(node-watts)")
    assert result["success"] is False
    failed = [entry for entry in result["results"] if not entry["success"]]
    assert [entry["code"] for entry in failed] == [found.code for found in findings]
    unexpected = failed[0]["result"]["partial_unexpected_list"]
    assert unexpected[0]["subject"] == "wall_watts highest"


def test_many_offenders_are_counted_not_listed(recorded: Bundle) -> None:
    late = recorded.tables["runs"]["end_seconds"] - 25
    runs = recorded.tables["runs"].with_columns(late.alias("end_seconds"))
    (found,) = expect(changed(recorded, runs=runs))[0]
    assert found.code == "E008"
    assert "run 0: 25; run 1: 25; run 2: 25; run 3: 25; 28 more" in found.what


def test_findings_have_the_severity_of_their_code(recorded: Bundle) -> None:
    bundle = changed(recorded, samples=scaled("wall_watts", 2.2))
    for found in expect(bundle)[0]:
        assert found.severity is CODES[found.code].severity
        assert found.severity is Severity.ERROR


def test_the_result_is_the_same_in_every_run(loaded: Bundle, recorded: Bundle) -> None:
    for bundle in (loaded, recorded):
        first = canonical.encode_numbers(result_of(bundle))
        assert first == canonical.encode_numbers(result_of(bundle))
        for volatile in (b"batch_id", b"run_time", b"validation_time", b"traceback"):
            assert volatile not in first


def test_the_result_is_the_same_in_another_process(loaded: Bundle) -> None:
    script = (
        "from registry.documents import canonical\n"
        "from registry.gate.expectations import expect\n"
        "from tests.simulators.bundles import levels_bundle\n"
        "print(canonical.sha256(canonical.encode_numbers(expect(levels_bundle())[1])))\n"
    )
    digest = canonical.sha256(canonical.encode_numbers(result_of(loaded)))
    done = in_new_process(script, PYTHONHASHSEED="7", LC_ALL="C")
    assert done.stdout.split() == [digest]


def test_bundles_do_not_see_each_other(loaded: Bundle, recorded: Bundle) -> None:
    before = result_of(loaded)
    assert expect(changed(loaded, levels=scaled("wall_watts", 0.001)))[0]
    expect(recorded)
    assert result_of(loaded) == before


def test_memory_stays_flat_over_hundreds_of_bundles(loaded: Bundle) -> None:
    statm = Path("/proc/self/statm")
    if not statm.exists():
        pytest.skip("resident memory is read from /proc")

    def resident() -> float:
        return int(statm.read_text().split()[1]) * 4096 / 2**20

    measures = measure(loaded)
    for _ in range(20):
        judging.judge(loaded, measures)
    before = resident()
    for _ in range(120):
        judging.judge(loaded, measures)
    assert resident() - before < 16


def test_every_verdict_is_that_of_a_plain_comparison(recorded: Bundle) -> None:
    bundle = changed(
        recorded,
        samples=[scaled("wall_watts", 5), scaled("rapl_dram_0_joules_total", 40)],
    )
    measures = measure(bundle)
    outcome = great.validate(suite("timeseries"), measures)
    for verdict in outcome.verdicts:
        expected = suite("timeseries").expectation(verdict.id)
        low = -float("inf") if expected.min_value is None else expected.min_value
        high = float("inf") if expected.max_value is None else expected.max_value
        bad = [
            item
            for item in measures
            if item.name == expected.measure
            and item.value is not None
            and not low <= item.value <= high
        ]
        assert verdict.success == (not bad)
        assert list(verdict.unexpected) == bad


def test_a_check_that_fails_itself_refuses_the_bundle(
    loaded: Bundle, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: object, **__: object) -> dict[str, Any]:
        raise ZeroDivisionError("no such thing")

    monkeypatch.setattr(great.ExpectMeasureToBeBetween, "_validate", broken)
    findings, result = judged(loaded)
    assert {found.code for found in findings} == {"E000"}
    assert "no such thing" in findings[0].what
    assert "no such thing" in json.dumps(result)
    assert "Traceback" not in json.dumps(result)


def test_the_library_loads_with_the_first_bundle_only() -> None:
    script = (
        "import sys\n"
        "import registry.gate.expectations, registry.gate.expectations.suites\n"
        "assert not {'great_expectations', 'pandas', 'polars'} & set(sys.modules)\n"
    )
    in_new_process(script)


def test_one_module_alone_imports_the_library() -> None:
    root = Path(__file__).resolve().parents[2]
    named = {
        path.relative_to(root).as_posix()
        for folder in ("registry", "tools")
        for path in (root / folder).rglob("*.py")
        if re.search(
            r"^\s*(?:import|from) great_expectations", path.read_text(), re.MULTILINE
        )
    }
    assert named == {"registry/gate/expectations/great.py"}


def in_new_process(script: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run a script as another process of the tests' own interpreter."""
    root = Path(__file__).resolve().parents[2]
    return subprocess.run(
        [sys.executable, "-c", script],
        cwd=root,
        env={"PYTHONPATH": str(root), "PATH": "", **environment},
        check=True,
        capture_output=True,
        text=True,
    )
