"""Networks as files: they run, are the same each time, and are whole or not there."""

from __future__ import annotations

import hashlib
import tracemalloc
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import onnxruntime
import pytest

from registry.documents.findings import RegistryError
from tools.workloads.networks import onnx_files
from tools.workloads.networks.catalogue import ARCHITECTURES, read_input
from tools.workloads.networks.layers import Network, Scale, Weight
from tools.workloads.networks.onnx_files import write_network
from tools.workloads.networks.weights import CHUNK, weight_chunks

SMALL = Scale(width=0.05, classes=10)
LEAST = {"inception-v4": "75", "mlp": "300"}
"""Inputs that leave enough for the last window; 67 pixels are enough for others."""


GOLDEN = "f2bf41caee49301ebd0b9bfce794d57721a3d50314639b35e50da5e212c93096"


def answers(path: Path, network: Network, batch: int = 2) -> np.ndarray[Any, Any]:
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    options.graph_optimization_level = (  # which takes longer than to run once
        onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    )
    session = onnxruntime.InferenceSession(
        str(path), options, providers=["CPUExecutionProvider"]
    )
    x = np.random.default_rng(0).random((batch, *network.input.shape), dtype="f4")
    (y,) = session.run(None, {"data": x})
    return np.asarray(y)


@pytest.mark.parametrize("name", ARCHITECTURES)
def test_every_network_runs_in_one_file_and_in_two(name: str, tmp_path: Path) -> None:
    one = ARCHITECTURES[name]
    network = one.build(read_input(LEAST.get(name, "67"), one), SMALL)
    (alone,) = write_network(network, tmp_path / "a.onnx", seed=1)
    model, data = write_network(network, tmp_path / "b.onnx", seed=1, one_file=0)
    assert (data.path.name, data.bytes >= network.weight_bytes) == ("b.onnx.data", True)
    y = answers(alone.path, network)
    assert y.shape == (2, 10)
    assert np.isfinite(y).all()
    assert y.sum(axis=1) == pytest.approx([1, 1], abs=1e-5)
    assert not (y[0] == y[1]).all()  # the input matters
    assert (answers(model.path, network) == y).all()
    for file in (alone, model, data):
        content = file.path.read_bytes()
        assert file.bytes == len(content)
        assert file.sha256 == hashlib.sha256(content).hexdigest()
    for file in (alone, model):
        onnx.checker.check_model(str(file.path))


def test_the_bytes_are_those_of_protocol_buffers(model: Path) -> None:
    proto = onnx.load(str(model))
    again = proto.SerializeToString(deterministic=True)
    assert len(again) == model.stat().st_size
    assert onnx.load_model_from_string(again) == proto
    assert [one.version for one in proto.opset_import] == [17]
    assert proto.ir_version == 8


def test_external_data_begins_at_pages(small: Network, tmp_path: Path) -> None:
    write_network(small, tmp_path / "m.onnx", seed=0, one_file=0)
    proto = onnx.load(str(tmp_path / "m.onnx"), load_external_data=False)
    places = [
        {pair.key: pair.value for pair in one.external_data}
        for one in proto.graph.initializer
    ]
    assert {one["location"] for one in places} == {"m.onnx.data"}
    assert all(int(one["offset"]) % 4096 == 0 for one in places)
    lengths = [int(one["length"]) for one in places]
    assert lengths == [weight.size * 4 for weight in small.weights]


def test_equal_seeds_give_equal_bytes(small: Network, tmp_path: Path) -> None:
    digests = [
        write_network(small, tmp_path / f"{number}.onnx", seed=seed)[0].sha256
        for number, seed in enumerate((5, 5, 6))
    ]
    assert digests[0] == digests[1] != digests[2]


def test_weights_are_the_same_on_every_machine() -> None:
    weight = Weight("w", (5, 3, 3, 3), "random", 27)
    data = b"".join(weight_chunks(weight, 7, 2))
    assert hashlib.sha256(data).hexdigest() == GOLDEN


