"""The page with curves of training: what it reads, and what it shows."""

from __future__ import annotations

import json
import math
import re
from pathlib import Path
from xml.etree import ElementTree

import pytest

from treemean import FormatError
from treemean.reporting.curves import COLOURS, curves_svg, legend_html
from treemean.reporting.learning import PAGE, learning_page, read_curves, write_learning_page


def step(epoch: int, number: int, perplexity: float) -> dict[str, object]:
    return {
        "event": "step",
        "epoch": epoch,
        "step": number,
        "perplexity": perplexity,
        "rate": 0.01,
        "words_per_second": 1000.0,
    }


def epoch(number: int, end: int, perplexity: float, f1: float | None, selected: bool) -> dict[str, object]:
    return {
        "event": "epoch",
        "epoch": number,
        "step": end,
        "development": {"perplexity": perplexity, "f1": f1},
        "selected": selected,
        "seconds": 90.0 * number,
    }


def write_run(folder: Path, name: str, lines: list[dict[str, object]], rest: str = "") -> Path:
    path = folder / name / "metrics.jsonl"
    path.parent.mkdir(parents=True)
    path.write_text("".join(json.dumps(line) + "\n" for line in lines) + rest)
    return path


LINES = [
    *(step(1, 5, 800.0), step(1, 10, 600.0), epoch(1, 10, 500.0, 30.0, True)),
    *(step(2, 15, 400.0), step(2, 20, 300.0), epoch(2, 20, 250.0, 40.0, True)),
    step(3, 22, 280.0),
]


def test_what_runs_measured_is_read(tmp_path: Path) -> None:
    write_run(tmp_path, "run01", LINES, '{"event": "st')
    (run,) = read_curves(tmp_path)
    assert [place for place, *_ in run.steps] == [0.5, 1.0, 1.5, 2.0, 2.2]
    assert run.development("f1") == [(1.0, 30.0), (2.0, 40.0)]
    assert (run.chosen, run.finished) == (2, False)
    (tmp_path / "run01" / "result.json").write_text("{}")
    assert read_curves(tmp_path)[0].finished


def test_repeated_steps_count_once(tmp_path: Path) -> None:
    write_run(tmp_path, "run01", [*LINES[:3], step(2, 15, 999.0), *LINES[3:]])
    (run,) = read_curves(tmp_path)
    assert [perplexity for _, perplexity, *_ in run.steps] == [800.0, 600.0, 400.0, 300.0, 280.0]


@pytest.mark.parametrize("bad", ["no JSON", '{"event": "step"}', "[]"])
def test_a_bad_line_is_named(tmp_path: Path, bad: str) -> None:
    path = write_run(tmp_path, "run01", LINES[:2], f"{bad}\n")
    with pytest.raises(FormatError, match=re.escape(f"{path}:3: not a line of measurements")):
        read_curves(tmp_path)


def test_the_page_shows_all_runs_and_asks_to_be_loaded_again(tmp_path: Path) -> None:
    write_run(tmp_path, "run01", LINES)
    write_run(tmp_path, "run02", [])
    page = write_learning_page(tmp_path).read_text()
    assert (tmp_path / PAGE).read_text() == page
    assert 'http-equiv="refresh"' in page
    assert page.count("<svg") == 5  # no F1 of continuous constituents was measured
    assert {"run01", "run02"} <= set(re.findall(r"</i>(\w+)</span>", page))
    for name in ("run01", "run02"):
        (tmp_path / name / "result.json").write_text("{}")
    finished = learning_page(read_curves(tmp_path), "a <b>")
    assert "refresh" not in finished
    assert "a &lt;b&gt;" in finished
    assert "http" not in finished  # nothing is fetched


def test_curves_are_within_their_frame() -> None:
    lines = {
        "a": [(float(x), 10.0 ** (x % 5)) for x in range(1000)],
        "b": [(0.0, math.nan), (1.0, 0.0), (2.0, 3.0)],
        "c": [],
    }
    root = ElementTree.fromstring(curves_svg(lines, x="epochs", y="perplexity", log=True))
    _, _, width, height = map(float, root.attrib["viewBox"].split())
    drawn = [path.attrib["d"] for path in root if path.attrib.get("class") == "line"]
    assert len(drawn) == 2
    for path in drawn:
        for x, y in re.findall(r"([-\d.]+) ([-\d.]+)", path):
            assert 0 <= float(x) <= width
            assert 0 <= float(y) <= height
    assert "Nothing was measured yet" in curves_svg({"a": []}, x="epochs", y="F1")
    assert "svg" in curves_svg({"a": [(1.0, 2.0)]}, x="epochs", y="F1")  # a single point


def test_more_lines_than_colours_are_dashed() -> None:
    assert legend_html([str(n) for n in range(len(COLOURS) + 1)]).count("dashed") == 1
