"""Trees of fan-out 2 whose average cannot be binarised with fan-out 2, because of pairs that cross."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

from treemean.trees import Tree

Words = Iterable[int]


@dataclass(frozen=True)
class Example:
    """Binary trees of fan-out 2.

    Attributes
    ----------
    average : the non-trivial constituents of the only average.
    trees : the trees to be averaged.
    """

    average: list[set[int]]
    trees: list[Tree]


def tree_over(n: int, constituents: Iterable[Words]) -> Tree:
    """Return a tree over n words from its constituents of 2 to n - 1 words."""
    return Tree(("",) * n, [(range(n), ""), *((words, "") for words in constituents)])


def run(first: int, last: int) -> set[int]:
    """Return consecutive words, the last one included."""
    return set(range(first, last + 1))


def nine_words() -> Example:
    """Three trees with four crossing pairs in a constituent of all words but one."""
    wide = run(0, 8) - {2}
    a, b, c, d = pairs = [{0, 4}, {1, 6}, {3, 7}, {5, 8}]
    trees = [
        [*pairs, {1, 2, 6}, {1, 2, 3, 6, 7}, {1, 2, 3, 5, 6, 7, 8}],
        [b, c, {4, 8}, {0, 1, 6}, {3, 4, 7, 8}, {3, 4, 5, 7, 8}, wide],
        [a, c, d, {0, 1, 4}, {5, 6, 8}, {3, 5, 6, 7, 8}, wide],
    ]
    return Example([*pairs, wide], [tree_over(9, tree) for tree in trees])


def ten_words() -> Example:
    """Three trees; each has four of five crossing pairs."""
    a, b, c, d, e = pairs = [{0, 3}, {1, 5}, {2, 7}, {4, 8}, {6, 9}]
    trees = [
        [b, c, d, e, {0, 1, 5}, {3, 4, 8}, {2, 3, 4, 7, 8}, {0, 1, 2, 3, 4, 5, 7, 8}],
        [a, b, d, e, {1, 2, 5}, {4, 7, 8}, {4, 6, 7, 8, 9}, {1, 2, 4, 5, 6, 7, 8, 9}],
        [a, b, c, d, {2, 6, 7}, {1, 2, 5, 6, 7}, {0, 1, 2, 3, 5, 6, 7}, run(0, 8)],
    ]
    return Example(pairs, [tree_over(10, tree) for tree in trees])


def twelve_words() -> Example:
    """Five trees that the paper's grammar can derive; two and two have three of six crossing pairs each."""
    one, other = [{0, 3}, {4, 7}, {8, 11}], [{1, 10}, {2, 5}, {6, 9}]
    trees = [
        [
            *one,
            *({0, 1, 3}, run(0, 3), run(0, 4) | {7}, run(0, 5) | {7}, run(0, 7)),
            *(run(0, 8) | {11}, run(0, 9) | {11}),
        ],
        [
            *one,
            *({4, 6, 7}, run(4, 7), run(4, 8) | {11}, run(4, 8) | {10, 11}, run(4, 11)),
            *({0} | run(3, 11), {0} | run(2, 11)),
        ],
        [
            *other,
            *({2, 3, 5}, run(2, 5), run(2, 6) | {9}, run(2, 7) | {9}, run(2, 9)),
            *(run(1, 10), run(0, 10)),
        ],
        [
            *other,
            *({6, 8, 9}, run(6, 9), {2} | run(5, 9), {2} | run(4, 9), run(2, 9)),
            *({1, 10, 11}, run(1, 11)),
        ],
        [*(run(0, last) | {11} for last in range(7)), *(run(7, last) for last in (8, 9, 10))],
    ]
    return Example(one + other, [tree_over(12, tree) for tree in trees])


def derivable(tree: Tree) -> bool:
    """Tell whether rules of the forms R1 to R9 of the paper's section 2.1 derive the tree.

    They derive the binary trees of fan-out at most 2 in which no node has two discontinuous children.
    """
    discontinuous = Counter(
        parent for c, parent in zip(tree.constituents, tree.parents) if not c.is_continuous
    )
    return tree.is_binary and tree.fan_out <= 2 and all(count == 1 for count in discontinuous.values())
