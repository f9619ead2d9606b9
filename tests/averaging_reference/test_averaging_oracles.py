"""The oracles themselves."""

from __future__ import annotations

import pytest
from hypothesis import given

from averaging_oracles import Case, all_trees, cases, compatible_subsets
from treemean.trees import compatible


@pytest.mark.parametrize(("n", "count"), [(1, 1), (2, 1), (3, 4), (4, 26), (5, 236), (6, 2752)])
def test_every_tree_is_enumerated_once(n: int, count: int) -> None:
    families = all_trees((1 << n) - 1)
    assert len(families) == len(set(families)) == count  # Schröder's fourth problem
    assert all(compatible(a, b) for family in families for a in family for b in family)


@given(cases())
def test_definition_and_problem_agree(case: Case) -> None:
    problem = case.problem
    for chosen in list(compatible_subsets(problem))[:40]:
        family = frozenset(problem.candidates[c] for c in chosen)
        assert problem.objective(chosen) == case.objective(family)


@given(cases(max_words=4))
def test_candidates_are_enough(case: Case) -> None:
    assert case.best() == max(case.problem.objective(chosen) for chosen in compatible_subsets(case.problem))
