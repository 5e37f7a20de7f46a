"""Manifests of models and data: ours and TRIMS's, choices of them, and the lock."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from registry.documents.findings import RegistryError
from tools.assets.library import Choice, open_library
from tools.assets.locks import LOCK_NAME, Locked, add_to_lock, read_lock
from tools.assets.manifests import canonical_name, read_manifest
from tools.assets.trims_manifests import as_manifest, is_trims, read_trims_manifest

DIGEST = hashlib.sha256(b"abc").hexdigest()

OURS = f"""\
schema: asset-manifest/1
name: SqueezeNet
version: "1.1"
description: A small one.
licence: Apache-2.0 # its terms
references:
- https://arxiv.org/abs/1602.07360
framework:
  name: ONNX
  version: "1.18"
inputs:
- type: image
  name: data
  dimensions: [3, 224, 224]
  mean: [123.5, 117, 104]
  scale: 0.017
outputs:
- type: feature
  labels: synset.txt
files:
- path: model.onnx
  urls:
  - https://example.org/m.onnx
  - beside/m.onnx
  sha256: {DIGEST}
  bytes: 3
attributes:
  kind: CNN
large: false
"""

# In the form of rai-project/trims-tools' builtin_models.
TRIMS = """\
name: large_AlexNet:227 x-2 # name of your model
framework:
  name: MXNet # framework for the model
  version: 0.11.0
version: 1.0
container:
  amd64:
    gpu: raiproject/carml-mxnet:amd64-cpu
description: >
  This model is a replication.
  Differences: none.
references: # papers
  - https://arxiv.org/abs/1602.07360
license: unrestricted
inputs:
  - type: image
    description: the input image
    parameters:
      dimensions: [3, 227, 227]
      mean: [123, 117, 104]
      scale: 0.017
output:
  type: feature
  description: the output label
  parameters:
    features_url: http://a.example/synset.txt
    features_checksum: 4d234b5833aca44928065a180db3016a
model:
  base_url: http://a.example/models/
  graph_path: alexnet.json
  weights_path: alexnet.params
  is_archive: false
  graph_checksum: 429b63a8781b85a85493d5f4162c6e79
attributes:
  kind: CNN
large_model: true
hidden: true
"""


def problems(data: str, path: str = "m.yaml") -> list[str]:
    with pytest.raises(RegistryError) as refusal:
        (read_trims_manifest if is_trims(data.encode()) else read_manifest)(
            data.encode(), Path(path)
        )
    return [f"{one.code} {one.line} {one.what}" for one in refusal.value.findings]


def changed(old: str, new: str, text: str = OURS) -> str:
    assert old in text
    return text.replace(old, new)


def test_what_a_manifest_says() -> None:
    asset = read_manifest(OURS.encode(), Path("there/m.yaml"))
    assert (asset.canonical, asset.licence, asset.bytes) == (
        "squeezenet_1.1",
        "Apache-2.0",
        3,
    )
    (file,) = asset.files
    assert file.urls == ("https://example.org/m.onnx", "there/beside/m.onnx")
    assert (file.sha256, file.md5) == (DIGEST, None)
    (image,) = asset.inputs
    assert (image.dimensions, image.mean, image.scale) == (
        (3, 224, 224),
        (123.5, 117, 104),
        (0.017,),
    )
    assert asset.framework == ("ONNX", "1.18")
    assert asset.attributes == {"kind": "CNN"}
    assert not asset.large
    assert not asset.hidden


@pytest.mark.parametrize(
    ("old", "new", "what"),
    [
        ("licence: Apache-2.0", "licence: ''", "A022 5 licence: "),
        ("name: SqueezeNet", "name: ../x", "A022 2 name: it must be of the form"),
        ("bytes: 3", "bytes: -3", "A022 26 files[0].bytes: Input should be gre"),
        ("bytes: 3", "byte: 3", "A021 21 files[0].bytes: the field is missing"),
        (f"sha256: {DIGEST}", "sha256: abc", "A022 25 files[0].sha256: it must be"),
        (
            "path: model.onnx",
            "path: /etc/x",
            "A023 21 files[0].path: its name: it is e",
        ),
        (
            "path: model.onnx",
            "path: a/../b",
            "A023 21 files[0].path: its name: it begin",
        ),
        ("kind: CNN", "kind: &x CNN", "Y006 28 an anchor is not allowed"),
        ("large: false", "larg: false", "A020 29 larg: no such field"),
        ("mean: [123.5,", "mean: [nan,", "A022 15 inputs[0].mean[0]: Input sh"),
        (
            "urls:\n  - https://example.org/m.onnx\n  - beside/m.onnx",
            "urls: []",
            "A023 22 files[0].urls: there is none",
        ),
        ("asset-manifest/1", "asset-manifest/2", "A022 1 schema: it must be"),
    ],
)
def test_what_a_manifest_must_not_say(old: str, new: str, what: str) -> None:
    found = problems(changed(old, new))
    assert any(one.startswith(what) for one in found), found


def test_files_of_a_manifest_have_places_of_their_own() -> None:
    more = f"""\
