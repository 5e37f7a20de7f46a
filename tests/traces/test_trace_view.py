"""Pages that show traces: complete, safe and readable without anything else."""

from __future__ import annotations

import json
import re
from html.parser import HTMLParser
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from registry.documents.findings import RegistryError
from tools.traces.viewing import view_trace
from tools.traces.viewing_drawing import Scale, duration

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.simulators.commands import Done

VOID = {"meta", "link", "img", "br", "input", "rect", "line", "polyline"}


class Page(HTMLParser):
    """A page taken apart: tags with attributes, texts, and what does not match."""

    def __init__(self, path: Path) -> None:
        """Take a page apart."""
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.texts: dict[str, list[str]] = {}
        self.open: list[str] = []
        self.wrong: list[str] = []
        self.feed(path.read_text("utf-8"))
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        if not self.open or self.open.pop() != tag:
            self.wrong.append(tag)

    def handle_data(self, data: str) -> None:
        if data.strip():
            self.texts.setdefault(self.open[-1] if self.open else "", []).append(data)

    def count(self, tag: str, kind: str | None = None) -> int:
        return sum(
            one == tag and (kind is None or attributes.get("class") in kind.split())
            for one, attributes in self.tags
        )


def x(name: str, ts: float, dur: float, **more: Any) -> dict[str, Any]:
    return {"ph": "X", "name": name, "ts": ts, "dur": dur, "pid": 1, "tid": 1} | more


def viewed(folder: Path, events: list[Any], **options: Any) -> Page:
    (folder / "a.json").write_text(json.dumps(events))
    view_trace(folder / "a.json", folder / "a.html", **options)
    return Page(folder / "a.html")


def test_spans_are_drawn_where_they_are(tmp_path: Path) -> None:
    page = viewed(
        tmp_path,
        [
            x("outer", 100, 100),
            x("inner", 150, 25),
            {"ph": "B", "name": "other", "ts": 100, "pid": 1, "tid": 2},
            {"ph": "E", "ts": 200, "pid": 1, "tid": 2},
        ],
    )

    boxes = [one for tag, one in page.tags if tag == "rect"]
    assert [(one["x"], one["width"], one["y"]) for one in boxes] == [
        ("0.0", "1200.00", "1"),
        ("600.0", "300.00", "19"),
        ("0.0", "1200.00", "1"),
    ]
    assert page.texts["title"] == [
        "a.json: trace",
        "outer: 100 µs, at 0 ns",
        "inner: 25 µs, at 50 µs",
        "other: 100 µs, at 0 ns",
    ]
    assert not page.wrong
    assert not page.open


def test_names_of_processes_and_threads_are_heads(tmp_path: Path) -> None:
    page = viewed(
        tmp_path,
        [
            {"ph": "M", "name": "process_name", "pid": 1, "args": {"name": "trainer"}},
            {"ph": "M", "name": "thread_name", "pid": 1, "tid": 1}
            | {"args": {"name": "main"}},
            x("a", 0, 1),
        ],
    )

    assert page.texts["h2"] == ["trainer (1)", "Totals"]
    assert page.texts["h3"] == ["main (1)"]


def test_the_longest_spans_are_drawn_and_the_rest_is_counted(tmp_path: Path) -> None:
    events = [x(f"n{length}", 1000 * length, length) for length in range(1, 101)]

    page = viewed(tmp_path, events, spans=10)

    assert page.count("rect") == 10
    assert {one.split(":")[0] for one in page.texts["title"][1:]} == {
        f"n{length}" for length in range(91, 101)
    }
    assert "90 shorter spans are not drawn." in page.texts["p"]
    assert page.texts["caption"] == ["100 of 100 names, by their total time"]


def test_a_track_of_short_spans_has_its_share(tmp_path: Path) -> None:
    long = [x("long", 1000 * n, 900) for n in range(100)]
    short = [x("short", 1000 * n, n + 1, tid=2) for n in range(100)]

    page = viewed(tmp_path, long + short, spans=20)

    drawn = [one.split(":")[0] for one in page.texts["title"][1:]]
    assert (drawn.count("long"), drawn.count("short")) == (15, 5)
    assert "short: 100 µs, at 99 ms" in page.texts["title"]


def test_totals_are_those_of_all_spans(tmp_path: Path) -> None:
    events = [x("a", 0, 10), x("b", 2, 4), x("a", 20, 30)]

    page = viewed(tmp_path, events, spans=1)

    assert page.texts["td"] == [
        *("a", "2", "40 µs", "36 µs", "20 µs"),
        *("b", "1", "4 µs", "4 µs", "4 µs"),
    ]


