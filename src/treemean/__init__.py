"""treemean: the tree that agrees best with several constituency trees of a sentence.

>>> import treemean
>>> tree = treemean.Tree("Wake your friend up".split(), [({0, 1, 2, 3}, "S"), ({0, 3}, "V"), ({1, 2}, "NP")])
>>> tree.fan_out
2

Names are loaded when they are first used, so that a part of the package needs only what that part imports.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from treemean._version import __version__

if TYPE_CHECKING:
    from treemean import sample
    from treemean.agreement import agree
    from treemean.averaging import all_optima, average, count_optima, k_best
    from treemean.errors import (
        FormatError,
        InvalidOption,
        InvalidTree,
        LossWarning,
        MismatchError,
        MissingDependency,
        TreemeanError,
        UnwritableTree,
    )
    from treemean.evaluation import Evaluation, compare, evaluate
    from treemean.formats import Problems, TreebankWriter, Unwritable, read, read_batches, write
    from treemean.formats.arrowtables import from_arrow
    from treemean.formats.spans import read_spans, write_spans
    from treemean.formats.texts import from_brackets, to_brackets
    from treemean.trees import Constituent, SpanTable, Tree, Treebank, transforms
    from treemean.trees.drawing import draw, draw_svg
    from treemean.trees.from_nltk import from_nltk
    from treemean.trees.statistics import Statistics, statistics

__all__ = [
    "Constituent",
    "Evaluation",
    "FormatError",
    "InvalidOption",
    "InvalidTree",
    "LossWarning",
    "MismatchError",
    "MissingDependency",
    "Problems",
    "SpanTable",
    "Statistics",
    "Tree",
    "Treebank",
    "TreebankWriter",
    "TreemeanError",
    "Unwritable",
    "UnwritableTree",
    "__version__",
    "agree",
    "all_optima",
    "average",
    "compare",
    "count_optima",
    "draw",
    "draw_svg",
    "evaluate",
    "from_arrow",
    "from_brackets",
    "from_nltk",
    "k_best",
    "read",
    "read_batches",
    "read_spans",
    "sample",
    "statistics",
    "to_brackets",
    "transforms",
    "write",
    "write_spans",
]

_HOMES = {
    "treemean.agreement": ("agree",),
    "treemean.averaging": ("all_optima", "average", "count_optima", "k_best"),
    "treemean.errors": (
        "FormatError",
        "InvalidOption",
        "InvalidTree",
        "LossWarning",
        "MismatchError",
        "MissingDependency",
        "TreemeanError",
        "UnwritableTree",
    ),
    "treemean.evaluation": ("Evaluation", "compare", "evaluate"),
    "treemean.formats": ("Problems", "TreebankWriter", "Unwritable", "read", "read_batches", "write"),
    "treemean.formats.arrowtables": ("from_arrow",),
    "treemean.formats.spans": ("read_spans", "write_spans"),
    "treemean.formats.texts": ("from_brackets", "to_brackets"),
    "treemean.trees.from_nltk": ("from_nltk",),
    "treemean.trees": ("Constituent", "SpanTable", "Tree", "Treebank"),
    "treemean.trees.drawing": ("draw", "draw_svg"),
    "treemean.trees.statistics": ("Statistics", "statistics"),
}
_HOME_OF = {name: module for module, names in _HOMES.items() for name in names}
_MODULES = {"sample": "treemean.sample", "transforms": "treemean.trees.transforms"}


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        value: Any = import_module(_MODULES[name])
    elif name in _HOME_OF:
        value = getattr(import_module(_HOME_OF[name]), name)
    else:
        raise AttributeError(f"module 'treemean' has no attribute {name!r}")
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
