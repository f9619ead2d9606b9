"""Six neural grammars over raw text, and branching baselines, behind one interface."""

from treemean.grammars.build import build_grammar
from treemean.grammars.config import KINDS, GrammarConfig
from treemean.grammars.grammar import Grammar, Loss
from treemean.grammars.spans import SpanPosteriors

__all__ = ["KINDS", "Grammar", "GrammarConfig", "Loss", "SpanPosteriors", "build_grammar"]
