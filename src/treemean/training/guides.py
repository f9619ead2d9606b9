"""Guides: trees of the training sentences, whose constituents count for more while a run learns."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import zip_longest

import numpy as np
import torch
from numpy.typing import NDArray

from treemean.errors import FormatError
from treemean.formats import read_batches
from treemean.grammars.charts.weights import SpanWeights
from treemean.parsing.text import TEXT, Sentence, format_of
from treemean.training.sections import LoopConfig
from treemean.trees import Tree, bitsets
from treemean.trees.treebank import gather, offsets_of

#: Where the parts of a constituent begin and end, i..j-1 and m..e-1; without a gap m = e = j.
Span = tuple[int, int, int, int]


@dataclass(frozen=True)
class Guides:
    """The spans of the guiding trees of many sentences, in columns.

    Parameters
    ----------
    spans : int32 (N, 4), as positions among the words that a parser sees.
    offsets : int64 (S + 1), where each sentence begins.
    """

    spans: NDArray[np.int32]
    offsets: NDArray[np.int64]

    @classmethod
    def of(cls, sentences: Iterable[list[Span]]) -> Guides:
        """Make guides from lists of spans."""
        lists = list(sentences)
        spans = [span for own in lists for span in own]
        return cls(np.array(spans, dtype=np.int32).reshape(-1, 4), offsets_of([len(own) for own in lists]))

    def weights(self, places: NDArray[np.int64], how: LoopConfig) -> SpanWeights:
        """Return the weights that guides give to the spans of some sentences."""
        rows = gather(self.offsets, places)
        sentences = np.repeat(np.arange(len(places)), np.diff(self.offsets)[places])
        spans = self.spans[rows].astype(np.int64)
        has_gap = spans[:, 1] != spans[:, 2]
        return SpanWeights(
            torch.from_numpy(sentences),
            torch.from_numpy(spans),
            torch.from_numpy(how.guidance + how.gap_guidance * has_gap.astype(np.float64)),
            torch.full((len(places),), how.other_gaps, dtype=torch.float64) if how.other_gaps else None,
        )


def with_guides(
    sentences: Iterable[Sentence], path: str | os.PathLike[str]
) -> Iterator[tuple[Sentence, list[Span]]]:
    """Yield sentences, each with the spans of its tree in a treebank.

    The trees may have all the words of a sentence, or those alone that a parser sees. Raises `FormatError`,
    which names the tree, if it is of another sentence.
    """
    if format_of(path) == TEXT:
        raise FormatError("guides are trees, but this is plain text", path=os.fspath(path))
    trees = (tree for batch in read_batches(path) for tree in batch)
    for number, (sentence, tree) in enumerate(zip_longest(sentences, trees), 1):
        if tree is None:
            raise FormatError(
                f"there are only {number - 1} trees, fewer than sentences", path=os.fspath(path)
            )
        if sentence is None:
            raise FormatError(f"there are more trees than the {number - 1} sentences", path=os.fspath(path))
        if tree.words == sentence.words:
            yield sentence, spans_of(tree, sentence.kept)
        elif tree.words == tuple(sentence.words[position] for position in sentence.kept):
            yield sentence, spans_of(tree, range(len(tree.words)))
        else:
            here, there = " ".join(tree.words), " ".join(sentence.words)
            raise FormatError(f"tree {number} is of {here!r}, not of {there!r}", path=os.fspath(path))


def spans_of(tree: Tree, kept: Sequence[int]) -> list[Span]:
    """Return the spans of the constituents of a tree, among the words that a parser sees.

    Left out are the whole sentence, single words, and constituents with several gaps, which no grammar here
    can form.

    >>> tree = Tree("wake your friend up .".split(), [({0, 1, 2, 3, 4}, ""), ({0, 3}, ""), ({1, 2}, "")])
    >>> spans_of(tree, (0, 1, 2, 3))
    [(0, 1, 3, 4), (1, 3, 3, 3)]
    """
    place = {position: number for number, position in enumerate(kept)}
    found: dict[Span, None] = {}
    for constituent in tree.constituents:
        mask = sum(1 << place[position] for position in constituent.positions if position in place)
        parts = bitsets.spans_of(mask)
        if len(parts) == 1 and 1 < mask.bit_count() < len(kept):
            i, j = parts[0]
            found[i, j, j, j] = None
        elif len(parts) == 2:
            (i, j), (m, e) = parts
            found[i, j, m, e] = None
    return list(found)
