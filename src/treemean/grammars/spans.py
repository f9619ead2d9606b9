"""Span posteriors: how likely each set of words is a constituent, given the sentence."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import torch
from torch import Tensor

from treemean.errors import NumericalError
from treemean.trees import bitsets

#: R5..R8: where the continuous child y goes: (y x1, x2), (x1 y, x2), (x1, y x2), (x1, x2 y).
ATTACHMENTS = 4


@dataclass
class SpanPosteriors:
    """Probabilities that spans are constituents, for a batch of sentences.

    Parameters
    ----------
    continuous : (B, n+1, n+1) indexed [i, j] for words i..j-1; words of a sentence themselves have 1.
    discontinuous : by total width w, (B, w-1, n-w, n-w) indexed [a-1, i, m-a-1] for words i..i+a-1 and
        m..m+w-a-1; zero where there is no such span (i > m-a-1). Empty for grammars without gaps.

    >>> spans = SpanPosteriors(torch.zeros(1, 4, 4), empty_discontinuous(1, 3))
    >>> spans.discontinuous[2][0, 0, 0, 0] = 0.25
    >>> spans.of(0, 0b101), spans.of(0, 0b110)
    (0.25, 0.0)
    """

    continuous: Tensor
    discontinuous: dict[int, Tensor] = field(default_factory=dict)

    def of(self, sentence: int, mask: int) -> float:
        """Return the posterior of a set of words, given as a bit mask; zero if it is no span of the chart.

        Parameters
        ----------
        sentence : number of the sentence in the batch.
        mask : bit p is word p.
        """
        parts = bitsets.spans_of(mask)
        n = self.continuous.shape[1] - 1
        if not parts or parts[-1][1] > n:
            return 0.0
        if len(parts) == 1:
            return float(self.continuous[sentence, parts[0][0], parts[0][1]])
        width = mask.bit_count()
        if len(parts) > 2 or width not in self.discontinuous:
            return 0.0
        (i, j), (m, _) = parts
        return float(self.discontinuous[width][sentence, j - i - 1, i, m - (j - i) - 1])

    def above(self, least: float) -> list[list[tuple[int, float]]]:
        """Return, for each sentence, the spans of 2 to n - 1 words with a posterior above a number.

        They are bit masks, the shorter parts first, each with its posterior, at most 1.

        >>> words = torch.diag_embed(torch.ones(1, 3), 1)
        >>> spans = SpanPosteriors(words, {2: torch.tensor([[[[0.25]]]])})
        >>> spans.continuous[0, 0, 2], spans.continuous[0, 0, 3] = 0.75, 1.0
        >>> [[(f"{mask:03b}", value) for mask, value in found] for found in spans.above(0.1)]
        [[('011', 0.75), ('101', 0.25)]]
        """
        found: list[list[tuple[int, float]]] = [[] for _ in range(len(self.continuous))]
        inner = _without_words_and_wholes(self.continuous)
        for s, i, j, value in _cells(inner, least):
            found[s].append(((1 << j) - (1 << i), min(1.0, value)))
        for width, chart in self.discontinuous.items():
            for s, a, i, apart, value in _cells(chart, least):
                left, start = a + 1, apart + a + 2  # words in the left part, and where the right one begins
                mask = ((1 << left) - 1) << i | ((1 << width - left) - 1) << start
                found[s].append((mask, min(1.0, value)))
        return found

    def expected(self) -> list[float]:
        """Return how many constituents of 2 to n - 1 words a tree of each sentence is expected to have.

        >>> chart = [[0, 1, 0.75, 1], [0, 0, 1, 0.25], [0, 0, 0, 1], [0, 0, 0, 0]]
        >>> SpanPosteriors(torch.tensor([chart])).expected()
        [1.0]
        """
        total = _without_words_and_wholes(self.continuous).double().sum((1, 2))
        for chart in self.discontinuous.values():
            total += chart.double().sum((1, 2, 3))
        return total.tolist()

    def to(self, device: torch.device | str) -> SpanPosteriors:
        """Return the same posteriors on another device."""
        charts = {width: chart.to(device) for width, chart in self.discontinuous.items()}
        return SpanPosteriors(self.continuous.to(device), charts)

    def check_finite(self) -> None:
        """Raise `NumericalError`, which numbers the sentence in the batch, if a posterior is not finite."""
        sums = self.continuous.sum((1, 2))
        for chart in self.discontinuous.values():
            sums = sums + chart.flatten(1).sum(1)
        check_sums(sums)


def check_sums(sums: Tensor) -> None:
    """Raise `NumericalError`, which numbers the sentence, if a sum of its posteriors is not finite."""
    wrong = ~sums.isfinite()
    if bool(wrong.any()):
        number = int(wrong.nonzero()[0, 0]) + 1
        raise NumericalError(
            f"sentence {number} of the batch has posteriors that are not finite: the grammar's "
            "parameters are NaN or infinite, or its rules are too unequal for float32 (.double() helps)"
        )


def _without_words_and_wholes(continuous: Tensor) -> Tensor:
    """Return posteriors of continuous spans, but zero for single words and for whole sentences."""
    inner = continuous.triu(2)
    certain = torch.diagonal(continuous, 1, 1, 2) > 0  # the words that each sentence has
    last = certain.sum(1)
    inner[torch.arange(len(inner), device=inner.device), 0, last] = 0
    return inner


def _cells(chart: Tensor, least: float) -> Iterator[Any]:
    """Yield where the numbers of a chart are above another, and the numbers."""
    places = (chart > least).nonzero(as_tuple=True)
    yield from zip(*(place.tolist() for place in places), chart[places].tolist())


def empty_discontinuous(
    batch: int, n: int, *, dtype: torch.dtype = torch.float32, device: torch.device | str = "cpu"
) -> dict[int, Tensor]:
    """Return zero charts for all discontinuous spans of `n` words: total widths 2 to n-1."""
    return {w: torch.zeros(batch, w - 1, n - w, n - w, dtype=dtype, device=device) for w in range(2, n)}


def full_lengths(lengths: Tensor | None, batch: int, n: int, device: torch.device) -> Tensor:
    """Return the lengths of the sentences of a batch: as given, or all `n`."""
    if lengths is None:
        return torch.full((batch,), n, device=device)
    return lengths.to(device)
