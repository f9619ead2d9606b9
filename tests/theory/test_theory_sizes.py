"""Trees of different sizes (docs/theory.md, section 8): the constructions, built and solved."""

from __future__ import annotations

import random
from fractions import Fraction
from itertools import combinations

import pytest
from closures import (
    Items,
    Sides,
    build_trees,
    clique_items,
    clique_weight,
    copies_of,
    four_equal,
    has_clique,
    three_equal,
    two_fixed,
    two_weighted,
)
from graphs import Graph
from hypothesis import given
from hypothesis import strategies as st
from independent import in_conflict, owners

from averaging_oracles import Case, cases, ranking
from examples import examples
from treemean.averaging import average
from treemean.averaging.reference.problem import Problem, make_problem
from treemean.averaging.weights import Weights
from treemean.trees import Tree

#: Closed sets weigh 0, 2, 4, 5, 6, 7: the last item implies the first.
SMALL = Items((4, 2, 1), ((2, 0),))


def reachable(trees: list[Tree], a_count: int) -> set[tuple[int, int]]:
    """Return the largest numbers (i, j) of constituents of either side that the conflicts of the trees allow.

    Fillers are left out. Constituents with the same conflicts are taken together.
    """
    having = owners(trees)
    a_side, b_side = frozenset(range(a_count)), frozenset(range(a_count, len(trees)))
    left = [mask for mask, group in having.items() if group == a_side and conflicting(mask, having, b_side)]
    right = [mask for mask, group in having.items() if group == b_side and conflicting(mask, having, a_side)]
    free = sum(group == b_side for group in having.values()) - len(right) if len(b_side) == 1 else 0
    near = {b: frozenset(a for a in left if in_conflict(a, b)) for b in right}
    kinds = sorted(set(near.values()), key=len)
    amount = {kind: sum(1 for b in right if near[b] == kind) for kind in kinds}
    points = set()
    for size in range(len(kinds) + 1):
        for chosen in combinations(kinds, size):
            lost = frozenset().union(*chosen)
            points.add((free + sum(amount[kind] for kind in chosen), len(left) - len(lost)))
    return points


def conflicting(mask: int, having: dict[int, frozenset[int]], side: frozenset[int]) -> bool:
    return any(group == side and in_conflict(mask, other) for other, group in having.items())


