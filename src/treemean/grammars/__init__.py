"""Six neural grammars over raw text, and branching baselines, behind one interface."""

from treemean.grammars.baselines import BASELINES, BranchingBaseline
from treemean.grammars.build import assemble_grammar, build_grammar
from treemean.grammars.config import KINDS, GrammarConfig
from treemean.grammars.grammar import Grammar, Loss, TreeModel
from treemean.grammars.nan_policy import Careful
from treemean.grammars.spans import SpanPosteriors

__all__ = [
    "BASELINES",
    "KINDS",
    "BranchingBaseline",
    "Careful",
    "Grammar",
    "GrammarConfig",
    "Loss",
    "SpanPosteriors",
    "TreeModel",
    "assemble_grammar",
    "build_grammar",
]
