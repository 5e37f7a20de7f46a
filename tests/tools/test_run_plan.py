"""What ran when is said by the contributor: laid over the samples, checked, no more."""

from __future__ import annotations

import numpy as np
import pytest

from registry.documents.findings import RegistryError
from tools.importers.run_plan import Recording, one_run, plan_runs

TIMES = np.arange(0.0, 30.0, 3.0)
BURSTS = np.array([1, 1, 1, 1, 2, 2, 2, 3, 3, 3])
STATES = np.array([1, 1, 0, 0, 1, 1, 0, 1, 1, 1])
RECORDING = Recording(TIMES, 1_700_000_000.0, BURSTS, STATES)


def planned(text: str, recording: Recording = RECORDING) -> list[int | None]:
    return plan_runs(text.encode(), "plan.csv", recording)[1].to_list()


def refused(
    text: str, recording: Recording = RECORDING
) -> list[tuple[str, int | None]]:
    with pytest.raises(RegistryError) as caught:
        plan_runs(text.encode(), "plan.csv", recording)
    return [(one.code, one.line) for one in caught.value.findings]


def test_each_burst_is_a_run_of_its_own() -> None:
    plan = "first_burst,last_burst,workload\n2,3,int\n"
    assert planned(plan) == [None] * 4 + [0, 0, 0, 1, 1, 1]


def test_rest_after_bursts_can_be_idle() -> None:
    plan = "first_burst,last_burst,state,workload\n1,3,1,int\n1,3,0,idle\n"
    runs, labels = plan_runs(plan.encode(), "plan.csv", RECORDING)
    assert labels.to_list() == [0, 0, 1, 1, 2, 2, 3, 4, 4, 4]
    assert runs["workload"].to_list() == ["int", "idle", "int", "idle", "int"]
    assert runs["start_seconds"].to_list() == [0, 6, 12, 18, 21]
    assert runs["end_seconds"].to_list() == [3, 9, 15, 18, 27]
    assert runs["accepted"].to_list() == [1] * 5


def test_seconds_and_unix_times_are_inclusive() -> None:
    plan = "start_seconds,end_seconds,workload,threads\n12,18,fp,4\n0,5.5,idle,\n"
    runs, labels = plan_runs(plan.encode(), "plan.csv", RECORDING)
    assert labels.to_list() == [0, 0, None, None, 1, 1, 1, None, None, None]
    assert runs["threads"].to_list() == [None, 4]
    unix = "start_unix,end_unix,workload\n1700000012,1700000018,fp\n"
    assert planned(unix) == [None] * 4 + [0, 0, 0] + [None] * 3


def test_lines_of_other_systems_are_read() -> None:
    assert planned("start_seconds,end_seconds,workload\r\n0,3,int\r\n")[:3] == [
        0,
        0,
        None,
    ]


def test_without_a_plan_there_is_one_run() -> None:
    runs, labels = one_run(RECORDING)
    assert labels.to_list() == [0] * 10
    assert runs.row(0) == (0, "other", 0.0, 27.0, 1)


@pytest.mark.parametrize(
    ("plan", "line"),
    [
        ("", None),
        ("first_burst,last_burst,workload\n", None),
        ("workload\nint\n", 1),
        ("first_burst,last_burst\n1,2\n", 1),
        ("first_burst,last_burst,start_seconds,end_seconds,workload\n1,2,3,4,int\n", 1),
        ("first_burst,last_burst,workload,workload\n1,2,int,int\n", 1),
        ("first_burst,last_burst,workload,pod\n1,2,int,a\n", 1),
        ("first_burst,last_burst,workload,run\n1,2,int,1\n", 1),
        ("first_burst,last_burst,workload,accepted\n1,2,int,1\n", 1),
        ("start_seconds,end_seconds,workload,state\n1,2,int,1\n", 1),
        ("first_burst,last_burst,workload\n1,2\n", 2),
        ("first_burst,last_burst,workload\n1,2,int,\n", 2),
        ('first_burst,last_burst,workload\n1,2,"int"\n', 2),
        ("first_burst,last_burst,workload\n2,1,int\n", 2),
        ("first_burst,last_burst,workload\n1,two,int\n", 2),
        ("first_burst,last_burst,workload\n7,9,int\n", 2),
        ("first_burst,last_burst,state,workload\n1,2,idle,int\n", 2),
        ("first_burst,last_burst,workload\n1,2,int\n2,3,fp\n", None),
        ("start_seconds,end_seconds,workload\n40,50,int\n", 2),
        ("first_burst,last_burst,workload\n1,2,intä\n", None),
    ],
)
def test_bad_plans_are_refused(plan: str, line: int | None) -> None:
    assert refused(plan) == [("L022", line)]


def test_what_cannot_stand_in_runs_is_refused_by_its_own_code() -> None:
    plan = "first_burst,last_burst,workload\n1,2,stress-ng\n"
    assert {code for code, _ in refused(plan)} == {"C012"}


def test_bursts_and_states_must_be_there() -> None:
    bare = Recording(TIMES, 0.0)
    plan = "first_burst,last_burst,workload\n1,2,int\n"
    assert refused(plan, bare) == [("L022", 2)]
    states = "first_burst,last_burst,state,workload\n1,2,1,int\n"
    assert refused(states, Recording(TIMES, 0.0, BURSTS)) == [("L022", 2)]


def test_plans_are_bounded() -> None:
    text = "first_burst,last_burst,workload\n" + "1,1,int\n" * 200_000
    assert refused(text) == [("L022", None)]
