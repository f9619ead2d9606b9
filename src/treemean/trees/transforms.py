"""All transforms of treebanks and trees under one name."""

from treemean.trees.binarise import binarise, unbinarise
from treemean.trees.branching import branching
from treemean.trees.continuous import make_continuous
from treemean.trees.labels import drop_functions, drop_labels, join_functions, split_functions
from treemean.trees.normalise import filter_by_length, lower_case, normalise_numbers
from treemean.trees.punctuation import move_punctuation, remove_punctuation, remove_words
from treemean.trees.selecting import discontinuous_sentences, select_constituents, select_sentences
from treemean.trees.unaries import collapse_unaries

__all__ = [
    "binarise",
    "branching",
    "collapse_unaries",
    "discontinuous_sentences",
    "drop_functions",
    "drop_labels",
    "filter_by_length",
    "join_functions",
    "lower_case",
    "make_continuous",
    "move_punctuation",
    "normalise_numbers",
    "remove_punctuation",
    "remove_words",
    "select_constituents",
    "select_sentences",
    "split_functions",
    "unbinarise",
]
