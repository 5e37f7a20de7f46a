"""What compilers and build tools print, and the file and line that it names."""

from __future__ import annotations

from pathlib import PurePosixPath

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tools.services.diagnostics import KEPT, Diagnostic, Diagnostics

FOLDER = PurePosixPath("/src")


def found(text: str) -> list[Diagnostic]:
    known = Diagnostics(FOLDER)
    for line in text.splitlines():
        known.take(line)
    return known.all


GCC = """\
cc -c a.c
a.c: In function 'main':
a.c:3:5: error: unknown type name 'in'; did you mean 'int'?
    3 |     in x;
      |     ^~
a.c:4:10: warning: unused variable 'y' [-Wunused-variable]
a.c:4:10: note: declared here
lib/b.h:1:10: fatal error: no.h: No such file or directory
make: *** [Makefile:2: a.o] Error 1
"""
RUST = """\
error[E0425]: cannot find value `x` in this scope
 --> src/main.rs:2:5
  |
2 |     x
warning: unused variable: `y`
  --> src/main.rs:10:9
error: aborting due to 1 previous error; 1 warning emitted
error: could not compile `demo`
"""
CMAKE = """\
CMake Error at CMakeLists.txt:3 (message):
  No CUDA here.


CMake Warning (dev) at sub/x.cmake:7:
  Policy CMP0077 is not set.

CMake Error: The source directory "/x" does not exist.
"""
PYTHON = """\
Traceback (most recent call last):
  File "/src/setup.py", line 3, in <module>
    import missing
  File "/usr/lib/importlib.py", line 12, in find
    raise
ModuleNotFoundError: No module named 'missing'
  File "/src/x.py", line 1
    def
       ^
SyntaxError: invalid syntax
"""
LINK = """\
/usr/bin/ld: main.o: in function `main':
main.c:(.text+0x5): undefined reference to `f'
/usr/bin/ld: other.c:9: undefined reference to `g'
/usr/bin/ld: cannot find -lcuda: No such file or directory
collect2: error: ld returned 1 exit status
"""


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            GCC,
            [
                ("error", "a.c", 3, 5, "unknown type name 'in'; did you mean 'int'?"),
                ("warning", "a.c", 4, 10, "unused variable 'y' [-Wunused-variable]"),
                ("error", "lib/b.h", 1, 10, "no.h: No such file or directory"),
            ],
        ),
        (
            "\x1b[1mx.cc:1:2: \x1b[0;31merror: \x1b[0mexpected ';'\x1b[0m",
            [("error", "x.cc", 1, 2, "expected ';'")],
        ),
        (
            'k.cu(12): error: identifier "q" is undefined',
            [("error", "k.cu", 12, None, 'identifier "q" is undefined')],
        ),
        (
            RUST,
            [
                ("error", "src/main.rs", 2, 5, "cannot find value `x` in this scope"),
                ("warning", "src/main.rs", 10, 9, "unused variable: `y`"),
            ],
        ),
        (
            CMAKE,
            [
                ("error", "CMakeLists.txt", 3, None, "No CUDA here."),
                ("warning", "sub/x.cmake", 7, None, "Policy CMP0077 is not set."),
                (
                    *("error", None, None, None),
                    'The source directory "/x" does not exist.',
                ),
            ],
        ),
        (
            PYTHON,
            [
                (
                    *("error", "/usr/lib/importlib.py", 12, None),
                    "ModuleNotFoundError: No module named 'missing'",
                ),
                ("error", "x.py", 1, None, "SyntaxError: invalid syntax"),
            ],
        ),
        (
            LINK,
            [
                ("error", "main.c", None, None, "undefined reference to `f'"),
                ("error", "other.c", 9, None, "undefined reference to `g'"),
                *[
                    ("error", None, None, None, what)
                    for what in (
                        "cannot find -lcuda: No such file or directory",
                        "ld returned 1 exit status",
                    )
                ],
            ],
        ),
        (
            "Makefile:2: *** missing separator.  Stop.",
            [("error", "Makefile", 2, None, "missing separator.  Stop.")],
        ),
        (
            "make: *** No rule to make target 'x', needed by 'y'.  Stop.",
            [
                (
                    *("error", None, None, None),
                    "No rule to make target 'x', needed by 'y'.  Stop.",
                )
            ],
        ),
        (
            "make[1]: *** [Makefile:7: all] Error 2",
            [("error", "Makefile", 7, None, "Error 2")],
        ),
        (
            "./main.go:5:2: undefined: x",
            [("error", "main.go", 5, 2, "undefined: x")],
        ),
        (
            "ninja: error: loading 'build.ninja': No such file",
            [("error", None, None, None, "loading 'build.ninja': No such file")],
        ),
        ("12:30:05 all is well\nerrors: 0\n0 warnings\nFile x, line 3", []),
    ],
)
def test_what_each_tool_says(
    text: str, expected: list[tuple[str, str | None, int | None, int | None, str]]
) -> None:
    assert [
        (one.weight, one.path, one.line, one.column, one.text) for one in found(text)
    ] == expected


def test_paths_are_those_of_make_s_directory() -> None:
    text = (
        "make[1]: Entering directory '/src/lib'\na.c:1:1: error: x\n"
        "make[2]: Entering directory '/else'\nb.c:1:1: error: x\n"
        "make[2]: Leaving directory '/else'\nc.c:1:1: error: x\n"
        "make[1]: Leaving directory '/src/lib'\nd.c:1:1: error: x\n"
    )
    assert [one.path for one in found(text)] == [
        "lib/a.c",
        "/else/b.c",
        "lib/c.c",
        "d.c",
    ]


def test_no_more_than_a_thousand_are_kept() -> None:
    known = Diagnostics(FOLDER)
    for number in range(KEPT + 5):
        known.take(f"a.c:{number}: error: x")
    assert (len(known.all), known.more) == (KEPT, 5)


LINES = st.lists(
    st.one_of(
        st.text(max_size=80),
        st.sampled_from(
            [
                line
                for text in (GCC, RUST, CMAKE, PYTHON, LINK)
                for line in text.splitlines()
            ]
        ),
    ),
    max_size=30,
)


@given(LINES)
def test_any_output_can_be_read(lines: list[str]) -> None:
    known = Diagnostics(FOLDER)
    for line in lines:
        known.take(line)
    for one in known.all:
        assert one.weight in {"error", "warning"}
        assert one.line is None or one.line >= 0