def best_reachable(trees: list[Tree], sides: Sides) -> Fraction:
    """Return the highest score of all reachable points and of those with fewer constituents."""
    points = reachable(trees, len(sides.a_sizes))
    largest: dict[int, int] = {}
    for i, j in points:
        for fewer in range(i + 1):
            largest[fewer] = max(largest.get(fewer, 0), j)
    return max(
        sides.score(i, j) for i, most in largest.items() for j in {most, most - 1, most // 2, 0} if j >= 0
    )


def check_built(items: Items, sides: Sides, target: int) -> bool:
    """Build the trees, check them and their best score; return whether it reaches that of the target."""
    trees = build_trees(items, sides)
    assert all(tree.fan_out <= 2 for tree in trees)
    sizes = [len(trees[0].words) + len({*tree.masks}) for tree in trees]
    assert tuple(sizes) == sides.a_sizes + sides.b_sizes
    goal = sides.score(*sides.on_line(target))
    best = best_reachable(trees, sides)
    assert best <= goal
    if sides.weight == 1:
        result = average(trees)
        assert result.values["optimal"] == 1
        assert result.values["objective"] * len(trees) / 2 == pytest.approx(float(best), rel=1e-12)
    return best == goal


CONSTRUCTIONS = {
    "two, weighted": (range(1, 7), lambda target: two_weighted(SMALL.total, target, 700)),
    "two, fixed": (range(1, 7), lambda target: two_fixed(SMALL.total, target, 500, Fraction(3, 2), 6, 1)),
    "three": ((2, 3), lambda target: three_equal(SMALL.total, target, 4000)),
    # A second size that is adjusted too makes up for small weights of items.
    "four": ((2, 3), lambda target: four_equal(SMALL.total, target, 2000, 1, {2: 3467, 3: 3353}[target])),
}


@pytest.mark.parametrize("name", CONSTRUCTIONS)
def test_trees_tell_whether_a_closed_set_exists(name: str) -> None:
    targets, sides_for = CONSTRUCTIONS[name]
    for target in targets:
        sides = sides_for(target)
        assert sides.singles_out(target)
        assert check_built(SMALL, sides, target) == (target in SMALL.closed_weights())


@pytest.mark.parametrize(
    ("weight", "left", "step"), [(Fraction(6, 5), 4, 20), (Fraction(3, 2), 4, 3), (Fraction(5, 3), 12, 3)]
)
def test_fixed_weights_single_out_targets(weight: Fraction, left: int, step: int) -> None:
    for target in (1, 4, 6):
        sides = two_fixed(7 * step, target * step, 3000 * step, weight, left, step)
        assert sides.singles_out(target * step, step)


@examples(80)
@given(case=cases(max_words=5, max_individuals=2, binary=False, plain=True), extra=st.integers(0, 20))
def test_a_tree_that_outweighs_the_other_one_by_16_to_9_is_the_average(case: Case, extra: int) -> None:
    trees = (case.trees * 2)[:2]
    problem = make_problem(trees, Weights((16 + extra, 9), (16 + extra, 9)))
    heavy = [c for c, hits in enumerate(problem.hits) if hits[0]]
    assert problem.objective(heavy) == ranking(problem)[0][0]


GRAPHS = {
    "a triangle": Graph(4, ((0, 1), (0, 2), (1, 2))),
    "a path": Graph(4, ((0, 1), (1, 2), (2, 3))),
    "a star": Graph(4, ((0, 1), (0, 2), (0, 3))),
}


@pytest.mark.parametrize("name", GRAPHS)
def test_cliques_are_closed_sets(name: str) -> None:
    graph = GRAPHS[name]
    items = clique_items(graph)
    for size in range(1, graph.order + 1):
        assert (clique_weight(graph, size) in items.closed_weights()) == has_clique(graph, size)


@pytest.mark.parametrize("name", GRAPHS)
def test_two_weighted_trees_tell_whether_there_is_a_clique(name: str) -> None:
    graph = GRAPHS[name]
    items, target = clique_items(graph), clique_weight(graph, 3)
    sides = two_weighted(items.total, target, 10 * items.total)
    assert sides.singles_out(target)
    assert check_built(items, sides, target) == has_clique(graph, 3)


@pytest.mark.parametrize("name", GRAPHS)
def test_three_trees_tell_whether_there_is_a_clique(name: str) -> None:
    graph = GRAPHS[name]
    items, target = clique_items(graph), clique_weight(graph, 3)
    sides = three_equal(items.total, target, 300 * items.total)
    assert sides.singles_out(target)
    trees_fit = (
        sides.b_sizes[0] - sides.fixed - items.total + copies_of(items, 10, 1, 0).words + 4 < sides.fixed
    )
    assert trees_fit
    points = {(x, 10 * (items.total - x)) for x in items.closed_weights()}
    goal = sides.score(*sides.on_line(target))
    assert (max(sides.score(*point) for point in points) == goal) == has_clique(graph, 3)


@examples(30)
@given(total=st.integers(2, 60), share=st.fractions(0, 1), scale=st.integers(1000, 5000))
def test_the_sizes_of_the_proofs_single_out_every_target(total: int, share: Fraction, scale: int) -> None:
    target = min(max(int(total * share), 1), total - 1)
    assert two_weighted(total, target, 100 * total).singles_out(target)
    sides = three_equal(total, target, scale * 12 * total)
    assert sides.singles_out(target)
    assert 1.89 * sides.fixed <= sides.b_sizes[0] <= 1.98 * sides.fixed


@pytest.mark.parametrize("target", [1, 2, 5])
def test_the_sizes_of_the_proof_for_four_trees(target: int) -> None:
    step, total = 100, 600
    fixed = 10**6 * 24 * total
    sides = four_equal(total, target * step, fixed, step, 2 * fixed - 4 * 24 * total)
    assert 1.3 * fixed <= sides.b_sizes[0] <= 1.4 * fixed
    assert sides.singles_out(target * step, step)


@examples(40)
@given(total=st.integers(2, 10**4), share=st.fractions(0, 1), more=st.integers(0, 10**6))
def test_the_numbers_in_the_proof_for_three_trees(total: int, share: Fraction, more: int) -> None:
    x = min(max(int(total * share), 1), total - 1)
    n = 11_000 * total + more
    sides = three_equal(total, x, n)
    e, d = 2 * n + 20 * total - 9 * x, n + 10 * total - 9 * x + sides.b_sizes[0]
    assert 2 * n <= e <= Fraction(2002, 1000) * n
    assert Fraction(2899, 1000) * n <= d <= Fraction(298, 100) * n
    rho = Fraction(10 * e - 9 * (n + 10 * total - 10 * x), e * e - 81)
    sigma = Fraction(2 * (d + 9 * (n + x)), d * d - 81)
    assert Fraction(2741, 1000) <= rho * n <= Fraction(2756, 1000)
    below, middle, above = (sides.score(*sides.on_line(x + t)) for t in (-1, 0, 1))
    assert above - below == 2 * (sigma - rho)
    assert 0 <= (above - below) * n * n <= Fraction(346, 100)
    assert 2 * middle - above - below == 18 * (rho / e - sigma / d)
    assert (2 * middle - above - below) * n * n >= Fraction(76, 10)


@examples(40)
@given(total=st.integers(2, 10**3), share=st.fractions(0, 1), more=st.integers(0, 10**9))
def test_the_numbers_in_the_proof_for_four_trees(total: int, share: Fraction, more: int) -> None:
    m = 100
    x, total = m * min(max(int(total * share), 1), total - 1), m * total
    words = 22 * total
    n = 10**6 * words + more
    sides = four_equal(total, x, n, m, 2 * n - 4 * words)
    d = n + 11 * total - x + sides.b_sizes[0]
    assert Fraction(23659, 10000) * n <= d <= Fraction(2369, 1000) * n
    below, middle, above = (sides.score(*sides.on_line(x + t)) for t in (-m, 0, m))
    assert 0 <= (above - below) * n * n <= 778
    assert (2 * middle - above - below) * n * n >= 1750
    # The second difference over 2m is between 0.16 m² and 0.2 m², everywhere.
    for start in (0, total // m // 2 * m, total):
        points = [sides.score(*sides.on_line(start + t)) for t in (-m, 0, m)]
        bend = (2 * points[1] - points[0] - points[2]) * n * n / m**2
        assert Fraction(16, 100) <= bend <= Fraction(20, 100)
    i, j = sides.on_line(x)
    assert sides.score(i, j) - sides.score(i, j - 1) >= Fraction(11, 100) / n


@examples(60)
@given(data=st.data())
def test_fillers_make_every_tree_worse(data: st.DataObject) -> None:
    total = data.draw(st.integers(1, 9))
    fixed = data.draw(st.integers(2000, 4000)) * total
    target = max(total // 2, 1)
    if data.draw(st.booleans()) and total > 1:
        sides = three_equal(total, target, fixed)
        first = [0]
    else:
        sides = four_equal(total, target, fixed, 0 * total + 1, 2 * fixed - 100 * total)
        first = [0, data.draw(st.integers(0, fixed))]
    fillers = [*first, *(data.draw(st.integers(0, fixed // 2)) for _ in range(2))]
    i, j = sides.on_line(data.draw(st.integers(0, total)))
    if any(fillers):
        assert sides.score(i, j, fillers) < sides.score(i, j)


def value(common: int, i: int, j: int, sizes: tuple[int, int], squared: Fraction) -> Fraction:
    whole = common + i + j
    return (common + i) / (whole + squared * sizes[0]) + (common + j) / (whole + squared * sizes[1])


@examples(120)
@given(data=st.data(), squared=st.sampled_from([Fraction(1), Fraction(3, 2), Fraction(4)]))
def test_the_value_of_two_trees_is_strictly_quasi_convex(data: st.DataObject, squared: Fraction) -> None:
    common, p, q = (data.draw(st.integers(*bounds)) for bounds in ((0, 40), (1, 40), (1, 40)))
    if p == q:
        return
    a, b = ((data.draw(st.integers(0, p)), data.draw(st.integers(0, q))) for _ in range(2))
    share = data.draw(st.fractions(Fraction(1, 100), Fraction(99, 100)))
    between = tuple(share * x + (1 - share) * y for x, y in zip(a, b))
    sizes = (common + p, common + q)
    ends = [value(common, *point, sizes, squared) for point in (a, b)]
    if a != b:
        assert value(common, *between, sizes, squared) < max(ends)


def corners(points: set[tuple[int, int]]) -> set[tuple[int, int]]:
    """Return the points that are not between others, nor in a triangle of them: the corners of the hull."""
    result: list[tuple[int, int]] = []
    for sweep in (sorted(points), sorted(points, reverse=True)):
        chain: list[tuple[int, int]] = []
        for x, y in sweep:
            while len(chain) > 1 and (chain[-1][0] - chain[-2][0]) * (y - chain[-2][1]) <= (
                chain[-1][1] - chain[-2][1]
            ) * (x - chain[-2][0]):
                chain.pop()
            chain.append((x, y))
        result += chain
    return {*result}


@examples(200)
@given(data=st.data())
def test_a_best_point_is_a_corner_or_on_an_axis(data: st.DataObject) -> None:
    """For β < 1, for any staircase of points: of the best points, those with the fewest constituents."""
    i0, j0 = data.draw(st.sampled_from([(0, 0), (1, 0), (0, 1)]))
    p, q = (data.draw(st.integers(1, 12)) for _ in range(2))
    if p == q:
        return
    common = data.draw(st.integers(0, 15))
    squared = data.draw(st.fractions(Fraction(1, 50), Fraction(49, 50), max_denominator=50))
    steps = sorted((data.draw(st.integers(j0, q)) for _ in range(p - i0)), reverse=True)
    most = {i0: q} | {i0 + 1 + number: j for number, j in enumerate(steps)}
    points = {(i, j) for i, top in most.items() for j in range(j0, top + 1)}
    values = {z: value(common, *z, (common + p, common + q), squared) for z in points}
    best = [z for z, worth in values.items() if worth == max(values.values())]
    smallest = min(map(sum, best))
    hull = corners(points)
    assert all(z in hull or z[0] == i0 or z[1] == j0 for z in best if sum(z) == smallest)


def test_weights_or_small_beta_break_quasi_convexity() -> None:
    """A point between two others that is better than both."""
    first, second = (Fraction(0), Fraction(20)), (Fraction(10), Fraction(759, 100))
    between = tuple((x + y) / 2 for x, y in zip(first, second))
    worths = [value(40, *point, (80, 60), Fraction(1, 4)) for point in (first, between, second)]
    assert worths[1] > max(worths[0], worths[2])
    weighted = two_weighted(7, 3, 700)
    line = [weighted.score(*weighted.on_line(x)) for x in range(8)]
    assert line[3] > max(line[0], line[7])


def problem_with_weight(trees: list[Tree], weight: Fraction) -> Problem:
    """State the problem of two trees, the second of the given weight."""
    having = owners(trees)
    n = len(trees[0].words)
    scale = (weight.denominator, weight.numerator)
    candidates = tuple(sorted(having))
    return Problem(
        n,
        candidates,
        tuple(tuple(scale[k] * (k in having[c]) for k in range(2)) for c in candidates),
        tuple(w * (n + 1) for w in scale),
        tuple(n + 1 + sum(k in group for group in having.values()) for k in range(2)),
        sum(scale),
    )


def test_the_score_of_two_weighted_trees_is_that_of_the_problem() -> None:
    """For random choices of constituents, by the definition."""
    rng = random.Random(5)
    sides = two_weighted(SMALL.total, 3, 300)
    trees = build_trees(SMALL, sides)
    problem = problem_with_weight(trees, sides.weight)
    for _ in range(5):
        chosen = rng.sample(range(len(problem.candidates)), 12)
        i = sum(problem.hits[c][1] > 0 for c in chosen)
        expected = sides.score(i, len(chosen) - i) * 2 / (1 + sides.weight)
        assert problem.objective(chosen) == expected