def test_counters_are_lines(tmp_path: Path) -> None:
    counter = {"ph": "C", "name": "power", "pid": 1}
    values = [(0, 10), (50, 30), (100, 20)]
    page = viewed(
        tmp_path,
        [counter | {"ts": ts, "args": {"watts": value}} for ts, value in values],
    )

    line = next(one for tag, one in page.tags if tag == "polyline")
    assert line["points"] == (
        "0.0,45.0 600.0,45.0 600.0,3.0 1200.0,3.0 1200.0,24.0 1200,24.0"
    )
    assert page.texts["figcaption"] == ["power: watts: from 10 to 30"]


def test_a_line_of_many_values_keeps_its_extremes(tmp_path: Path) -> None:
    counter = {"ph": "C", "name": "power", "pid": 1}
    values = [100.0] * 20_000
    values[7_777], values[12_345] = 999.0, -5.0
    page = viewed(
        tmp_path,
        [
            counter | {"ts": ts, "args": {"watts": value}}
            for ts, value in enumerate(values)
        ],
    )

    line = next(one for tag, one in page.tags if tag == "polyline")
    heights = [float(one.split(",")[1]) for one in str(line["points"]).split()]
    assert min(heights) == 3
    assert max(heights) == 45
    assert len(heights) < 1300


def test_asynchronous_spans_have_rows_of_their_own(tmp_path: Path) -> None:
    def pair(number: int, ts: float, end: float) -> list[dict[str, Any]]:
        one = {"name": f"r{number}", "cat": "n", "id": number, "pid": 1, "tid": 1}
        return [one | {"ph": "b", "ts": ts}, one | {"ph": "e", "ts": end}]

    page = viewed(tmp_path, [*pair(1, 0, 10), *pair(2, 5, 15), *pair(3, 12, 20)])

    rows = [one["y"] for tag, one in page.tags if tag == "rect"]
    assert rows == ["1", "19", "1"]
    assert page.texts["h3"] == ["1: asynchronous"]


HOSTILE = [
    "<script>alert(1)</script>",
    '"><img src=x onerror=alert(1)>',
    "</title></svg></style><script src=//evil.example></script>",
    "' onmouseover='alert(1)",
    "javascript:alert(1)",
    "&lt;script&gt;",
    "]]><!--",
    "\u202egnp.exe\x00\x1b[2J",
]


@pytest.mark.parametrize("text", HOSTILE)
def test_no_text_of_a_trace_becomes_markup(tmp_path: Path, text: str) -> None:
    plain = viewed(
        tmp_path,
        _everywhere("plain"),
    )
    hostile = viewed(tmp_path, _everywhere(text), title=text)

    def shape(page: Page) -> list[tuple[str, tuple[str, ...]]]:
        return [(tag, tuple(attributes)) for tag, attributes in page.tags]

    assert shape(hostile) == shape(plain)
    assert not hostile.wrong
    source = (tmp_path / "a.html").read_text("utf-8")
    assert not re.search(r"[\x00-\x08\x0b-\x1f\u202e]", source)


def _everywhere(text: str) -> list[dict[str, Any]]:
    """The text as every part of a trace that a page shows; always as many letters."""
    text = (text + "x" * 60)[:60]
    return [
        {"ph": "M", "name": "process_name", "pid": 1, "args": {"name": text}},
        {"ph": "M", "name": "thread_name", "pid": 1, "tid": 1, "args": {"name": text}},
        x(text, 0, 100, cat=text),
        x("a", 0, 5, pid=text, tid=text),
        {"ph": "C", "name": text, "pid": 1, "ts": 5, "args": {text: 3}},
    ]


def test_a_page_asks_for_nothing_and_runs_nothing(tmp_path: Path) -> None:
    page = viewed(tmp_path, _everywhere("http://evil.example/a.png"))

    assert {tag for tag, _ in page.tags} <= {
        *("html", "head", "meta", "title", "style", "body", "main", "h1", "h2", "h3"),
        *("p", "div", "svg", "g", "rect", "text", "line", "polyline", "figure"),
        *("figcaption", "table", "caption", "thead", "tbody", "tr", "th", "td"),
    }
    attributes = {name for _, given_ in page.tags for name in given_}
    assert not {name for name in attributes if name.startswith("on")}
    assert not attributes & {"src", "href", "xlink:href", "style", "action", "srcset"}
    policy = next(one for tag, one in page.tags if one.get("http-equiv"))
    assert policy["content"] == (
        "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'"
    )
    assert "url(" not in page.texts["style"][0]
    assert "@import" not in page.texts["style"][0]


