"""What is plotted: the series behind heat maps, bars and bands."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from registry.documents.findings import RegistryError
from tests.experiments.experiment_samples import sample_run, stored
from tests.simulators.commands import Done
from tools.experiments.record import Run
from tools.experiments.reporting import as_html, as_markdown, sections
from tools.experiments.series import band, bars, heat_map


def grid() -> list[Run]:
    """Wall time of share and concurrency, three runs each; one pair never ran."""
    runs = []
    for share in (10, 50, 100):
        for concurrency in (1, 2):
            for wall in (1.0, 2.0, 9.0):
                number = len(runs)
                if (share, concurrency) != (100, 2):
                    said = {"models_percentage": share, "concurrency": concurrency}
                    seconds = wall * share * concurrency
                    runs.append(
                        sample_run(number, parameters=said, wall_seconds=seconds)
                    )
    runs.append(
        sample_run(
            58,
            parameters={"models_percentage": 10, "concurrency": 1},
            wall_seconds=1e6,
            returncode=1,
        )
    )
    runs.append(runs[0].model_copy(update={"warm_up": True, "wall_seconds": 1e6}))
    return runs


def test_a_heat_map_has_the_median_of_runs_that_count() -> None:
    heat = heat_map(grid(), "concurrency", "models_percentage", "wall")
    assert heat.columns == (1.0, 2.0)
    assert heat.rows == (10.0, 50.0, 100.0)
    assert heat.values == ((20.0, 40.0), (100.0, 200.0), (200.0, None))


def test_a_band_has_mean_and_deviation() -> None:
    runs = [
        sample_run(n, parameters={"x": x}, wall_seconds=wall)
        for n, (x, wall) in enumerate([(10, 1.0), (2, 2.0), (2, 4.0)])
    ]
    drawn = band(runs, "x", "wall")
    assert drawn.places == (2.0, 10.0)
    assert drawn.means == (3.0, 1.0)
    assert drawn.deviations == (pytest.approx(2**0.5), 0.0)
    assert drawn.counts == (2, 1)


def test_bars_have_median_and_quartiles() -> None:
    runs = [
        sample_run(n, variant=variant, wall_seconds=wall)
        for n, (variant, wall) in enumerate(
            [("old", 1.0), ("old", 2.0), ("old", 3.0), ("new", 5.0)]
        )
    ]
    drawn = bars(runs, "variant", "wall")
    assert drawn.labels == ("new", "old")
    assert drawn.values == (5.0, 2.0)
    assert drawn.lows == (None, 1.5)
    assert drawn.highs == (None, 2.5)


def test_what_runs_do_not_have_is_refused() -> None:
    with pytest.raises(RegistryError, match='B070 no run that counts has "colour"'):
        band(grid(), "colour", "wall")
    with pytest.raises(
        RegistryError, match='B070 no run that counts has "performance"'
    ):
        band(grid(), "concurrency", "performance")
    with pytest.raises(RegistryError, match="B041"):
        heat_map(grid(), "concurrency", "models_percentage", "speed")


@pytest.mark.parametrize(
    ("options", "kind", "ending"),
    [
        (("--y", "models_percentage"), "heatmap", ".png"),
        ((), "band", ".pdf"),
        (("--kind", "bars"), "bars", ".svg"),
    ],
)
def test_plots_are_drawn_with_their_series(
    powerkit: Callable[..., Done],
    tmp_path: Path,
    options: tuple[str, ...],
    kind: str,
    ending: str,
) -> None:
    folder, output = tmp_path / "runs", Path(f"plot{ending}")
    stored(folder, *grid()[:-1])
    words = ("--x", "concurrency", *options, "-o", output, "--json")
    done = powerkit("bench", "plot", folder, *words)
    assert (done.code, done.err) == (0, "")
    document = json.loads(done.out)
    assert (document["schema"], document["kind"]) == ("plot/1", kind)
    assert output.stat().st_size > 1000
    assert not list(Path.cwd().glob(".*"))


def test_a_plot_of_an_unknown_kind_leaves_nothing(
    powerkit: Callable[..., Done], tmp_path: Path
) -> None:
    stored(tmp_path / "runs", *grid()[:-1])
    words = (tmp_path / "runs", "--x", "concurrency")
    done = powerkit("bench", "plot", *words, "-o", "plot.gif")
    assert (done.code, "B071" in done.out) == (1, True)
    assert (
        powerkit("bench", "plot", *words, "-o", "a.svg", "--kind", "heatmap").code == 2
    )
    assert not list(Path.cwd().iterdir())


def test_a_report_has_workloads_heat_map_and_failures(
    powerkit: Callable[..., Done], tmp_path: Path
) -> None:
    folder = tmp_path / "runs"
    stored(folder, *grid()[:-1])
    axes = ("--x", "concurrency", "--y", "models_percentage")
    lines = powerkit("bench", "report", folder, *axes).out.splitlines()
    assert lines[0] == "# Runs of sample"
    assert "16 runs, 1 of which do not count, from 2026-01-01T00:00:00.000000Z" in (
        "\n".join(lines)
    )
    assert "| work | none | 16 | 1 | 100 | 0.75 |  |  |" in lines
    assert "| 50 | 100 | 200 |" in lines
    assert "| 100 | 200 |  |" in lines
    assert any("code 1" in line for line in lines)
    done = powerkit("bench", "report", folder, *axes, "-o", "page.html")
    assert done.code == 0
    page = Path("page.html").read_text()
    assert '<td style="background:hsl(30,90%,60%)">200</td>' in page
    assert '<td style="background:hsl(30,90%,97%)">20</td>' in page
    assert powerkit("bench", "report", folder, "--x", "a").code == 2
    assert powerkit("bench", "report", folder, "-o", "a.txt").code == 2


def test_a_report_says_nothing_to_a_browser_or_markdown() -> None:
    name = "<script>alert(1)</script> | [a](b) `c`"
    parts = sections([sample_run(experiment=name, problems=(name,))])
    assert "<script>" not in as_html(parts)
    text = as_markdown(parts)
    assert "<" not in text
    assert "[a]" not in text.replace("\\[a\\]", "")
    row = next(line for line in text.splitlines() if "20260101" in line)
    assert row.replace("\\|", "").count("|") == 5
