"""ONNX models: what may run, with which inputs, in how many threads."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper

from registry.documents.findings import RegistryError
from tools.workloads import inference, models
from tools.workloads.inference import Inference
from tools.workloads.models import open_model
from tools.workloads.networks.layers import Network
from tools.workloads.networks.onnx_files import write_network
from tools.workloads.work import Conditions

FLOAT = TensorProto.FLOAT


def opened(path: Path, **conditions: Any) -> Inference:
    return Inference({"file": str(path)}, Conditions(**conditions))


def ready(path: Path, **conditions: Any) -> Inference:
    work = opened(path, **conditions)
    work.prepare()
    work.initialise()
    return work


def saved(path: Path, nodes: list[Any], **graph: Any) -> Path:
    """Write a small model; its input is x and its output y."""
    x = helper.make_tensor_value_info("x", FLOAT, [2, 3])
    y = helper.make_tensor_value_info("y", FLOAT, None)
    made = helper.make_graph(
        nodes, "g", graph.pop("inputs", [x]), graph.pop("outputs", [y]), **graph
    )
    model = helper.make_model(
        made, opset_imports=[helper.make_opsetid("", 17)], ir_version=8
    )
    path.write_bytes(model.SerializeToString())
    return path


def external(location: str | None) -> Any:
    tensor = TensorProto(name="w", dims=[2, 3], data_type=FLOAT)
    tensor.data_location = TensorProto.EXTERNAL
    if location is not None:
        tensor.external_data.add(key="location", value=location)
    return tensor


ADD = [helper.make_node("Add", ["x", "w"], ["y"])]


def refusal(path: Path, **conditions: Any) -> list[tuple[str, str]]:
    with pytest.raises(RegistryError) as error:
        opened(path, **conditions)
    return [(one.code, one.what) for one in error.value.findings]


def test_a_model_is_asked(model: Path) -> None:
    work = ready(model, extents={"batch": 3}, seed=4)
    assert work.iterate() == 3
    assert work.unit == "images"
    assert work.given["data"].shape == (3, 3, 67, 67)
    (y,) = work.given_back
    assert y.shape == (3, 10)
    assert np.isfinite(y).all()
    assert work.holds["model"] == model.stat().st_size
    options = work.session.get_session_options()
    assert options.intra_op_num_threads == 1
    assert options.inter_op_num_threads == 1
    assert work.session.get_providers() == ["CPUExecutionProvider"]


def test_threads_are_those_that_were_asked_for(model: Path) -> None:
    options = ready(model, threads=2).session.get_session_options()
    assert options.intra_op_num_threads == 2


def test_open_extents_are_one_unless_told(model: Path) -> None:
    assert opened(model).shapes == [(1, 3, 67, 67)]
    assert refusal(model, extents={"sequence": 3}) == [
        ("W013", "no open extent is called 'sequence'; there are: batch")
    ]


def test_equal_seeds_give_equal_inputs(model: Path) -> None:
    works = [opened(model, seed=seed) for seed in (1, 1, 2)]
    for work in works:
        work.prepare()
    one, same, other = (work.given["data"] for work in works)
    assert (one == same).all()
    assert not (one == other).all()


def test_external_data_beside_the_model(small: Network, tmp_path: Path) -> None:
    files = write_network(small, tmp_path / "m.onnx", seed=0, one_file=0)
    assert open_model(tmp_path / "m.onnx").bytes == sum(one.bytes for one in files)
    assert ready(tmp_path / "m.onnx").iterate() == 1


@pytest.mark.parametrize(
    "location",
    [
        "/etc/passwd",
        "../secret",
        "a/../../secret",
        "a/../m.onnx",
        "",
        None,
        "..\\secret",
    ],
)
@pytest.mark.parametrize("place", ["initializer", "constant", "subgraph", "sparse"])
def test_external_data_elsewhere_is_refused(
    tmp_path: Path, location: str | None, place: str
) -> None:
    tensor = external(location)
    nodes, graph = list(ADD), {}
    constant = helper.make_node("Constant", [], ["w"])
    constant.attribute.append(helper.make_attribute("value", tensor))
    if place == "initializer":
        graph["initializer"] = [tensor]
    elif place == "sparse":
        sparse = onnx.SparseTensorProto(dims=[2, 3])
        sparse.values.CopyFrom(tensor)
        graph["sparse_initializer"] = [sparse]
    elif place == "constant":
        nodes.insert(0, constant)
    else:
        y = helper.make_tensor_value_info("w", FLOAT, None)
        branch = helper.make_graph([constant], "b", [], [y])
        nodes.append(
            helper.make_node("If", ["c"], ["z"], then_branch=branch, else_branch=branch)
        )
    (tmp_path / "secret").write_bytes(bytes(24))
    folder = tmp_path / "in"
    folder.mkdir()
    (found,) = refusal(saved(folder / "m.onnx", nodes, **graph))
    assert found[0] == "W011"
    assert found[1].endswith("leads out of its folder")


def test_a_link_that_leads_out_is_refused(tmp_path: Path) -> None:
    (tmp_path / "secret").write_bytes(bytes(24))
    folder = tmp_path / "in"
    folder.mkdir()
    (folder / "w.bin").symlink_to(tmp_path / "secret")
    path = saved(folder / "m.onnx", ADD, initializer=[external("w.bin")])
    assert refusal(path) == [("W011", "'w.bin' leads out of its folder by a link")]


def test_every_missing_file_is_named(tmp_path: Path) -> None:
    tensors = [external("a.bin"), external("b\x1b.bin"), external("a.bin")]
    path = saved(tmp_path / "m.onnx", ADD, initializer=tensors)
    assert refusal(path) == [
        ("W011", "'a.bin' is not there"),
        ("W011", "'b\\x1b.bin' is not there"),
    ]


@pytest.mark.parametrize("data", [b"", b"\x00" * 100, b"{}", b"\xff" * 1000, b"PK\x03"])
def test_what_is_no_model(tmp_path: Path, data: bytes) -> None:
    path = tmp_path / "m.onnx"
    path.write_bytes(data)
    assert refusal(path)[0][0] == "W010"


def test_what_is_no_file(tmp_path: Path) -> None:
    assert refusal(tmp_path) == [("W010", "it is no plain file")]
    assert refusal(tmp_path / "no") == [("W010", "No such file or directory")]
    assert refusal(Path("a\0b"))[0][0] == "W010"


@pytest.mark.parametrize("name", ["FILE_BYTES", "DATA_BYTES", "TENSORS"])
def test_models_beyond_the_bounds(
    small: Network, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    write_network(small, tmp_path / "m.onnx", seed=0, one_file=0)
    monkeypatch.setattr(models, name, 10)
    assert refusal(tmp_path / "m.onnx")[0][0] == "W012"


def test_graphs_in_graphs_without_end(tmp_path: Path) -> None:
    """As bytes, since protocol buffers do not write what they do not read."""

    def inside(field: int, data: bytes) -> bytes:
        size, length = len(data), bytearray()
        while size > 0x7F:
            length.append(size & 0x7F | 0x80)
            size >>= 7
        return bytes([field << 3 | 2, *length, size]) + data

    graph = inside(1, inside(4, b"If"))
    for _ in range(2000):
        graph = inside(1, inside(5, inside(6, graph)))
    path = tmp_path / "m.onnx"
    path.write_bytes(inside(7, graph))
    ((found, what),) = refusal(path)
    assert found == "W010"
    assert what.startswith("it is no ONNX model")


def test_inputs_of_every_kind_of_number(tmp_path: Path) -> None:
    inputs = [
        helper.make_tensor_value_info(f"i{kind}", kind, [None, "n", 2])
        for kind in inference.TYPES
    ]
    y = helper.make_tensor_value_info("y", TensorProto.INT64, None)
    path = saved(
        tmp_path / "m.onnx",
        [helper.make_node("Shape", ["i1"], ["y"])],
        inputs=inputs,
        outputs=[y],
    )
    work = ready(path, extents={"n": 3})
    assert work.unit == "requests"
    for one in work.given.values():
        assert one.shape == (1, 3, 2)
        assert one.min() >= 0
        assert one.max() <= 1
    assert work.iterate() == 1
    assert list(work.given_back[0]) == [1, 3, 2]


def test_texts_cannot_be_drawn(tmp_path: Path) -> None:
    text = helper.make_tensor_value_info("x", TensorProto.STRING, [1])
    path = saved(
        tmp_path / "m.onnx",
        [helper.make_node("Identity", ["x"], ["y"])],
        inputs=[text],
    )
    assert refusal(path) == [("W013", "'x' is no tensor of numbers")]


def test_inputs_that_are_too_large(model: Path) -> None:
    assert refusal(model, extents={"batch": 1 << 20}) == [
        ("W013", "its inputs take more than 4 GiB")
    ]


def test_what_onnxruntime_refuses_is_told(tmp_path: Path) -> None:
    nodes = [helper.make_node("NoSuchOperator", ["x"], ["y"])]
    work = opened(saved(tmp_path / "m.onnx", nodes))
    with pytest.raises(RegistryError) as error:
        work.initialise()
    (found,) = error.value.findings
    assert found.code == "W014"
    assert "NoSuchOperator" in found.what


def test_what_fails_while_it_runs_is_told(tmp_path: Path) -> None:
    x = helper.make_tensor_value_info("x", FLOAT, ["a", 2])
    w = helper.make_tensor_value_info("w", FLOAT, ["b", 2])
    path = saved(tmp_path / "m.onnx", ADD, inputs=[x, w])
    work = ready(path, extents={"a": 2, "b": 3})
    with pytest.raises(RegistryError) as error:
        work.iterate()
    assert error.value.findings[0].code == "W014"
