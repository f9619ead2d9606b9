"""Weights of spans: factors by which trees that have them count for more, or for less."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from itertools import combinations

import torch
from torch import Tensor

from treemean.errors import InvalidOption
from treemean.grammars.charts.gapped import Gapped, gapped_offsets
from treemean.grammars.charts.marks import Marks


@dataclass(frozen=True)
class SpanWeights:
    """Logarithms of factors on spans of a batch of sentences.

    With them, log Z is the logarithm of the sum over trees of their probability times the factors of their
    spans.

    Parameters
    ----------
    sentences : int64 (N,), the number of the sentence in the batch.
    spans : int64 (N, 4), the words i..j-1 and m..e-1; spans without a gap have m = e = j. Each only once, but
        for spans without words, (0, 0, 0, 0), which count for nothing and fill up tensors of a fixed size.
    logarithms : float (N,); no gradient flows through them.
    others : float (B,), for each sentence the logarithm for all other spans with a gap, or None if these have
        the factor 1, as all other spans without a gap always have.

    >>> weights = SpanWeights(torch.tensor([0, 1]), torch.tensor([[0, 2, 2, 2], [0, 1, 2, 3]]), torch.ones(2))
    >>> weights.of(1, words=4)
    {(0, 1, 2, 3): tensor(1.)}
    """

    sentences: Tensor
    spans: Tensor
    logarithms: Tensor
    others: Tensor | None = None

    def of(self, sentence: int, words: int) -> Marks:
        """Return the logarithms of one sentence by span, (i, j) or (i, j, m, e)."""
        own = self.sentences == sentence
        marks: Marks = {
            (i, j) if j == m else (i, j, m, e): value
            for (i, j, m, e), value in zip(self.spans[own].tolist(), self.logarithms[own])
            if i < j
        }
        if self.others is None:
            return marks
        return dict.fromkeys(combinations(range(words + 1), 4), self.others[sentence]) | marks

    def chosen(self, places: Tensor) -> SpanWeights:
        """Return the weights of some sentences, which are numbered anew in the order of `places`."""
        places = places.to(self.sentences.device)
        rows, columns = (self.sentences[:, None] == places).nonzero(as_tuple=True)
        others = None if self.others is None else self.others[places]
        return SpanWeights(columns, self.spans[rows], self.logarithms[rows], others)

    def by_run(self, runs: int, batch: int) -> list[SpanWeights]:
        """Return those of each run, if sentences are numbered one run after the other, `batch` in each."""
        return [self.chosen(torch.arange(run * batch, (run + 1) * batch)) for run in range(runs)]

    def to(self, like: Tensor) -> SpanWeights:
        """Return the same on the device of a tensor, logarithms with its precision."""
        device = like.device
        others = None if self.others is None else self.others.to(like)
        return SpanWeights(self.sentences.to(device), self.spans.to(device), self.logarithms.to(like), others)


class WeightCharts:
    """The same as charts: of continuous spans [start, length - 1, K], logarithms; of others, factors.

    No shape depends on the weights, so that a CUDA graph can do this.
    """

    def __init__(self, weights: SpanWeights, n: int, batch: int, like: Tensor) -> None:
        weights = weights.to(like)
        i, j, m, e = weights.spans.unbind(1)
        whole = j == m
        spans = (i * n + j - i - 1) * batch + weights.sentences
        spans = torch.where(
            whole & (i < j), spans, n * n * batch
        )  # all others go to one place, which is cut off
        logarithms = like.new_zeros(n * n * batch + 1).index_put_((spans,), weights.logarithms)
        self.logarithms = logarithms[:-1].view(n, n, batch)
        self._factors = Gapped(n, batch, 1, like)
        count, left = self._factors.flat.numel(), j - i
        gaps = n - (left + e - m)
        slots = _offsets(n, like.device)[n - gaps] + ((left - 1) * gaps + i) * gaps + m - left - 1
        slots = torch.where(whole, count, slots * batch + weights.sentences)
        factors = like.new_ones(count + 1)
        if weights.others is not None:
            factors[:count].view(-1, batch).copy_(weights.others.exp())
        factors = factors.index_put_((slots,), weights.logarithms.exp())
        self._factors.flat = factors[:-1].view(-1, batch, 1)

    def continuous(self, width: int) -> Tensor:
        """Return the logarithms [start, K] of the spans of one width."""
        return self.logarithms[: len(self.logarithms) - width + 1, width - 1]

    def discontinuous(self, width: int) -> Tensor:
        """Return the factors [a-1, i, m', K, 1] of the discontinuous spans of one total width."""
        return self._factors.at(width)


@lru_cache(maxsize=256)
def _offsets(n: int, device: torch.device) -> Tensor:
    return torch.tensor([*gapped_offsets(n), 0], device=device)


def check_unweighted(weights: SpanWeights | None) -> None:
    """Raise `InvalidOption` if kernels are to weigh spans."""
    if weights is not None:
        raise InvalidOption(
            "the Triton kernels of N- and C- grammars know no weights of spans, which guidance needs: "
            'set grammar.backend = "torch"'
        )
