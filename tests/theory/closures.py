"""The third hardness construction of docs/theory.md: trees of different sizes, from closed sets of items.

Items have weights; an item may imply others. An item is in (its copies on side B are chosen) or out (those on
side A are). A copy on side B conflicts with the copies on side A of the item itself and of those it implies,
so that only closed sets of items leave nothing out.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations

from graphs import Graph

from treemean.trees import Constituent, Tree
from treemean.trees.bitsets import mask_of


@dataclass(frozen=True)
class Items:
    """Weighted items, and which item implies which.

    `implied_at_home` are implications (y, z) whose word stands with z, `implied_away` those whose word stands
    with y. An item may be away in one implication on either side, so that its copies are of fan-out 2.
    """

    weights: tuple[int, ...]
    implied_at_home: tuple[tuple[int, int], ...] = ()
    implied_away: tuple[tuple[int, int], ...] = ()

    @property
    def total(self) -> int:
        return sum(self.weights)

    @property
    def implications(self) -> tuple[tuple[int, int], ...]:
        return self.implied_at_home + self.implied_away

    def closed_weights(self) -> set[int]:
        """Return the weights of all closed sets, by looking at all sets."""
        size = len(self.weights)
        return {
            sum(w for y, w in enumerate(self.weights) if chosen >> y & 1)
            for chosen in range(1 << size)
            if all(chosen >> z & 1 or not chosen >> y & 1 for y, z in self.implications)
        }


def clique_items(graph: Graph) -> Items:
    """Return items for vertices, edges, and links: an edge implies its two links, a link its vertex."""
    count = len(graph.edges)
    edge_weight = 2 * count + 1
    vertex_weight = count * edge_weight + 2 * count + 1
    first_edge, first_link = graph.order, graph.order + count
    links = [(e, v) for e, ends in enumerate(graph.edges) for v in ends]
    return Items(
        (vertex_weight,) * graph.order + (edge_weight,) * count + (1,) * len(links),
        tuple((first_link + number, v) for number, (_, v) in enumerate(links)),
        tuple((first_edge + e, first_link + number) for number, (e, _) in enumerate(links)),
    )


def clique_weight(graph: Graph, size: int) -> int:
    """Return the weight of a clique with its edges and links."""
    items = clique_items(graph)
    pairs = size * (size - 1) // 2
    edge_weight = items.weights[graph.order] if graph.edges else 1
    return size * items.weights[0] + pairs * (edge_weight + 2)


def has_clique(graph: Graph, size: int) -> bool:
    edges = {frozenset(edge) for edge in graph.edges}
    return any(
        all(frozenset(pair) in edges for pair in combinations(clique, 2))
        for clique in combinations(range(graph.order), size)
    )


@dataclass(frozen=True)
class Sides:
    """What decides the score: i constituents of side B and j of side A are chosen.

    Attributes
    ----------
    fixed : N, the number of trivial constituents.
    left, right : copies of an item of weight 1 on side A and on side B (p and q).
    total : Ω.
    free : constituents of side B that conflict with nothing.
    a_sizes, b_sizes : sizes of the trees of both sides.
    weight : what the trees of side B weigh; those of side A weigh 1.
    """

    fixed: int
    left: int
    right: int
    total: int
    a_sizes: tuple[int, ...]
    b_sizes: tuple[int, ...]
    free: int = 0
    weight: Fraction = Fraction(1)

    def score(self, i: int, j: int, fillers: Sequence[int] = ()) -> Fraction:
        """Return Σ w A_k / (|T| + s_k); `fillers` are how many of its own each tree adds, side A first."""
        own = [*fillers, *[0] * (len(self.a_sizes) + len(self.b_sizes) - len(fillers))]
        size = self.fixed + i + j + sum(own)
        a = sum(Fraction(self.fixed + j + own[k], size + s) for k, s in enumerate(self.a_sizes))
        b = sum(
            Fraction(self.fixed + i + own[len(self.a_sizes) + k], size + s)
            for k, s in enumerate(self.b_sizes)
        )
        return a + self.weight * b

    def on_line(self, x: int) -> tuple[int, int]:
        """Return the point of a closed set of weight x."""
        return self.free + self.right * x, self.left * (self.total - x)

    def allowed(self) -> Iterator[tuple[int, int]]:
        """Yield for every i the largest j that conflicts might allow."""
        for i in range(self.free + self.right * self.total + 1):
            j = (self.left * self.right * self.total - self.left * (i - self.free)) // self.right
            yield i, min(j, self.left * self.total)

    def singles_out(self, target: int, step: int = 1) -> bool:
        """Tell whether closed sets of weight `target` beat all others; weights are multiples of step."""
        best = self.score(*self.on_line(target))
        for i, largest in self.allowed():
            x, rest = divmod(i - self.free, self.right)
            j = largest
            on_line = rest == 0 and 0 <= x <= self.total and j == self.on_line(x)[1]
            if on_line and (x == target or x % step):
                j -= 1
            if j >= 0 and self.score(i, j) >= best:
                return False
        return True


def two_weighted(total: int, target: int, fixed: int) -> Sides:
    """Return the sizes and the weight for two trees; closed sets of the target weight are singled out."""
    free, n = 2 * total, fixed
    wide, narrow = 2 * n + 7 * total - target, 2 * n + 6 * total - target
    weight = Fraction((3 * n + 10 * total) * (wide**2 - 1), 3 * (n + 3 * total) * (narrow**2 - 1))
    return Sides(n, 2, 1, total, (n + 2 * total,), (n + free + total,), free, weight)


def three_equal(total: int, target: int, fixed: int) -> Sides:
    """The same for three trees with equal weights: two on side B, whose size is adjusted."""

    def sides(size: int) -> Sides:
        return Sides(fixed, 10, 1, total, (fixed + 10 * total,), (size,) * 2)

    return _adjusted(sides, target, 1, fixed + total, 2 * fixed)


def four_equal(total: int, target: int, fixed: int, step: int, second: int) -> Sides:
    """The same for four trees with equal weights; weights of items are multiples of `step`.

    `second` is the size of the second tree of side A, about twice `fixed`.
    """

    def sides(size: int) -> Sides:
        return Sides(fixed, 11, 10, total, (fixed + 11 * total, second), (size,) * 2)

    return _adjusted(sides, target, step, fixed + 10 * total, 2 * fixed)


def two_fixed(total: int, target: int, fixed: int, weight: Fraction, left: int, step: int) -> Sides:
    """The same for two trees with a given weight: the number of free constituents is adjusted."""

    def sides(free: int) -> Sides:
        return Sides(fixed, left, 1, total, (fixed + left * total,), (fixed + free + total,), free, weight)

    return _adjusted(sides, target, step, left * total, fixed)


def _adjusted(sides, target: int, step: int, low: int, high: int) -> Sides:  # type: ignore[no-untyped-def]
    """Return the sides of the largest size with which more than the target is not worse than less."""

    def slope(size: int) -> Fraction:
        made = sides(size)
        return made.score(*made.on_line(target + step)) - made.score(*made.on_line(target - step))

    assert slope(low) >= 0 > slope(high)
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if slope(middle) >= 0 else (low, middle)
    return sides(low)


@dataclass(frozen=True)
class Copies:
    """The constituents of both sides, by item, over `words` words."""

    a: list[list[int]]
    b: list[list[int]]
    free: list[int]
    words: int


def copies_of(items: Items, left: int, right: int, free: int) -> Copies:
    """Lay the copies of all items out, and `free` runs that conflict with nothing."""
    a_words: list[list[int]] = []
    b_words: list[list[int]] = []
    growing: list[tuple[list[int], list[int]]] = []
    n = 0
    for y, weight in enumerate(items.weights):
        before = [n + p for p in range(left * weight)]
        n += len(before)
        arriving = [n + p for p, (_, z) in enumerate(e for e in items.implied_at_home if e[1] == y)]
        n += len(arriving)
        own = n
        n += 1
        leaving = [n + p for p, (x, _) in enumerate(e for e in items.implied_away if e[0] == y)]
        n += len(leaving)
        after = [n + p for p in range(right * weight)]
        n += len(after)
        a_words.append([*arriving, own])
        b_words.append([own, *leaving])
        growing.append((before[::-1], after))
    # The word of an implication also belongs to the item that is away.
    for implications, home, away in ((items.implied_at_home, 1, b_words), (items.implied_away, 0, a_words)):
        taken: dict[int, int] = {}
        for implication in implications:
            at, other = implication[home], implication[1 - home]
            number = taken.get(at, 0)
            taken[at] = number + 1
            words = a_words[at] if home == 1 else b_words[at][1:]
            away[other].append(words[number])
    a = [
        [mask_of(core + grow[:r]) for r in range(1, len(grow) + 1)]
        for core, (grow, _) in zip(a_words, growing)
    ]
    b = [
        [mask_of(core + grow[:r]) for r in range(1, len(grow) + 1)]
        for core, (_, grow) in zip(b_words, growing)
    ]
    runs = [((1 << r + 2) - 1) << n for r in range(free)]
    n += free + 1 if free else 0
    return Copies(a, b, runs, n)


def build_trees(items: Items, sides: Sides) -> list[Tree]:
    """Build the trees of both sides, side A first; padding words carry fillers that make up their sizes."""
    copies = copies_of(items, sides.left, sides.right, sides.free)
    n = sides.fixed - 1
    everything = (1 << n) - 1
    trees = []
    count = len(sides.a_sizes)
    for k, size in enumerate(sides.a_sizes + sides.b_sizes):
        own = [mask for item in (copies.a if k < count else copies.b) for mask in item]
        own += copies.free if k >= count else []
        missing = size - sides.fixed - len(own)
        first = copies.words + k
        assert 0 <= missing <= n - first - 2, (missing, n - first)
        own += [((1 << r + 2) - 1) << first for r in range(missing)]
        trees.append(Tree(("",) * n, [Constituent(mask) for mask in (everything, *own)]))
    return trees
