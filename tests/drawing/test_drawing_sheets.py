"""Several trees on one sheet: everything is there, named, and apart."""

from __future__ import annotations

from itertools import combinations

import pytest
from drawing_examples import BOOK, GERMAN, GERMAN_GUESS, WAKE, supported
from hypothesis import given
from hypothesis import strategies as st

from strategies import trees
from treemean.errors import TreemeanError
from treemean.trees import Tree
from treemean.trees.drawing import Panel, Row, draw, draw_sheet, draw_sheet_svg, draw_svg
from treemean.trees.drawing.metrics import columns, ems
from treemean.trees.drawing.picture import Picture, Text, read_picture

NAMES = st.sampled_from(["", "run1", "a rather long name of a run, longer than its tree"])


@st.composite
def sheets(draw: st.DrawFn) -> list[Row]:
    """Draw up to three rows of up to three panels."""
    panel = st.builds(Panel, trees(max_words=5), NAMES)
    row = st.builds(Row, st.lists(panel, min_size=1, max_size=3), st.sampled_from(["", "sentence 12"]))
    return draw(st.lists(row, min_size=1, max_size=3))


def box(text: Text, size: float) -> tuple[float, float, float, float]:
    """Estimate the space of a text: left, top, right, bottom."""
    width = sum(ems(run.text) * run.size for run in text.runs) * size
    left = text.x - width / 2 if text.anchor == "middle" else text.x
    return left, text.y - 0.75 * size, left + width, text.y + 0.2 * size


def all_texts(picture: Picture) -> list[str]:
    return ["".join(run.text for run in text.runs) for text in picture.texts]


@given(sheets())
def test_everything_of_a_picture_is_there_and_apart(rows: list[Row]) -> None:
    picture = read_picture(draw_sheet_svg(rows))
    panels = [panel for row in rows for panel in row.panels]
    expected = [text for panel in panels for text in all_texts(read_picture(draw_svg(panel.tree)))]
    expected += [panel.name for panel in panels if panel.name] + [r.heading for r in rows if r.heading]
    assert sorted(all_texts(picture)) == sorted(expected)
    boxes = [box(text, picture.font_size) for text in picture.texts]
    for a, b in combinations(boxes, 2):
        assert not (a[0] < b[2] and b[0] < a[2] and a[1] < b[3] and b[1] < a[3])
    points = [point for stroke in picture.strokes for _, points in stroke.steps for point in points]
    corners = points + [c for left, top, right, bottom in boxes for c in ((left, top), (right, bottom))]
    for x, y in corners:
        assert 0 <= x <= picture.width
        assert 0 <= y <= picture.height


def test_trees_stand_beside_one_another_and_sentences_below() -> None:
    rows = [
        Row([Panel(WAKE, "a"), Panel(WAKE, "b")], "one"),
        Row([Panel(BOOK, "a"), Panel(BOOK, "b")], "two"),
    ]
    picture = read_picture(draw_sheet_svg(rows))
    places = {}
    for text, content in zip(picture.texts, all_texts(picture), strict=True):
        places.setdefault(content, []).append((text.x, text.y))
    (wake_a, wake_b), (book_a, book_b) = places["Wake"], places["book"]
    assert wake_a[1] == wake_b[1]
    assert wake_a[0] < wake_b[0]
    assert wake_a[1] < book_a[1] == book_b[1]
    for name, left, right in (("a", "Wake", "up"), ("b", "Wake", "up")):  # names are in the middle of trees
        index = "ab".index(name)
        assert places[left][index][0] < places[name][0][0] < places[right][index][0]
        assert places[name][0][1] < places["S"][index][1]
    assert places["one"][0][1] < places["a"][0][1]


def test_a_sheet_of_one_tree_is_its_drawing() -> None:
    alone = [Row([Panel(GERMAN_GUESS, gold=GERMAN)])]
    assert draw_sheet_svg(alone) == draw_svg(GERMAN_GUESS, gold=GERMAN)
    assert draw_sheet(alone) == draw(GERMAN_GUESS, gold=GERMAN)
    assert draw_sheet(alone, color=True, max_width=50) == draw(
        GERMAN_GUESS, gold=GERMAN, color=True, max_width=50
    )


@given(sheets(), st.booleans())
def test_everything_of_a_text_is_there(rows: list[Row], color: bool) -> None:
    text = draw_sheet(rows, color=color)
    lines = text.split("\n")
    for row in rows:
        assert not row.heading or row.heading in lines
        for panel in row.panels:
            assert panel.name in text
            for line in draw(panel.tree, color=color).split("\n"):
                assert line in text
    assert all(line == line.rstrip() for line in lines)


def test_trees_that_do_not_fit_beside_one_another_go_below() -> None:
    panels = [Panel(WAKE, name) for name in "abc"]
    width = max(columns(line) for line in draw(WAKE).split("\n"))
    for beside, rows in ((3, [["a", "b", "c"]]), (2, [["a", "b"], ["c"]]), (1, [["a"], ["b"], ["c"]])):
        limit = beside * width + (beside - 1) * 4
        text = draw_sheet([Row(panels)], max_width=limit)
        assert [block.split("\n")[0].split() for block in text.split("\n\n")] == rows
        assert max(columns(line) for line in text.split("\n")) <= limit


def test_colours_do_not_count_as_columns() -> None:
    rows = [Row([Panel(GERMAN_GUESS, "left", GERMAN), Panel(WAKE, "right")])]
    plain, colored = draw_sheet(rows).split("\n"), draw_sheet(rows, color=True).split("\n")
    width = max(columns(line) for line in draw(GERMAN_GUESS, gold=GERMAN).split("\n"))
    assert plain[0].index("right") == width + 4
    assert "right" in colored[0]
    assert colored[0].index("right") <= width + 4


def test_values_are_shown_where_they_are() -> None:
    with_support = supported(WAKE, [1, 0.8, 0.6])
    rows = [Row([Panel(with_support, "mean"), Panel(WAKE, "run")])]
    assert "V 0.8" in draw_sheet(rows, values="support")
    assert all_texts(read_picture(draw_sheet_svg(rows, values="support"))).count("V 0.8") == 1
    for drawn in (draw_sheet, draw_sheet_svg):
        with pytest.raises(TreemeanError, match="no constituent has a value named 'suport'"):
            drawn(rows, values="suport")


def test_names_and_headings_are_texts() -> None:
    rows = [Row([Panel(Tree(["a"], [({0}, "S")]), "<b>&")], "x\ny")]
    assert {"<b>&", "x␊y"} <= set(all_texts(read_picture(draw_sheet_svg(rows))))
    assert draw_sheet(rows).startswith("x␊y\n\n<b>&\n")
