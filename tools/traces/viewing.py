"""Draws a trace as one HTML page that needs nothing else: no script, no request.

view_trace(Path("trace.json"), Path("trace.html"))
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from registry.documents.findings import RegistryError, Severity, code, finding
from tools.files.writing import whole
from tools.traces.overwriting import not_over
from tools.traces.timelines import Series, Timeline, read_timeline
from tools.traces.viewing_choice import Choice, Track, choose
from tools.traces.viewing_drawing import (
    WIDTH,
    Scale,
    counter_lines,
    duration,
    safe,
    track_svg,
)

__all__ = ["SPANS", "Viewed", "view_trace"]

NOTHING = code(
    "V057",
    Severity.ERROR,
    "A trace has nothing that can be drawn or converted.",
    "Look at it with `powerkit trace validate`; it may hold instants or names only.",
)
SPANS: Final = 4000
"""How many spans are drawn if nothing else is said."""
TRACKS: Final = 300
LINES: Final = 60
NAMES: Final = 200

_STYLE: Final = """
:root { color-scheme: light; }
body { font: 14px/1.5 sans-serif; color: #1a1a1a; background: #fff; margin: 1.5rem; }
h1 { font-size: 1.4rem; } h2 { font-size: 1.1rem; margin: 1.5rem 0 .3rem; }
h3 { font-size: .95rem; margin: .6rem 0 .1rem; font-weight: 600; }
.time { overflow-x: auto; border: 1px solid #767676; padding: .5rem; }
svg { display: block; background: #f6f6f6; }
svg text { font: 11px monospace; fill: #111; pointer-events: none; }
.span { stroke: #555; stroke-width: .4; }
.line { fill: none; stroke: #0b4f9e; stroke-width: 1.2; }
.tick { stroke: #767676; }
figure { margin: .3rem 0; } figcaption { font-size: .85rem; }
table { border-collapse: collapse; }
caption { text-align: left; font-weight: 600; padding: .3rem 0; }
th, td { border-bottom: 1px solid #ccc; padding: .15rem .7rem; text-align: right; }
th:first-child, td:first-child { text-align: left; overflow-wrap: anywhere; }
"""
_HEAD: Final = """<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy"
 content="default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'">
<meta name="referrer" content="no-referrer">
"""


@dataclass(frozen=True, slots=True)
class Viewed:
    """What a page shows of a trace.

    Attributes:
        events: how many events the trace has.
        spans: how many spans.
        drawn: how many of those are drawn.
        tracks: how many tracks are drawn.
        lines: how many series of counters are drawn.
        names: how many names the table lists.

    """

    events: int
    spans: int
    drawn: int
    tracks: int
    lines: int
    names: int


def view_trace(
    path: Path,
    out: Path,
    *,
    spans: int = SPANS,
    title: str | None = None,
    progress: Callable[[str], None] = lambda _: None,
) -> Viewed:
    """Write a page that shows a trace.

    Args:
        path: the trace.
        out: the page.
        spans: how many spans are drawn: the longest ones.
        title: the page's title; the file's name if None.
        progress: is given a line now and then.

    Raises:
        RegistryError: V001 to V004, V030, V054 or V057: nothing was written.
        OSError: a file cannot be read or written.
    """
    not_over(out, [path])
    timeline = read_timeline(path, progress=progress)
    choice = choose(timeline, spans, NAMES)
    lines = [one for one in timeline.counters() if len(one.times)]
    if not choice.spans and not lines:
        what = f"none of its {timeline.found.events:,} events is a span or a counter"
        raise RegistryError([finding(NOTHING, str(path), what)])
    scale = _scale(choice, lines)
    tracks = choice.tracks[:TRACKS]
    viewed = Viewed(
        timeline.found.events,
        choice.spans,
        sum(len(one.spans) for one in tracks),
        len(tracks),
        min(len(lines), LINES),
        len(choice.totals),
    )
    progress("writing the page")
    out.parent.mkdir(parents=True, exist_ok=True)
    with whole(out) as part, part.open("x", encoding="utf-8") as file:
        file.writelines(
            _page(title or path.name, timeline, choice, lines, scale, viewed)
        )
    return viewed


def _scale(choice: Choice, lines: list[Series]) -> Scale:
    first = [int(one.times[0]) for one in lines] + [choice.first] * bool(choice.spans)
    last = [int(one.times[-1]) for one in lines] + [choice.last] * bool(choice.spans)
    return Scale(min(first), max(last))


def _page(
    title: str,
    timeline: Timeline,
    choice: Choice,
    lines: list[Series],
    scale: Scale,
    viewed: Viewed,
) -> Iterator[str]:
    yield f"{_HEAD}<title>{safe(title)}: trace</title>\n<style>{_STYLE}</style>\n"
    yield f"</head>\n<body>\n<main>\n<h1>{safe(title)}</h1>\n"
    yield from _facts(timeline, lines, scale, viewed)
    yield '<div class="time" tabindex="0" role="region" aria-label="Timeline">\n'
    yield f"{_axis(scale)}\n"
    yield from _tracks(choice.tracks[:TRACKS], scale)
    by_process: dict[int | str, list[Series]] = {}
    for one in lines[:LINES]:
        by_process.setdefault(one.pid, []).append(one)
    for pid, series in by_process.items():
        yield f"<h2>Counters of {safe(timeline.process(pid))}</h2>\n"
        yield from counter_lines(series, scale)
    yield "</div>\n"
    yield from _table(choice)
    yield "</main>\n</body>\n</html>\n"


def _facts(
    timeline: Timeline, lines: list[Series], scale: Scale, viewed: Viewed
) -> Iterator[str]:
    found = timeline.found
    left_out = {
        "shorter spans are not drawn": viewed.spans - viewed.drawn,
        "series of counters are not drawn": len(lines)
        - viewed.lines
        + timeline.series_left_out,
        "instants are not drawn": timeline.instants,
        "events could not be read": found.bad_events + found.not_objects,
    }
    yield (
        f"<p>{viewed.events:,} events in {duration(scale.last - scale.first)};"
        f" {viewed.drawn:,} of {viewed.spans:,} spans are drawn, on {viewed.tracks:,}"
        f" tracks. Hold the pointer over a span for its name and times.</p>\n"
    )
    for what, count in left_out.items():
        if count:
            yield f"<p>{count:,} {what}.</p>\n"
    if found.unterminated:
        yield "<p>The file ends before its end.</p>\n"


def _axis(scale: Scale) -> str:
    marks = "".join(
        f'<line class="tick" x1="{x}" x2="{x}" y1="0" y2="6"/>'
        f'<text x="{x}" y="18" text-anchor="{_anchor(x)}">{safe(text)}</text>'
        for x, text in scale.ticks()
    )
    return (
        f'<svg role="img" aria-label="Time since the first event" width="{WIDTH}"'
        f' height="22" viewBox="0 0 {WIDTH} 22">{marks}</svg>'
    )


def _anchor(x: float) -> str:
    return "start" if x < 20 else "end" if x > WIDTH - 20 else "middle"


def _tracks(tracks: list[Track], scale: Scale) -> Iterator[str]:
    process = None
    for track in sorted(tracks, key=lambda one: one.process):
        if track.process != process:
            process = track.process
            yield f"<h2>{safe(process)}</h2>\n"
        yield f"<h3>{safe(track.name)}</h3>\n{track_svg(track, scale)}\n"


def _table(choice: Choice) -> Iterator[str]:
    shown = f"{len(choice.totals):,} of {choice.names:,} names, by their total time"
    yield f"<h2>Totals</h2>\n<table>\n<caption>{shown}</caption>\n<thead><tr>"
    for head in ("Name", "Count", "Total", "Self", "Mean"):
        yield f'<th scope="col">{head}</th>'
    yield "</tr></thead>\n<tbody>\n"
    for one in choice.totals:
        mean = duration(one.total / one.count)
        yield (
            f"<tr><td>{safe(one.name) or '(no name)'}</td><td>{one.count:,}</td>"
            f"<td>{duration(one.total)}</td><td>{duration(one.self_time)}</td>"
            f"<td>{mean}</td></tr>\n"
        )
    yield "</tbody>\n</table>\n"
