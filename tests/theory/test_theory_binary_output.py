"""Binary output (docs/theory.md, section 9): constructions, solved."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Sequence
from fractions import Fraction
from itertools import combinations, product

import pytest
from binary_output import derivable_trees, many_trees, phases, three_colours
from crossing_pairs import derivable
from gadget import Instance, build, pairs_of_trees
from graphs import Graph, independence_number, random_graph
from hypothesis import given
from hypothesis import strategies as st
from independent import best_binary_score, best_ratio, heaviest, in_conflict, owners
from wires import build_derivable

from averaging_oracles import Case, all_trees, cases
from examples import examples
from instances import flattened, mixed_trees
from treemean.averaging import average
from treemean.trees import Constituent, Tree
from treemean.trees.bitsets import fan_out_of

EDGE, PATH = Graph(2, ((0, 1),)), Graph(3, ((0, 1), (1, 2)))


@pytest.mark.parametrize("count", [3, 4, 6])
def test_the_best_binary_tree_is_a_largest_independent_set(count: int) -> None:
    rng = random.Random(count)
    for order in (2, 4, 6):
        graph = random_graph(order, rng)
        trees, free = three_colours(graph, count)
        assert all(tree.fan_out <= 2 for tree in trees)
        sizes = {len({*tree.masks}) for tree in trees}
        assert len(sizes) == 1
        n = len(trees[0].words)
        size = n + sizes.pop()
        largest = independence_number(graph) + len(graph.edges)
        score = 2 * (count * (n + 1) + free + largest) / (2 * n - 1 + size)
        assert float(best_binary_score(trees)) == pytest.approx(score, rel=1e-12)
        result = average(trees, binary=True)
        assert result.values["optimal"] == 1
        assert result.values["objective"] * count == pytest.approx(score, rel=1e-12)


@pytest.mark.parametrize("count", [3, 4, 5])
def test_trees_whose_words_do_not_count(count: int) -> None:
    """The same trees, with t + 2 > K and words left out of the score: HiGHS says yes and no."""
    rng = random.Random(count)
    for order in (2, 4, 6):
        graph = random_graph(order, rng)
        trees, free = three_colours(graph, count, least=count)
        inner = len({*trees[0].masks}) - 1
        worth = {mask: (Fraction(len(having)), 1) for mask, having in owners(trees).items()}
        best = best_ratio(worth, Fraction(count), 2 + inner)
        for q in range(order + 1):
            chosen = free + len(graph.edges) + q
            threshold = Fraction(count + chosen, 2 + inner + chosen)
            assert (best >= threshold) == (q <= independence_number(graph))


@examples(20)
@given(seed=st.integers(0, 10**6))
def test_independent_literals_satisfy_clauses(seed: int) -> None:
    """Occurrences of literals, joined if they share a clause or contradict each other."""
    rng = random.Random(seed)
    clauses = [[v if rng.random() < 0.5 else ~v for v in rng.sample(range(5), 3)] for _ in range(4)]
    places = [(c, literal) for c, clause in enumerate(clauses) for literal in clause]
    edges = [
        (x, y)
        for x, y in combinations(range(len(places)), 2)
        if places[x][0] == places[y][0] or places[x][1] == ~places[y][1]
    ]
    satisfied = max(
        sum(any(signs[max(v, ~v)] == (v >= 0) for v in clause) for clause in clauses)
        for signs in product([False, True], repeat=5)
    )
    assert independence_number(Graph(len(places), tuple(edges))) == satisfied


@pytest.mark.parametrize(("prime", "rounds"), [(5, 1), (5, 2), (7, 1)])
def test_many_binary_trees_have_nothing_frequent_but_the_sets(prime: int, rounds: int) -> None:
    graph = Graph(4, ((0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3)))
    trees, sets = many_trees(graph, prime, rounds)
    group = rounds * prime * (prime - 1)
    assert len(trees) == 4 * group
    assert all(tree.is_binary for tree in trees)
    hits = {mask: len(having) for mask, having in owners(trees).items()}
    for u, v in graph.edges:
        assert in_conflict(sets[u], sets[v])
    for mask, number in hits.items():
        if mask in sets:
            assert number == group
        elif any(mask & ~s == 0 for s in sets):
            assert number == (group // prime if mask.bit_count() == prime - 1 else 2 * rounds)
        else:
            assert number == 1


@pytest.mark.parametrize(("m", "d"), [(3, 2), (5, 3), (9, 3)])
def test_a_run_can_be_built_in_many_ways(m: int, d: int) -> None:
    """How many of the m² d trees have a set, by phase; and what is nested."""
    p = 3 * m
    found: list[Counter[int]] = [Counter() for _ in range(4)]
    for triple in product(range(m), range(2 * m, p), range(1, d + 1)):
        built = phases(*triple, p)
        assert [mask.bit_count() for phase in built for mask in sorted(phase)] == list(range(2, p))
        assert all(fan_out_of(mask) == 2 for phase in built for mask in phase)
        for phase, masks in zip(found, built):
            phase.update(masks)
    assert all(max(phase.values()) <= most for phase, most in zip(found, (d, 1, m, m * d)))
    assert all(mask >> p - 1 for phase in found[2:] for mask in phase)
    assert all(p - d < mask.bit_count() < p for mask in found[3])
    if m == 3:
        hits = {mask: Fraction(number) for mask, number in sum(found, Counter()).items()}
        assert sum(hits[mask] for mask in heaviest(hits)) <= 3 * m * (d + 1) + 3 * m**2 + m * d**2


@pytest.mark.parametrize("graph", [EDGE, PATH], ids=["edge", "path"])
def test_many_derivable_trees(graph: Graph) -> None:
    """Runs and pairs have h hits, spines one; all other sets are inside runs."""
    copies = 2
    built = derivable_trees(graph, 2, 1, copies)
    h, count = built.hits, len(built.trees)
    assert count == (1 + 2 * len(graph.edges)) * h
    assert all(map(derivable, built.trees))
    hits = {mask: len(having) for mask, having in owners(built.trees).items()}
    for mask, number in hits.items():
        if mask in built.runs or mask in built.pairs:
            assert number == h
        elif mask & (1 << count) - 1:
            assert number == 1
        else:
            assert any(mask & ~run == 0 for run in built.runs)
    sets = [*built.runs, *built.pairs]
    conflicts = [pair for pair in combinations(sets, 2) if in_conflict(*pair)]
    assert len(conflicts) == copies * 3 * len(graph.edges)
    most = copies * (independence_number(graph) + len(graph.edges))
    assert len(heaviest({mask: Fraction(h) for mask in sets})) == most


@pytest.mark.parametrize("construct", [build, build_derivable])
@pytest.mark.parametrize("count", [5, 6, pytest.param(7, marks=pytest.mark.slow)])
def test_binary_trees_whose_words_do_not_count(
    count: int, construct: Callable[[int, Graph, Sequence[frozenset[int]]], Instance]
) -> None:
    """Words above the sentence bring the best value between one hit and two."""
    made = construct(count, EDGE, pairs_of_trees(count))
    old = len(made.trees[0].words)
    appended = -(-(old - count + 1) // (count - 2))
    n = old + appended
    above = [(1 << words) - 1 for words in range(old, n + 1)]
    trees = [Tree([""] * n, [Constituent(m) for m in {*tree.masks, *above}]) for tree in made.trees]
    assert all(tree.is_binary for tree in trees)
    assert construct is build or all(derivable(tree) for tree in trees)
    hits = {mask: len(having) for mask, having in owners(trees).items()}
    assert all(hits[mask] == 2 for mask in made.sets)
    assert {h for mask, h in hits.items() if mask not in {*made.sets, *above}} == {1}
    best = best_ratio({mask: (Fraction(h), 1) for mask, h in hits.items()}, Fraction(count), n)
    largest = independence_number(made.long_graph)
    assert 1 < best < 2
    assert best == Fraction(count * (appended + 1) + 2 * largest, 2 * appended + old + largest)


@pytest.mark.parametrize("prime", [5, 7, 11, 13])
def test_a_progression_modulo_a_prime_has_two_differences(prime: int) -> None:
    for length in range(2, prime - 1):
        sets = Counter(
            frozenset((b + i * a) % prime for i in range(length))
            for a in range(1, prime)
            for b in range(prime)
        )
        assert set(sets.values()) == {2}


@examples(40)
@given(case=cases(max_words=5, max_individuals=2))
def test_two_trees_have_a_bipartite_conflict_graph_for_binary_output_too(case: Case) -> None:
    """The best binary tree over all binary trees, against the heaviest compatible set."""
    families = all_trees((1 << case.n) - 1)
    best = max(case.objective(family) for family in families if len(family) == case.n - 1)
    if case.weights.continuous == case.weights.discontinuous == (1,) * len(case.trees) and case.beta2 == 1:
        assert best_binary_score(case.trees) == best * len(case.trees)


def test_binary_output_of_two_trees_is_proven_at_once() -> None:
    rng = random.Random(8)
    for _ in range(5):
        trees = [flattened(tree, 0.2, rng) for tree in mixed_trees(60, 2, 2, 0, rng)]
        result = average(trees, binary=True, node_limit=2_000)
        assert result.values["optimal"] == 1
        assert result.values["objective"] * 2 == pytest.approx(float(best_binary_score(trees)), rel=1e-9)
