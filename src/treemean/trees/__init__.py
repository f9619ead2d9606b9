"""Trees and treebanks; everything else in the house speaks in these."""

from treemean.trees.bitsets import compatible
from treemean.trees.drawing.text import draw
from treemean.trees.strings import CodedStrings, Strings
from treemean.trees.tree import Child, Constituent, Tree
from treemean.trees.treebank import Treebank

Tree.__str__ = draw  # type: ignore[assignment]  # here, as drawings know trees, and trees no drawings

__all__ = ["Child", "CodedStrings", "Constituent", "Strings", "Tree", "Treebank", "compatible"]
