"""The bounds: what they keep, and when they hold."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from averaging_oracles import Case, cases, compatible_subsets
from examples import examples
from treemean.averaging.reference.problem import Problem, make_problem
from treemean.averaging.reference.pruning import paper_lower_bound, prune, ratio
from treemean.averaging.weights import Weights
from treemean.errors import TreemeanError
from treemean.trees import Tree

switches = st.fixed_dictionaries(
    dict.fromkeys(["zero_hit", "all_hit", "lower_bound", "value_bound"], st.booleans())
)


def optima(problem: Problem, *, binary: bool = False) -> list[tuple[int, ...]]:
    subsets = list(compatible_subsets(problem))
    if binary:
        size = 2 * problem.n - 1

        def value(chosen: tuple[int, ...]) -> Fraction:
            return sum(
                (
                    problem.hits[c][k] / (size + problem.beta2 * individual)
                    for k, individual in enumerate(problem.sizes)
                    for c in chosen
                ),
                start=Fraction(0),
            )
    else:
        value = problem.objective
    best = max(map(value, subsets))
    return [chosen for chosen in subsets if value(chosen) == best]


@examples(200)
@given(case=cases(), options=switches, keep_ties=st.booleans())
def test_no_optimum_is_lost(case: Case, options: dict[str, bool], keep_ties: bool) -> None:
    problem = case.problem
    pruned = prune(problem, **options, keep_ties=keep_ties)
    best = optima(problem)
    allowed = {*pruned.kept, *pruned.forced}
    assert all(set(pruned.forced) <= set(chosen) for chosen in best)
    fewest = min(map(len, best))
    for chosen in best:
        if keep_ties or len(chosen) == fewest:
            assert set(chosen) <= allowed


@examples(80)
@given(case=cases())
def test_binary_output_loses_nothing(case: Case) -> None:
    problem = case.problem
    pruned = prune(problem, binary=True)
    assert {stage.name for stage in pruned.stages if stage.skipped} == {"lower bound", "value bound"}
    best = optima(problem, binary=True)
    assert all(set(pruned.forced) <= set(chosen) for chosen in best)
    assert any(set(chosen) <= {*pruned.kept, *pruned.forced} for chosen in best)


@examples(100)
@given(case=cases(), options=switches)
def test_stages_add_up(case: Case, options: dict[str, bool]) -> None:
    problem = case.problem
    pruned = prune(problem, **options)
    left = len(problem.candidates)
    decided: list[int] = []
    for stage in pruned.stages:
        assert stage.left == left - len(stage.forced) - len(stage.removed)
        assert pruned.left_after(stage.name) == stage.left
        left = stage.left
        decided += [*stage.forced, *stage.removed]
    assert sorted([*decided, *pruned.kept]) == list(range(len(problem.candidates)))
    assert [stage.name.replace("-", "_").replace(" ", "_") for stage in pruned.stages] == [
        name for name in ("zero_hit", "all_hit", "lower_bound", "value_bound") if options[name]
    ]


@examples(100)
@given(case=cases(min_words=3, binary=True))
def test_the_value_bound_is_the_stronger_one(case: Case) -> None:
    problem = case.problem
    pruned = prune(problem, lower_bound=False, value_bound=False)
    assert paper_lower_bound(problem, pruned.forced, pruned.kept) <= ratio(problem, pruned.forced)
    assert set(prune(problem, lower_bound=False).kept) == set(prune(problem).kept)


@given(case=cases(min_words=3, binary=True, plain=True))
def test_bounds_of_the_paper(case: Case) -> None:
    """The paper has more than K/4 hits and fewer than 8n candidates; we K/3 and 3(n - 2)."""
    problem = case.problem
    n, count = case.n, len(case.trees)
    pruned = prune(problem)
    thresholds = {stage.name: stage.threshold for stage in pruned.stages}
    assert thresholds["lower bound"] > Fraction(count, 4)
    assert thresholds["value bound"] >= Fraction(count * (n + 1), 3 * n)
    assert pruned.left_after("lower bound") < 8 * n
    assert len(pruned.kept) + len(pruned.forced) < 3 * (n - 2)


def test_all_hit_constituents_are_forced() -> None:
    words = "a b c d".split()
    first = Tree(words, [(range(4), ""), ({0, 1, 3}, ""), ({0, 3}, "")])
    second = Tree(words, [(range(4), ""), ({0, 1, 3}, ""), ({0, 1}, "")])
    for weights in (Weights((1, 1), (1, 1)), Weights((2, 3), (2, 3))):
        pruned = prune(make_problem([first, second], weights))
        assert [make_problem([first, second], weights).candidates[c] for c in pruned.forced] == [0b1011]
    # Where discontinuous constituents count little, having them all does not help.
    assert prune(make_problem([first, second], Weights((4, 4), (1, 1)))).forced == ()


def test_ties_are_kept_on_request() -> None:
    """Four of nine trees over three words have a constituent: with and without it a tree is equally good."""
    words = "a b c".split()
    trees = [Tree(words, [(range(3), ""), (pair, "")]) for pair in [{0, 1}] * 4 + [{1, 2}] * 4 + [{0, 2}]]
    problem = make_problem(trees, Weights((1,) * 9, (1,) * 9))
    assert prune(problem).kept == ()
    assert [problem.candidates[c] for c in prune(problem, keep_ties=True).kept] == [0b011, 0b110]


def test_what_all_have_is_not_forced_beside_heavier_constituents() -> None:
    """A discontinuous constituent that counts a hundred times as much is better off without company."""
    words = "a b c d e".split()
    deep = Tree(words, [(range(5), ""), ({0, 1, 3}, ""), ({0, 1}, "")])
    flat = Tree(words, [(range(5), ""), ({0, 1}, "")])
    for trees in ([deep, deep], [deep, flat]):
        problem = make_problem(trees, Weights((1, 1), (100, 100)))
        assert problem.summed_hits[problem.candidates.index(0b00011)] == problem.total
        best = problem.candidates.index(0b01011)
        assert optima(problem) == [(best,)]
        pruned = prune(problem)
        assert set(pruned.forced) <= {best} <= {*pruned.forced, *pruned.kept}


def test_bounds_need_equal_sizes() -> None:
    words = "a b c d".split()
    flat = Tree(words, [(range(4), "")])
    deep = Tree(words, [(range(4), ""), ({0, 1, 2}, ""), ({0, 1}, "")])
    problem = make_problem([flat, deep], Weights((1, 1), (1, 1)))
    pruned = prune(problem)
    assert [stage.name for stage in pruned.stages if stage.skipped] == ["lower bound", "value bound"]
    with pytest.raises(TreemeanError, match="uniform"):
        ratio(problem, [])
    with pytest.raises(TreemeanError, match="uniform"):
        paper_lower_bound(problem, [], [0, 1])


@given(case=cases(binary=True))
def test_the_ratio_is_the_objective(case: Case) -> None:
    problem = case.problem
    assume(problem.candidates)
    for chosen in list(compatible_subsets(problem))[:20]:
        expected = problem.objective(chosen) * problem.total / (1 + problem.beta2)
        assert ratio(problem, chosen) == expected
