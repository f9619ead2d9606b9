"""Other kinds of pictures than SVG show the same: TikZ, PNG and PDF."""

from __future__ import annotations

import io
import re
import shutil
import subprocess
import sys
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest
from drawing_examples import CROSS_SERIAL, GERMAN, GERMAN_GUESS, LETTER, UNARY, WAKE, supported
from hypothesis import given

from strategies import trees
from treemean.errors import InvalidOption, MissingDependency, TreemeanError
from treemean.trees import Tree
from treemean.trees.drawing import (
    Panel,
    Row,
    draw,
    draw_as,
    draw_sheet_svg,
    draw_svg,
    drawing_format,
    image_of_svg,
    tikz_of_svg,
)
from treemean.trees.drawing.picture import read_picture
from treemean.trees.drawing.tikz import tex

SVG = "{http://www.w3.org/2000/svg}"
ODD = Tree(
    [
        "<&>",
        '"',
        "a_b",
        "100%",
        "#1",
        "~",
        "^",
        "\\",
        "{x}",
        "PRP$",
        "--",
        "``",
        "''",
        "|",
        "…",
        "",
        "é",
        "?`",
    ],
    [(range(18), "S$"), ({0, 3, 5}, "N_P"), ({1, 2, 6, 7}, "VP|<x>"), ({2, 7}, "")],
    tags=["$,"] * 18,
)


# ---- reading SVG ------------------------------------------------------------------------------------


@given(trees())
def test_a_picture_has_what_its_svg_has(tree: Tree) -> None:
    svg = draw_svg(tree)
    root, picture = ET.fromstring(svg), read_picture(svg)
    paths = list(root.iter(f"{SVG}path"))
    assert len(picture.strokes) == len(paths) == len(tree.constituents)
    for stroke, path in zip(picture.strokes, paths, strict=True):
        commands = re.sub("[^MHVQ]", "", path.get("d", ""))
        names = {"M": "move", "H": "line", "V": "line", "Q": "curve"}
        assert [kind for kind, _ in stroke.steps] == [names[command] for command in commands]
    texts = [(float(e.get("x", "")), float(e.get("y", "")), e.text) for e in root.iter(f"{SVG}text")]
    assert [(text.x, text.y, text.runs[0].text) for text in picture.texts] == texts


def test_styles_are_those_of_the_sheet() -> None:
    picture = read_picture(draw_svg(GERMAN))
    by_text = {text.runs[0].text: text.runs[0] for text in picture.texts}
    assert (by_text["S"].color, by_text["S"].bold, by_text["S"].size) == ("#1f2328", True, 1.0)
    assert (by_text["VP"].color, by_text["VP"].bold) == ("#0072b2", True)  # discontinuous
    assert (by_text["PROAV"].color, by_text["PROAV"].bold, by_text["PROAV"].size) == ("#656d76", False, 0.8)
    assert {stroke.color for stroke in picture.strokes} == {"#7d8590", "#0072b2"}
    compared = read_picture(draw_svg(GERMAN_GUESS, gold=GERMAN))
    assert {(s.color, s.width, s.dashes) for s in compared.strokes} == {
        ("#7d8590", 1.4, ()),  # the whole sentence, which does not count
        ("#009e73", 1.4, ()),
        ("#d55e00", 1.4, (5.0, 3.5)),
        ("#0072b2", 1.8, (0.1, 3.6)),
        ("#0072b2", 1.4, ()),
        ("#0072b2", 1.0, (0.1, 5.0)),
    }
    valued = read_picture(draw_svg(supported(WAKE, [1, 0.8, 0.5]), values="support"))
    assert [(s.width, s.opacity) for s in valued.strokes] == [(2.2, 1.0), (1.9, 0.86), (1.45, 0.65)]
    label, value = next(text for text in valued.texts if text.runs[0].text == "V ").runs
    assert (label.bold, value.text, value.bold, value.color, value.size) == (
        True,
        "0.8",
        False,
        "#656d76",
        0.8,
    )


# ---- TikZ -------------------------------------------------------------------------------------------


@given(trees())
def test_tikz_has_a_node_for_every_text_and_a_line_for_every_stroke(tree: Tree) -> None:
    svg = draw_svg(tree)
    code, picture = tikz_of_svg(svg), read_picture(svg)
    lines = code.split("\n")
    assert lines[1].startswith(r"\begin{tikzpicture}[")
    assert lines[-1] == r"\end{tikzpicture}"
    assert sum(line.startswith(r"\draw[") and line.endswith(";") for line in lines) == len(picture.strokes)
    assert sum(line.startswith(r"\node[") and line.endswith("};") for line in lines) == len(picture.texts)
    plain = re.sub(r"\\[{}]", "", code)
    assert plain.count("{") == plain.count("}")
    defined = set(re.findall(r"\\definecolor\{(\w+)\}", code))
    assert set(re.findall(r"\\draw\[(\w+)", code)) | set(re.findall(r"\\color\{(\w+)\}", code)) == defined