def test_a_page_can_be_read_by_all(tmp_path: Path) -> None:
    page = viewed(tmp_path, [x("a", 0, 10)])

    assert ("html", {"lang": "en"}) in page.tags
    drawings = [one for tag, one in page.tags if tag == "svg"]
    assert all(one["role"] == "img" and one["aria-label"] for one in drawings)
    assert {one.get("scope") for tag, one in page.tags if tag == "th"} == {"col"}
    assert page.count("h1") == page.count("main") == page.count("title") - 1 == 1
    region = next(one for tag, one in page.tags if tag == "div")
    assert (region["tabindex"], region["aria-label"]) == ("0", "Timeline")


def test_texts_stand_out_from_every_colour(tmp_path: Path) -> None:
    page = viewed(tmp_path, [x(f"name {n}", n * 10, 10) for n in range(200)])

    for fill in {one["fill"] for tag, one in page.tags if tag == "rect"}:
        hue, saturation, light = map(int, re.findall(r"\d+", str(fill)))
        assert _contrast(hue, saturation / 100, light / 100) > 7


def _contrast(hue: int, saturation: float, light: float) -> float:
    """WCAG's contrast of #111 on a colour."""
    chroma = (1 - abs(2 * light - 1)) * saturation
    part = chroma * (1 - abs(hue / 60 % 2 - 1))
    order = [
        *((chroma, part, 0), (part, chroma, 0), (0, chroma, part)),
        *((0, part, chroma), (part, 0, chroma), (chroma, 0, part)),
    ][hue // 60]
    colour = [one + light - chroma / 2 for one in order]

    def luminance(channels: list[float]) -> float:
        linear = [
            one / 12.92 if one <= 0.04045 else ((one + 0.055) / 1.055) ** 2.4
            for one in channels
        ]
        return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]

    dark = luminance([0x11 / 255] * 3)
    return (luminance(colour) + 0.05) / (dark + 0.05)


def test_a_trace_without_spans_and_counters_is_refused(tmp_path: Path) -> None:
    events = [{"ph": "i", "name": "a", "ts": 1, "pid": 1}]

    with pytest.raises(RegistryError) as refused:
        viewed(tmp_path, events)

    one = refused.value.findings[0]
    assert (one.code, one.what) == (
        "V057",
        "none of its 1 events is a span or a counter",
    )
    assert not (tmp_path / "a.html").exists()


def test_pages_of_equal_traces_are_equal(tmp_path: Path) -> None:
    events = [x(f"n{n % 7}", n * 3, n % 5) for n in range(500)]

    viewed(tmp_path, events, spans=100)
    first = (tmp_path / "a.html").read_bytes()
    viewed(tmp_path, events, spans=100)

    assert (tmp_path / "a.html").read_bytes() == first


def test_a_real_trace_has_all_its_spans(shared_data: Path, tmp_path: Path) -> None:
    path = shared_data / "chrome_traces/pytorch_hta/trace_filter/sampled_rank-0.json.gz"

    done = view_trace(path, tmp_path / "a.html", spans=100_000)

    page = Page(tmp_path / "a.html")
    assert page.count("rect") == done.drawn == done.spans == 4811
    assert not page.wrong


@settings(max_examples=60)
@given(st.integers(-(10**15), 10**15), st.integers(0, 10**15))
def test_an_axis_has_a_few_ticks_inside(first: int, length: int) -> None:
    ticks = list(Scale(first, first + length).ticks())

    assert 1 <= len(ticks) <= 11
    assert all(0 <= place <= 1200 for place, _ in ticks)


@pytest.mark.parametrize(
    ("time", "text"),
    [(0, "0 ns"), (999, "999 ns"), (1500, "1.5 µs"), (2e6, "2 ms"), (1e10, "10 s")],
)
def test_durations_have_a_unit_that_suits(time: float, text: str) -> None:
    assert duration(time) == text


def test_the_command_writes_a_page(
    powerkit: Callable[..., Done], tmp_path: Path
) -> None:
    (tmp_path / "a.json").write_text(json.dumps([x("a", 0, 10), x("b", 2, 1)]))
    page = tmp_path / "pages" / "a.html"

    done = powerkit(
        "trace", "view", tmp_path / "a.json", "-o", page, "--spans", 1, "--title", "T"
    )

    assert (done.code, done.err) == (0, "")
    assert done.out == f"{page}: 1 of 2 spans on 1 tracks, 0 counters, 2 names\n"
    assert Page(page).texts["h1"] == ["T"]
    told = powerkit("trace", "view", tmp_path / "a.json", "-o", page, "--json")
    assert json.loads(told.out)["schema"] == "trace-view/1"
