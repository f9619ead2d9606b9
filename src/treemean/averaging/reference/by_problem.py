"""Averaging treebanks by a method that solves one `Problem` after the other, in plain Python."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Collection, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np

from treemean.averaging.exact import with_frequencies, with_method
from treemean.averaging.reference.labelled import LabelledSolution, make_labelled_problem
from treemean.averaging.reference.labels import Voters
from treemean.averaging.reference.problem import make_problem
from treemean.averaging.reference.solution import Solution
from treemean.averaging.request import NODE_LIMIT, AverageRequest
from treemean.averaging.weights import Weights
from treemean.errors import InvalidOption, MissingDependency, TreemeanError, Unsolved
from treemean.trees import Constituent, Tree, Treebank
from treemean.trees.binarise import MARK

#: A method takes a `Problem`, and `binary=` with a direction if a binary tree is wanted.
Solver = Callable[..., Solution]
#: The same for a `LabelledProblem`.
LabelledSolver = Callable[..., LabelledSolution]

#: The numbers of a sentence without words.
_NOTHING_TO_DECIDE = {
    "objective": 1.0,
    "average_f1": 1.0,
    "upper_bound": 1.0,
    "optimal": 1.0,
    "nodes": 0,
    "candidates": 0,
    "seconds": 0.0,
}


def by_problem(
    name: str, solve: Solver, takes: Collection[str] = (), solve_labelled: LabelledSolver | None = None
) -> Callable[[Sequence[Treebank], AverageRequest], Treebank]:
    """Make a method for single problems into one for aligned treebanks.

    Labels, support and the numbers of sentences are those of the method `exact`.

    Parameters
    ----------
    solve : takes a `Problem`, and `binary=` with a direction if a binary tree is wanted; raises `Unsolved`
        where a sentence is beyond its reach.
    takes : which of the options `node_limit`, `time_limit` and `max_fan_out` it takes as well. Others are
        refused, as a limit that is ignored would be no limit.
    solve_labelled : the same for a `LabelledProblem`; without it the method does not average labels.
    """

    def average(runs: Sequence[Treebank], request: AverageRequest) -> Treebank:
        options = _options(name, takes, request)
        if request.labelled and solve_labelled is None:
            raise InvalidOption(
                f"the method {name} does not average labels; exact, exhaustive and integer-programming do"
            )
        request = with_frequencies(runs, request)
        trees: list[Tree] = []
        kept: list[int] = []
        notes: dict[int, str] = {}
        for index, sentence in enumerate(zip(*runs, strict=True)):
            try:
                if request.labelled and solve_labelled is not None:
                    tree, note = _average_labels(sentence, request, solve_labelled, options)
                else:
                    tree, note = _average_one(sentence, request, solve, options)
            except Unsolved as error:
                unsolved = Unsolved(error.reason, sentence=index + 1, id=sentence[0].id)
                if request.skipped is None:
                    raise unsolved from error
                request.skipped.append(unsolved)
                continue
            except (InvalidOption, MissingDependency):  # not about the sentence
                raise
            except TreemeanError as error:
                raise TreemeanError(f"sentence {index + 1}: {error}") from error
            if note:
                notes[len(trees)] = f"not proven optimal: {note}"
            trees.append(tree)
            kept.append(index)
        base = runs[0].take(np.array(kept, dtype=np.int64))
        return Treebank.from_trees(trees).with_columns(metadata=with_method(base, name, notes))

    return average


def _options(name: str, takes: Collection[str], request: AverageRequest) -> dict[str, Any]:
    """Return what the method is called with; raise `InvalidOption` for what it does not take."""
    if request.hits is not None:
        raise InvalidOption(f"the method {name} does not take hits; the method exact does")
    if request.goal == "sum":
        raise InvalidOption(
            f"the method {name} does not maximise plain sums (additive); the method exact does"
        )
    if request.ties != "canonical":
        raise InvalidOption(f"the method {name} takes no ties; the method exact does")
    options: dict[str, Any] = {"binary": request.direction} if request.goal == "binary" else {}
    defaults = {"node_limit": NODE_LIMIT, "time_limit": None, "max_fan_out": None}
    for option, default in defaults.items():
        value = getattr(request, option)
        if value == default:
            continue
        if option not in takes:
            raise InvalidOption(f"the method {name} takes no {option}")
        options[option] = value
    return options


def _average_one(
    trees: Sequence[Tree], request: AverageRequest, solve: Solver, options: dict[str, Any]
) -> tuple[Tree, str]:
    """Return the average of some trees, and why it is not proven to be the best one, if so."""
    start = time.perf_counter()
    base = trees[0]
    voters = _voters(trees, request)
    trees, weights = voters.trees, voters.weights
    n = len(base.words)
    if n == 0:
        return base.replace(values=_NOTHING_TO_DECIDE), ""
    problem = make_problem(trees, weights, request.beta2)
    solution = solve(problem, **options)
    everything = (1 << n) - 1
    chosen = {everything, *(problem.candidates[c] for c in solution.chosen)}
    singles = {mask for tree in trees for mask in tree.masks if mask & (mask - 1) == 0}
    chosen |= {mask for mask in singles if 2 * voters.weight_of(mask) > weights.total}
    constituents = [c for mask in chosen for c in voters.constituents(mask)]
    with_marks = [_added(mask, constituents, voters) for mask in solution.added]
    size = problem.trivial_count + len(solution.chosen) + len(solution.added)
    sets = {problem.candidates[c] for c in solution.chosen}
    mean = sum(
        Fraction(2 * w * (problem.trivial_count + len(sets & tree.masks)), size + s)
        for w, tree, s in zip(weights.continuous, trees, problem.sizes)
    )
    result = _with_words(base, voters).replace(
        constituents=[*constituents, *with_marks],
        values={
            "objective": float(solution.objective),
            "average_f1": float(mean / weights.total),
            "upper_bound": float(solution.upper_bound),
            "optimal": float(solution.optimal),
            "nodes": solution.nodes,
            "candidates": len(problem.candidates),
            "seconds": time.perf_counter() - start,
        },
    )
    return result, solution.note


def _average_labels(
    trees: Sequence[Tree], request: AverageRequest, solve: LabelledSolver, options: dict[str, Any]
) -> tuple[Tree, str]:
    """Return the joint average of labelled trees, and why it is not proven to be the best one, if so."""
    start = time.perf_counter()
    base = trees[0]
    voters = _voters(trees, request)
    if not base.words:
        return base.replace(values=_NOTHING_TO_DECIDE), ""
    problem = make_labelled_problem(
        voters.trees, voters.weights, request.beta2, request.unaries, voters.chains
    )
    solution = solve(problem, **options)
    constituents = [c for mask, chain in solution.chosen for c in voters.constituents(mask, chain)]
    with_marks = [_added(mask, constituents, voters) for mask in solution.added]
    plain = replace(problem, beta2=Fraction(1), weights=Weights(*(problem.weights.continuous,) * 2))
    result = _with_words(base, voters).replace(
        constituents=[*constituents, *with_marks],
        values={
            "objective": float(solution.objective),
            "average_f1": float(plain.objective([*solution.chosen, *((m, (MARK,)) for m in solution.added)])),
            "upper_bound": float(solution.objective) if solution.optimal else math.inf,
            "optimal": float(solution.optimal),
            "nodes": solution.nodes,
            "candidates": len(problem.candidates),
            "seconds": time.perf_counter() - start,
        },
    )
    return result, solution.note


def _with_words(base: Tree, voters: Voters) -> Tree:
    """Return a tree with the tags and functions that words are voted to have."""
    tags = voters.of_words(lambda tree: tree.tags, lambda found: found.tags)
    functions = voters.of_words(lambda tree: tree.word_functions, lambda found: found.word_functions)
    return base.replace(tags=tags or base.tags, word_functions=functions or base.word_functions)


def _voters(trees: Sequence[Tree], request: AverageRequest) -> Voters:
    """Return the trees that have a say, with their weights."""
    weights = request.weights
    heard = [k for k in range(len(trees)) if weights.has_say(k)]
    return Voters(
        [trees[k] for k in heard],
        Weights(tuple(weights.continuous[k] for k in heard), tuple(weights.discontinuous[k] for k in heard)),
        [request.frequencies[k] for k in heard] if request.frequencies else [],
    )


def _added(mask: int, constituents: Sequence[Constituent], voters: Voters) -> Constituent:
    """Return a constituent that divides another one, which gives it its label."""
    size = min(len(c) for c in constituents if mask & c.mask == mask)
    above = [c for c in constituents if mask & c.mask == mask and len(c) == size]
    label = above[-1].label.removesuffix(MARK) + MARK
    return Constituent(mask, label, "", {"support": voters.support(mask), "support_labelled": 0.0})