def test_special_characters_are_escaped() -> None:
    assert tex(r"50% of $x_1 & {y} \z") == r"50\% of \$x\_1 \& \{y\} \textbackslash{}z"
    assert tex("~^<>|#") == (r"\textasciitilde{}\textasciicircum{}\textless{}\textgreater{}\textbar{}\#")
    assert tex("--") == "{-}{-}"


def test_strokes_that_are_dashed_or_pale_are_so_in_tikz() -> None:
    assert "dash pattern=on 0.357em off 0.250em" in tikz_of_svg(draw_svg(GERMAN_GUESS, gold=GERMAN))
    assert "draw opacity=0.86" in tikz_of_svg(draw_svg(supported(WAKE, [1, 0.8, 0.5]), values="support"))


@pytest.mark.skipif(shutil.which("pdflatex") is None, reason="there is no LaTeX on this machine")
def test_latex_compiles_it(tmp_path: Path) -> None:
    rows = [Row([Panel(GERMAN_GUESS, "a_1", GERMAN), Panel(CROSS_SERIAL, "b")], "sentence 1")]
    rows += [Row([Panel(tree)]) for tree in (LETTER, UNARY, ODD)]
    (tmp_path / "tree.tex").write_bytes(draw_as(rows, "tex"))
    document = r"\documentclass{article}\usepackage{tikz}\begin{document}\input{tree}\end{document}"
    (tmp_path / "paper.tex").write_text(document)
    command = ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "-draftmode", "paper.tex"]
    result = subprocess.run(command, cwd=tmp_path, capture_output=True, check=False)
    log = result.stdout.decode("utf-8", "replace")
    assert result.returncode == 0, log[-2000:]
    assert "Missing character" not in log


# ---- PNG and PDF ------------------------------------------------------------------------------------


def test_png_shows_the_picture() -> None:
    image = pytest.importorskip("matplotlib.image")
    svg = draw_sheet_svg([Row([Panel(WAKE, "a"), Panel(GERMAN_GUESS, "b", GERMAN)], "sentence 1")])
    picture = read_picture(svg)
    data = image_of_svg(svg, "png")
    assert data == image_of_svg(svg, "png")
    pixels = image.imread(io.BytesIO(data))
    assert pixels.shape[1] == pytest.approx(2 * picture.width, abs=2)
    assert pixels.shape[0] == pytest.approx(2 * picture.height, abs=2)
    for text in picture.texts:  # there is ink where texts stand, on both sides of their middle
        x, y, reach = int(2 * text.x), int(2 * text.y), int(picture.font_size)
        middle = x + (3 * reach if text.anchor == "start" else 0)
        around = pixels[y - reach : y + reach // 3, middle - reach : middle + reach, :3]
        assert around.min() < 0.6, text
    for stroke in picture.strokes:
        x, y = stroke.steps[0][1][-1]
        column = pixels[int(2 * y) - 6 : int(2 * y) + 7, int(2 * x) - 3 : int(2 * x) + 4, :3]
        assert column.min() < 0.8, stroke
    assert pixels[:4, :4, :3].min() == 1.0


def test_pdf_is_the_same_each_time() -> None:
    pytest.importorskip("matplotlib")
    data = image_of_svg(draw_svg(ODD), "pdf")
    assert data.startswith(b"%PDF-")
    assert data == image_of_svg(draw_svg(ODD), "pdf")


def test_a_character_that_no_font_has_is_told() -> None:
    pytest.importorskip("matplotlib")
    tree = Tree(["a", "\U0010fffd"], [({0, 1}, "S")])
    with pytest.raises(TreemeanError, match="no font of matplotlib has \U0010fffd: install one"):
        image_of_svg(draw_svg(tree), "png")


def test_a_picture_that_is_too_large_is_told() -> None:
    pytest.importorskip("matplotlib")
    rows = [Row([Panel(WAKE)])] * 300
    with pytest.raises(
        TreemeanError, match=r"by \d{5,} pixels is too large for PNG: draw fewer trees, or SVG"
    ):
        draw_as(rows, "png")


def test_the_extra_is_named_where_matplotlib_is_absent(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    for name in ("tree.png", "tree.pdf"):
        with pytest.raises(MissingDependency, match=r"pip install 'treemean\[plots\]'"):
            drawing_format(name)
    assert drawing_format("tree.svg") == "svg"
    assert draw_as([Row([Panel(WAKE)])], "tex").startswith(b"% Needs")


def test_a_text_file_has_colours_on_request() -> None:
    rows = [Row([Panel(GERMAN)])]
    assert draw_as(rows, "txt") == (draw(GERMAN) + "\n").encode()
    assert draw_as(rows, "txt", color=True) == (draw(GERMAN, color=True) + "\n").encode()


def test_names_tell_the_format() -> None:
    for ending in ("svg", "png", "pdf", "tex", "txt"):
        assert drawing_format(f"a.b/tree.{ending.upper()}") == ending
    for name in ("tree.jpg", "tree", "tree.svg.gz", ".svg"):
        with pytest.raises(InvalidOption, match=r"drawings end in \.svg, \.png, \.pdf, \.tex, \.txt"):
            drawing_format(name)
