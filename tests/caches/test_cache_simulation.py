"""Tiers, sizes, shares and sweeps: what is simulated, and at which values."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from registry.documents.findings import RegistryError
from tools.caches.plots import drawn, save_plot
from tools.caches.policies import Policy
from tools.caches.scenario import Scenario
from tools.caches.simulation import Demand, Memory, simulate
from tools.caches.sizes import estimates, known_sizes, read_capacity, read_sizes
from tools.caches.sweeps import Axis, grid, kept_items, read_axis

MIB = 1 << 20
# a, b, a, c, a, b of 10, 20 and 30 bytes
DEMAND = Demand([0, 1, 0, 2, 0, 1], [10, 20, 30], [10, 20, 30])


def test_copies_in_the_host_s_memory_save_the_disk() -> None:
    gpu = ("gpu", "cpu", "disk")
    done = simulate(DEMAND, Memory(gpu, 40), Policy.LRU)
    first, second = done.tiers
    # In 40 bytes: a, b, hit a, c throws b out, hit a, b throws c out.
    assert (first.hits, first.misses, first.evictions) == (2, 4, 2)
    assert first.moved_bytes == 10 + 20 + 30 + 20
    assert (second.requests, second.hits) == (4, 1)
    assert second.moved_bytes == done.disk_bytes == 60
    assert second.peak_bytes == 60
    assert list(done.requests) == [3, 2, 1]
    assert list(done.hits) == [2, 0, 0]
    assert list(done.evictions) == [0, 1, 1]


def test_without_copies_each_miss_reads_the_disk() -> None:
    done = simulate(DEMAND, Memory(("gpu", "disk"), 40), Policy.LRU)
    assert len(done.tiers) == 1
    assert done.disk_bytes == 80
    assert done.tiers[0].hit_ratio == 2 / 6


def test_the_host_s_memory_may_be_limited_too() -> None:
    memory = Memory(("gpu", "cpu", "disk"), 40, 30)
    done = simulate(DEMAND, memory, Policy.LRU)
    # Copies in 30 bytes: a, b, then c throws both out, then b throws c out.
    assert done.tiers[1].hits == 0
    assert done.disk_bytes == 80


def test_the_policy_all_leaves_copies_alone_while_there_is_room() -> None:
    done = simulate(DEMAND, Memory(("gpu", "cpu", "disk"), 60), Policy.ALL)
    assert done.tiers[0].hits == 0
    assert done.disk_bytes == 60


def test_what_is_kept_in_the_host_s_memory_only() -> None:
    done = simulate(DEMAND, Memory(("cpu", "disk"), 60), Policy.LRU)
    assert [one.tier for one in done.tiers] == ["cpu"]
    assert done.disk_bytes == 60


def test_memory_is_estimated_and_bytes_are_moved() -> None:
    grown = Demand([0, 1, 0, 1], [10, 20], estimates([10, 20], 1.5))
    done = simulate(grown, Memory(("gpu", "disk"), 45), Policy.LRU)
    assert (done.tiers[0].peak_bytes, done.tiers[0].moved_bytes) == (45, 30)
    done = simulate(grown, Memory(("gpu", "disk"), 44), Policy.LRU)
    assert done.tiers[0].hits == 0
    assert estimates([10, 20], 2, ["a", "b"], {"b": 7, "c": 9}) == [20, 47]


def test_nobody_asks_for_anything() -> None:
    done = simulate(Demand([], [1], [1]), Memory(("gpu", "cpu", "disk"), 1), Policy.LRU)
    assert done.tiers[0].hit_ratio is None
    assert done.disk_bytes == 0


@pytest.mark.parametrize(
    ("text", "amount"),
    [
        ("1024", 1024),
        ("2GiB", 2 << 30),
        ("1.5 kb", 1500),
        ("16gb", 16 * 10**9),
        ("2e9", 2 * 10**9),
        ("1", 1),
        ("1.0", 1.0),
        ("0.8", 0.8),
        ("80%", 0.8),
        ("0", 0),
    ],
)
def test_amounts_of_memory(text: str, amount: float) -> None:
    read = read_capacity(text)
    assert (read, type(read)) == (amount, type(amount))


@pytest.mark.parametrize(
    ("text", "said"),
    [
        *[
            (text, "as 2GiB, or a share")
            for text in ("", "x", "-1", "2 pb", "1e", "nan")
        ],
        *[(text, "a share is above 0") for text in ("0.0", "0%", "101%")],
        ("1.5", "bytes are whole"),
        ("9999999999999 gib", "so much memory"),
        ("9e99", "so much memory"),
    ],
)
def test_what_is_no_amount(text: str, said: str) -> None:
    with pytest.raises(ValueError, match=said):
        read_capacity(text)


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("capacity=0.1:0.3:0.1", (0.1, 0.2, 0.3)),
        ("capacity=0.5:1:0.5", (0.5, 1.0)),
        ("capacity=100:300:100", (100, 200, 300)),
        ("capacity=1MiB,0.5,50%", (MIB, 0.5)),
        ("concurrency=1:3", (1, 2, 3)),
        ("concurrency=10, 1", (10, 1)),
        ("share=0.5,1,30%", (0.5, 1.0, 0.3)),
        ("estimation_rate=1,1.5", (1.0, 1.5)),
    ],
)
def test_axes(text: str, values: tuple[float, ...]) -> None:
    read = read_axis(text)
    assert read.values == values
    assert [type(one) for one in read.values] == [type(one) for one in values]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("capacity", "must be NAME=VALUES"),
        ("speed=1", "must be NAME=VALUES"),
        ("capacity=", "as 2GiB"),
        ("capacity=1:0", "goes upwards"),
        ("capacity=0:1:0", "goes upwards"),
        ("capacity=1:2:3:4", "a range is"),
        ("capacity=nan:1", "a range is"),
        ("capacity=1e9:2e9", "a range is"),
        ("concurrency=1:5000", "at most 1000 values"),
        ("concurrency=1:1000000000000:0.000000001", "at most 1000 values"),
        ("concurrency=0", "a whole number from 1"),
        ("concurrency=1.5", "a whole number from 1"),
        ("concurrency=nan", "a whole number from 1"),
        ("concurrency=x", "no number: x"),
        ("share=2", "a share of items"),
        ("share=5kb", "a share of items"),
        ("estimation-rate=inf", "a rate is above 0"),
    ],
)
def test_what_is_no_axis(text: str, said: str) -> None:
    with pytest.raises(ValueError, match=said):
        read_axis(text)


@given(st.text(max_size=30), st.sampled_from(["capacity=", "share=", "concurrency="]))
def test_any_text_is_an_axis_or_a_reason(text: str, name: str) -> None:
    with suppress(ValueError):
        assert all(
            value > 0 or name == "capacity=" for value in read_axis(name + text).values
        )
    with suppress(ValueError):
        assert read_capacity(text) >= 0


def test_a_grid_has_all_combinations() -> None:
    axes = [Axis("share", (0.5, 1.0)), Axis("concurrency", (1, 2))]
    assert list(grid(axes)) == [
        {"share": 0.5, "concurrency": 1},
        {"share": 0.5, "concurrency": 2},
        {"share": 1.0, "concurrency": 1},
        {"share": 1.0, "concurrency": 2},
    ]
    assert list(grid([])) == [{}]
    with pytest.raises(ValueError, match="vary once"):
        grid([axes[0], axes[0]])
    many = Axis("capacity", tuple(range(1000)))
    with pytest.raises(ValueError, match="at most 10000"):
        grid([many, Axis("concurrency", tuple(range(1, 12)))])


def test_a_share_of_items_is_rounded_up_as_trims_does() -> None:
    assert [kept_items(37, share / 10) for share in range(1, 11)] == [
        *(4, 8, 12, 15, 19, 23, 26, 30, 34, 37)
    ]
    assert kept_items(10, 0.3) == 3  # 10 * 0.3 is a little more than 3


SCENARIO = Scenario(
    ["a", "b", "c"],
    [100, 200, 300],
    None,
    [0, 1, 2, 0],
    2,
    2.0,
    ("gpu", "cpu", "disk"),
    0.5,
    None,
    0.25,
)


def test_a_scenario_at_its_own_values() -> None:
    demand, memory = SCENARIO.at({})
    assert list(demand.requests) == [0, 1, 2, 0]
    assert list(demand.needs) == [200, 400, 600]
    assert demand.concurrency == 2
    assert memory == Memory(("gpu", "cpu", "disk"), 600, 150)


def test_a_scenario_at_others() -> None:
    values = {"share": 0.5, "concurrency": 7, "estimation-rate": 1.0, "capacity": 42}
    demand, memory = SCENARIO.at(values)
    assert list(demand.requests) == [0, 1, 0]
    assert list(demand.needs) == [100, 200, 300]
    assert (demand.concurrency, memory.capacity) == (7, 42)
    # A share stays the same amount of memory when the rate varies.
    assert SCENARIO.at({"estimation-rate": 1.0})[1].capacity == 600


def test_sizes_of_files(tmp_path: Path) -> None:
    path = tmp_path / "sizes"
    for text in (
        "name,bytes\na,1\nb,20\n",
        "bytes\tmodel_name\n1\ta\n20\tb\n",
        ' {"a": 1, "b": 20}',
        "Item, Bytes ,note\n a , 1 ,\n\nb,20,x\n",
    ):
        path.write_text(text)
        assert read_sizes(path) == {"a": 1, "b": 20}


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (b"", [("F050", 1, "the first line names no columns")]),
        (b"a,b\n", [("F050", 1, "the first line names no columns")]),
        (
            b"name,bytes\na,x\nb,1.5\nc,-1\nd,99999999999999999999\ne,1\ne,2\n",
            [
                ("F050", 2, "a: no whole number of bytes: x"),
                ("F050", 3, "b: no whole number"),
                ("F050", 4, "c: no whole number"),
                ("F050", 5, "d: no whole number"),
                ("F050", 7, "e stands there twice"),
            ],
        ),
        (b"name,bytes\na\nb,1,2\n", [("F050", 2, "2 lines have another number")]),
        (b"name,bytes\n\xff,1\n", [("F050", 2, "is not UTF-8")]),
        (b'{"a": true, "b": 1}', [("F050", None, "a: no whole number of bytes: True")]),
        (b'{"a": 1.5}', [("J006", None, "1.5")]),
        (b'{"a": 1, "a": 2}', [("J005", None, "twice")]),
    ],
)
def test_what_is_no_file_of_sizes(
    tmp_path: Path, data: bytes, expected: list[tuple[str, int | None, str]]
) -> None:
    path = tmp_path / "sizes.csv"
    path.write_bytes(data)
    with pytest.raises(RegistryError) as caught:
        read_sizes(path)
    found = caught.value.findings
    assert [(one.code, one.line) for one in found] == [one[:2] for one in expected]
    for one, (_, _, said) in zip(found, expected, strict=True):
        assert said in one.what


@given(st.binary(max_size=120) | st.text(max_size=80).map(str.encode))
def test_any_bytes_are_sizes_or_findings(
    tmp_path_factory: pytest.TempPathFactory, data: bytes
) -> None:
    path = tmp_path_factory.getbasetemp() / "any.csv"
    path.write_bytes(data)
    with suppress(RegistryError):
        assert all(size >= 0 for size in read_sizes(path).values())


def test_sizes_nobody_tells_are_named() -> None:
    assert known_sizes(["a", "b"], [None, 7], {"a": 5}) == [5, 7]
    assert known_sizes(["b"], [7], {"b": 0}) == [0]
    with pytest.raises(RegistryError) as caught:
        known_sizes([f"n{i}" for i in range(150)], [None] * 150, {})
    found = caught.value.findings
    assert {one.code for one in found} == {"F051"}
    assert (len(found), found[0].path) == (101, "n0")
    assert found[-1].what == "50 more items have no size"


def test_pictures_show_what_was_found(tmp_path: Path) -> None:
    policies = [Policy.LRU, Policy.FIFO]
    lines = drawn([Axis("capacity", (0.5, 1.0))], policies, [0.1, 0.2, 0.3, 0.4])
    (panel,) = lines.axes
    assert [list(map(float, line.get_ydata())) for line in panel.lines] == [
        [0.1, 0.3],
        [0.2, 0.4],
    ]
    axes = [Axis("share", (0.5, 1.0)), Axis("concurrency", (1, 2, 3))]
    ratios = [number / 12 for number in range(12)]
    first, second, _ = drawn(axes, policies, ratios).axes
    assert (first.get_title(), second.get_title()) == ("lru", "fifo")
    image = first.images[0].get_array()
    assert image is not None
    assert [float(image[row, 0]) for row in range(3)] == [0, 2 / 12, 4 / 12]
    path = tmp_path / "x.svg"
    save_plot(lines, path)
    assert b"<svg" in path.read_bytes()
    for bad in (tmp_path / "x.gif", tmp_path / "no" / "x.svg"):
        with pytest.raises(RegistryError, match="F052"):
            save_plot(lines, bad)
    assert [one.name for one in tmp_path.iterdir()] == ["x.svg"]
