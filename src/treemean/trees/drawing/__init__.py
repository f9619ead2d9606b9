"""Drawings of trees, discontinuous or not: for the terminal, as SVG, and from that as PNG, PDF and TikZ."""

from treemean.trees.drawing.files import draw_as, drawing_format
from treemean.trees.drawing.images import image_of_svg
from treemean.trees.drawing.sheets import Panel, Row, draw_sheet, draw_sheet_svg
from treemean.trees.drawing.svg import draw_svg
from treemean.trees.drawing.text import draw
from treemean.trees.drawing.tikz import tikz_of_svg

__all__ = [
    "Panel",
    "Row",
    "draw",
    "draw_as",
    "draw_sheet",
    "draw_sheet_svg",
    "draw_svg",
    "drawing_format",
    "image_of_svg",
    "tikz_of_svg",
]
