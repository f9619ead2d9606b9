"""Drawings of trees, discontinuous or not: for the terminal and as SVG."""

from treemean.trees.drawing.text import draw

__all__ = ["draw"]
