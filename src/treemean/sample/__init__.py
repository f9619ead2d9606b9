"""A sample treebank, written for this package: grammars, a generator, simulated parsers, and a fixed sample.

>>> from treemean import sample
>>> sample.gold()
<Treebank: 360 sentences, 3510 words, 1853 constituents>
"""

from treemean.sample.embedded import gold, runs, write_sample
from treemean.sample.generator import LANGUAGES, UnknownLanguage, generate, tree_of
from treemean.sample.grammar import Derivation, Grammar, GrammarError, Rule
from treemean.sample.noise import noisy_parses
from treemean.sample.notation import read_grammar, read_paradigms

__all__ = [
    "LANGUAGES",
    "Derivation",
    "Grammar",
    "GrammarError",
    "Rule",
    "UnknownLanguage",
    "generate",
    "gold",
    "noisy_parses",
    "read_grammar",
    "read_paradigms",
    "runs",
    "tree_of",
    "write_sample",
]
