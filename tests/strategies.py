"""Random trees and treebanks for property tests (Hypothesis strategies)."""

from __future__ import annotations

import random
from collections.abc import Sequence

from hypothesis import strategies as st

from treemean.trees import Constituent, Tree, Treebank, bitsets

LABELS = ("S", "NP", "VP", "ROOT", "TOP", "")
FUNCTIONS = ("", "su", "hd", "mod")
WORDS = ("de", "kat", "zat", "3", "&", "Ünal", "猫")
PUNCTUATION = (",", ".", "...", "-LRB-", "«")


@st.composite
def trees(
    draw: st.DrawFn,
    min_words: int = 1,
    max_words: int = 12,
    *,
    binary: bool | None = None,
    max_fan_out: int | None = None,
    labels: Sequence[str] = LABELS,
    unaries: bool = True,
    punctuation: bool = False,
) -> Tree:
    """Draw a tree, in general discontinuous.

    Parameters
    ----------
    binary : True for binary trees only, False for trees that are not binary (from three words on), None for
        both. Unary chains do not matter.
    max_fan_out : the highest fan-out of a constituent; 1 for continuous trees.
    labels : what to label constituents with.
    unaries : whether there may be unary chains and constituents over one word.
    punctuation : whether some of the words are punctuation, with the tag `punct`.
    """
    words = draw(sentences(min_words, max_words, punctuation=punctuation))
    shape = {"binary": binary, "max_fan_out": max_fan_out, "labels": labels, "unaries": unaries}
    return draw(trees_over(words, **shape))


@st.composite
def sentences(
    draw: st.DrawFn, min_words: int = 1, max_words: int = 12, *, punctuation: bool = False
) -> tuple[str, ...]:
    """Draw the words of a sentence."""
    vocabulary = WORDS + PUNCTUATION if punctuation else WORDS
    return tuple(draw(st.lists(st.sampled_from(vocabulary), min_size=min_words, max_size=max_words)))


@st.composite
def trees_over(
    draw: st.DrawFn,
    words: Sequence[str],
    *,
    binary: bool | None = None,
    max_fan_out: int | None = None,
    labels: Sequence[str] = LABELS,
    unaries: bool = True,
    id: str = "",
) -> Tree:
    """Draw a tree over given words; see `trees`. Words that are punctuation have the tag `punct`."""
    rng = random.Random(draw(st.integers(0, 2**32 - 1)))
    n = len(words)
    continuity = draw(st.sampled_from([0.0, 0.5, 0.9]))
    masks = _random_masks(n, rng, binary, max_fan_out or n, continuity)
    if unaries:
        masks += [1 << position for position in range(n) if rng.random() < 0.15]
        masks += [mask for mask in list(masks) if rng.random() < 0.2]
    constituents = [Constituent(mask, rng.choice(labels), rng.choice(FUNCTIONS)) for mask in masks]
    tags = ["punct" if word in PUNCTUATION else "noun" for word in words]
    return Tree(words, constituents, tags=tags, id=id)


@st.composite
def treebanks(
    draw: st.DrawFn, min_sentences: int = 0, max_sentences: int = 5, **tree_options: object
) -> Treebank:
    """Draw a treebank with ids `s0`, `s1`, …; for the options see `trees`."""
    drawn = draw(st.lists(trees(**tree_options), min_size=min_sentences, max_size=max_sentences))
    return Treebank.from_trees(tree.replace(id=f"s{i}") for i, tree in enumerate(drawn))


@st.composite
def parallel_treebanks(
    draw: st.DrawFn,
    runs: int = 2,
    min_sentences: int = 0,
    max_sentences: int = 5,
    min_words: int = 1,
    max_words: int = 12,
    *,
    punctuation: bool = False,
    **shape: object,
) -> list[Treebank]:
    """Draw several treebanks over the same sentences; for the shape of trees see `trees_over`.

    With some probability a tree is that of the run before, so that runs agree now and then.
    """
    texts = draw(
        st.lists(
            sentences(min_words, max_words, punctuation=punctuation),
            min_size=min_sentences,
            max_size=max_sentences,
        )
    )
    banks: list[list[Tree]] = []
    for _ in range(runs):
        bank = []
        for i, words in enumerate(texts):
            copied = banks and draw(st.integers(0, 3)) == 0
            bank.append(banks[-1][i] if copied else draw(trees_over(words, id=f"s{i}", **shape)))
        banks.append(bank)
    return [Treebank.from_trees(bank) for bank in banks]


def _random_masks(
    n: int, rng: random.Random, binary: bool | None, max_fan_out: int, continuity: float
) -> list[int]:
    """Return the sets of a random tree over n words, the root first; every set once."""
    if n == 0:
        return []
    masks: list[int] = []
    todo = [list(range(n))]
    while todo:
        positions = todo.pop()
        masks.append(bitsets.mask_of(positions))
        if len(positions) < 2:
            continue
        parts = _split(positions, rng, 2 if binary else rng.randint(2, min(5, len(positions))), continuity)
        if binary and any(bitsets.fan_out_of(bitsets.mask_of(part)) > max_fan_out for part in parts):
            cut = rng.randint(1, len(positions) - 1)  # beginnings and ends have no more gaps than the whole
            parts = [positions[:cut], positions[cut:]]
        for part in parts:
            few_gaps = bitsets.fan_out_of(bitsets.mask_of(part)) <= max_fan_out
            if len(part) > 1 and few_gaps and (binary or rng.random() < 0.8):
                todo.append(part)
    if binary is False and n > 2 and len([m for m in masks if m & (m - 1)]) == n - 1:
        masks.remove(rng.choice([m for m in masks[1:] if m & (m - 1)]))
    return masks


def _split(positions: list[int], rng: random.Random, count: int, continuity: float) -> list[list[int]]:
    """Divide positions into parts that are not empty; a word goes along with the one before at times."""
    owners = [rng.randrange(count)]
    for _ in positions[1:]:
        owners.append(owners[-1] if rng.random() < continuity else rng.randrange(count))
    parts = [[p for p, owner in zip(positions, owners) if owner == index] for index in range(count)]
    parts = [part for part in parts if part]
    if len(parts) == 1:
        cut = rng.randint(1, len(positions) - 1)
        parts = [positions[:cut], positions[cut:]]
    return parts
