"""The claims of docs/theory.md about hits and conflicts, by brute force on small problems."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from itertools import combinations

from graphs import two_colourable
from hypothesis import assume, given
from hypothesis import strategies as st
from unweighted import equal_weights

from averaging_oracles import Case, cases, compatible_subsets
from examples import examples
from treemean.averaging.reference.problem import Problem, make_problem
from treemean.averaging.reference.pruning import ratio
from treemean.averaging.weights import Weights
from treemean.trees import Tree, compatible


def weighted(case: Case, weights: list[int]) -> Problem:
    """State the problem of a case's trees with other weights, plain ones."""
    chosen = tuple(weights[: len(case.trees)])
    return make_problem(case.trees, Weights(chosen, chosen), case.beta2)


def optima_of(problem: Problem) -> list[tuple[int, ...]]:
    subsets = list(compatible_subsets(problem))
    best = max(map(problem.objective, subsets))
    return [chosen for chosen in subsets if problem.objective(chosen) == best]


def conflicts(masks: list[int]) -> list[set[int]]:
    """Return the conflict graph: for every set those that it cannot be in a tree with."""
    return [{j for j, other in enumerate(masks) if not compatible(mask, other)} for mask in masks]


def heavy_candidates(problem: Problem) -> list[int]:
    """Return the candidates that have more than a third of the weight."""
    return [mask for mask, hits in zip(problem.candidates, problem.summed_hits) if 3 * hits > problem.total]


positive_weights = st.lists(st.integers(1, 9), min_size=8, max_size=8)


@given(n=st.integers(0, 50), d=st.integers(1, 50), h=st.integers(0, 50))
def test_adding_a_constituent_moves_the_ratio_towards_its_hits(n: int, d: int, h: int) -> None:
    before, after = Fraction(n, d), Fraction(n + h, d + 1)
    assert (before <= after) == (h >= after) == (h >= before)
    assert (before < after) == (h > after) == (h > before)


@examples(100)
@given(case=cases(binary=True, plain=True), weights=positive_weights)
def test_hits_of_constituents_of_the_average(case: Case, weights: list[int]) -> None:
    """W/3 < W(n+1)/(3n) ≤ λ* ≤ W/2; h(c) ≥ λ* in every optimum, h(c) > λ* in a smallest one."""
    problem = weighted(case, weights)
    optima = optima_of(problem)
    value = ratio(problem, optima[0])
    n, total = problem.n, problem.total
    assert Fraction(total, 3) < Fraction(total * (n + 1), 3 * n) <= value <= Fraction(total, 2)
    fewest = min(map(len, optima))
    for chosen in optima:
        assert all(problem.summed_hits[c] >= value for c in chosen)
        if len(chosen) == fewest:
            assert all(problem.summed_hits[c] > value for c in chosen)


@examples(60)
@given(case=cases(binary=True))
def test_hits_for_other_beta(case: Case) -> None:
    problem = weighted(case, [1] * 8)
    for chosen in optima_of(problem):
        assert all(problem.summed_hits[c] > problem.total / (1 + 2 * problem.beta2) for c in chosen)


@examples(80)
@given(case=cases(plain=True))
def test_individuals_of_one_size_need_not_be_binary(case: Case) -> None:
    size = min(len(tree.masks) for tree in case.trees)
    same = [tree for tree in case.trees if len(tree.masks) == size]
    problem = equal_weights(same)
    assume(problem.is_uniform)
    for chosen in optima_of(problem):
        assert all(3 * problem.summed_hits[c] > len(same) for c in chosen)
    heavy = heavy_candidates(problem)
    assert len(heavy) < 3 * (problem.n - 2)
    if len(same) in (1, 2, 3, 4, 6):
        assert two_colourable(conflicts(heavy))


@examples(100)
@given(case=cases(max_words=6, max_individuals=8, binary=True, plain=True), weights=positive_weights)
def test_the_conflict_graph_has_no_triangle(case: Case, weights: list[int]) -> None:
    problem = weighted(case, weights)
    heavy = heavy_candidates(problem)
    assert len(heavy) < 3 * (problem.n - 2)
    near = conflicts(heavy)
    assert not any(near[i] & near[j] for i in range(len(heavy)) for j in near[i])


@examples(100)
@given(case=cases(max_words=6, max_individuals=8, binary=True, plain=True), weights=positive_weights)
def test_conflict_graphs_that_are_bipartite(case: Case, weights: list[int]) -> None:
    """With equal weights for K = 1, 2, 3, 4, 6; with any weights for K ≤ 4."""
    count = len(case.trees)
    if count in (1, 2, 3, 4, 6):
        assert two_colourable(conflicts(heavy_candidates(case.problem)))
    if count <= 4:
        assert two_colourable(conflicts(heavy_candidates(weighted(case, weights))))


@given(weights=st.lists(st.integers(0, 30), min_size=1, max_size=4).filter(any))
def test_heavy_groups_of_at_most_four_individuals_have_no_odd_cycle(weights: list[int]) -> None:
    groups = [
        set(group)
        for size in range(1, len(weights) + 1)
        for group in combinations(range(len(weights)), size)
        if 3 * sum(weights[k] for k in group) > sum(weights)
    ]
    assert two_colourable([{j for j, other in enumerate(groups) if not group & other} for group in groups])


