"""What the paper's dynamic programme finds and misses (docs/theory.md, section 4.3)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import cache
from itertools import combinations

import pytest
from crossing_pairs import Example, derivable, nine_words, ten_words, twelve_words
from unweighted import equal_weights

from averaging_oracles import partitions
from treemean.averaging.reference import dynamic_programming, exhaustive, meet_in_the_middle
from treemean.trees.bitsets import fan_out_of, mask_of


@pytest.mark.parametrize(
    ("example", "best", "found"),
    [
        (nine_words, Fraction(41, 48), Fraction(26, 31)),
        (ten_words, Fraction(6, 7), Fraction(43, 51)),
        (twelve_words, Fraction(11, 15), Fraction(30, 41)),
    ],
)
def test_dynamic_programming_misses_an_average_of_fan_out_two(
    example: Callable[[], Example], best: Fraction, found: Fraction
) -> None:
    trees = example().trees
    assert all(tree.is_binary and tree.fan_out == 2 for tree in trees)
    problem = equal_weights(trees)
    for average in (exhaustive.solve(problem, prune=False), meet_in_the_middle.solve(problem)):
        assert average.optimal
        assert average.objective == best
        assert {problem.candidates[c] for c in average.chosen} == {*map(mask_of, example().average)}
    missing = dynamic_programming.solve(problem, max_fan_out=2)
    assert missing.objective == found < best <= missing.upper_bound
    assert not missing.optimal
    assert dynamic_programming.solve(problem, max_fan_out=3, limit=3_000_000).objective == best


def test_the_grammar_derives_some_trees_whose_average_is_missed() -> None:
    assert all(map(derivable, twelve_words().trees))
    assert not any(map(derivable, ten_words().trees[:2]))


@pytest.mark.parametrize("example", [ten_words, twelve_words])
def test_no_two_crossing_pairs_are_together_of_fan_out_two(example: Callable[[], Example]) -> None:
    pairs = example().average
    assert sorted(p for pair in pairs for p in pair) == list(range(len(example().trees[0].words)))
    for a, b in combinations(pairs, 2):
        assert fan_out_of(mask_of(a | b)) > 2


def can_be_binarised(children: Sequence[int], fan_out: int) -> bool:
    """Tell whether sets can be joined two by two so that all unions are of bounded fan-out."""

    @cache
    def possible(group: frozenset[int]) -> bool:
        if len(group) == 1:
            return True
        if fan_out_of(sum(group)) > fan_out:
            return False
        first, *others = sorted(group)
        return any(
            possible(frozenset([first, *some])) and possible(frozenset(others) - {*some})
            for size in range(len(others))
            for some in combinations(others, size)
        )

    return possible(frozenset(children))


def test_few_words_can_always_be_binarised() -> None:
    """In a sentence of at most eight words, a constituent of fan-out 1 or 2 with parts of fan-out 1 or 2."""
    shapes = [(n, gap) for n in range(3, 8) for gap in range(1, n + 1)] + [(8, 8)]
    for n, gap in shapes:  # n words with a gap before word number `gap`; none if that is n
        for parts in partitions((1 << n) - 1):
            spread = [part & (1 << gap) - 1 | part >> gap << gap + 1 for part in parts]
            if len(spread) > 2 and all(fan_out_of(part) <= 2 for part in spread):
                assert can_be_binarised(spread, 2)


@pytest.mark.parametrize("example", [nine_words, ten_words, twelve_words])
def test_more_words_cannot_always_be_binarised(example: Callable[[], Example]) -> None:
    """Pairs cross so that they cannot be joined; with nine words below a constituent of all words but one."""
    assert not can_be_binarised([mask_of(s) for s in example().average if len(s) == 2], 2)
