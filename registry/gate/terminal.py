"""Ends every command of this project in one way: findings shown, no bare traceback.

Exit codes: 0 ok, 1 findings, 2 usage (typer's own), 3 internal.
"""

from __future__ import annotations

import os
import sys
import tempfile
import traceback
from collections.abc import Callable, Sequence
from itertools import pairwise
from pathlib import Path

from registry.documents.findings import RegistryError, Severity, code, finding

__all__ = [
    "EXIT_FINDINGS",
    "EXIT_INTERNAL",
    "EXIT_OK",
    "EXIT_USAGE",
    "run",
    "wants_json",
]

EXIT_OK = 0
EXIT_FINDINGS = 1
EXIT_USAGE = 2
EXIT_INTERNAL = 3

U001 = code(
    "U001",
    Severity.ERROR,
    "A file that the command needs cannot be read or written.",
    "Check the path, the permissions and the free space, and run it again.",
)
I001 = code(
    "I001",
    Severity.ERROR,
    "The program itself failed; your data is as it was.",
    "Report it with the saved trace, after looking it over for private names.",
)


def run(command: Callable[[], object], *, json_output: bool = False) -> int:
    """Run a command line and return its exit code.

    Args:
        command: the typer application, called without arguments.
        json_output: whether findings that end the command are printed as JSON.
    """
    from registry.gate.report import print_findings  # noqa: PLC0415  rich is slow

    try:
        result = _ended(command, json_output=json_output)
        sys.stdout.flush()
    except BrokenPipeError:
        # The reader of our output left, for example `head`: nothing is wrong.
        _let_go_of_output()
        return EXIT_OK
    except OSError as error:  # the disk is full: nothing more can be said there
        _let_go_of_output()
        what = error.strerror or "it cannot be written"
        print_findings((finding(U001, "standard output", what),), file=sys.stderr)
        return EXIT_FINDINGS
    return result


def _ended(command: Callable[[], object], *, json_output: bool) -> int:
    """Run a command, print what ended it, and give the exit code.

    Raises:
        OSError: standard output takes nothing any more.
    """
    from registry.gate.report import print_findings  # noqa: PLC0415  rich is slow

    try:
        command()
    except SystemExit as leaving:
        return leaving.code if isinstance(leaving.code, int) else EXIT_USAGE
    except RegistryError as error:
        print_findings(error.findings, json_output=json_output)
        return EXIT_FINDINGS
    except BrokenPipeError:
        raise
    except OSError as error:
        where = str(error.filename or "-")
        what = error.strerror or "it cannot be read or written"
        print_findings((finding(U001, where, what),), json_output=json_output)
        return EXIT_FINDINGS
    except Exception as error:  # noqa: BLE001  the last line of defence
        trace = _save_trace()
        what = f"{type(error).__name__}; the trace is in {trace}"
        print_findings((finding(I001, "-", what),), json_output=json_output)
        return EXIT_INTERNAL
    return EXIT_OK


def _let_go_of_output() -> None:
    """Keep the interpreter from failing once more at its end."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _save_trace() -> Path:
    """Write the current traceback to a private file of its own."""
    handle, name = tempfile.mkstemp(prefix="power-dataset-registry-", suffix=".trace")
    with os.fdopen(handle, "w", encoding="utf-8") as file:
        file.write(traceback.format_exc())
    return Path(name)


def wants_json(arguments: Sequence[str]) -> bool:
    """Whether the command line asks for output that a program reads.

    What follows `--` is another program's.
    """
    ours = arguments[: arguments.index("--")] if "--" in arguments else arguments
    return (
        "--json" in ours
        or "--format=json" in ours
        or any(
            name in {"--format", "-f"} and of == "json" for name, of in pairwise(ours)
        )
    )
