"""How likely the constituents of trees are right, with a fitted model or by the runs alone."""

from __future__ import annotations

from collections.abc import Sequence

from treemean.fitting.fit import fit
from treemean.fitting.models.hit_model import HitModel
from treemean.trees import Treebank

#: The model of votes whose estimates are calibrated by runs that are left out.
WITHOUT_GOLD = "agreement"


def add_probabilities(
    trees: Treebank, runs: Sequence[Treebank], model: HitModel | None = None, *, labelled: bool = False
) -> Treebank:
    """Return trees with the value `probability` for every constituent.

    Parameters
    ----------
    trees : an average of the runs, or any other trees of the same sentences.
    runs : those that propose constituents; with a model the same in the same order as it was fitted to.
    model : fitted to gold trees of other sentences. Without one the runs themselves tell: the probability is
        that two further runs would both propose the constituent. This needs two runs or more, and many
        sentences at once.
    labelled : without a model: whether it is the probability of labelled constituents. With one, the model
        says that.

    >>> from treemean.trees import Tree
    >>> a, b = (
    ...     Treebank.from_trees([Tree("x y z".split(), [({0, 1, 2}, ""), (words, "")])] * 20)
    ...     for words in ({0, 1}, {1, 2})
    ... )
    >>> by_words = add_probabilities(a, [a, a, b])[0]
    >>> [(c.positions, round(c.values["probability"], 1)) for c in by_words]
    [((0, 1, 2), 1.0), ((0, 1), 0.2)]
    """
    fitted = model or fit(runs, None, WITHOUT_GOLD, labelled=labelled)
    return fitted.with_probabilities(trees, runs)
