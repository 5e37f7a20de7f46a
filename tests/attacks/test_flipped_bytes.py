"""Whichever byte of a contribution changes, a finding names the file (S1, S12)."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from registry.gate import contents
from registry.gate.verify import verify_registry
from tests.simulators.registry import ARRIVED, MemoryTree, Simulator

if TYPE_CHECKING:
    from collections.abc import Iterator

FILES = {
    "manifest": "datasets/server-a/manifest.json",
    "signature": "datasets/server-a/manifest.json.sig",
    "levels": "datasets/server-a/levels.csv",
    "runs": "datasets/server-a/runs.csv",
    "spec": "specs/server-a.yaml",
    "trust": "registry/trust/42.yaml",
}


@pytest.fixture(scope="module")
def files() -> dict[str, bytes]:
    simulated = Simulator()
    simulated.enrol(42)
    simulated.add_levels("server-a", 42)
    assert not blamed(simulated.files)
    return simulated.files


@pytest.fixture(autouse=True, scope="module")
def _read_each_table_once() -> Iterator[None]:
    """Thousands of verifications read the same few tables: remember what they say."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(contents, "read_table", functools.cache(contents.read_table))
        yield


def blamed(files: dict[str, bytes]) -> set[str]:
    """The files that findings name."""
    report = verify_registry(
        MemoryTree(files), arrivals={}, now=ARRIVED, expectations=False
    )
    return {one.path for one in report.findings if one.severity == "error"}


@pytest.mark.parametrize("part", range(2))
@pytest.mark.parametrize("name", FILES)
def test_every_flipped_byte_is_found(
    name: str, part: int, files: dict[str, bytes]
) -> None:
    path = FILES[name]
    for at in range(part, len(files[path]), 2):
        flipped = bytearray(files[path])
        flipped[at] ^= 1 << (at * 5 % 8)
        assert path in blamed(files | {path: bytes(flipped)}), at


@pytest.mark.parametrize("name", FILES)
def test_bytes_added_or_missing_are_found(name: str, files: dict[str, bytes]) -> None:
    path = FILES[name]
    good = files[path]
    for content in (b"", good[:-1], good + b"\n", good + b" ", b" " + good, good * 2):
        assert path in blamed(files | {path: content})
    without = {one: content for one, content in files.items() if one != path}
    expected = FILES["signature"] if name == "trust" else path
    assert expected in blamed(without)


@settings(max_examples=60, deadline=None)
@given(name=st.sampled_from(sorted(FILES)), content=st.binary(max_size=300))
def test_no_content_raises_anything(
    name: str, content: bytes, files: dict[str, bytes]
) -> None:
    assert FILES[name] in blamed(files | {FILES[name]: content})


@settings(max_examples=60, deadline=None)
@given(
    name=st.sampled_from(sorted(FILES)),
    cut=st.tuples(st.integers(0, 2000), st.integers(0, 40)),
    inserted=st.binary(max_size=20),
)
def test_no_edit_raises_anything(
    name: str, cut: tuple[int, int], inserted: bytes, files: dict[str, bytes]
) -> None:
    good = files[FILES[name]]
    start = cut[0] % len(good)
    edited = good[:start] + inserted + good[start + cut[1] :]
    assert (FILES[name] in blamed(files | {FILES[name]: edited})) == (edited != good)


@settings(max_examples=100, deadline=None)
@given(
    paths=st.lists(
        st.tuples(
            st.sampled_from(["datasets/", "datasets/server-a/", "specs/", "", "x/"]),
            st.text(max_size=12) | st.sampled_from(["manifest.json", "WITHDRAWN.yaml"]),
        ),
        max_size=4,
    )
)
def test_no_path_raises_anything(
    paths: list[tuple[str, str]], files: dict[str, bytes]
) -> None:
    more = {folder + name: b"x" for folder, name in paths}
    for path in blamed(more | files):
        assert path.isprintable()
