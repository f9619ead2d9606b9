"""Averaging treebanks by a method that solves one `Problem` after the other, in plain Python."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from treemean.averaging.exact import with_method
from treemean.averaging.problem import make_problem
from treemean.averaging.request import NODE_LIMIT, Request
from treemean.averaging.solution import Solution
from treemean.averaging.weights import Weights
from treemean.errors import InvalidOption, MissingDependency, TreemeanError, Unsolved
from treemean.trees import Constituent, Tree, Treebank
from treemean.trees.binarise import MARK
from treemean.trees.bitsets import fan_out_of

#: A method takes a `Problem`, and `binary=` with a direction if a binary tree is wanted.
Solver = Callable[..., Solution]


def by_problem(
    name: str, solve: Solver, takes: Collection[str] = ()
) -> Callable[[Sequence[Treebank], Request], Treebank]:
    """Make a method for single problems into one for aligned treebanks.

    Labels, support and the numbers of sentences are those of the method `exact`.

    Parameters
    ----------
    solve : takes a `Problem`, and `binary=` with a direction if a binary tree is wanted; raises `Unsolved`
        where a sentence is beyond its reach.
    takes : which of the options `node_limit`, `time_limit` and `max_fan_out` it takes as well. Others are
        refused, as a limit that is ignored would be no limit.
    """

    def average(runs: Sequence[Treebank], request: Request) -> Treebank:
        options = _options(name, takes, request)
        trees: list[Tree] = []
        kept: list[int] = []
        notes: dict[int, str] = {}
        for index, sentence in enumerate(zip(*runs, strict=True)):
            try:
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


def _options(name: str, takes: Collection[str], request: Request) -> dict[str, Any]:
    """Return what the method is called with; raise `InvalidOption` for what it does not take."""
    if request.hits is not None:
        raise InvalidOption(f"the method {name} does not take hits; the method exact does")
    if request.goal == "sum":
        raise InvalidOption(
            f"the method {name} does not maximise plain sums (additive); the method exact does"
        )
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
    trees: Sequence[Tree], request: Request, solve: Solver, options: dict[str, Any]
) -> tuple[Tree, str]:
    """Return the average of some trees, and why it is not proven to be the best one, if so."""
    start = time.perf_counter()
    weights = request.weights
    heard = [k for k in range(len(trees)) if weights.continuous[k] or weights.discontinuous[k]]
    base = trees[0]
    trees = [trees[k] for k in heard]
    continuous, discontinuous = weights.continuous, weights.discontinuous
    weights = Weights(tuple(continuous[k] for k in heard), tuple(discontinuous[k] for k in heard))
    n = len(base.words)
    if n == 0:
        nothing_to_decide = {"objective": 1.0, "average_f1": 1.0, "upper_bound": 1.0, "optimal": 1.0}
        return base.replace(values=nothing_to_decide | {"nodes": 0, "candidates": 0, "seconds": 0.0}), ""
    problem = make_problem(trees, weights, request.beta2)
    solution = solve(problem, **options)
    everything = (1 << n) - 1
    chosen = {everything, *(problem.candidates[c] for c in solution.chosen)}
    singles = {mask for tree in trees for mask in tree.masks if mask & (mask - 1) == 0}
    chosen |= {mask for mask in singles if 2 * _weight_of(mask, trees, weights) > weights.total}
    constituents = [_labelled(mask, trees, weights) for mask in chosen]
    with_marks = [_added(mask, constituents, trees, weights) for mask in solution.added]
    size = problem.trivial_count + len(solution.chosen) + len(solution.added)
    sets = {problem.candidates[c] for c in solution.chosen}
    mean = sum(
        Fraction(2 * w * (problem.trivial_count + len(sets & tree.masks)), size + s)
        for w, tree, s in zip(weights.continuous, trees, problem.sizes)
    )
    result = base.replace(
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


def _kind(mask: int, weights: Weights) -> tuple[int, ...]:
    return weights.continuous if fan_out_of(mask) == 1 else weights.discontinuous


def _weight_of(mask: int, trees: Sequence[Tree], weights: Weights) -> int:
    return sum(w for w, tree in zip(_kind(mask, weights), trees) if mask in tree.masks)


def _support(mask: int, trees: Sequence[Tree], weights: Weights) -> float:
    total = sum(_kind(mask, weights))
    return _weight_of(mask, trees, weights) / total if total else 0.0


def _labelled(mask: int, trees: Sequence[Tree], weights: Weights) -> Constituent:
    """Return the constituent with the label that has most weight, the alphabetically first of equal ones."""
    by_label: dict[str, int] = {}
    for weight, tree in zip(_kind(mask, weights), trees):
        label = next((c.label for c in tree.constituents if c.mask == mask), None)
        if label is not None:
            by_label[label] = by_label.get(label, 0) + weight
    label = min(by_label, key=lambda text: (-by_label[text], text))
    return Constituent(mask, label, "", {"support": _support(mask, trees, weights)})


def _added(
    mask: int, constituents: Sequence[Constituent], trees: Sequence[Tree], weights: Weights
) -> Constituent:
    """Return a constituent that divides another one, which gives it its label."""
    above = min((c for c in constituents if mask & c.mask == mask), key=len)
    label = above.label.removesuffix(MARK) + MARK
    return Constituent(mask, label, "", {"support": _support(mask, trees, weights)})
