"""Pairs of a gold treebank and a spoilt copy, the same each time, for the numbers of other programs."""

from __future__ import annotations

import random
from collections.abc import Iterable

from treemean import sample
from treemean.trees import Constituent, Tree, Treebank

LABELS = ("NP", "VP", "PP", "NP-SBJ", "ADVP", "PRT", "S")


def discontinuous_pair() -> tuple[Treebank, Treebank]:
    """Sample trees and copies with other labels, unary chains and tags, and with constituents left out.

    Also a sentence of nothing but punctuation, and punctuation with other tags in the copy.
    """
    rng = random.Random(20)
    gold = list(sample.gold()[:300])
    predicted = [_spoilt(tree, rng) for tree in gold]
    words, signs = "Dat ( zegt ze ) .".split(), [".", "!"]
    tree = [(range(6), "ROOT"), ({0, 2, 3}, "S"), ({2, 3}, "VP=2"), ({2, 3}, "VP"), ({1, 4}, "PRN")]
    guess = [*tree[:3], ({2, 3}, "ADVP"), ({3}, "PRT"), ({0}, "NP-SBJ")]
    gold += [
        Tree(signs, [(range(2), "S")], tags=["punct", "punct"]),
        Tree(words, tree, tags="pron punct verb pron punct punct".split()),
        Tree(words, tree, tags="pron x verb pron x punct".split()),
    ]
    predicted += [
        gold[-3],
        Tree(words, guess, tags="pron x verb-hd pron punct punct".split()),
        Tree(words, tree[:4], tags="pron x verb pron punct punct".split()),
    ]
    return Treebank.from_trees(predicted), Treebank.from_trees(gold)


def continuous_pair() -> tuple[Treebank, Treebank]:
    """The same without what is discontinuous; some predicted tags make words punctuation, or no longer."""
    rng = random.Random(21)
    predicted, gold = discontinuous_pair()
    ours = [_continuous(tree) for tree in predicted[:-2]]
    theirs = [_continuous(tree) for tree in gold[:-2]]
    ours = [tree.replace(tags=[_other_tag(tag, rng) for tag in tree.tags]) for tree in ours[:-1]] + ours[-1:]
    return Treebank.from_trees(ours), Treebank.from_trees(theirs)


def spoilt_copies(trees: Iterable[Tree], *, continuous: bool) -> tuple[Treebank, Treebank]:
    """Trees of any treebank, with or without what is discontinuous, and spoilt copies of them."""
    rng = random.Random(22)
    gold = [_continuous(tree) if continuous else tree for tree in trees]
    return Treebank.from_trees(_spoilt(tree, rng) for tree in gold), Treebank.from_trees(gold)


def _spoilt(tree: Tree, rng: random.Random) -> Tree:
    constituents = []
    for c in tree.constituents:
        if len(c) < len(tree) and rng.random() < 0.2:
            continue
        constituents.append(Constituent(c.mask, c.label if rng.random() < 0.7 else rng.choice(LABELS)))
        if rng.random() < 0.1:
            constituents.append(Constituent(c.mask, rng.choice(LABELS)))
    tags = [tag if tag == "punct" or rng.random() < 0.9 else "XX" for tag in tree.tags]
    return Tree(tree.words, constituents, tags=tags, id=tree.id)


def _continuous(tree: Tree) -> Tree:
    kept = [Constituent(c.mask, c.label) for c in tree.constituents if c.is_continuous]
    return Tree(tree.words, [(range(len(tree)), "TOP"), *kept], tags=tree.tags)


def _other_tag(tag: str, rng: random.Random) -> str:
    if tag == "punct":
        return "noun" if rng.random() < 0.1 else tag
    return "punct" if rng.random() < 0.003 else tag