- path: Model.onnx
  urls: [x]
  sha256: {DIGEST}
  bytes: 3
- path: model.onnx/below
  urls: [x]
  sha256: {DIGEST}
  bytes: 3
"""
    found = problems(changed("attributes:\n", f"{more}attributes:\n"))
    assert [one.partition(" ")[2] for one in found] == [
        "21 files[0].path: another file has this path as its folder",
        "27 files[1].path: another file has this path, but for capitals",
    ]


@pytest.mark.parametrize(
    ("name", "version", "canonical"),
    [
        ("SqueezeNet", "1.0", "squeezenet_1.0"),
        ("BVLC-Reference CaffeNet", "1.0", "bvlc_reference_caffenet_1.0"),
        ("a:b", "2.0-RC", "a_b_2.0_RC"),
        ("A", "", "a_latest"),
    ],
)
def test_canonical_names_are_those_of_trims(
    name: str, version: str, canonical: str
) -> None:
    assert canonical_name(name, version) == canonical


def test_a_manifest_of_trims_says_the_same_things() -> None:
    asset = read_trims_manifest(TRIMS.encode(), Path("m.yml"))
    assert asset.canonical == "large_alexnet_227_x_2_1.0"
    assert (asset.large, asset.hidden, asset.licence) == (True, True, "unrestricted")
    assert asset.description == "This model is a replication. Differences: none."
    assert asset.references == ("https://arxiv.org/abs/1602.07360",)
    assert asset.framework == ("MXNet", "0.11.0")
    assert [(one.path, *one.urls, one.md5) for one in asset.files] == [
        (
            "model.symbol",
            "http://a.example/models/alexnet.json",
            "429b63a8781b85a85493d5f4162c6e79",
        ),
        ("model.params", "http://a.example/models/alexnet.params", None),
        (
            "features.txt",
            "http://a.example/synset.txt",
            "4d234b5833aca44928065a180db3016a",
        ),
    ]
    assert {(one.sha256, one.bytes) for one in asset.files} == {(None, None)}
    (image,) = asset.inputs
    assert image.dimensions == (3, 227, 227)
    assert image.mean == (123, 117, 104)
    assert image.scale == (0.017,)
    assert asset.outputs[0].labels == "features.txt"
    assert asset.attributes == {"kind": "CNN"}


@pytest.mark.parametrize(
    ("mean", "read"),
    [
        ("[1, 2.5, 3]", (1, 2.5, 3)),
        ('["1", "2", "3"]', (1, 2, 3)),
        ('"[1, 2, 3]"', (1, 2, 3)),
        ("1,2,3", (1, 2, 3)),
        ("128", (128.0,)),
        ("", None),
    ],
)
def test_the_mean_of_trims_is_a_list_a_text_or_a_number(mean: str, read: Any) -> None:
    text = changed("mean: [123, 117, 104]", f"mean: {mean}", TRIMS)
    assert read_trims_manifest(text.encode(), Path("m.yml")).inputs[0].mean == read


@pytest.mark.parametrize(
    ("old", "new", "what"),
    [
        ("base_url: http", "base: http", "A024 28 model: base_url or graph_path is mi"),
        ("is_archive: false", "is_archive: true", "A024 32 model.is_archive: archives"),
        ("http://a.example/synset", "synset", "A024 26 output.parameters.features_url"),
        ("_checksum: 429b", "_checksum: 429", "A024 33 model.graph_checksum: 4296"),
        ("mean: [123,", "mean: [a,", "A024 20 inputs.0.parameters.mean: it is no nu"),
        ("[3, 227, 227]", "[0]", "A024 16 inputs[0]: dimensions are no whole numbers"),
        ("name: large_AlexNet:227 x-2", "name: /x", "A024 1 name: /x is no name"),
        ("kind: CNN", "kind: *x", "A024 35 anchors and aliases are not read"),
    ],
)
def test_what_a_manifest_of_trims_must_not_say(old: str, new: str, what: str) -> None:
    found = problems(changed(old, new, TRIMS))
    assert any(one.startswith(what) for one in found), found


def test_a_manifest_of_trims_becomes_ours_once_its_digests_are_known(
    tmp_path: Path,
) -> None:
    path = tmp_path / "m.yml"
    path.write_text(TRIMS)
    (asset,) = open_library(path).assets
    with pytest.raises(
        RegistryError, match=r"no SHA-256 of model\.symbol, model\.params"
    ):
        as_manifest(asset)
    seen = Locked(sha256=DIGEST, bytes=3)
    lock = {f"{asset.canonical}/{file.path}": seen for file in asset.files}
    add_to_lock(tmp_path / LOCK_NAME, lock)
    assert read_lock(tmp_path / LOCK_NAME) == lock
    (asset,) = open_library(path).assets
    ours = read_manifest(as_manifest(asset), path)
    for field in ("canonical", "licence", "description", "inputs", "outputs", "large"):
        assert getattr(ours, field) == getattr(asset, field)
    assert [(one.path, one.urls, one.sha256) for one in ours.files] == [
        (one.path, one.urls, DIGEST) for one in asset.files
    ]


def test_a_lock_that_was_changed_is_refused(tmp_path: Path) -> None:
    (tmp_path / "m.yaml").write_text(OURS)
    (tmp_path / LOCK_NAME).write_text('{"schema": "asset-lock/1", "files": {"a": 1}}')
    with pytest.raises(RegistryError) as refusal:
        open_library(tmp_path)
    assert [one.code for one in refusal.value.findings] == ["A025"]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Five manifests: two plain ones, a large one, a hidden one and one of TRIMS."""
    for name, more in {
        "alpha": "",
        "alpha-2": "",
        "beta": "large: true\n",
        "gamma": "hidden: true\n",
    }.items():
        text = changed("name: SqueezeNet", f"name: {name}")
        text = changed("large: false\n", more, text)
        (tmp_path / f"{name}.yaml").write_text(text)
    (tmp_path / "trims.YML").write_text(TRIMS)
    (tmp_path / "notes.txt").write_text("no manifest")
    return tmp_path