@examples(80)
@given(case=cases(max_individuals=3, binary=True, plain=True))
def test_the_average_of_three_binary_trees_is_their_majority(case: Case) -> None:
    trees = (case.trees * 3)[:3]
    problem = equal_weights(trees)
    majority = tuple(c for c, hits in enumerate(problem.summed_hits) if hits >= 2)
    assert optima_of(problem) == [majority]


@examples(60)
@given(case=cases(max_words=6, binary=True, plain=True), weights=positive_weights)
def test_the_majority_tree_is_nearly_as_good(case: Case, weights: list[int]) -> None:
    problem = weighted(case, weights)
    n = problem.n
    best = max(ratio(problem, chosen) for chosen in compatible_subsets(problem))
    majority = [c for c, hits in enumerate(problem.summed_hits) if 2 * hits > problem.total]
    assert ratio(problem, majority) >= best * (Fraction(8, 9) + Fraction(4 * (n - 1), 9 * n * n))


@examples(80)
@given(case=cases(max_words=6, plain=True), weights=positive_weights)
def test_better_approximations(case: Case, weights: list[int]) -> None:
    """Of subsets of the majority and one tree, the best one as if all individuals were binary."""
    problem = weighted(case, weights)
    subsets = list(compatible_subsets(problem))
    majority = {c for c, hits in enumerate(problem.summed_hits) if 2 * hits > problem.total}

    def as_if_binary(chosen: Sequence[int]) -> Fraction:
        hits = sum(problem.trivial_hits) + sum(problem.summed_hits[c] for c in chosen)
        return Fraction(2 * hits, (3 * problem.n + len(chosen)) * problem.total)

    within = [
        s
        for s in subsets
        if any(all(c in majority or problem.hits[c][k] for c in s) for k in range(len(problem.sizes)))
    ]
    found = max(within, key=as_if_binary)
    assert 21 * as_if_binary(found) > 20 * max(map(as_if_binary, subsets))
    best = max(map(problem.objective, subsets))
    trivial = problem.objective([])
    assert 3 * trivial > 2 * best
    assert 63 * problem.objective(found) * trivial > 40 * best**2
    if problem.is_uniform and problem.sizes[0] == 2 * problem.n - 1:
        assert as_if_binary(found) == problem.objective(found)


@given(n=st.integers(3, 500), shares=st.lists(st.fractions(0, 1, max_denominator=50), min_size=4, max_size=4))
def test_the_inequalities_behind_20_21(n: int, shares: list[Fraction]) -> None:
    """R(y) decreases, and R(1/2) exceeds 20/21 for all numbers that can occur."""
    size = n + 1 + int(shares[0] * (n - 2))
    heavy = int(shares[1] * (n - 2))
    light = int(shares[2] * (n - 2 - heavy))
    hits = n + 1 + heavy * (1 + shares[3]) / 2
    under = n + 1 + size + heavy
    assert under < 3 * hits

    def share(y: Fraction) -> Fraction:
        return (hits + light * y * y) / (under + light * y) * (under + light) / (hits + light * y)

    values = [share(Fraction(step, 20)) for step in range(11)]
    assert values == sorted(values, reverse=True)
    u = light / hits
    assert values[-1] >= 1 - (u / 4) / (3 + 2 * u + u * u / 4) > Fraction(20, 21)


@examples(60)
@given(case=cases(binary=True, plain=True))
def test_the_ratio_iteration_ends_after_at_most_n_rounds(case: Case) -> None:
    """Every round but the last chooses fewer constituents than the one before."""
    problem = case.problem
    subsets = list(compatible_subsets(problem))
    value = ratio(problem, [])
    sizes: list[int] = []
    while True:
        chosen = max(subsets, key=lambda s: sum(problem.summed_hits[c] - value for c in s))
        if ratio(problem, chosen) == value:
            break
        value = ratio(problem, chosen)
        sizes.append(len(chosen))
    assert sizes == sorted(set(sizes), reverse=True)
    assert value == max(ratio(problem, subset) for subset in subsets)


@examples(80)
@given(case=cases(binary=False, plain=True))
def test_constituents_of_averages_of_trees_of_different_sizes(case: Case) -> None:
    """With v_k = w_k / (t - 1 + s_k), the trees that have c make up more than a quarter of all v."""
    problem = case.problem
    for chosen in optima_of(problem):
        size = problem.trivial_count + len(chosen)
        shares = [Fraction(1, size - 1 + s) for s in problem.sizes]
        common = [
            problem.trivial_hits[k] + sum(problem.hits[c][k] for c in chosen) for k in range(len(shares))
        ]
        needed = sum(v * Fraction(a, size + s) for v, a, s in zip(shares, common, problem.sizes))
        assert needed > sum(shares) / 4
        for c in chosen:
            assert sum(v for v, hit in zip(shares, problem.hits[c]) if hit) >= needed


def test_the_printed_lower_bound_is_not_strict_for_every_average() -> None:
    """Four of nine trees over three words have a constituent; with and without it a tree is equally good."""
    words = "a b c".split()
    trees = [Tree(words, [({0, 1, 2}, ""), (pair, "")]) for pair in [{0, 1}] * 4 + [{1, 2}] * 4 + [{0, 2}]]
    problem = equal_weights(trees)
    c = problem.candidates.index(0b011)
    assert ratio(problem, []) == ratio(problem, [c]) == problem.summed_hits[c] == 4
    assert (c,) in optima_of(problem)
