"""The paper's search: meet in the middle for the normalised max weighted clique (section 2.3, appendix B).

Vertices are candidates, weighted by their hits; an edge joins candidates that are compatible. A clique Q is a
tree, and the average is the clique that maximises

    f(Q; α1, α2) = (Σ_{v ∈ Q} w(v) + α1) / (|Q| + α2),

where α1 and α2 hold the hits and the number of the constituents that are in the tree anyway. The vertices are
divided into halves V1 and V2. `best(V1', j)`, the heaviest clique of j vertices in V1' ⊆ V1, is tabulated;
then every clique of V2 is completed from V1 in the best possible way.
"""

from __future__ import annotations

from collections.abc import Sequence

from treemean.averaging.reference import greedy
from treemean.averaging.reference.problem import Problem
from treemean.averaging.reference.pruning import prune as prune_candidates
from treemean.averaging.reference.scores import Scores
from treemean.averaging.reference.sizes import best_of_sizes
from treemean.averaging.reference.solution import Solution, make_solution
from treemean.names import Direction
from treemean.trees import compatible
from treemean.trees.bitsets import positions_of


def solve(
    problem: Problem,
    *,
    prune: bool = True,
    value_bound: bool = True,
    limit: int = 48,
    binary: Direction | None = None,
) -> Solution:
    """Find the average by the paper's meet-in-the-middle search.

    Parameters
    ----------
    prune : whether to decide candidates by the bounds of section 2.4 first.
    value_bound : whether to use the stronger bound as well, which the paper does not have.
    limit : the highest number of candidates that is searched; with more, the greedy tree is returned with a
        note, not proven to be optimal.
    binary : find the best binary tree, and divide what is left undivided like this.

    `nodes` counts the entries of both halves: subsets of V1 in the table and cliques of V2.
    O(2^{|V|/2} |V|²) for |V| candidates after pruning, times n for individuals of different sizes.

    >>> problem = Problem(3, (0b011, 0b110), ((1, 0), (0, 1)), (4, 4), (5, 5), 2)
    >>> solve(problem).objective
    Fraction(9, 10)
    """
    scores = Scores(problem)
    pruned = prune_candidates(
        problem,
        zero_hit=prune,
        all_hit=prune,
        lower_bound=prune,
        value_bound=prune and value_bound,
        binary=bool(binary),
    )
    if len(pruned.kept) > limit:
        note = f"{len(pruned.kept)} candidates are more than the limit of {limit}: greedy, not searched"
        chosen = greedy.choose(scores, binary=bool(binary))
        return make_solution(scores, chosen, proven=False, nodes=0, note=note, binary=binary)
    graph = _Halves([problem.candidates[c] for c in pruned.kept])

    def heaviest(weights: Sequence[int]) -> list[list[int]]:
        cliques = graph.heaviest_cliques([weights[c] for c in pruned.kept])
        return [[pruned.kept[v] for v in positions_of(clique)] for clique in cliques]

    # Maximising f over cliques of every size comes to the same as over the heaviest clique of each size.
    chosen = best_of_sizes(scores, heaviest, forced=pruned.forced, binary=bool(binary))
    return make_solution(scores, chosen, proven=True, nodes=graph.nodes, binary=binary)


class _Halves:
    """A graph of compatible candidates in two halves; sets of vertices are bit masks.

    Parameters
    ----------
    masks : the candidates; vertex v is bit v. V1 has the first half of them.
    """

    def __init__(self, masks: Sequence[int]) -> None:
        self.nodes = 0
        self.order = len(masks)
        self.first_half = (1 << self.order // 2) - 1
        self.neighbours = [
            sum(1 << u for u, other in enumerate(masks) if u != v and compatible(mask, other))
            for v, mask in enumerate(masks)
        ]

    def heaviest_cliques(self, weights: Sequence[int]) -> list[int]:
        """Return a heaviest clique of every size 0, 1, …, as long as there are cliques."""
        # The table of V1: best[V1'][j] is the weight of best(V1', j), and the clique itself. Only those sets
        # V1' are entered that some clique of V2 asks for, and what the recursion needs for them.
        best: dict[int, list[tuple[int, int]]] = {0: [(0, 0)]}

        def table(subset: int) -> list[tuple[int, int]]:
            known = best.get(subset)
            if known is not None:
                return known
            u = subset.bit_length() - 1
            without = table(subset ^ 1 << u)
            neighbours = table(subset & self.neighbours[u] & ((1 << u) - 1))
            # Either u is not in best(V1', j), or the other j - 1 vertices are neighbours of u.
            entry = list(without)
            for j, (weight, clique) in enumerate(neighbours, 1):
                extended = weight + weights[u], clique | 1 << u
                if j == len(entry):
                    entry.append(extended)
                elif extended[0] > entry[j][0]:
                    entry[j] = extended
            best[subset] = entry
            return entry

        result: list[tuple[int, int]] = []

        def complete(clique: int, weight: int, size: int, completions: int) -> None:
            """Offer val(V2', j) for the clique V2' and every j; `completions` are common neighbours in V1."""
            for q, (more, others) in enumerate(table(completions), size):
                while len(result) <= q:
                    result.append((-1, 0))
                if weight + more > result[q][0]:
                    result[q] = weight + more, clique | others

        visited = 0
        stack = [(0, 0, 0, self.first_half, (1 << self.order) - 1 & ~self.first_half)]
        while stack:
            clique, weight, size, completions, extensions = stack.pop()
            visited += 1
            complete(clique, weight, size, completions)
            while extensions:
                u = extensions.bit_length() - 1
                extensions ^= 1 << u
                near = self.neighbours[u]
                stack.append(
                    (clique | 1 << u, weight + weights[u], size + 1, completions & near, extensions & near)
                )
        self.nodes += visited + len(best)
        return [clique for _, clique in result]
