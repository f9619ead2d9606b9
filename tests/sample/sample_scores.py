"""Scores believed at a glance: sets of sets of positions, compared."""

from collections.abc import Iterable

from treemean.trees import Tree, Treebank


def spans(tree: Tree, *, gapped_only: bool = False) -> set[frozenset[int]]:
    """The constituents of several words, without the whole sentence."""
    return {
        frozenset(c.positions)
        for c in tree
        if 1 < len(c) < len(tree) and not (gapped_only and c.is_continuous)
    }


def f1(guesses: Iterable[set[frozenset[int]]], answers: Iterable[set[frozenset[int]]]) -> float:
    """Corpus F1 in per cent."""
    pairs = list(zip(guesses, answers, strict=True))
    hits = sum(len(guess & answer) for guess, answer in pairs)
    return 200 * hits / sum(len(guess) + len(answer) for guess, answer in pairs)


def agreement(one: Treebank, other: Treebank, *, gapped_only: bool = False) -> float:
    """Corpus F1 of two treebanks."""
    return f1(*([spans(tree, gapped_only=gapped_only) for tree in bank] for bank in (one, other)))


def majority(banks: list[Treebank]) -> list[set[frozenset[int]]]:
    """What more than half of the treebanks say, sentence by sentence."""
    result = []
    for trees in zip(*banks, strict=True):
        said = [spans(tree) for tree in trees]
        result.append({span for span in set().union(*said) if 2 * sum(span in s for s in said) > len(said)})
    return result
