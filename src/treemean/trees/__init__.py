"""Trees and treebanks; everything else in the house speaks in these."""

from treemean.trees.alike import as_treebank
from treemean.trees.bitsets import compatible
from treemean.trees.drawing.svg import draw_svg
from treemean.trees.drawing.text import draw
from treemean.trees.spans import Individual, SpanRow, SpanTable
from treemean.trees.strings import CodedStrings, Strings
from treemean.trees.tree import Child, Constituent, Tree
from treemean.trees.treebank import Treebank

# Here, as drawings know trees, and trees no drawings; notebooks show the second one.
Tree.__str__ = draw  # type: ignore[assignment]
Tree._repr_svg_ = draw_svg  # type: ignore[attr-defined]

__all__ = [
    "Child",
    "CodedStrings",
    "Constituent",
    "Individual",
    "SpanRow",
    "SpanTable",
    "Strings",
    "Tree",
    "Treebank",
    "as_treebank",
    "compatible",
]
