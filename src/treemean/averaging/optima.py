"""All averages of a sentence, their number, and the trees that come next."""

from __future__ import annotations

from collections.abc import Iterable
from math import prod
from typing import Any

import numpy as np

from treemean import _core
from treemean.averaging.alignment import check_aligned
from treemean.averaging.arguments import listed, whole_number
from treemean.averaging.exact import core_individuals, core_options, exact, result_of, with_frequencies
from treemean.averaging.request import NODE_LIMIT, AverageRequest, HitsLike, make_request
from treemean.averaging.ties import TiesLike
from treemean.averaging.weights import WeightsLike
from treemean.averaging.words import voted_words
from treemean.errors import TreemeanError
from treemean.names import Unaries
from treemean.trees import Tree, Treebank

# What the core's integers hold; no list is so long.
_MOST_TREES = 1 << 62


def count_optima(
    trees: Iterable[Tree],
    weights: WeightsLike = None,
    *,
    beta: float = 1.0,
    hits: HitsLike = None,
    node_limit: int = NODE_LIMIT,
    labelled: bool = False,
    unaries: Unaries = "keep",
    ties: TiesLike = "canonical",
) -> int:
    """Count the trees that are as good as the average.

    For the parameters see `treemean.average`. Raises `TreemeanError` where the number cannot be found within
    the limit of steps: counting is harder than finding one.

    >>> a = Tree(list("xyz"), [({0, 1, 2}, "S"), ({0, 1}, "A")])
    >>> b = Tree(list("xyz"), [({0, 1, 2}, "S"), ({1, 2}, "B")])
    >>> count_optima([a, b])
    2
    """
    banks, request = _prepare(
        trees,
        weights,
        beta=beta,
        hits=hits,
        node_limit=node_limit,
        labelled=labelled,
        unaries=unaries,
        ties=ties,
    )
    if len(banks[0].words) == 0:
        return 1
    individuals, _ = core_individuals(banks, request)
    factors = _decided(_core.count_best_trees, individuals, request)
    return prod((high << 64) + low for high, low in factors)


def all_optima(
    trees: Iterable[Tree],
    weights: WeightsLike = None,
    *,
    limit: int = 1000,
    beta: float = 1.0,
    hits: HitsLike = None,
    node_limit: int = NODE_LIMIT,
    labelled: bool = False,
    unaries: Unaries = "keep",
    ties: TiesLike = "canonical",
) -> list[Tree]:
    """Return the trees that are as good as the average, the average itself first, at most `limit` of them.

    They come in canonical order: those with fewer constituents first; see `treemean.average`.

    >>> a = Tree(list("xyz"), [({0, 1, 2}, "S"), ({0, 1}, "A")])
    >>> b = Tree(list("xyz"), [({0, 1, 2}, "S"), ({1, 2}, "B")])
    >>> [[c.label for c in tree] for tree in all_optima([a, b])]
    [['S', 'A'], ['S', 'B']]
    """
    return _best(
        trees,
        weights,
        whole_number("limit", limit, 1),
        True,
        beta=beta,
        hits=hits,
        node_limit=node_limit,
        labelled=labelled,
        unaries=unaries,
        ties=ties,
    )


def k_best(
    trees: Iterable[Tree],
    k: int,
    weights: WeightsLike = None,
    *,
    beta: float = 1.0,
    hits: HitsLike = None,
    node_limit: int = NODE_LIMIT,
    labelled: bool = False,
    unaries: Unaries = "keep",
    ties: TiesLike = "canonical",
) -> list[Tree]:
    """Return the k best trees by objective, all different, best first; fewer if there are fewer.

    They are the best of all trees whose constituents are proposed by somebody. Equally good ones come in
    canonical order. `optimal` means here that the tree is proven to have its place in the list. Needs about
    one search for every tree and proposed constituent.

    >>> a = Tree(list("xyz"), [({0, 1, 2}, "S"), ({0, 1}, "A")])
    >>> [round(tree.values["objective"], 3) for tree in k_best([a], 5)]
    [1.0, 0.889]
    """
    return _best(
        trees,
        weights,
        whole_number("k", k, 1),
        False,
        beta=beta,
        hits=hits,
        node_limit=node_limit,
        labelled=labelled,
        unaries=unaries,
        ties=ties,
    )


def _prepare(
    individuals: Iterable[Tree], weights: WeightsLike, **options: Any
) -> tuple[list[Treebank], AverageRequest]:
    trees = listed(individuals, only_trees=True)
    request = make_request(len(trees), weights, **options)
    banks = [Treebank.from_trees([tree]) for tree in trees]
    check_aligned(banks)
    return banks, with_frequencies(banks, request)


def _decided(search: Any, individuals: _core.Individuals, request: AverageRequest, **arguments: Any) -> Any:
    try:
        return search(individuals, core_options(request), **arguments)
    except RuntimeError as error:
        raise TreemeanError(f"not decided: {error}") from error
    except ValueError as error:
        raise TreemeanError(str(error)) from error


def _best(
    trees: Iterable[Tree], weights: WeightsLike, limit: int, only_optimal: bool, **options: Any
) -> list[Tree]:
    banks, request = _prepare(trees, weights, **options)
    if len(banks[0].words) == 0:
        return list(exact(banks, request))
    individuals, vocabularies = core_individuals(banks, request)
    found = _decided(
        _core.best_trees, individuals, request, limit=min(limit, _MOST_TREES), only_optimal=only_optimal
    )
    voted = voted_words(banks, request)
    repeated = banks[0].with_columns(**voted).take(np.zeros(len(found["objective"]), dtype=np.int64))
    return list(result_of(repeated, found, vocabularies, request))
