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
from gadget import Instance, build, build_linear, odd_cycle
from graphs import Graph, independence_number, largest_independent_set, random_graph
from hypothesis import given
from hypothesis import strategies as st
from independent import best_ratio, best_score, owners
from unweighted import equal_weights
from wires import Layout, build_derivable, swaps_for

from examples import examples
from treemean.averaging import average
from treemean.averaging.reference import meet_in_the_middle
from treemean.averaging.reference.problem import Problem, make_problem
from treemean.averaging.reference.pruning import prune, ratio
from treemean.averaging.weights import Weights
from treemean.trees import Tree, compatible

HARD = [5, 7, 8, 9, 10]

Builder = Callable[[int, Graph], Instance]
BUILDERS: list[Builder] = [build, build_derivable, partial(build_derivable, idle=1)]
NAMES = ["build", "build_derivable", "build_derivable, idle"]


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


@examples(50)
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
    assert instance.fan_out is None or all(map(derivable, instance.trees))
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
    for order in (3, 4, 5) if builder is build else (3, 4):
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
    result = average(instance.trees)
    assert result.values["optimal"] == 1
    assert {*result.masks} <= {*instance.sets, (1 << len(result.words)) - 1}
    assert len(result.masks) - 1 == independence_number(graph) + instance.gain


@pytest.mark.parametrize("builder", BUILDERS, ids=NAMES)
@pytest.mark.parametrize("count", [5, 7, 8])
@pytest.mark.parametrize("graph", [EDGE, PATH], ids=["edge", "path"])
def test_an_independent_solver_says_yes_and_no(builder: Builder, count: int, graph: Graph) -> None:
    """HiGHS on all constituents: the threshold of q is reached if there are q independent vertices."""
    instance = builder(count, graph)
    best = best_score(instance.trees)
    for q in range(graph.order + 1):
        threshold = 2 * value_of_sets(instance, q + instance.gain)
        assert (best >= threshold) == (q <= independence_number(graph))


K33 = Graph(6, tuple((u, v) for u in range(3) for v in range(3, 6)))
K5 = Graph(5, tuple(combinations(range(5), 2)))


@pytest.mark.slow
@pytest.mark.parametrize("graph", [K33, K5], ids=["K33", "K5"])
def test_graphs_that_are_not_planar(graph: Graph) -> None:
    """Two thousand words and more: wires cross, arcs of one tree do not."""
    instance = build_derivable(5, graph)
    check_trees(instance)
    assert len(largest_independent_set(instance.long_graph.neighbours)) == (
        independence_number(graph) + instance.gain
    )


@pytest.mark.parametrize("count", [5, 7, 9])
def test_arcs_that_cross_have_consecutive_classes(count: int) -> None:
    rng = random.Random(count)
    for order in (3, 4, 5):
        layout = Layout(count, random_graph(order, rng))
        arcs = [(w, c) for w, c, is_arc in zip(layout.words, layout.classes, layout.is_arc) if is_arc]
        crossings = 0
        for (a, c), (b, d) in combinations(arcs, 2):
            if a[0] < b[0] < a[1] < b[1] or b[0] < a[0] < b[1] < a[1]:
                crossings += 1
                assert (c - d) % len(layout.groups) in (1, len(layout.groups) - 1)
        assert crossings
        for u, v in layout.edges:
            assert (layout.classes[u] - layout.classes[v]) % len(layout.groups) in (1, len(layout.groups) - 1)
            assert len({*layout.words[u]} & {*layout.words[v]}) == 1


@examples(50)
@given(seed=st.integers(0, 10**6), count=st.sampled_from(HARD))
def test_the_size_of_the_second_construction(seed: int, count: int) -> None:
    rng = random.Random(seed)
    graph = random_graph(rng.randint(2, 6), rng)
    edges, length = len(graph.edges), len(odd_cycle(count))
    layout = Layout(count, graph)
    blocks = len(layout.blocks) - 1
    assert blocks - 1 == len(
        swaps_for([(e, v) for v in range(graph.order) for e in range(edges) if v in graph.edges[e]])
    )
    assert blocks - 1 <= edges * (edges - 1)
    assert length <= count
    assert layout.n <= count + 4 * edges * blocks + 3 * length * (blocks - 1) + length * edges


