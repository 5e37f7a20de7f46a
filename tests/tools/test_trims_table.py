"""docs/trims.md: every command, flag and key of TRIMS Tools, ours, and a test of it."""

from __future__ import annotations

import ast
import re
from functools import cache
from pathlib import Path
from typing import Final

import pytest

_TEST: Final = re.compile(r"`(tests/[\w/]+\.py)::(\w+)`")
_COMMANDS: Final = (
    "client run",
    "client run-compare",
    "client memory_usage",
    "client build",
    "client watch",
    "server run",
    "server build",
    "server watch",
    "run",
    "trace combine",
    "trace summarize",
    "trace memoryinfo",
    "trace publish",
    "download assets",
    "info config",
)
_FLAGS: Final = """
--config --profile_output --profile_output_overwrite --experiment_description
--monitor_memory --visible_devices --toggle --models --models_percentage --iterations
--model_iterations --distribution --distribution_params --concurrent --eager
--eager_async --profile_io --profile_memory --postprocess --trace_upload --large_models
--simulate_run --debug --original --run_original --combine --combined_all --format
--compare --eviction --memory_percentage --model_estimation_rate
--estimate_with_internal_memory --persist_cpu --persist_cpu_only --profile --adjust
--skip_first --output --detailed --deep
"""
_KEYS: Final = """
visible_devices build_timeout polling_interval src_path base_path server_relative_path
server_build_cmd server_run_cmd client_relative_path client_build_cmd client_run_cmd
base_bucket_url upload_bucket_name profile_output_directory server_info_path
"""
_MORE: Final = """
pareto uniform exponential weibull poisson zipf never lru lcu fifo flush all
UPR_PROFILE_TARGET UPRD_EVICTION_POLICY nvprof hdparm run_experiments.py alexnet.py
inception-v4.py synset.txt
"""
_ALL: Final = (*_COMMANDS, *_FLAGS.split(), *_KEYS.split(), *_MORE.split())


@pytest.fixture(scope="module")
def rows(repository: Path) -> list[list[str]]:
    text = (repository / "docs" / "trims.md").read_text("utf-8")
    lines = [line for line in text.splitlines() if line.startswith("|")]
    found = [re.split(r"(?<!\\)\|", line)[1:-1] for line in lines]
    heads = ("TRIMS", "---")
    return [row for row in found if row[0].strip() not in heads]


@cache
def functions_of(path: Path) -> frozenset[str]:
    tree = ast.parse(path.read_text("utf-8"))
    return frozenset(
        node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)
    )


def test_every_row_names_tests_that_exist(
    rows: list[list[str]], repository: Path
) -> None:
    assert len(rows) > 100
    for row in rows:
        assert len(row) == 3, row
        named = _TEST.findall(row[2])
        assert named, f"no test: {row}"
        for file, name in named:
            assert (repository / file).is_file(), row
            assert name in functions_of(repository / file), row


@pytest.mark.parametrize("name", _ALL)
def test_nothing_of_trims_is_left_out(rows: list[list[str]], name: str) -> None:
    word = re.compile(rf"(?<![\w-]){re.escape(name)}(?![\w-])")
    assert any(word.search(row[0].replace("\\", "")) for row in rows), name
