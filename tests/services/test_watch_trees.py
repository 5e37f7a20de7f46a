"""Watching: one start for a burst, builds that write, failures that heal."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
import watchfiles

from registry.documents.findings import RegistryError
from tests.simulators.commands import Done
from tests.simulators.living import alive
from tools.services.changes import Changes, Relevant
from tools.services.specification import ServiceSpec
from tools.services.state import held_state
from tools.services.watching import Event, Watch


class Script:
    """Bursts that a test wrote down; a call may do something first."""

    def __init__(self, *steps: Callable[[], object] | set[str] | None) -> None:
        """Take what each call gives: a burst, nothing, or an act that is a burst."""
        self._steps = iter(steps)

    def next(self, _: float) -> frozenset[Path] | None:
        step = next(self._steps)
        if callable(step):
            step()
            return frozenset({Path("edited")})
        return None if step is None else frozenset(map(Path, step))


@contextmanager
def watch(apart: Path, bursts: Any, **told: Any) -> Iterator[tuple[Watch, list[Event]]]:
    events: list[Event] = []
    spec = ServiceSpec.model_validate({"command": ["sleep", "60"]} | told)
    with held_state(apart) as state:
        yield (
            Watch(
                spec,
                bursts,
                state=state,
                build_log=Path("build.log"),
                build_seconds=5,
                on_event=events.append,
                settle=0,
            ),
            events,
        )


def phases(events: list[Event]) -> list[str]:
    return [one.phase for one in events]


def test_a_burst_starts_it_anew_once(apart: Path) -> None:
    with watch(apart, Script(None, {"a", "b"})) as (one, events):
        one.run(1)
    assert phases(events) == [
        *("starting", "running", "changed"),
        *("stopped", "starting", "running", "stopped"),
    ]
    assert events[2].text == "a and 1 more"
    pids = {one.pid for one in events if one.pid}
    assert len(pids) == 2
    assert not any(alive(pid) for pid in pids)


def test_the_old_program_runs_on_while_a_build_fails(apart: Path) -> None:
    fail = Path("fail")
    program = "if test -e fail; then echo 'x.c:3: error: no' >&2; exit 1; fi"
    script = Script(None, fail.touch, None, fail.unlink, None)
    with watch(apart, script, build=["sh", "-c", program]) as (one, events):
        one.run(2)
    assert phases(events) == [
        *("building", "built", "starting", "running"),
        *("changed", "building", "failed"),
        *("changed", "building", "built", "stopped", "starting", "running", "stopped"),
    ]
    (found,) = events[6].findings
    assert (found.code, found.path, found.line) == ("F030", "x.c", 3)


def test_what_a_build_writes_starts_no_third_build(apart: Path) -> None:
    script = Script({"out", "a"}, None, {"out"}, None, {"out"}, {"out"}, None)
    with watch(apart, script, build=["true"]) as (one, events):
        one.run(1)
    assert phases(events) == [
        *("building", "built", "changed"),
        *("building", "built", "starting", "running"),
        *("changed", "building", "built", "stopped", "starting", "running", "stopped"),
    ]
    assert [one.text for one in events if one.phase == "changed"] == [
        "a and 1 more, during the build",
        "out",
    ]


def test_a_program_that_ends_by_itself_is_told_of(apart: Path) -> None:
    code = Path("code")
    code.write_text("0")
    command = ["sh", "-c", "echo bye; exit $(cat code)"]

    class Patient(Script):
        def next(self, seconds: float) -> frozenset[Path] | None:
            if one._service is not None:
                one._service.child.wait(5)
            return super().next(seconds)

    script = Patient(None, lambda: code.write_text("3"), None, {"x"})
    with (
        watch(apart, script, command=command) as (one, events),
        pytest.raises(StopIteration),
    ):
        one.run(3)
    told = [(one.phase, one.text) for one in events if one.phase in {"ok", "failed"}]
    assert told[:2] == [
        ("ok", "it ended with code 0; its last output: bye"),
        ("failed", "it ended with code 3; its last output: bye"),
    ]


def test_a_start_that_fails_waits_for_the_next_change(apart: Path) -> None:
    told = {"ready": "regex:never", "ready_timeout_seconds": 0.05}
    with watch(apart, Script({"x"}), **told) as (one, events):
        one.run(1)
    assert phases(events) == ["starting", "failed", "changed", "starting", "failed"]
    assert events[1].findings[0].code == "F015"


def test_a_build_that_cannot_be_started(apart: Path) -> None:
    with watch(apart, Script(), build=["/no/such"]) as (one, events):
        one.run(0)
    assert phases(events) == ["building", "failed"]
    assert events[1].findings[0].code == "F001"


@pytest.mark.parametrize(
    ("path", "matters"),
    [
        ("a.c", True),
        ("sub/deep/b.py", True),
        (".git/index", False),
        ("sub/.git/HEAD", False),
        ("build/x.c", False),
        ("a.o", False),
        ("lib.so.1.2", False),
        ("a.c~", False),
        (".a.c.swp", False),
        (".#a.c", False),
        ("data/x.bin", False),
        ("x.bin", True),
        ("mine.txt", False),
        ("notes.md", False),
    ],
)
def test_which_changes_matter(path: str, *, matters: bool) -> None:
    # A folder above the root has the name of one that is left out.
    root = Path("/home/build/target")
    relevant = Relevant([root], ["data/*", "*.md"], [root / "mine.txt"])
    assert relevant(watchfiles.Change.modified, str(root / path)) is matters


def test_nothing_outside_matters_and_a_watched_file_does(tmp_path: Path) -> None:
    file = tmp_path / "one.o"
    file.touch()
    relevant = Relevant([file])
    assert relevant(watchfiles.Change.modified, str(file))
    assert not relevant(watchfiles.Change.modified, str(tmp_path / "two"))


def test_a_burst_of_real_changes_is_one(tmp_path: Path) -> None:
    root = tmp_path / "src"
    root.mkdir()
    with Changes([root], Relevant([root]), debounce_ms=300) as changes:
        for number in range(20):
            (root / f"f{number}").write_text("x")
            (root / "noise.o").write_text("x")
        burst = changes.next(10)
        assert burst == {root / f"f{number}" for number in range(20)}
        assert changes.next(0.4) is None


def test_what_is_not_there_cannot_be_watched(tmp_path: Path) -> None:
    absent = [tmp_path / "a", tmp_path, tmp_path / "b"]
    with pytest.raises(RegistryError) as caught:
        Changes(absent, Relevant(absent))
    assert [found.path for found in caught.value.findings] == [
        str(tmp_path / "a"),
        str(tmp_path / "b"),
    ]


def test_the_settings_say_what_is_watched(
    powerkit: Callable[..., Done],
    apart: Path,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> None:
    for name in ("client", "server", "source"):
        folder = tmp_path / f"no-{name}"
        monkeypatch.setenv(f"POWERKIT_{name.upper()}_DIRECTORY", str(folder))
        options = ("--client",) if name == "client" else ()
        done = powerkit("service", "watch", *options, "--", "true")
        assert done.code == 1
        assert f"no-{name}" in done.out
