"""Trees and treebanks; everything else in the house speaks in these."""

from treemean.trees.bitsets import compatible
from treemean.trees.strings import CodedStrings, Strings
from treemean.trees.tree import Child, Constituent, Tree
from treemean.trees.treebank import Treebank

__all__ = ["Child", "CodedStrings", "Constituent", "Strings", "Tree", "Treebank", "compatible"]
