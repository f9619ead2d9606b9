"""The tree average: one treebank from several of the same sentences."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import overload

from treemean.averaging.alignment import check_aligned
from treemean.averaging.arguments import listed
from treemean.averaging.by_problem import by_problem
from treemean.averaging.exact import exact
from treemean.averaging.optima import all_optima, count_optima, k_best
from treemean.averaging.reference import OPTIONS_OF_METHODS, REFERENCE_METHODS
from treemean.averaging.request import NODE_LIMIT, Direction, HitsLike, Request, make_request
from treemean.averaging.weights import WeightsLike
from treemean.errors import InvalidOption, Unsolved
from treemean.trees import Tree, Treebank

__all__ = [
    "METHODS",
    "Method",
    "Request",
    "all_optima",
    "average",
    "by_problem",
    "count_optima",
    "k_best",
]

#: A method takes aligned treebanks and a request, and returns their average.
Method = Callable[[Sequence[Treebank], Request], Treebank]
#: Methods by name; `by_problem` makes one from a function that solves a single `Problem`.
METHODS: dict[str, Method] = {
    "exact": exact,
    **{
        name: by_problem(name, solve, OPTIONS_OF_METHODS.get(name, ()))
        for name, solve in REFERENCE_METHODS.items()
    },
}


@overload
def average(
    individuals: Sequence[Tree],
    weights: WeightsLike = None,
    *,
    beta: float = 1.0,
    binary: bool | Direction = False,
    method: str = "exact",
    hits: HitsLike = None,
    additive: bool = False,
    node_limit: int = NODE_LIMIT,
    time_limit: float | None = None,
    jobs: int | None = None,
    max_fan_out: int | None = None,
    skipped: list[Unsolved] | None = None,
) -> Tree: ...
@overload
def average(
    individuals: Sequence[Treebank],
    weights: WeightsLike = None,
    *,
    beta: float = 1.0,
    binary: bool | Direction = False,
    method: str = "exact",
    hits: HitsLike = None,
    additive: bool = False,
    node_limit: int = NODE_LIMIT,
    time_limit: float | None = None,
    jobs: int | None = None,
    max_fan_out: int | None = None,
    skipped: list[Unsolved] | None = None,
) -> Treebank: ...
def average(
    individuals: Sequence[Treebank] | Sequence[Tree],
    weights: WeightsLike = None,
    *,
    beta: float = 1.0,
    binary: bool | Direction = False,
    method: str = "exact",
    hits: HitsLike = None,
    additive: bool = False,
    node_limit: int = NODE_LIMIT,
    time_limit: float | None = None,
    jobs: int | None = None,
    max_fan_out: int | None = None,
    skipped: list[Unsolved] | None = None,
) -> Treebank | Tree:
    """Return the average of treebanks over the same sentences, or of trees over the same sentence.

    The average is the tree with the highest weighted mean of F_β against the individuals. Of several such
    trees it is the canonical one: with the fewest constituents, then with the smallest ones when sets of
    words are compared as binary numbers whose bit p is word p. The order of the individuals does not matter,
    except that words, tags, ids and metadata are taken from the first one.

    Parameters
    ----------
    individuals : treebanks (or trees) with the same words in the same order.
    weights : how much say each individual has; equal if not given. Typed weights are a mapping
        `{"continuous": […], "discontinuous": […]}`. A weight of zero means no say.
    beta : the β of F_β, from 0 (precision only) to 1000; its square is rounded to a millionth at most.
    binary : whether to find the best binary tree. Where constituents are left with more than two children,
        these are joined from the right (True or "right"), from the "left", or "balanced".
    method : a name in `METHODS`.
    hits : what each proposed constituent is worth, instead of 1, before it is multiplied with the weight of
        its individual. Either the name of a column of constituent values that all individuals have, or an
        array per individual with a number for each of its constituents. Any finite number will do; up to nine
        decimals count. Of a unary chain the uppermost constituent counts; single words and whole sentences
        are worth 1.
    additive : maximise the weighted mean of the plain sum of hits over the constituents of 2 to n - 1 words,
        without a ratio; `objective` is that mean. Constituents that add nothing are left out.
    node_limit : how many steps the search may take on a sentence, beyond which the result has an upper bound;
        for the method `exact` only.
    time_limit : how many seconds it may take on a sentence; results may then differ from run to run. For the
        methods `exact` and `integer-programming` only.
    jobs : the number of threads of the method `exact`; all cores if not given. It does not change the result.
        Other methods use one.
    max_fan_out : for the method `dynamic-programming` only: the bound on the fan-out of constituents. That of
        the individuals' constituents if not given.
    skipped : what becomes of sentences that are beyond the reach of the method (`exact` has none such). By
        default the first one is an error, `Unsolved`. If a list is given, they are left out of the result,
        and an `Unsolved` with number, id and reason is added to the list for each of them.

    The result has sentence values: `objective` (the weighted mean of F_β), `average_f1` (the weighted mean of
    F1), `upper_bound`, `optimal` (1 if proven), `nodes` (steps of the search), `candidates` (constituents
    that were left when it began), `seconds`. Its metadata tell the method as `average_method`, and where
    there is no proof the reason as `average_note`. Every constituent has the value `support`, the share of
    the weight that has it, and the label that most of that weight gives to it (the alphabetically first of
    equal ones).

    >>> a = Tree("x y z".split(), [({0, 1, 2}, "S"), ({0, 1}, "A")])
    >>> b = Tree("x y z".split(), [({0, 1, 2}, "S"), ({1, 2}, "B")])
    >>> result = average([a, a, b])
    >>> [c.positions for c in result]
    [(0, 1, 2), (0, 1)]
    >>> round(result.values["objective"], 4), result.values["optimal"]
    (0.9333, 1.0)
    """
    if not isinstance(method, str) or method not in METHODS:
        raise InvalidOption(f"there is no method {method!r}; known are {', '.join(METHODS)}")
    given = listed(individuals)
    are_trees = isinstance(given[0], Tree)
    if are_trees and skipped is not None:
        raise InvalidOption("skipped is for treebanks: a single sentence is solved or not")
    request = make_request(
        len(given),
        weights,
        beta=beta,
        binary=binary,
        hits=hits,
        additive=additive,
        node_limit=node_limit,
        time_limit=time_limit,
        jobs=jobs,
        max_fan_out=max_fan_out,
        skipped=skipped,
    )
    banks = [Treebank.from_trees([tree]) for tree in given] if are_trees else given
    check_aligned(banks)
    result = METHODS[method](banks, request)
    return result[0] if are_trees else result
