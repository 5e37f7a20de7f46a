"""Networks are the published ones: their parameters are counted, nothing is made."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from registry.documents.findings import RegistryError
from tools.workloads.networks.catalogue import (
    ARCHITECTURES,
    SCREENS,
    architecture,
    read_input,
    trims_inputs,
)
from tools.workloads.networks.graphs import check_network
from tools.workloads.networks.layers import Network, Scale


def built(name: str, size: str = "", scale: Scale | None = None) -> Network:
    network = architecture(name)
    return network.build(read_input(size, network), scale or Scale())


@pytest.mark.parametrize(
    ("name", "parameters"),
    [
        # caffe/models/bvlc_alexnet: groups of 2 at conv2, conv4 and conv5
        ("alexnet", 60_965_224),
        # MXNet's symbols/alexnet.py, as TRIMS's large_models/alexnet.py
        ("alexnet-one-tower", 62_378_344),
        # torchvision VGG16_Weights.meta["num_params"]
        ("vgg16", 138_357_544),
        # caffe/models/bvlc_googlenet without its auxiliary outputs
        ("googlenet", 6_998_552),
        # timm results-imagenet.csv: 42.68; Cadene's pretrained-models
        ("inception-v4", 42_679_816),
        # torchvision ResNet50_Weights.meta["num_params"]
        ("resnet50", 25_557_032),
        # 1024 x 4096 + 4096 x 4096 + 4096 x 1000, and a bias for each output
        ("mlp", 4_194_304 + 16_777_216 + 4_096_000 + 2 * 4096 + 1000),
    ],
)
def test_parameters_are_the_published_ones(name: str, parameters: int) -> None:
    assert built(name).parameters == parameters == ARCHITECTURES[name].parameters


@pytest.mark.parametrize("name", ARCHITECTURES)
def test_onnx_finds_the_shapes_that_we_reckon(name: str) -> None:
    network = built(name)
    check_network(network)  # in full: every shape is inferred from the input's
    assert network.output.shape == (1000,)


@pytest.mark.parametrize("extra", [0, 1, 2, 3, 5, 31])
def test_shapes_agree_at_odd_sizes_too(extra: int) -> None:
    for name in ("alexnet", "googlenet", "inception-v4", "resnet50"):
        check_network(built(name, f"{230 + extra}x{260 - extra}", Scale(0.01, 2)))


def test_a_wrong_shape_does_not_pass(small: Network) -> None:
    small.output = type(small.output)("prob", (11,))
    with pytest.raises(RegistryError) as refused:
        check_network(small)
    assert refused.value.findings[0].code == "W023"


@pytest.mark.parametrize("name", ["alexnet", "vgg16", "googlenet", "inception-v4"])
def test_models_grow_with_the_input_as_their_first_dense_layer_does(name: str) -> None:
    sizes = [built(name, f"x{k}").parameters for k in (1, 2, 3)]
    assert sizes[0] < sizes[1] < sizes[2]
    fixed = {
        sum(w.size for w in built(name, f"x{k}").weights if len(w.shape) == 4)
        for k in (1, 2)
    }
    assert len(fixed) == 1  # convolutions do not


def test_the_sizes_of_trims() -> None:
    alexnet = architecture("alexnet")
    assert trims_inputs(alexnet, screens=False) == [f"227x{k}" for k in range(1, 7)]
    assert trims_inputs(architecture("vgg16"), screens=False)[-1] == "224x5"
    assert trims_inputs(architecture("googlenet"), screens=False)[-1] == "227x5"
    assert trims_inputs(architecture("inception-v4"), screens=False)[0] == "224x1"
    assert len(trims_inputs(alexnet, screens=True)) == len(SCREENS) == 7
    for one in ARCHITECTURES.values():
        for text in trims_inputs(one, screens=False):
            assert one.build(read_input(text, one), Scale()).parameters > 0
    assert built("alexnet", "2560x1440").weight_bytes > 2**31


@pytest.mark.parametrize(
    ("text", "shape"),
    [
        ("", (3, 227, 227)),
        ("454", (3, 454, 454)),
        ("640x480", (3, 480, 640)),
        ("x2", (3, 454, 454)),
        ("100x3", (3, 300, 300)),
        ("100*3", (3, 300, 300)),
        ("640x48", (3, 48, 640)),
    ],
)
def test_sizes_as_people_write_them(text: str, shape: tuple[int, ...]) -> None:
    assert read_input(text, architecture("alexnet")) == shape


def test_rows_of_a_perceptron() -> None:
    mlp = architecture("mlp")
    assert read_input("", mlp) == (1024,)
    assert read_input("x3", mlp) == (3072,)
    assert read_input("10x20", mlp) == (600,)


@pytest.mark.parametrize(
    "text", ["a", "0", "10x", "x0", "-5", "1x2x3", "70000", "9x70000", "٣", "65536x9"]
)
def test_sizes_that_are_none(text: str) -> None:
    with pytest.raises(RegistryError) as refused:
        read_input(text, architecture("alexnet"))
    assert refused.value.findings[0].code == "W022"


def test_an_input_too_small() -> None:
    with pytest.raises(RegistryError) as refused:
        built("inception-v4", "60x74")
    (found,) = refused.value.findings
    assert (found.code, found.path) == ("W020", "inception-v4")
    assert found.what == "a window of 3 does not fit into the 2 left of 60x74"


def test_an_unknown_network() -> None:
    with pytest.raises(RegistryError) as refused:
        architecture("lenet\x1b")
    (found,) = refused.value.findings
    assert found.code == "W021"
    assert "alexnet, alexnet-one-tower, vgg16" in found.what
    assert "\x1b" not in found.path


@given(published=st.integers(1, 4096), width=st.floats(0.001, 64))
@settings(max_examples=50)
def test_channels_are_even_and_never_none(published: int, width: float) -> None:
    channels = Scale(width).channels(published)
    assert channels >= (published if width == 1 else 2)
    assert width == 1 or channels % 2 == 0
