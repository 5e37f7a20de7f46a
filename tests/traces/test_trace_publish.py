"""Traces are checked and described before they are published."""

from __future__ import annotations

import gzip
import hashlib
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from registry.documents.findings import RegistryError
from tools.traces.publishing import describe, describe_all

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.simulators.commands import Done

EVENT = {"ph": "X", "name": "a", "ts": 0, "dur": 1, "pid": 1, "tid": 1}
RUN = {"run_id": "b7e1c2", "experiment_description": "ResNet on one GPU"}


def trace(path: Path, *events: Any, **keys: Any) -> Path:
    data = json.dumps({"traceEvents": [*events], **keys}).encode()
    path.write_bytes(gzip.compress(data, mtime=0) if path.suffix == ".gz" else data)
    return path


def published(folder: Path) -> dict[str, dict[str, Any]]:
    return {
        path.name.removesuffix(".published.json"): json.loads(path.read_bytes())
        for path in folder.rglob("*.published.json")
    }


def test_a_trace_is_described_by_its_run(tmp_path: Path) -> None:
    path = trace(tmp_path / "a.json", EVENT, EVENT, otherData=RUN)

    one = describe(path)

    size = path.stat().st_size
    assert one.id == "b7e1c2"
    assert one.description == f"ResNet on one GPU (2 events, {size} bytes unpacked)"
    assert describe(path, "mine").description.startswith("mine (2 events")


def test_all_traces_that_cannot_be_published_are_told_of(tmp_path: Path) -> None:
    good = trace(tmp_path / "good.json", EVENT)
    ftrace = tmp_path / "a.txt"
    ftrace.write_text("# tracer: nop\n")
    damaged = tmp_path / "damaged.json"
    damaged.write_text('["text",{"ph":"X","name":"a","ts":1},{"ph":"X",,"ts":2}]')

    with pytest.raises(RegistryError) as refused:
        describe_all([good, ftrace, damaged])

    first, second = refused.value.findings
    assert (first.code, first.path) == ("V002", str(ftrace))
    assert (second.code, second.path) == ("V058", str(damaged))
    assert "1 events cannot be read" in second.what
    assert "1 elements are no events" in second.what


def test_an_array_that_is_not_closed_is_a_trace(tmp_path: Path) -> None:
    path = tmp_path / "open.json"
    path.write_text('[{"ph":"X","name":"a","ts":1},')

    assert describe(path).events == 1


def test_traces_are_published_under_their_digests(
    powerkit: Callable[..., Done], tmp_path: Path
) -> None:
    first = trace(tmp_path / "a.json", EVENT, otherData=RUN)
    second = trace(tmp_path / "b.json.gz", EVENT, EVENT)
    store = tmp_path / "store"

    done = powerkit(
        *("trace", "publish", first, second, "--to", store, "--prefix", "traces")
    )

    assert (done.code, done.err) == (0, "")
    digests = [hashlib.sha256(one.read_bytes()).hexdigest() for one in (first, second)]
    for path, digest in zip((first, second), digests, strict=True):
        kept = store / "traces" / digest / path.name
        assert kept.read_bytes() == path.read_bytes()
        assert f"published: {kept} " in done.out
    said = published(store)
    assert said["a.json"]["id"] == "b7e1c2"
    assert said["a.json"]["type"] == "trace"
    assert said["a.json"]["sha256"] == digests[0]
    assert said["a.json"]["media_type"] == "application/json"
    assert said["b.json.gz"]["id"] == digests[1]
    assert said["b.json.gz"]["description"].startswith("2 events, ")

    again = powerkit("trace", "publish", first, "--to", store, "--prefix", "traces")
    assert again.out.startswith("present: ")


def test_a_dry_run_sends_nothing(powerkit: Callable[..., Done], tmp_path: Path) -> None:
    path = trace(tmp_path / "a.json", EVENT)
    store = tmp_path / "store"

    done = powerkit(
        *("trace", "publish", path, "--to", store, "--dry-run", "--json"),
        *("--description", "five runs"),
    )

    assert done.code == 0
    (thing,) = json.loads(done.out)["things"]
    assert thing["state"] == "would be published"
    assert thing["published"]["description"].startswith("five runs (1 events")
    assert not store.exists()


def test_nothing_is_sent_if_one_is_no_trace(
    powerkit: Callable[..., Done], tmp_path: Path
) -> None:
    path = trace(tmp_path / "a.json", EVENT)
    (tmp_path / "b.json").write_text("<html>")
    store = tmp_path / "store"

    done = powerkit("trace", "publish", path, tmp_path / "b.json", "--to", store)

    assert done.code == 1
    assert "V002" in done.out + done.err
    assert not store.exists()


def test_without_a_place_the_call_is_wrong(
    powerkit: Callable[..., Done], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("POWERKIT_PUBLISH_URL", raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    path = trace(tmp_path / "a.json", EVENT)

    done = powerkit("trace", "publish", path)

    assert done.code == 2
    assert "publish_url" in done.err


def test_the_place_may_be_a_setting(
    powerkit: Callable[..., Done], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = trace(tmp_path / "a.json", EVENT)
    monkeypatch.setenv("POWERKIT_PUBLISH_URL", str(tmp_path / "store"))

    done = powerkit("trace", "publish", path)

    assert done.code == 0
    assert published(tmp_path / "store")["a.json"]["type"] == "trace"
