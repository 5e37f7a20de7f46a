"""The forms of a packet: escaped everywhere, one file, readable by everybody."""

from __future__ import annotations

import json
import re
from html.parser import HTMLParser
from typing import TYPE_CHECKING
from xml.etree import ElementTree as ET

import pytest

from registry.review.as_html import as_html
from registry.review.as_json import as_json, glance_lines
from registry.review.as_markdown import SUMMARY_BYTES, as_markdown
from registry.review.drawing import Line, Panel, draw
from registry.review.page import (
    Code,
    Figure,
    Listing,
    Packet,
    Paragraph,
    Section,
    Table,
)
from registry.review.sketches import chart, spark
from tests.simulators.machines import Machine
from tests.simulators.registry import small

if TYPE_CHECKING:
    from tests.review.conftest import Review

STRANGE = (
    "<script>alert(1)</script>",
    "a|b|c",
    "[x](javascript:alert(1))",
    "](javascript:alert(1))",
    "=cmd()",
    "![x](https://evil.example/x.png)",
    '"><img src=x onerror=alert(1)>',
    "' onmouseover='alert(1)",
    "`code` ``` end",
    "@all #1 https://evil.example www.evil.example",
    "\x1b[31m\r\n::error::x\u202e",
    "$\\frac{1}{2}$",
    "-->]]><!--",
    "{{ 7*7 }} ${{ github.token }}",
)


def packet_of(text: str) -> Packet:
    """A packet that holds a text wherever a text can stand."""
    svg = draw("strange", text, [Panel(text, (Line([0, 1], [1, 2]),))], ("x", "W"))
    blocks = (
        Paragraph.of(text, Code(text)),
        Listing(((text, Code(text)),)),
        Table(text, (text, "b"), ((text, Code(text)), (Code(text), text))),
        Figure(
            "strange", text, svg, chart("t", ("x", "y"), [[(0, 1), (1, 2)]]), (text,)
        ),
    )
    section = Section("one", text, blocks, {"text": text, text: [text]}, ((text,),))
    return Packet(
        ("Review of ", Code(text), text), "bundle", "b" * 40, "a" * 40, (section,)
    )


class Page(HTMLParser):
    """Collects elements and attributes, and demands that every tag is closed."""

    VOID = frozenset({"meta", "br", "img", "link", "input", "hr"})

    def __init__(self) -> None:
        """Begin with nothing open."""
        super().__init__(convert_charrefs=True)
        self.open: list[str] = []
        self.elements: list[tuple[str, dict[str, str]]] = []
        self.text: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, {key: value or "" for key, value in attrs}))
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, {key: value or "" for key, value in attrs}))

    def handle_endtag(self, tag: str) -> None:
        assert self.open, f"</{tag}> closes nothing"
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text.append(data)


def read_page(text: str) -> Page:
    page = Page()
    page.feed(text)
    page.close()
    assert not page.open, page.open
    return page


ALLOWED = frozenset(
    ("html", "head", "meta", "title", "style", "body", "header", "h1", "nav", "ul",
     "li", "a", "main", "section", "h2", "p", "table", "caption", "thead", "tbody",
     "tr", "th", "td", "div", "code", "figure", "figcaption", "footer")
)  # fmt: skip
DRAWN = frozenset(
    ("svg", "title", "defs", "style", "g", "path", "use", "clippath", "rect", "text",
     "tspan")
)  # fmt: skip
LOADING = frozenset({"src", "href", "xlink:href", "action", "data", "poster", "srcset"})


def check_safe(text: str) -> Page:
    """A page that runs nothing and loads nothing."""
    page = read_page(text)
    for tag, attributes in page.elements:
        assert tag in ALLOWED | DRAWN, tag
        for name, value in attributes.items():
            assert not name.startswith("on"), (tag, name)
            if name in LOADING:
                assert value.startswith("#"), (tag, name, value)
            for place in re.findall(r"url\(([^)]*)\)", value):
                assert place.startswith("#"), value
    policy = [
        one["content"]
        for tag, one in page.elements
        if tag == "meta" and one.get("http-equiv") == "Content-Security-Policy"
    ]
    assert len(policy) == 1
    assert "default-src 'none'" in policy[0]
    assert "script-src" not in policy[0]
    styles = re.findall(r"<style[^>]*>(.*?)</style>", text, re.DOTALL)
    assert styles
    assert not any("url(" in one or "@import" in one for one in styles)
    return page


@pytest.mark.parametrize("text", STRANGE)
def test_foreign_text_is_only_text_in_html(text: str) -> None:
    page = check_safe(as_html(packet_of(text)))
    assert not any(
        "javascript:" in v
        for _, one in page.elements
        for v in one.values()
        if v.startswith("javascript:")
    )
    shown = "".join(page.text)
    if text.isprintable():
        assert text in shown  # what was sent is what is read
    assert "\x1b" not in as_html(packet_of(text))


@pytest.mark.parametrize("text", STRANGE)
def test_foreign_text_is_only_text_in_markdown(text: str) -> None:
    written = as_markdown(packet_of(text))
    outside = re.sub(r"```(?:text|mermaid)\n.*?\n```", "", written, flags=re.DOTALL)
    assert "<" not in outside
    assert "](" not in outside
    assert "@all" not in outside
    assert "://" not in outside
    assert "www.evil" not in outside
    assert "\x1b" not in written
    assert "\u202e" not in written
    assert not re.search(r"^::", written, re.MULTILINE)
    fences = re.findall(r"^```", written, re.MULTILINE)
    assert len(fences) == 4  # two blocks, which no text can end or begin
    for line in outside.splitlines():
        if line.startswith("|"):
            assert line.count("|") == 3, line


