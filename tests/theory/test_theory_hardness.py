"""The reductions of docs/theory.md, built and solved."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable
from fractions import Fraction
from functools import partial
from itertools import combinations, pairwise

import pytest
from crossing_pairs import derivable, run, tree_over
from fan_out_two import build_fan_out_two, wire_orders
from gadget import Instance, build, odd_cycle
from graphs import Graph, independence_number, largest_independent_set, random_graph
from hypothesis import given, settings
from hypothesis import strategies as st
from unweighted import equal_weights

from treemean.averaging import meet_in_the_middle
from treemean.averaging.problem import Problem, make_problem
from treemean.averaging.pruning import prune, ratio
from treemean.averaging.weights import Weights
from treemean.trees import Tree, compatible

HARD = [5, 7, 8, 9, 10]

Builder = Callable[[int, Graph], Instance]
BUILDERS: list[Builder] = [build, build_fan_out_two, partial(build_fan_out_two, move_last=True)]
NAMES = ["build", "build_fan_out_two", "build_fan_out_two, move_last"]


@pytest.mark.parametrize("count", [5, *range(7, 60)])
def test_odd_cycles_of_groups(count: int) -> None:
    arcs = odd_cycle(count)
    assert len(arcs) % 2 == 1
    assert all(3 * len(arc) > count for arc in arcs)
    assert all(len(arc) == count // 3 + 1 for arc in arcs)
    assert all(not a & b for a, b in zip(arcs, [*arcs[1:], arcs[0]]))


@pytest.mark.parametrize("count", [1, 2, 3, 4, 6])
def test_no_odd_cycle_where_averaging_is_easy(count: int) -> None:
    with pytest.raises(ValueError, match="polynomial"):
        odd_cycle(count)


@settings(max_examples=50, deadline=None)
@given(seed=st.integers(0, 10**6), longer=st.integers(0, 3))
def test_long_paths_instead_of_an_edge(seed: int, longer: int) -> None:
    """A path of 2l + 1 edges instead of an edge adds l to the independence number."""
    rng = random.Random(seed)
    graph = random_graph(rng.randint(2, 6), rng)
    u, v = rng.choice(graph.edges)
    path = [u, *range(graph.order, graph.order + 2 * longer), v]
    edges = {*graph.edges} - {(u, v)} | {*pairwise(path)}
    long_graph = Graph(graph.order + 2 * longer, tuple(edges))
    assert independence_number(long_graph) == independence_number(graph) + longer
    assert len(largest_independent_set(long_graph.neighbours)) == independence_number(long_graph)


def check_trees(instance: Instance) -> Problem:
    """Check trees, their fan-out, hits and conflicts; return the problem."""
    count = len(instance.trees)
    assert all(tree.is_binary for tree in instance.trees)
    assert instance.fan_out is None or all(tree.fan_out <= instance.fan_out for tree in instance.trees)
    occurrences = Counter(mask for tree in instance.trees for mask in tree.masks)
    everything = (1 << len(instance.trees[0].words)) - 1
    for mask, hits in occurrences.items():
        if mask in set(instance.sets):
            assert hits == instance.hits
        elif mask != everything:
            assert hits <= count // 3
    near = instance.long_graph.neighbours
    for u, v in combinations(range(len(instance.sets)), 2):
        assert compatible(instance.sets[u], instance.sets[v]) == (v not in near[u])
    return equal_weights(instance.trees)


@pytest.mark.parametrize("builder", BUILDERS, ids=NAMES)
@pytest.mark.parametrize("count", HARD)
def test_the_average_is_a_largest_independent_set(builder: Builder, count: int) -> None:
    rng = random.Random(count)
    for order in (3, 4, 5):
        graph = random_graph(order, rng)
        instance = builder(count, graph)
        problem = check_trees(instance)
        # Only the sets have enough hits, so the average consists of some of them.
        pruned = prune(problem)
        assert not pruned.forced
        left = [problem.candidates[c] for c in pruned.kept]
        assert sorted(left) == sorted(instance.sets)
        conflicts = [{j for j, other in enumerate(left) if not compatible(mask, other)} for mask in left]
        independent = largest_independent_set(conflicts)
        assert len(independent) == independence_number(graph) + instance.gain
        # The more of them, the better: the ratio depends on their number alone, and grows with it.
        n, h = problem.n, instance.hits
        values = [Fraction(count * (n + 1) + h * s, 3 * n + s) for s in range(len(left) + 1)]
        assert values == sorted(set(values))
        assert ratio(problem, [pruned.kept[v] for v in independent]) == values[len(independent)]


EDGE, PATH, TRIANGLE = Graph(2, ((0, 1),)), Graph(3, ((0, 1), (1, 2))), Graph(3, ((0, 1), (0, 2), (1, 2)))


@pytest.mark.parametrize("builder", BUILDERS, ids=NAMES)
@pytest.mark.parametrize("graph", [EDGE, PATH, TRIANGLE], ids=["edge", "path", "triangle"])
def test_the_search_finds_it_too(builder: Builder, graph: Graph) -> None:
    instance = builder(5, graph)
    solution = meet_in_the_middle.solve(check_trees(instance))
    assert solution.optimal
    assert len(solution.chosen) == independence_number(graph) + instance.gain


@settings(max_examples=50, deadline=None)
@given(seed=st.integers(0, 10**6), count=st.sampled_from(HARD), move_last=st.booleans())
def test_the_size_of_the_second_construction(seed: int, count: int, move_last: bool) -> None:
    rng = random.Random(seed)
    graph = random_graph(rng.randint(2, 6), rng)
    edges, length = len(graph.edges), len(odd_cycle(count))
    rounds = len(wire_orders(graph, length)) - 1
    trees = build_fan_out_two(count, graph, move_last=move_last).trees
    n = len(trees[0].words)
    assert all(tree.fan_out == 2 for tree in trees)
    assert length <= count
    assert n == count + graph.order + edges * (4 * rounds + 2 * length - 1)
    assert n <= count + graph.order + 8 * edges**2 + 6 * count * edges


def test_one_edge_needs_36_words_and_leaves_the_grammar() -> None:
    trees = build_fan_out_two(5, EDGE).trees
    assert len(trees[0].words) == 36
    assert not all(map(derivable, trees))


@settings(max_examples=50, deadline=None)
@given(seed=st.integers(0, 10**6), multiple=st.sampled_from([5, 7, 9]), move_last=st.booleans())
def test_wires(seed: int, multiple: int, move_last: bool) -> None:
    rng = random.Random(seed)
    graph = random_graph(rng.randint(2, 7), rng)
    orders = wire_orders(graph, multiple, move_last=move_last)
    assert len(orders) > 1
    assert (len(orders) - 1) % multiple == 0
    assert len(orders) - 1 < 2 * len(graph.edges) + multiple
    assert [v for _, v in orders[0]] == sorted(v for _, v in orders[0])
    for before, after in pairwise(orders):
        assert sorted(before) == sorted(after)
        assert before == after or [w for w in before if w != after[0]] == after[1:]
    last = orders[-1]
    assert all(a[0] == b[0] for a, b in zip(last[::2], last[1::2]))
    if move_last and orders[0] != last:
        assert orders[-2] != last


@pytest.mark.parametrize("count", [6, 7, 8])
@pytest.mark.parametrize("graph", [EDGE, PATH, TRIANGLE], ids=["edge", "path", "triangle"])
def test_five_heavy_trees_among_light_ones(graph: Graph, count: int) -> None:
    """The light trees do not change for which numbers s the score reaches that of s sets."""
    instance = build(5, graph)
    n = len(instance.trees[0].words)
    heavy = 8 * n**2 * count
    light = [tree_over(n, (run(0, last) for last in range(1, n - 1)))] * (count - 5)
    weights = (heavy,) * 5 + (1,) * len(light)
    solution = meet_in_the_middle.solve(make_problem([*instance.trees, *light], Weights(weights, weights)))
    assert solution.optimal
    score = solution.objective * sum(weights)
    largest = independence_number(graph) + instance.gain
    for s in range(len(instance.sets) + 1):
        threshold = 2 * heavy * Fraction(5 * (n + 1) + instance.hits * s, 3 * n + s)
        assert (score >= threshold) == (s <= largest)


def printed_reduction(graph: Graph) -> tuple[list[Tree], list[int]]:
    """Return the trees of appendix A.3 of the paper, one for each vertex, and the sets S_i."""
    apart = [pair for pair in combinations(range(graph.order), 2) if pair not in graph.edges]
    n = graph.order + len(apart)
    sets = [
        {i} | {graph.order + number for number, pair in enumerate(apart) if i in pair}
        for i in range(graph.order)
    ]
    trees = [Tree(("",) * n, [(range(n), ""), (s, "")]) for s in sets]
    return trees, [sum(1 << p for p in s) for s in sets]


@pytest.mark.parametrize(
    "graph", [Graph(3, ()), Graph(4, ((0, 1), (2, 3))), Graph(5, ((0, 1), (1, 2), (3, 4)))]
)
def test_the_printed_reduction_prefers_small_cliques(graph: Graph) -> None:
    """The trivial tree reaches the threshold for every z, whether or not there is a clique of z vertices."""
    trees, sets = printed_reduction(graph)
    problem = equal_weights(trees)
    n, order = problem.n, graph.order
    assert sorted(problem.candidates) == sorted(sets)

    def threshold(z: int) -> Fraction:
        return Fraction(2 * z + 2 * order * (n + 1), z + 2 * n + 3)

    for size in range(order + 1):
        for clique in combinations(range(order), size):
            chosen = [problem.candidates.index(sets[i]) for i in clique]
            is_clique = all(pair in graph.edges for pair in combinations(clique, 2))
            assert problem.is_tree(chosen) == is_clique
            if is_clique:
                assert problem.objective(chosen) * order == threshold(size)
    assert all(threshold(z) > threshold(z + 1) for z in range(order))
    assert meet_in_the_middle.solve(problem).chosen == ()


def test_the_printed_reduction_says_yes_where_there_is_no_clique() -> None:
    """Three vertices without edges: no clique of two, but a tree with a score above the threshold for two."""
    trees, _ = printed_reduction(Graph(3, ()))
    problem = equal_weights(trees)
    assert problem.n == 6
    assert 3 * problem.objective([]) == Fraction(14, 5) > Fraction(46, 17)
    assert max(len(s) for s in ([], [0], [1], [2], [0, 1], [0, 2], [1, 2]) if problem.is_tree(s)) == 1
