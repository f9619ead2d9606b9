"""Drawings that were looked at and found good.

After a change of the drawing, `python tests/drawing/test_drawing_golden.py` writes them anew, to be looked
at again.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from drawing_examples import (
    BOOK,
    CROSS_SERIAL,
    GERMAN,
    GERMAN_GUESS,
    JAPANESE,
    LETTER,
    UNARY,
    WAKE,
    supported,
)

from treemean.trees.drawing import Panel, Row, draw, draw_sheet, draw_sheet_svg, draw_svg, tikz_of_svg

GOLDEN = Path(__file__).parent / "golden"
IMAGES = Path(__file__).parents[2] / "docs" / "images"

SHEET = [
    Row([Panel(GERMAN, "gold"), Panel(GERMAN_GUESS, "run1")], "sentence 1"),
    Row([Panel(BOOK, "gold"), Panel(WAKE, "run1")], "sentence 2"),
]

TEXTS: dict[str, Callable[[], str]] = {
    "book.txt": lambda: draw(BOOK),
    "wake.txt": lambda: draw(WAKE),
    "german.txt": lambda: draw(GERMAN),
    "german-sideways.txt": lambda: draw(GERMAN, max_width=50),
    "german-gold.txt": lambda: draw(GERMAN_GUESS, gold=GERMAN),
    "german-gold-colour.txt": lambda: draw(GERMAN_GUESS, gold=GERMAN, color=True),
    "german-support.txt": lambda: draw(supported(GERMAN, [1, 0.83, 0.5, 0.2]), values="support"),
    "cross-serial.txt": lambda: draw(CROSS_SERIAL),
    "japanese.txt": lambda: draw(JAPANESE),
    "japanese-sideways.txt": lambda: draw(JAPANESE.replace(words=["日本語"] * 7), max_width=45),
    "letter.txt": lambda: draw(LETTER),
    "letter-sideways.txt": lambda: draw(LETTER, max_width=60),
    "unary.txt": lambda: draw(UNARY),
    "side-by-side.txt": lambda: draw_sheet(SHEET),
    "cross-serial.tex": lambda: tikz_of_svg(draw_svg(CROSS_SERIAL)),
}
PICTURES: dict[str, Callable[[], str]] = {
    "wake-your-friend-up.svg": lambda: draw_svg(WAKE),
    "german.svg": lambda: draw_svg(GERMAN_GUESS, gold=GERMAN),
    "side-by-side.svg": lambda: draw_sheet_svg(SHEET[:1]),
}


@pytest.mark.parametrize("name", TEXTS)
def test_text(name: str) -> None:
    assert TEXTS[name]() + "\n" == (GOLDEN / name).read_text(encoding="utf-8")


@pytest.mark.skipif(not IMAGES.is_dir(), reason="the documentation is not part of the source distribution")
@pytest.mark.parametrize("name", PICTURES)
def test_picture(name: str) -> None:
    assert PICTURES[name]() == (IMAGES / name).read_text(encoding="utf-8")


if __name__ == "__main__":
    for name, make in TEXTS.items():
        (GOLDEN / name).write_text(make() + "\n", encoding="utf-8")
    for name, make in PICTURES.items():
        (IMAGES / name).write_text(make(), encoding="utf-8")
