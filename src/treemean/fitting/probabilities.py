"""How likely the constituents of trees are right, with a fitted model or by the runs alone."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from treemean.fitting.candidates.votes import VoteSums
from treemean.fitting.models.hit_model import HitModel
from treemean.fitting.procedure import fit_batches
from treemean.fitting.procedure.options import Options
from treemean.fitting.procedure.weights import fit_without_gold
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
    fitted = model or fit_alone([runs], len(runs), labelled=labelled)
    return fitted.with_probabilities(trees, runs)


def fit_alone(batches: Iterable[Sequence[Treebank]], runs: int, *, labelled: bool = False) -> HitModel:
    """Return what so many runs alone tell of probabilities, from sums over batches."""
    return fit_batches(batches, WITHOUT_GOLD, Options(labelled=labelled), runs)


def model_alone(votes: VoteSums, *, labelled: bool) -> HitModel:
    """Return the same from votes that are counted already."""
    names = tuple(f"run {k}" for k in range(1, votes.runs + 1))
    return replace(fit_without_gold(votes.table(), WITHOUT_GOLD, Options(labelled=labelled)), runs=names)


def with_a_say(weights: Sequence[float] | None, runs: int) -> list[int]:
    """Return which of the runs have a weight.

    >>> with_a_say([1, 0, 2], 3), with_a_say(None, 2)
    ([0, 2], [0, 1])
    """
    return [k for k in range(runs) if weights is None or k >= len(weights) or weights[k]]