def test_one_edge_needs_14_words() -> None:
    instance = build_derivable(5, EDGE)
    assert len(instance.trees[0].words) == 14
    assert all(map(derivable, instance.trees))


@examples(50)
@given(seed=st.integers(0, 10**6))
def test_swaps_bring_halves_of_edges_together(seed: int) -> None:
    rng = random.Random(seed)
    graph = random_graph(rng.randint(2, 7), rng)
    wires = [(e, v) for v in range(graph.order) for e, ends in enumerate(graph.edges) if v in ends]
    for p in swaps_for(wires):
        wires[p], wires[p + 1] = wires[p + 1], wires[p]
    assert all(a[0] == b[0] for a, b in zip(wires[::2], wires[1::2]))


def value_of_sets(instance: Instance, number: int) -> Fraction:
    """Return the value of a tree with so many of the sets and nothing else."""
    count, n = len(instance.trees), len(instance.trees[0].words)
    size = n + len({*instance.trees[0].masks})
    return Fraction(count * (n + 1) + instance.hits * number, n + 1 + size + number)


@examples(8)
@given(seed=st.integers(0, 10**6), count=st.sampled_from(HARD))
def test_an_almost_best_tree_is_an_almost_largest_independent_set(seed: int, count: int) -> None:
    """The inequalities of the proof that there is no approximation scheme."""
    rng = random.Random(seed)
    graph = random_graph(rng.randint(2, 6), rng)
    largest = independence_number(graph)
    for builder in (build, build_linear):
        instance = builder(count, graph)
        n = len(instance.trees[0].words)
        factor = 8 * Fraction(n * n, n - count) if builder is build else 32 * n
        best = value_of_sets(instance, largest + instance.gain)
        for s in range(largest + instance.gain + 1):
            loss = 1 - value_of_sets(instance, s) / best
            assert largest + instance.gain - s <= factor * loss * count


K4 = Graph(4, tuple(combinations(range(4), 2)))


@pytest.mark.parametrize("graph", [EDGE, PATH, TRIANGLE, K4], ids=["edge", "path", "triangle", "K4"])
@pytest.mark.parametrize("count", [5, 7, 9])
def test_a_linear_construction_of_fan_out_2(graph: Graph, count: int) -> None:
    """Trees of one size with fillers of one hit; HiGHS says yes and no."""
    instance = build_linear(count, graph)
    trees, h, length = instance.trees, instance.hits, len(odd_cycle(count))
    words = graph.order + 2 * len(graph.edges) + (length - 2) * len(graph.edges)
    n = 2 * h * (words + count)
    assert all(len(tree.words) == n and tree.fan_out <= 2 for tree in trees)
    assert {len({*tree.masks}) for tree in trees} == {n + 1 - words - count}
    for mask, having in owners(trees).items():
        assert len(having) == (h if mask in instance.sets else 1)
    near = instance.long_graph.neighbours
    for u, v in combinations(range(len(instance.sets)), 2):
        assert compatible(instance.sets[u], instance.sets[v]) == (v not in near[u])
    best = best_score(trees)
    for q in range(graph.order + 1):
        threshold = 2 * value_of_sets(instance, q + instance.gain)
        assert (best >= threshold) == (q <= independence_number(graph))


@pytest.mark.parametrize("builder", [build, build_derivable, build_linear])
@pytest.mark.parametrize("count", [5, 8])
def test_one_tree_and_the_majority_are_nearly_as_good(builder: Builder, count: int) -> None:
    """The approximation by subsets of the majority and one tree, on hard instances: good, not always best."""
    trees = builder(count, TRIANGLE).trees
    n, size = len(trees[0].words), len(trees[0].words) + len({*trees[0].masks})
    having = owners(trees)
    found = max(
        best_ratio(
            {
                mask: (Fraction(len(own)), 1)
                for mask, own in having.items()
                if k in own or 2 * len(own) > count
            },
            Fraction(count * (n + 1)),
            n + 1 + size,
        )
        for k in range(count)
    )
    assert Fraction(20, 21) * best_score(trees) < 2 * found < best_score(trees)


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
