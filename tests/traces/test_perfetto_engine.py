"""Perfetto's engine as the tests use it: it answers, and says what it cannot load."""

from __future__ import annotations

import json
from pathlib import Path

from tests.simulators.perfetto import LOST, THREAD_SLICES, ask

EPOCH_NS = 1_700_000_000_123_456_789
OUTER = {"ph": "X", "name": "a", "ts": 0, "dur": 3, "pid": 1, "tid": 1}
INNER = {"ph": "X", "name": "b", "ts": 1, "dur": 1, "pid": 1, "tid": 1}


def test_the_engine_answers_for_many_files(tmp_path: Path) -> None:
    good, lost, cut, text = (tmp_path / name for name in ("g", "l", "c", "t"))
    good.write_text(json.dumps([OUTER, INNER, OUTER | {"tid": 2}]))
    lost.write_text(json.dumps([INNER, OUTER | {"ts": 1.5}]))
    cut.write_text(json.dumps({"traceEvents": [OUTER]})[:-2])
    text.write_text("hello world")
    queries = {
        "self": THREAD_SLICES,
        "lost": LOST,
        "kinds": f"SELECT {EPOCH_NS}, 0.5, NULL, 'ä', ''",
        "bad": "SELECT nosuch FROM slice",
    }

    answers = ask([good, lost, cut, text], queries)

    assert [answer.file for answer in answers] == [good, lost, cut, text]
    assert answers[0].rows("self") == [("a", 2, 6000, 5000), ("b", 1, 1000, 1000)]
    assert answers[0].rows("lost") == []
    assert answers[0].rows("kinds") == [(EPOCH_NS, 0.5, None, "ä", "")]
    assert "no such column" in answers[0].results["bad"]["error"]
    assert answers[1].rows("lost") == [("slice_drop_overlapping_complete_event", 1)]
    assert answers[2].error == "JSON trace file is incomplete"
    assert "Unknown trace type" in str(answers[3].error)
