"""`powerkit doctor` as people and programs see it."""

from __future__ import annotations

import csv
import functools
import io
import json
from collections.abc import Callable
from pathlib import Path

import pytest

from registry.documents.findings import CODES
from tests.machine.trees import tree
from tests.simulators.commands import Done, run_command

BUSY = {
    "proc/loadavg": "3.00 0.00 0.00 1/2 3",
    "sys/block/sda/queue/write_cache": "write back",
    "proc/pressure/io": None,
}
LEVELS = ("ok", "notice", "unfit", "unknown")


@pytest.fixture
def doctor(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Callable[..., Done]:
    """Look at a machine of our own."""
    run = functools.partial(
        run_command, "powerkit", monkeypatch=monkeypatch, capsys=capsys
    )
    roots = ("--sysroot", tmp_path / "sys", "--procroot", tmp_path / "proc")
    return functools.partial(run, "doctor", *roots)


def test_the_table_tells_why_and_the_command(
    doctor: Callable[..., Done], tmp_path: Path
) -> None:
    tree(tmp_path, BUSY)
    done = doctor()
    assert done.code == 0, done
    assert "notice   write cache of sda" in done.out
    assert "    would change it: sudo hdparm -W 0 /dev/sda\n" in done.out
    assert "unfit O058 load average: 3.00 tasks over the last minute" in done.out
    assert done.out.endswith("15 ok, 1 notice, 1 unfit, 1 unknown\n")


def test_strict_refuses_only_what_is_unfit(
    doctor: Callable[..., Done], tmp_path: Path
) -> None:
    tree(tmp_path, BUSY)
    assert doctor("--strict").code == 1
    assert doctor("--strict", "--json").code == 1
    tree(tmp_path, BUSY | {"proc/loadavg": "0.00 0.00 0.00 1/2 3"})
    assert doctor("--strict").code == 0


def test_programs_get_everything(doctor: Callable[..., Done], tmp_path: Path) -> None:
    tree(tmp_path, BUSY)
    document = json.loads(doctor("--json").out)
    assert document["schema"] == "doctor/1"
    assert [document[level] for level in LEVELS] == [15, 1, 1, 1]
    assert {one["code"] for one in document["checks"]} <= set(CODES)
    (cache,) = [one for one in document["checks"] if one["code"] == "O050"]
    assert cache["command"] == "sudo hdparm -W 0 /dev/sda"
    assert cache["why"]
    rows = list(csv.DictReader(io.StringIO(doctor("--format", "csv").out)))
    assert [row["level"] for row in rows].count("unfit") == 1
    assert {"what", "state", "code", "why", "command"} <= rows[0].keys()
    assert doctor("--format", "md").out.startswith("| level | what |")


def test_a_root_that_is_not_there_is_a_mistake_of_usage(
    doctor: Callable[..., Done], tmp_path: Path
) -> None:
    done = doctor()
    assert done.code == 2
    assert "Traceback" not in done.out + done.err
