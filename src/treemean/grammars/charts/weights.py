"""Weights of spans: factors by which trees that have them count for more, or for less."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from treemean.errors import InvalidOption
from treemean.grammars.charts.gapped import Gapped, gapped_offsets
from treemean.grammars.charts.marks import Marks


@dataclass(frozen=True)
class SpanWeights:
    """Logarithms of factors on some spans of a batch of sentences; all other spans have the factor 1.

    With them, log Z is the logarithm of the sum over trees of their probability times the factors of their
    spans.

    Parameters
    ----------
    sentences : int64 (N,), the number of the sentence in the batch.
    spans : int64 (N, 4), the words i..j-1 and m..e-1; spans without a gap have m = e = j. Each only once.
    logarithms : float (N,); no gradient flows through them.

    >>> weights = SpanWeights(torch.tensor([0, 1]), torch.tensor([[0, 2, 2, 2], [0, 1, 2, 3]]), torch.ones(2))
    >>> weights.of(1)
    {(0, 1, 2, 3): tensor(1.)}
    """

    sentences: Tensor
    spans: Tensor
    logarithms: Tensor

    def of(self, sentence: int) -> Marks:
        """Return the logarithms of one sentence by span, (i, j) or (i, j, m, e)."""
        own = self.sentences == sentence
        return {
            (i, j) if j == m else (i, j, m, e): value
            for (i, j, m, e), value in zip(self.spans[own].tolist(), self.logarithms[own])
        }

    def chosen(self, places: Tensor) -> SpanWeights:
        """Return the weights of some sentences, which are numbered anew in the order of `places`."""
        rows, columns = (self.sentences[:, None] == places.to(self.sentences.device)).nonzero(as_tuple=True)
        return SpanWeights(columns, self.spans[rows], self.logarithms[rows])

    def to(self, like: Tensor) -> SpanWeights:
        """Return the same on the device of a tensor, logarithms with its precision."""
        device = like.device
        return SpanWeights(self.sentences.to(device), self.spans.to(device), self.logarithms.to(like))


class WeightCharts:
    """The same as charts: of continuous spans [start, length - 1, K], logarithms; of others, factors."""

    def __init__(self, weights: SpanWeights, n: int, batch: int, like: Tensor) -> None:
        weights = weights.to(like)
        i, j, m, e = weights.spans.unbind(1)
        whole = j == m
        self.logarithms = like.new_zeros(n, n, batch)
        at = i[whole], j[whole] - i[whole] - 1, weights.sentences[whole]
        self.logarithms[at] = weights.logarithms[whole]
        self._factors = Gapped(n, batch, 1, like)
        self._factors.flat.fill_(1.0)
        i, j, m, e = (part[~whole] for part in (i, j, m, e))
        left, width = j - i, j - i + e - m
        gaps = n - width
        slots = torch.tensor(gapped_offsets(n), device=like.device)[width]
        slots = slots + ((left - 1) * gaps + i) * gaps + m - left - 1
        self._factors.flat[slots, weights.sentences[~whole], 0] = weights.logarithms[~whole].exp()

    def continuous(self, width: int) -> Tensor:
        """Return the logarithms [start, K] of the spans of one width."""
        return self.logarithms[: len(self.logarithms) - width + 1, width - 1]

    def discontinuous(self, width: int) -> Tensor:
        """Return the factors [a-1, i, m', K, 1] of the discontinuous spans of one total width."""
        return self._factors.at(width)


def check_unweighted(weights: SpanWeights | None) -> None:
    """Raise `InvalidOption` if kernels are to weigh spans."""
    if weights is not None:
        raise InvalidOption(
            'Triton kernels know no weights of spans, which guidance needs: set grammar.backend = "torch"'
        )
