"""Greedy, select and majority: trees, and never better than the optimum."""

from __future__ import annotations

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from averaging_oracles import Case, cases, check, family_of
from treemean.averaging.reference import REFERENCE_METHODS, exhaustive, greedy, majority, select
from treemean.averaging.reference.problem import Problem, make_problem
from treemean.averaging.weights import Weights
from treemean.errors import TreemeanError
from treemean.trees import Tree

BASELINES = {"greedy": greedy.solve, "select": select.solve, "majority": majority.solve}


@pytest.mark.parametrize("method", BASELINES)
@given(case=cases(), binary=st.sampled_from([None, "left", "right", "balanced"]))
def test_baselines_are_trees_and_not_better_than_the_optimum(
    method: str, case: Case, binary: str | None
) -> None:
    # Without weights for one kind of constituents no individual may be known to `select`.
    assume(method != "select" or all(case.weights.discontinuous))
    solution = BASELINES[method](case.problem, binary=binary)
    check(case, solution)
    optimum = case.best(binary=bool(binary))
    assert solution.objective <= optimum <= solution.upper_bound
    if binary:
        assert len(family_of(case.problem, solution)) == case.n - 1


@given(case=cases(plain=True))
def test_select_is_the_best_individual(case: Case) -> None:
    individuals = [frozenset(m for m in t.masks if m & (m - 1)) for t in case.trees]
    assert select.solve(case.problem).objective == max(map(case.objective, individuals))


@given(case=cases())
def test_greedy_is_locally_best(case: Case) -> None:
    """No compatible candidate is left that would improve the greedy tree at its end."""
    problem = case.problem
    chosen = greedy.solve(problem).chosen
    assert problem.objective(chosen) >= problem.objective([])
    assume(problem.is_uniform)
    assert all(problem.objective(set(chosen) - {c}) < problem.objective(chosen) for c in chosen)
    for c in set(range(len(problem.candidates))) - set(chosen):
        if problem.is_tree([*chosen, c]):
            assert problem.objective([*chosen, c]) <= problem.objective(chosen)


def test_greedy_can_miss_the_optimum() -> None:
    """A candidate with three hits stands in the way of two that have two hits each, and are worth more."""
    wide, left, right = 0b00111100, 0b00001111, 0b11110000
    rows = ((1, 1, 1, 0, 0), (0, 0, 0, 1, 1), (0, 0, 0, 1, 1))
    problem = Problem(8, (left, wide, right), (rows[1], rows[0], rows[2]), (9,) * 5, (40,) * 5, 5)
    assert greedy.solve(problem).chosen == (1,)
    assert exhaustive.solve(problem).chosen == (0, 2)


@given(case=cases(plain=True))
def test_majority_is_more_than_half_of_the_individuals(case: Case) -> None:
    problem = case.problem
    expected = [
        c
        for c, mask in enumerate(problem.candidates)
        if 2 * sum(mask in tree.masks for tree in case.trees) > len(case.trees)
    ]
    assert majority.solve(problem).chosen == tuple(expected)


def test_select_refuses_what_it_cannot_see() -> None:
    tree = Tree("a b c".split(), [({0, 1, 2}, ""), ({0, 2}, "")])
    with pytest.raises(TreemeanError, match="follows from its hits"):
        select.solve(make_problem([tree], Weights((1,), (0,))))


def test_methods_have_names() -> None:
    problem = make_problem([Tree("a b c".split(), [({0, 1, 2}, ""), ({0, 1}, "")])], Weights((1,), (1,)))
    for name, method in REFERENCE_METHODS.items():
        assert method(problem).objective == 1, name
