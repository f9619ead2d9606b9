"""The most probable derivation on a GPU; the same trees as by `RankWalker`, ties included."""

from __future__ import annotations

from math import comb

import torch
from torch import Tensor

from treemean.grammars.gpu.launching import launch
from treemean.grammars.gpu.max_plus import max_plus, roomy
from treemean.grammars.gpu.tiles import power, tiles
from treemean.grammars.gpu.walking import masks_of_nodes
from treemean.grammars.grammar import Masks
from treemean.grammars.rank.decoding.chart import LogRankRules
from treemean.grammars.rank.triton import viterbi_kernels, walk_kernels

_RANKS, _ROWS = 8, 32
#: Discontinuous spans per program.
_CELLS = 128


class ViterbiChart:
    """What every span is worth, in log space and float64, for a batch of S sentences of n words.

    Parameters
    ----------
    rules : of the grammar, by the semiring of the best.

    Continuous spans have a row each, discontinuous ones a cell, see `gpu.indexing`: `views` are
    (C, rows), `scores` (r1 + r2, rows), and by rank (rank, S, cells) what is called so in `RankChart`.
    """

    def __init__(self, rules: LogRankRules) -> None:
        self.rules, self.ranks = rules, rules.ranks
        self.batch, self.n, _ = rules.views.shape
        batch, n, ranks, device = self.batch, self.n, rules.ranks, rules.views.device
        self._columns = ranks.columns
        self.cells = comb(n + 1, 4) if ranks.has_gaps else 0
        rows = batch * n * (n + 1) // 2
        self.views, self.scores = roomy(ranks.views, rows, device), roomy(ranks.r1 + ranks.r2, rows, device)
        self.pitch = self.views.stride(0)
        self.wrapping, self.extended, self.attachments = (
            torch.empty(rank, batch, self.cells, device=device, dtype=torch.float64)
            for rank in (ranks.r2, ranks.r4, ranks.r4)
        )
        self._continuous = roomy(ranks.r1 + ranks.r2, ranks.views, device)
        self._continuous.copy_(rules.continuous)
        # Padded, since tiles are powers of two; what comes of the padding is not stored.
        self._views_of_gapped = power(ranks.r2 + ranks.r4)
        self._discontinuous = rules.discontinuous.new_zeros(ranks.r3 + ranks.r4, self._views_of_gapped)
        self._discontinuous[:, : ranks.r2 + ranks.r4] = rules.discontinuous
        self.views[:, : batch * n] = rules.views.flatten(0, 1).T
        for width in range(2, n + 1):
            self._fill_continuous(width)
            if self.cells and width < n:
                self._fill_discontinuous(width)

    def _fill_continuous(self, width: int) -> None:
        batch, n, ranks = self.batch, self.n, self.ranks
        starts = n - width + 1
        launch(
            viterbi_kernels.split_spans,
            (tiles(starts * batch, _ROWS), tiles(ranks.r1, _RANKS)),
            self,
            width=width,
            R1=ranks.r1,
            BLOCK_RANKS=_RANKS,
            BLOCK_ROWS=_ROWS,
            num_warps=1,
        )
        if ranks.has_gaps:
            launch(
                viterbi_kernels.wrap_spans,
                (starts, batch),
                self,
                width=width,
                R1=ranks.r1,
                R2=ranks.r2,
                WRAPPED=self._columns.wrapped.start,
                BLOCK_RANKS=power(ranks.r2),
                BLOCK=power(n),
                num_warps=2,
            )
        first = (width - 1) * (2 * n - width + 2) // 2 * batch
        own = slice(first, first + starts * batch)
        max_plus(self._continuous, self.scores[:, own], self.views[:, own])

    def _fill_discontinuous(self, width: int) -> None:
        ranks, size = self.ranks, self.n - width
        count = size * (size + 1) // 2
        block = min(_CELLS, power(count, 32))
        launch(
            viterbi_kernels.gapped_spans,
            (tiles(count, block), width - 1, self.batch),
            self,
            rules=self._discontinuous,
            width=width,
            R2=ranks.r2,
            R3=ranks.r3,
            R4=ranks.r4,
            GAP_LEFT=self._columns.gap_left.start,
            ATTACHED=self._columns.attached.start,
            BLOCK_VIEWS=self._views_of_gapped,
            BLOCK_RANKS=power(ranks.r4),
            BLOCK=block,
            num_warps=block // 32,
        )

    def log_probs(self, lengths: Tensor) -> Tensor:
        """Return the log probability (S,) of the best derivation of each sentence of several words."""
        before = torch.arange(self.batch, device=lengths.device) * (self.n - lengths + 1)
        row = (lengths - 1) * (2 * self.n - lengths + 2) // 2 * self.batch + before
        best = (self.scores[:, row] + self.rules.root[:, None]).amax(0)
        return torch.where(lengths > 1, best, -torch.inf)

    def nodes(self, lengths: Tensor) -> Tensor:
        """Return the nodes (S, n, 5) of the best derivations, see `walk_kernels.divide_nodes`.

        A sentence of l words has l - 1; the rest is not set.
        """
        batch, n, ranks, device = self.batch, self.n, self.ranks, self.views.device
        lengths = lengths.to(device, torch.int32)
        nodes = torch.empty(batch, n, 5, device=device, dtype=torch.int32)
        nodes[:, 0] = 0
        nodes[:, 0, 1], nodes[:, 0, 4] = lengths, -1
        counts = (lengths > 1).to(torch.int32)
        for step in range(n - 1):
            launch(
                walk_kernels.divide_nodes,
                (batch,),
                self,
                self.rules,
                nodes=nodes,
                counts=counts,
                step=step,
                R1=ranks.r1,
                R2=ranks.r2,
                R3=ranks.r3,
                R4=ranks.r4,
                COLUMNS=ranks.views,
                BLOCK_RANKS=power(max(ranks.r1 + ranks.r2, ranks.r3)),
                BLOCK_FEW=power(ranks.r4),
                BLOCK=power(n),
            )
        return nodes

    def trees(self, lengths: Tensor) -> list[Masks]:
        """Return the trees of the best derivations; one transfer from the device."""
        return masks_of_nodes(self.nodes(lengths), lengths)


@torch.no_grad()
def best_derivations(rules: LogRankRules, lengths: Tensor) -> list[Masks]:
    """Return the tree of the most probable derivation of each sentence.

    Takes O(n³ r1 + n² (r1 + r2) C) time for C views; gaps add O(n⁴ r3 (r2 + r4) + n⁵ r4).

    Parameters
    ----------
    rules : in float64, by the semiring of the best.
    lengths : (S,).
    """
    return ViterbiChart(rules).trees(lengths)
