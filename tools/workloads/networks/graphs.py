"""A network as an ONNX graph without its weights, checked before it is written."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from registry.documents.findings import RegistryError, Severity, code, finding
from tools.workloads.networks.layers import Network, Weight
from tools.workloads.requirements import required

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["BATCH", "check_network", "graph_of", "model_of", "tensor_header"]

BATCH: Final = "batch"
"""The name of the first extent, which whoever runs a model chooses."""
OPSET: Final = 17
IR: Final = 8
"""Versions that every reader since onnx 1.12 (2022) understands."""

W023 = code(
    "W023",
    Severity.ERROR,
    "A network became no valid ONNX graph.",
    "Report it with the network and the size of its input.",
)


def graph_of(network: Network) -> Any:
    """Return the `GraphProto` of a network, without initializers."""
    onnx = required("onnx")
    helper, real = onnx.helper, onnx.TensorProto.FLOAT
    nodes = [
        helper.make_node(
            layer.operator,
            list(layer.inputs),
            [layer.output],
            name=layer.output,
            **layer.attributes,
        )
        for layer in network.layers
    ]
    ends = [
        helper.make_tensor_value_info(one.name, real, [BATCH, *one.shape])
        for one in (network.input, network.output)
    ]
    return helper.make_graph(nodes, network.name, ends[:1], ends[1:])


def model_of(graph: Any | None) -> Any:
    """Return a `ModelProto` around a graph, or without one."""
    onnx = required("onnx")
    model = onnx.ModelProto()
    model.ir_version = IR
    model.producer_name = "power-dataset-registry"
    model.opset_import.append(onnx.helper.make_opsetid("", OPSET))
    if graph is not None:
        model.graph.CopyFrom(graph)
    return model


def tensor_header(weight: Weight) -> Any:
    """Return the `TensorProto` of a weight, without its numbers."""
    onnx = required("onnx")
    return onnx.TensorProto(
        name=weight.name, dims=weight.shape, data_type=onnx.TensorProto.FLOAT
    )


def check_network(network: Network) -> None:
    """Have ONNX check a network, with the shapes of all its tensors.

    Weights stand as inputs meanwhile, so that none is made.

    Raises:
        RegistryError: W023.
    """
    onnx = required("onnx")
    graph = graph_of(network)
    graph.input.extend(_as_inputs(network.weights))
    try:
        onnx.checker.check_model(model_of(graph), full_check=True)
    except (onnx.checker.ValidationError, onnx.shape_inference.InferenceError) as error:
        what = " ".join(str(error).split())
        raise RegistryError(finding(W023, network.name, what)) from None


def _as_inputs(weights: Sequence[Weight]) -> list[Any]:
    onnx = required("onnx")
    real = onnx.TensorProto.FLOAT
    make = onnx.helper.make_tensor_value_info
    return [make(one.name, real, list(one.shape)) for one in weights]