@pytest.mark.parametrize("text", STRANGE)
def test_foreign_text_is_only_text_in_json(text: str) -> None:
    written = as_json(packet_of(text))
    assert written.isascii()
    assert "<" not in written
    assert json.loads(written)["sections"]["one"]["text"] == text
    for line in glance_lines(packet_of(text)):
        assert line.isprintable()
        assert not line.startswith("::")


def test_what_no_reader_of_json_takes_is_left_out() -> None:
    facts = {"a": float("nan"), "b": [float("inf"), 1.5], "c\udcff": "bad \udcff name"}
    packet = Packet(("T",), "code", "b", "h", (Section("s", "S", (), facts),))
    written = as_json(packet)
    found = json.loads(written)["sections"]["s"]
    assert found == {"a": None, "b": [None, 1.5], "c\\udcff": "bad \\udcff name"}
    named = Packet((Code("\udcff"),), "code", "b", "h", packet.sections)
    for form in (as_html, as_markdown):
        form(named).encode("utf-8")


@pytest.mark.parametrize("text", STRANGE)
def test_drawings_are_well_formed(text: str) -> None:
    svg = draw(
        "one", text, [Panel(text, (Line([0, 1], [1, 2], faint=True),))], ("x", "W")
    )
    root = ET.fromstring(svg)  # noqa: S314 - our own drawing
    assert root.tag.endswith("svg")
    assert root.get("role") == "img"
    names = [one.get("id") for one in root.iter() if one.get("id")]
    assert len(names) == len(set(names))
    assert all(name.startswith("one-") for name in names if name)
    assert "metadata" not in svg
    assert svg == draw(
        "one", text, [Panel(text, (Line([0, 1], [1, 2], faint=True),))], ("x", "W")
    )


def test_a_whole_packet_is_one_page_that_everybody_can_read(review: Review) -> None:
    changed = small()
    changed.add_samples("server-d", 42, Machine("server-d", seed=4), seconds=6)
    text = as_html(review(changed, expectations=True))
    page = check_safe(text)
    elements = page.elements
    assert text.startswith('<!DOCTYPE html>\n<html lang="en">')
    assert [tag for tag, _ in elements].count("title") >= 1
    assert [tag for tag, _ in elements].count("h1") == 1
    assert [tag for tag, _ in elements].count("main") == 1
    names = [one["id"] for _, one in elements if "id" in one]
    assert len(names) == len(set(names))
    for tag, one in elements:
        if tag == "svg":
            assert one["role"] == "img"
            assert one["aria-labelledby"] in names
        if tag == "th":
            assert one["scope"] in {"col", "row"}
        if tag == "a":
            assert one["href"].removeprefix("#") in names
        if one.get("role") == "region":
            assert one["aria-label"]
            assert one["tabindex"] == "0"
    assert sum(tag == "svg" for tag, _ in elements) == 2
    tables = [tag for tag, _ in elements if tag in {"table", "caption", "thead"}]
    assert len(tables) == 3 * tables.count("table")
    assert len(text) < 500_000


def test_headings_of_columns_are_never_empty(review: Review) -> None:
    changed = small()
    changed.add_levels("server-d", 42)
    packet = review(changed, expectations=True, models=True)
    tables = [b for one in packet.sections for b in one.blocks if isinstance(b, Table)]
    assert len(tables) > 8
    for table in tables:
        assert all(table.columns)
        assert all(len(row) == len(table.columns) for row in table.rows)


def test_files_with_markup_stay_text(review: Review) -> None:
    """Threat P5 from end to end; texts of specs have a grammar that stops it before."""
    changed = small()
    changed.add_levels("server-d", 42)
    changed.files["datasets/server-d/manifest.json"] = b"<script>alert(1)</script>"
    changed.files["datasets/server-d/=cmd().csv"] = b"1\n"
    packet = review(changed)
    for written in (as_html(packet), as_markdown(packet)):
        assert "<script>" not in written
    check_safe(as_html(packet))


def test_the_step_summary_stays_within_its_limit() -> None:
    rows = tuple((f"row {at}", "<" * 100) for at in range(20_000))
    block = Table("many", ("a", "b"), rows)
    packet = Packet(("T",), "bundle", "b", "h", (Section("s", "S", (block,)),))
    written = as_markdown(packet)
    assert len(written.encode()) <= SUMMARY_BYTES
    assert "more rows are in the packet's other forms" in written
    assert len(as_markdown(packet, 1_000).encode()) <= 1_000


def test_sketches_show_what_a_drawing_shows() -> None:
    curve = [(0.0, 100.0), (50.0, 150.0), (100.0, 300.0)]
    text = chart("Power", ("load", "watts"), [curve])
    assert 'x-axis "load" 0 --> 100' in text
    assert "line [100.0, 110.0, 120.0, 130.0, 140.0, 150.0, 180.0" in text
    assert spark([1.0, 2.0, 3.0], "W") == "▁▅█  1.0 to 3.0 W"
    assert spark([5.0] * 200, "W").startswith("▁" * 60 + "  5.0 to 5.0")
    assert spark([], "W") == "no value"
