"""The maintainers' file: one form, two approvals or more, each account once."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from registry.documents.findings import RegistryError
from registry.documents.maintainers import (
    SCHEMA,
    Maintainers,
    maintainers_bytes,
    read_maintainers,
)
from registry.documents.yaml_writer import write_yaml
from registry.gate.maintainers import maintainers_of
from registry.gate.paths import MAINTAINERS
from tests.simulators.gate import found, verified
from tests.simulators.mainlines import maintainers_file
from tests.simulators.registry import MemoryTree, small

PATH = MAINTAINERS


def named(*ids: int) -> list[dict[str, Any]]:
    return [{"id": one, "login": f"login-{one}"} for one in ids]


def document(**changes: Any) -> bytes:
    value = {"schema": SCHEMA, "approvals": 2, "maintainers": named(1, 2, 3)}
    return write_yaml(value | changes)


def refusals(data: bytes) -> list[tuple[str, int | None]]:
    with pytest.raises(RegistryError) as caught:
        read_maintainers(data, PATH)
    return [(one.code, one.line) for one in caught.value.findings]


def test_it_survives_writing_and_reading() -> None:
    read = read_maintainers(document(), PATH)
    assert read.logins == {1: "login-1", 2: "login-2", 3: "login-3"}
    assert maintainers_bytes(read) == document()
    nobody = read_maintainers(document(maintainers=[]), PATH)
    assert nobody.logins == {}


@pytest.mark.parametrize(
    ("data", "codes"),
    [
        (document(approvals=1), [("K032", 2)]),
        (document(approvals=0), [("K032", 2)]),
        (document(approvals=65), [("K032", 2)]),
        (document(approvals=True), [("K032", 2)]),
        (document(schema="maintainers/2"), [("K032", 1)]),
        (document(maintainers=named(0, 1)), [("K032", 4)]),
        (document(maintainers=named(1, 1)), [("K033", 6)]),
        (document(maintainers=named(2, 1, 3)), [("K033", 6)]),
        (document(maintainers=named(1)), [("K033", 2)]),
        (document(approvals=4), [("K033", 2)]),
        (document(maintainers=[{"id": 1, "login": "no login"}]), [("K032", 5)]),
        (document(maintainers=[{"id": 1}, {"id": 2}]), [("K031", 4), ("K031", 5)]),
        (document(maintainers=named(*range(1, 66))), [("K032", 3)]),
        (document(team="x"), [("K030", 10)]),
        (write_yaml({"schema": SCHEMA, "approvals": 2}), [("K031", 1)]),
        (document() + b"\n", [("K034", 11)]),
        (document().replace(b"login-1", b'"login-1"'), [("K034", 5)]),
        (document().replace(b"approvals: 2", b'approvals: "2"'), [("K034", 2)]),
        (document().replace(b"- id", b"  - id", 1), [("Y003", 5)]),
        (document().replace(b"2", b"02", 1), [("K032", 2)]),
        (b"# us\n" + document(), [("Y007", 1)]),
    ],
)
def test_nothing_else_is_read(data: bytes, codes: list[tuple[str, int]]) -> None:
    assert refusals(data) == codes


@given(
    st.integers(2, 5),
    st.lists(st.integers(1, 2**53 - 1), min_size=5, max_size=9, unique=True),
)
def test_one_list_has_one_form(approvals: int, ids: list[int]) -> None:
    data = maintainers_file(*sorted(ids), approvals=approvals)
    read = read_maintainers(data, PATH)
    assert maintainers_bytes(read) == data
    assert (read.approvals, set(read.logins)) == (approvals, set(ids))


def test_any_flipped_byte_is_seen() -> None:
    """Refused, or another document: never the same by other bytes."""
    data = document()
    same = read_maintainers(data, PATH)
    for place in range(len(data)):
        changed = bytearray(data)
        changed[place] ^= 0x04
        try:
            read = read_maintainers(bytes(changed), PATH)
        except RegistryError:
            continue
        assert read != same


def test_a_tree_names_somebody_or_nobody() -> None:
    assert maintainers_of(MemoryTree({})) is None
    assert maintainers_of(MemoryTree({PATH: document(maintainers=[])})) is None
    read = maintainers_of(MemoryTree({PATH: document()}))
    assert isinstance(read, Maintainers)
    with pytest.raises(RegistryError, match="K034"):
        maintainers_of(MemoryTree({PATH: document() + b"\n"}))


def test_the_whole_registry_is_verified_with_it() -> None:
    simulated = small()
    simulated.files[PATH] = document()
    assert verified(simulated).findings == ()
    simulated.files[PATH] = document(approvals=1)
    assert found(verified(simulated)) == [("K032", PATH)]


def test_ours_is_committed_and_names_nobody_yet(repository: Any) -> None:
    read = read_maintainers((repository / PATH).read_bytes(), PATH)
    assert read.approvals >= 2
