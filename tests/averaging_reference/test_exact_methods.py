"""Methods that claim the optimum, against the definition."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from averaging_oracles import Case, cases, check, compatible_subsets, family_of
from examples import examples
from treemean.averaging.reference import (
    cyk,
    dynamic_programming,
    exhaustive,
    integer_programming,
    meet_in_the_middle,
)
from treemean.averaging.reference.problem import Problem, make_problem
from treemean.averaging.reference.solution import Solution
from treemean.averaging.weights import Weights
from treemean.errors import TreemeanError
from treemean.trees import Tree
from treemean.trees.bitsets import fan_out_of

EXACT: dict[str, Callable[[Problem], Solution]] = {
    "exhaustive": exhaustive.solve,
    "exhaustive without pruning": lambda p: exhaustive.solve(p, prune=False),
    "meet in the middle": meet_in_the_middle.solve,
    "meet in the middle without pruning": lambda p: meet_in_the_middle.solve(p, prune=False),
    "meet in the middle with the paper's bounds": lambda p: meet_in_the_middle.solve(p, value_bound=False),
    "dynamic programming": lambda p: dynamic_programming.solve(p, max_fan_out=(p.n + 1) // 2),
    "integer programming": integer_programming.solve,
}
EXACT_BINARY: dict[str, Callable[[Problem], Solution]] = {
    "exhaustive": lambda p: exhaustive.solve(p, binary="right"),
    "exhaustive without pruning": lambda p: exhaustive.solve(p, prune=False, binary="left"),
    "meet in the middle": lambda p: meet_in_the_middle.solve(p, binary="balanced"),
    "meet in the middle without pruning": lambda p: meet_in_the_middle.solve(p, prune=False, binary="left"),
    "dynamic programming": lambda p: dynamic_programming.solve(p, max_fan_out=(p.n + 1) // 2, binary=True),
    "integer programming": lambda p: integer_programming.solve(p, binary="right"),
}


@pytest.mark.parametrize("method", EXACT)
@given(case=cases())
def test_exact_methods_find_the_best_of_all_trees(method: str, case: Case) -> None:
    solution = EXACT[method](case.problem)
    check(case, solution)
    assert solution.optimal
    assert not solution.added
    assert solution.objective == case.best()


@pytest.mark.parametrize("method", EXACT_BINARY)
@given(case=cases())
def test_exact_methods_find_the_best_binary_tree(method: str, case: Case) -> None:
    solution = EXACT_BINARY[method](case.problem)
    check(case, solution)
    assert solution.optimal
    assert len(family_of(case.problem, solution)) == case.n - 1
    assert solution.objective == case.best(binary=True)


@examples(15)
@given(case=cases(min_words=6, max_words=6))
def test_six_words(case: Case) -> None:
    assert meet_in_the_middle.solve(case.problem).objective == case.best()
    assert meet_in_the_middle.solve(case.problem, binary="left").objective == case.best(binary=True)


@examples(40)
@given(case=cases(min_words=7, max_words=9, max_individuals=4, max_fan_out=3))
def test_halving_changes_nothing(case: Case) -> None:
    problem = case.problem
    assert meet_in_the_middle.solve(problem).objective == exhaustive.solve(problem, prune=False).objective


@pytest.mark.parametrize("fan_out", [1, 2])
@examples(50)
@given(case=cases(max_words=6), binary=st.booleans())
def test_dynamic_programming_finds_the_best_tree_of_bounded_fan_out(
    fan_out: int, case: Case, binary: bool
) -> None:
    """With at most eight words every tree of fan-out 2 can be binarised with fan-out 2."""
    solution = dynamic_programming.solve(case.problem, max_fan_out=fan_out, binary=binary)
    check(case, solution)
    assert all(fan_out_of(c) <= fan_out for c in family_of(case.problem, solution))
    assert solution.objective == case.best(binary=binary, fan_out=fan_out)


@given(case=cases(max_words=6))
def test_cyk_finds_the_best_continuous_binary_tree(case: Case) -> None:
    among_all = cyk.solve(case.problem)
    assert among_all.upper_bound >= case.best()
    assert not among_all.optimal or among_all.objective == case.best()
    solution = cyk.solve(case.problem, binary="right")
    assert solution.chosen == among_all.chosen
    check(case, solution)
    assert len(family_of(case.problem, solution)) == case.n - 1
    assert solution.objective == case.best(binary=True, fan_out=1)
    if all(fan_out_of(c) == 1 for c in case.problem.candidates):
        assert solution.optimal
        assert solution.objective == case.best(binary=True)


@given(case=cases())
def test_exhaustive_search_breaks_ties_canonically(case: Case) -> None:
    problem = case.problem
    best = max(problem.objective(chosen) for chosen in compatible_subsets(problem))
    optima = [chosen for chosen in compatible_subsets(problem) if problem.objective(chosen) == best]
    expected = min(optima, key=lambda chosen: (len(chosen), chosen))
    assert exhaustive.solve(problem).chosen == expected
    assert len(meet_in_the_middle.solve(problem).chosen) == len(expected)


@examples(30)
@given(case=cases(), data=st.data())
def test_the_order_of_individuals_does_not_matter(case: Case, data: st.DataObject) -> None:
    order = data.draw(st.permutations(range(len(case.trees))))
    shuffled = make_problem(
        [case.trees[k] for k in order],
        Weights(
            tuple(case.weights.continuous[k] for k in order),
            tuple(case.weights.discontinuous[k] for k in order),
        ),
        case.beta2,
    )
    for method in (exhaustive.solve, meet_in_the_middle.solve, cyk.solve):
        assert method(shuffled) == method(case.problem)


def five_cycle() -> Problem:
    """Five candidates with two hits each, of which every one is in conflict with two others."""
    sets = [sum(1 << p % 10 for p in (2 * i, 2 * i + 1, 2 * i + 2)) for i in range(5)]
    having = {mask: {2 * i % 5, (2 * i + 1) % 5} for i, mask in enumerate(sets)}
    candidates = tuple(sorted(sets))
    hits = tuple(tuple(int(k in having[mask]) for k in range(5)) for mask in candidates)
    return Problem(10, candidates, hits, (11,) * 5, (19,) * 5, 5)


def test_limits_are_reported() -> None:
    problem = five_cycle()
    best = exhaustive.solve(problem)
    assert best.optimal
    assert len(best.chosen) == 2
    stopped = exhaustive.solve(problem, limit=3)
    assert (stopped.optimal, stopped.nodes) == (False, 3)
    assert "limit" in stopped.note
    refused = meet_in_the_middle.solve(problem, limit=4)
    assert (refused.optimal, refused.nodes) == (False, 0)
    assert "5 candidates" in refused.note
    for solution in (stopped, refused):
        assert solution.objective <= best.objective < solution.upper_bound
    assert meet_in_the_middle.solve(problem, limit=5) == dataclasses.replace(
        best, nodes=meet_in_the_middle.solve(problem).nodes
    )
    with pytest.raises(TreemeanError, match="more divisions than the limit of 10"):
        dynamic_programming.solve(problem, limit=10)
    with pytest.raises(TreemeanError, match="at least 1"):
        dynamic_programming.solve(problem, max_fan_out=0)


def test_a_sentence_without_words_is_refused() -> None:
    empty = make_problem([Tree([], [])], Weights((1,), (1,)))
    for method in (exhaustive.solve, meet_in_the_middle.solve, dynamic_programming.solve, cyk.solve):
        with pytest.raises(TreemeanError, match="without words"):
            method(empty)


@pytest.mark.parametrize("n", [1, 2])
def test_words_without_a_choice(n: int) -> None:
    trees = [Tree(("",) * n, [(range(n), "")])] * 3
    for method in (exhaustive.solve, meet_in_the_middle.solve, dynamic_programming.solve, cyk.solve):
        solution = method(make_problem(trees, Weights((1, 2, 0), (1, 2, 0))))
        assert (solution.chosen, solution.added, solution.objective) == ((), (), Fraction(1))
