"""Agreement one tree and one constituent at a time, and agreement by chance by trying all ways."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import chain, permutations, product

from treemean.trees import Tree, Treebank

#: What a tree has: sets of words, or with labels sets and labels, as often as they occur.
Has = Counter[tuple[int, str]]


def has(tree: Tree, labelled: bool) -> Has:
    """Return what counts in a tree; punctuation is a word like others."""
    inner = [c for c in tree.constituents if 1 < len(c) < len(tree)]
    if labelled:
        return Counter((c.mask, c.label) for c in inner)
    return Counter({(c.mask, "") for c in inner})


def f1(ours: Sequence[Has], theirs: Sequence[Has]) -> float | None:
    """Return F1 of pooled counts, None for 0 of 0."""
    matched = sum((a & b).total() for a, b in zip(ours, theirs, strict=True))
    both = sum(a.total() + b.total() for a, b in zip(ours, theirs, strict=True))
    return 100 * (2 * matched / both) if both else None


def dealt_anew(lengths: Sequence[int]) -> Iterator[list[int]]:
    """Yield every way to give each sentence the tree of another one of the same length."""
    groups = [[s for s, n in enumerate(lengths) if n == length] for length in sorted(set(lengths))]
    ways = [
        [way for way in permutations(group) if all(a != b for a, b in zip(group, way, strict=True))]
        for group in groups
    ]
    for choice in product(*ways):
        given = dict(zip(chain(*groups), chain(*choice), strict=True))
        yield [given[s] for s in range(len(lengths))]


def by_chance(ours: Treebank, theirs: Treebank, labelled: bool) -> tuple[float | None, float | None]:
    """Return F1 on the sentences that share their length, and its mean over all ways to deal trees anew."""
    lengths = ours.lengths.tolist()
    chosen = [s for s, n in enumerate(lengths) if lengths.count(n) > 1]
    a, b = ([has(bank[s], labelled) for s in chosen] for bank in (ours, theirs))
    ways = list(dealt_anew([lengths[s] for s in chosen]))
    scores = [f1(a, [b[s] for s in way]) for way in ways]
    if f1(a, b) is None:
        return None, None
    return f1(a, b), sum(scores) / len(scores)


def who_has_what(runs: Sequence[Treebank], s: int, labelled: bool) -> dict[tuple[int, str, int], set[int]]:
    """Return which runs have each constituent of a sentence, of equal labels the first, the second …"""
    result: dict[tuple[int, str, int], set[int]] = {}
    for number, run in enumerate(runs):
        for (mask, label), times in has(run[s], labelled).items():
            for copy in range(1, times + 1):
                result.setdefault((mask, label, copy), set()).add(number)
    return result