def test_weights_have_the_spread_of_he() -> None:
    weight = Weight("w", (CHUNK + 3,), "random", 50)
    values = np.frombuffer(b"".join(weight_chunks(weight, 1, 0)), "<f4")
    assert values.size == CHUNK + 3
    assert values.std() == pytest.approx((2 / 50) ** 0.5, rel=0.01)
    assert values.mean() == pytest.approx(0, abs=0.001)
    assert np.abs(values).max() <= (6 / 50) ** 0.5
    # neither chunks nor arrays repeat each other
    assert not (values[:3] == values[CHUNK:]).any()
    other = np.frombuffer(b"".join(weight_chunks(weight, 1, 1)), "<f4")
    assert abs(np.corrcoef(values, other)[0, 1]) < 0.01


def test_zeros_and_ones() -> None:
    ones = b"".join(weight_chunks(Weight("w", (3,), "ones"), 1, 0))
    assert ones == np.ones(3, "<f4").tobytes()
    assert b"".join(weight_chunks(Weight("w", (3,)), 1, 0)) == bytes(12)


@pytest.mark.parametrize("one_file", [0, 1 << 40])
def test_memory_does_not_grow_with_the_model(tmp_path: Path, one_file: int) -> None:
    mlp = ARCHITECTURES["mlp"]
    network = mlp.build((20_000,), Scale(0.125, 10))
    assert network.weight_bytes > 40e6
    tracemalloc.start()
    try:
        write_network(network, tmp_path / "m.onnx", seed=0, one_file=one_file)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 25e6


def test_what_is_there_is_kept(small: Network, model: Path) -> None:
    before = model.read_bytes()
    with pytest.raises(RegistryError) as refused:
        write_network(small, model, seed=2)
    assert [one.code for one in refused.value.findings] == ["W024"]
    assert model.read_bytes() == before
    (written,) = write_network(small, model, seed=2, overwrite=True)
    assert model.read_bytes() != before
    assert written.bytes == len(before)


def test_stale_external_data_goes(small: Network, tmp_path: Path) -> None:
    path = tmp_path / "m.onnx"
    write_network(small, path, seed=2, one_file=0)
    write_network(small, path, seed=2, overwrite=True)
    assert sorted(one.name for one in tmp_path.iterdir()) == ["m.onnx"]


@pytest.mark.parametrize("one_file", [0, 1 << 40])
def test_nothing_is_left_of_a_model_that_was_not_finished(
    small: Network, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, one_file: int
) -> None:
    def fails(_: Weight, __: int, number: int) -> Any:
        if number == 3:
            raise OSError(28, "No space left on device")
        return [bytes(4)]

    monkeypatch.setattr(onnx_files, "weight_chunks", fails)
    with pytest.raises(OSError, match="No space"):
        write_network(small, tmp_path / "m.onnx", seed=0, one_file=one_file)
    assert list(tmp_path.iterdir()) == []


def test_a_model_larger_than_the_disk(
    small: Network, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Usage:
        free = 1000

    monkeypatch.setattr(onnx_files.shutil, "disk_usage", lambda _: Usage)
    with pytest.raises(RegistryError) as refused:
        write_network(small, tmp_path / "m.onnx", seed=0)
    assert refused.value.findings[0].code == "W025"


def test_a_model_beyond_all_bounds(tmp_path: Path) -> None:
    vgg = ARCHITECTURES["vgg16"]
    network = vgg.build(read_input("60000", vgg), Scale())
    with pytest.raises(RegistryError) as refused:
        write_network(network, tmp_path / "m.onnx", seed=0)
    (found,) = refused.value.findings
    assert (found.code, found.path) == ("W025", "vgg16")


def test_a_folder_in_place_of_the_model(small: Network, tmp_path: Path) -> None:
    (tmp_path / "m.onnx.data").mkdir()
    with pytest.raises(RegistryError) as refused:
        write_network(small, tmp_path / "m.onnx", seed=0, overwrite=True)
    (found,) = refused.value.findings
    assert (found.code, found.what) == ("W024", "it is a folder")
