"""Drawings of trees, discontinuous or not: for the terminal and as SVG."""

from treemean.trees.drawing.svg import draw_svg
from treemean.trees.drawing.text import draw

__all__ = ["draw", "draw_svg"]
