"""An S3 on loopback: what is published there, verified by its MD5 or by its bytes."""

from __future__ import annotations

import logging
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import requests

from registry.documents.findings import RegistryError
from tools.assets.downloading import Outcome
from tools.assets.fetching import fetch
from tools.assets.publishing import State, publish

CREDENTIALS = {
    "AWS_ACCESS_KEY_ID": "testing",
    "AWS_SECRET_ACCESS_KEY": "testing",
    "AWS_DEFAULT_REGION": "us-east-1",
}


@pytest.fixture(scope="module")
def options() -> Iterator[dict[str, Any]]:
    """Options of a file system with one bucket, `results`."""
    kept = {name: os.environ.get(name) for name in CREDENTIALS}
    os.environ.update(CREDENTIALS)
    logging.getLogger("werkzeug").setLevel(logging.CRITICAL)
    from moto.server import ThreadedMotoServer

    server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    host, port = server.get_host_and_port()
    known = {"endpoint_url": f"http://{host}:{port}", "region_name": "us-east-1"}
    requests.put(f"http://{host}:{port}/results", timeout=10).raise_for_status()
    yield {"client_kwargs": known}
    server.stop()
    for name, value in kept.items():
        if value is None:
            del os.environ[name]
        else:
            os.environ[name] = value


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    path = tmp_path / "r-1"
    path.mkdir()
    (path / "run.json").write_bytes(b"{}")
    (path / "trace.json.gz").write_bytes(b"trace")
    return path


def test_there_and_back(folder: Path, tmp_path: Path, options: dict[str, Any]) -> None:
    (thing,) = publish([folder], "s3://results/runs", options=options).things
    assert thing.state is State.PUBLISHED
    assert thing.url.startswith("s3://results/runs/")
    (again,) = publish([folder], "s3://results/runs", options=options).things
    assert (again.state, again.sent) == (State.PRESENT, 0)
    got = fetch(thing.url, tmp_path / "back", options=options)
    assert (got.outcome, got.files) == (Outcome.FETCHED, 2)
    assert (got.path / "trace.json.gz").read_bytes() == b"trace"


def test_the_md5_of_the_store_spares_reading_back(
    folder: Path, options: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tools.assets.sending._digest", None)
    (thing,) = publish(
        [folder / "run.json"], "s3://results/by-md5", options=options
    ).things
    assert thing.state is State.PUBLISHED


def test_an_object_in_parts_is_read_back(
    tmp_path: Path, options: dict[str, Any]
) -> None:
    """Its ETag is no MD5 of its bytes."""
    import s3fs

    from registry.documents.canonical import sha256

    data = os.urandom(1000) * (12 << 10)
    path = tmp_path / "big"
    path.write_bytes(data)
    store = s3fs.S3FileSystem(**options)
    key = f"results/parts/{sha256(data)}/big"
    with store.open(key, "wb", block_size=5 << 20) as file:
        file.write(data)
    assert "-" in store.info(key)["ETag"]
    (thing,) = publish([path], "s3://results/parts", options=options).things
    assert (thing.state, thing.sent) == (State.PUBLISHED, 0)
    store.pipe_file(key, data[::-1])
    with pytest.raises(RegistryError) as refusal:
        publish([path], "s3://results/parts", options=options)
    assert [one.code for one in refusal.value.findings] == ["A004"]


def test_a_bucket_that_is_not_there_is_a_finding(
    folder: Path, options: dict[str, Any]
) -> None:
    with pytest.raises(RegistryError) as refusal:
        publish([folder / "run.json"], "s3://nobody", options=options)
    (one,) = refusal.value.findings
    assert one.code == "A002"
    assert "bucket does not exist" in one.what
