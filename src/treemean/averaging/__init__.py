"""The tree average: one treebank from several of the same sentences."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar, cast

from treemean.averaging.alignment import check_aligned
from treemean.averaging.arguments import columns_of_all, listed
from treemean.averaging.exact import exact
from treemean.averaging.frequencies import Frequencies, count_labels
from treemean.averaging.optima import all_optima, count_optima, k_best
from treemean.averaging.reference import LABELLED_METHODS, OPTIONS_OF_METHODS, REFERENCE_METHODS
from treemean.averaging.reference.by_problem import by_problem
from treemean.averaging.request import NODE_LIMIT, AverageRequest, HitsLike, make_request
from treemean.averaging.ties import TiesLike
from treemean.averaging.weights import WeightsLike
from treemean.errors import InvalidOption, Unsolved, no_such
from treemean.names import Direction, Unaries
from treemean.trees import SpanTable, Tree, Treebank

__all__ = [
    "METHODS",
    "AverageRequest",
    "Frequencies",
    "Method",
    "all_optima",
    "average",
    "by_problem",
    "count_labels",
    "count_optima",
    "k_best",
]

#: What is averaged, and what comes out.
Kind = TypeVar("Kind", Tree, Treebank)
#: A method takes aligned treebanks and a request, and returns their average.
Method = Callable[[Sequence[Treebank], AverageRequest], Treebank]
#: Methods by name; `by_problem` makes one from a function that solves a single `Problem`.
METHODS: dict[str, Method] = {
    "exact": exact,
    **{
        name: by_problem(name, solve, OPTIONS_OF_METHODS.get(name, ()), LABELLED_METHODS.get(name))
        for name, solve in REFERENCE_METHODS.items()
    },
}


def average(
    individuals: Sequence[Kind | SpanTable],
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
    frequencies: Sequence[Frequencies] | None = None,
    labelled: bool = False,
    unaries: Unaries = "keep",
    ties: TiesLike = "canonical",
) -> Kind:
    """Return the average of treebanks over the same sentences, or of trees over the same sentence.

    The average is the tree with the highest weighted mean of F_β against the individuals. Of several such
    trees it is the canonical one: with the fewest constituents, then with the smallest ones when sets of
    words are compared as binary numbers whose bit p is word p. The order of the individuals does not matter,
    except that ids and metadata are taken from the first one.

    The individuals vote on labels: every set of words gets the unary chain of labels with the most weight
    among the individuals that have the set, and each of its constituents the function with the most weight.
    Single words get a chain if more than half of the weight has one, and tags and functions by vote. Of equal
    votes the one that is more frequent in all individuals wins, then the alphabetically first. Individuals
    without any functions, or any tags, do not vote on these. If all individuals are the same tree, that is
    the average.

    Parameters
    ----------
    individuals : treebanks (or trees) with the same words in the same order. After treebanks, or instead,
        there may be tables of spans (`SpanTable`), for the method `exact` without labels: such an individual
        has of every span as much as its posterior says, and as many constituents as are expected of it. It
        votes on labels only where no treebank does.
    weights : the weight of each individual; equal if not given. Typed weights are a mapping
        `{"continuous": […], "discontinuous": […]}`. Individuals of weight zero are ignored.
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
    frequencies : how often labels and tags occur, one `Frequencies` for each individual (see
        `treemean.averaging.count_labels`), where these are pieces of larger treebanks. If not given, it is
        counted here.
    labelled : average sets and labels jointly: F_β compares the multisets of labelled constituents (NP over
        NP counts twice), single words always among them. The chain of labels over every set is one that some
        individual has over it. `objective` and `average_f1` are those of labelled constituents. Sets whose
        labels are disputed may be left out: see docs/averaging.md for when which average is better.
    unaries : with `labelled`: "keep" whole unary chains, or "none" of them, only a single label that some
        individual has over a set.
    ties : what decides between equally good trees with the fewest constituents, before the canonical order
        does: "canonical" for nothing else; "right" for the highest sum, over constituents, of the position of
        their last word; "left" for the lowest sum of the first ones; or values of one's own, whose sum is to
        be high: a function of a `Constituent` (with its label if `labelled`), or a mapping from positions, or
        from (positions, label), to numbers, or a list of such for the sentences. Decided exactly. With
        `binary=True` they also say how constituents are divided about which nobody has an opinion; values of
        one's own choose among the ways to join neighbouring children. For the method `exact` only.

    The result has sentence values: `objective` (the weighted mean of F_β), `average_f1` (the weighted mean of
    F1), `upper_bound`, `optimal` (1 if proven), `nodes` (steps of the search), `candidates` (constituents
    that were left when it began), `seconds`. Its metadata tell the method as `average_method`, and where
    there is no proof the reason as `average_note`. Every constituent has the values `support`, the share of
    the weight that has these words as a constituent, and `support_labelled`, the share that has them under
    this label (but not with tables of spans, which have no labels).

    >>> a = Tree("x y z".split(), [({0, 1, 2}, "S"), ({0, 1}, "A")])
    >>> b = Tree("x y z".split(), [({0, 1, 2}, "S"), ({1, 2}, "B")])
    >>> result = average([a, a, b])
    >>> [c.positions for c in result]
    [(0, 1, 2), (0, 1)]
    >>> round(result.values["objective"], 4), result.values["optimal"]
    (0.9333, 1.0)
    """
    if not isinstance(method, str) or method not in METHODS:
        raise InvalidOption(no_such("method", method, METHODS))
    given = listed(individuals)
    are_trees = isinstance(given[0], Tree)
    if are_trees and skipped is not None:
        raise InvalidOption("skipped is for treebanks: a single sentence is solved or not")
    tables = [individual for individual in given if isinstance(individual, SpanTable)]
    if tables and method != "exact":
        raise InvalidOption(f"the method {method} takes no tables of spans; the method exact does")
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
        frequencies=frequencies,
        labelled=labelled,
        unaries=unaries,
        ties=ties,
        tables=tables,
    )
    banks = [Treebank.from_trees([tree]) for tree in given] if are_trees else columns_of_all(given)
    check_aligned(banks)
    result = METHODS[method](banks, request)
    return cast(Kind, result[0] if are_trees else result)
