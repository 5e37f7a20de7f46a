"""Names of the very machine are found in bytes, and common words are not."""

from __future__ import annotations

import pytest

from registry.gate.privacy import local_leaks

DATA = (
    b'{"dataset":"frodo-levels","tool":"powerkit"}\n'
    b"run,wall_watts\n0,120.5\n"
    b"mac 001A.2b3c.4D5E id 4c4c4544004447108052b4c04f564433 at 10.1.2.3\n"
)


@pytest.mark.parametrize(
    "identity",
    [
        "frodo",
        "FRODO",
        " frodo ",
        "00:1a:2b:3c:4d:5e",
        "00-1A-2B-3C-4D-5E",
        "4C4C4544-0044-4710-8052-B4C04F564433",
        "10.1.2.3",
    ],
)
def test_a_name_of_the_machine_is_found(identity: str) -> None:
    assert local_leaks(DATA, [identity]) == (identity,)


@pytest.mark.parametrize(
    "identity",
    [
        "fro",
        "rodo-level",
        "sam",
        "10.1.2.30",
        "0.1.2.3",
        "00:1a:2b:3c:4d:5f",
        "",
        "at",
        "wall",
        "wall_watts",
        "run",
        "root",
        "localhost",
    ],
)
def test_other_names_are_not(identity: str) -> None:
    assert local_leaks(DATA + b"root localhost\n", [identity]) == ()


def test_leaks_are_sorted_and_named_once() -> None:
    found = local_leaks(DATA, ["powerkit", "frodo", "powerkit"])
    assert found == ("frodo", "powerkit")


def test_bytes_that_are_no_text_are_searched_too() -> None:
    assert local_leaks(b"\xff\xfe\x00frodo\x00\x80", ["frodo"]) == ("frodo",)
