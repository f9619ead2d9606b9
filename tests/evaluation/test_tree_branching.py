from __future__ import annotations

import pytest
from hypothesis import given

from examples import examples
from strategies import treebanks
from treemean.evaluation import branching_statistics
from treemean.trees import Constituent, Tree, Treebank


def naive(bank: Treebank) -> dict[str, float]:
    """Count children, tree by tree."""
    large = right = left = binary = several = gaps = inner = deep = words = needed = 0
    for tree in bank:
        masks = sorted({c.mask for c in tree if len(c) > 1}, key=lambda mask: -mask.bit_count())
        plain = Tree(tree.words, [Constituent(m) for m in masks] or [Constituent(c.mask) for c in tree][:1])
        words += len(tree)
        needed += len(tree) - 1
        several += len(masks)
        binary += len(masks) == len(tree) - 1
        deep += sum(mask >> position & 1 for mask in masks for position in range(len(tree)))
        for index, c in enumerate(plain):
            children = plain.children[index]
            if 1 < len(c) < len(tree):
                inner += 1
                gaps += not c.is_continuous
            if len(c) >= 3:
                large += 1
                shape = [child.is_word for child in children]
                right += shape == [True, False]
                left += shape == [False, True]
    return {
        "right": 100 * right / large if large else 0.0,
        "left": 100 * left / large if large else 0.0,
        "binary_trees": 100 * binary / len(bank) if len(bank) else 0.0,
        "binarity": 100 * several / needed if needed else 0.0,
        "depth": deep / words if words else 0.0,
        "discontinuous": 100 * gaps / inner if inner else 0.0,
    }


@given(treebanks())
def test_equals_naive(bank: Treebank) -> None:
    assert branching_statistics(bank).to_dict() == pytest.approx(naive(bank))


@examples(10)
@given(treebanks(min_sentences=1, max_sentences=2, min_words=60, max_words=130))
def test_equals_naive_across_widths(bank: Treebank) -> None:
    assert branching_statistics(bank).to_dict() == pytest.approx(naive(bank))


def test_extremes() -> None:
    n = 70
    words = [str(i) for i in range(n)]
    right = Treebank.from_trees([Tree(words, [(range(i, n), "") for i in range(n - 1)])])
    left = Treebank.from_trees([Tree(words, [(range(i), "") for i in range(2, n + 1)])])
    flat = Treebank.from_trees([Tree(words, [(range(n), "")])])
    for bank, expected in (
        (right, (100.0, 0.0, 100.0)),
        (left, (0.0, 100.0, 100.0)),
        (flat, (0.0, 0.0, 0.0)),
    ):
        found = branching_statistics(bank)
        assert (found.right, found.left, found.binary_trees) == expected
    assert branching_statistics(flat).depth == 1.0