@pytest.mark.parametrize(
    ("names", "models", "flags", "chosen"),
    [
        ([], [], "", "alpha alpha_2"),
        ([], [], "l", "alpha alpha_2 beta"),
        ([], [], "lh", "alpha alpha_2 beta gamma large_alexnet_227_x_2"),
        (["beta"], [], "", "beta"),
        (["gamma_1.1", "alpha"], [], "", "alpha gamma"),
        ([], ["alpha"], "", "alpha"),
        ([], ["alpha,alpha-2"], "", "alpha alpha_2"),
        ([], ["^al, ta_"], "l", "alpha alpha_2 beta"),
        ([], ["a{1,2}_1"], "", "alpha"),
        (["beta"], ["alpha-2"], "", "alpha_2 beta"),
    ],
)
def test_choices(
    folder: Path, names: list[str], models: list[str], flags: str, chosen: str
) -> None:
    choice = Choice.of(names, models, large="l" in flags, hidden="h" in flags)
    found = open_library(folder).chosen(choice)
    assert [one.canonical.rpartition("_")[0] for one in found] == chosen.split()


def test_a_choice_that_matches_nothing_is_told(folder: Path) -> None:
    library = open_library(folder)
    choice = Choice.of(["alhpa"], ["beta,zzz"], large=False, hidden=False)
    with pytest.raises(RegistryError) as refusal:
        library.chosen(choice)
    assert [(one.code, one.what) for one in refusal.value.findings] == [
        ("A028", "nothing has the name alhpa; did you mean alpha?"),
        ("A028", "nothing has the name beta; did you mean beta?"),
        ("A028", "nothing has the name zzz"),
    ]
    with pytest.raises(ValueError, match="unclosed character class"):
        Choice.of([], ["[a"], large=False, hidden=False)


def test_everything_wrong_with_a_folder_is_told_at_once(folder: Path) -> None:
    (folder / "bad.yaml").write_text("schema: asset-manifest/1\n")
    (folder / "twice.yaml").write_text(changed("name: SqueezeNet", "name: Alpha"))
    (folder / "lost.yaml").symlink_to(folder / "nowhere")
    with pytest.raises(RegistryError) as refusal:
        open_library(folder)
    codes = [one.code for one in refusal.value.findings]
    assert codes == ["A021"] * 3 + ["A026", "A027"]
    assert refusal.value.findings[-1].what == "alpha_1.1 is also that of alpha.yaml"


def test_a_place_without_manifests(tmp_path: Path) -> None:
    for path, what in (
        (tmp_path, "no file in it ends with .yaml or .yml"),
        (tmp_path / "none.yaml", "there is no such file"),
    ):
        with pytest.raises(RegistryError) as refusal:
            open_library(path)
        (one,) = refusal.value.findings
        assert (one.code, one.what) == ("A026", what)


_KEYS = st.sampled_from(
    [
        *("schema", "name", "version", "files", "path", "urls", "sha256", "bytes"),
        *("inputs", "parameters", "dimensions", "mean", "output", "model", "licence"),
    ]
)
_VALUES = st.recursive(
    st.text(max_size=6) | st.integers() | st.just("asset-manifest/1") | st.floats(),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(_KEYS, inner, max_size=5)
    ),
    max_leaves=10,
)


@settings(max_examples=60)
@given(
    st.binary(max_size=100)
    | st.dictionaries(_KEYS, _VALUES).map(
        lambda value: yaml.safe_dump(value, allow_unicode=True).encode()
    )
)
def test_no_bytes_break_the_readers_of_manifests(data: bytes) -> None:
    for read in (read_manifest, read_trims_manifest):
        with pytest.raises(RegistryError):
            read(data, Path("m.yaml"))
