"""The most probable derivation over symbols on a GPU; the same trees as by `DenseWalker`, ties included."""

from __future__ import annotations

from math import comb

import torch
from torch import Tensor

from treemean.grammars.charts.logarithms import log
from treemean.grammars.dense.rules import DenseRules
from treemean.grammars.dense.triton import viterbi_kernels, walk_kernels
from treemean.grammars.gpu.launching import launch
from treemean.grammars.gpu.max_plus import MARGIN, max_plus, roomy
from treemean.grammars.gpu.tiles import power, tiles
from treemean.grammars.gpu.walking import masks_of_nodes
from treemean.grammars.grammar import Masks

_ROWS = 32
#: Discontinuous spans per program.
_CELLS = 64


class DenseViterbiChart:
    """What every symbol over every span is worth, in log space and float64, for a batch of S sentences.

    Parameters
    ----------
    rules : of the grammar, shared or of each sentence.

    Continuous spans have a row each, discontinuous ones a cell, see `inside.triton.indexing`: `symbols` is
    (NT + T, rows) and `discontinuous` (D, S, cells). What rules make of a span is in columns, second child by
    second child: as the right child of R2 | of R4 | in the gap of R3 | attached by R5-R8, for each other
    child and parent.
    """

    def __init__(self, rules: DenseRules) -> None:
        rules = rules.double()
        self.batch, self.n, preterminals = rules.words.shape
        self.nonterminals, self.gapped = rules.nonterminals, rules.discontinuous
        self.count = self.nonterminals + preterminals
        batch, n, gapped, device = self.batch, self.n, self.gapped, rules.words.device
        self.cells = comb(n + 1, 4) if gapped else 0
        self.rules = {name: log(x).contiguous() for name, x in rules.tensors().items() if name != "words"}
        #: Where the columns begin.
        self._second, self._beyond = 0, self.count * self.nonterminals
        self._wrapped = self._beyond + self.count * gapped
        self._attached = self._wrapped + gapped * self.nonterminals
        through = self._through()
        rows = batch * n * (n + 1) // 2
        self.symbols, self.columns = (
            roomy(height, rows, device) for height in (self.count, through.shape[2])
        )
        self.pitch = self.symbols.stride(0)
        self.discontinuous = torch.empty(gapped, batch, self.cells, device=device, dtype=torch.float64)
        self.symbols.fill_(-torch.inf)
        words = slice(self.nonterminals, self.count)
        self.symbols[words, : batch * n] = rules.words.flatten(0, 1).T
        self._keep(1, through[:, words], words)
        longer = slice(0, self.nonterminals)
        for width in range(2, n + 1):
            self._fill_continuous(width)
            self._keep(width, through[:, longer], longer)
            if self.cells and width < n:
                self._fill_discontinuous(width)

    def _through(self) -> Tensor:
        """Return the rules as (R, S, columns), with room behind the columns."""
        rules = self.rules
        parts = [rules["side_by_side"].permute(0, 3, 2, 1).flatten(2)]
        if self.gapped:
            parts += [
                rules["apart"].permute(0, 3, 2, 1).flatten(2),
                rules["wrapping"].permute(0, 2, 3, 1).flatten(2),
                rules["attaching"].permute(0, 3, 2, 4, 1).flatten(2),
            ]
        columns = sum(part.shape[2] for part in parts)
        room = parts[0].new_zeros(*parts[0].shape[:2], MARGIN)
        return torch.cat([*parts, room], 2)[..., :columns]

    def _keep(self, width: int, through: Tensor, which: slice) -> None:
        """Find what rules make of the symbols of the spans of one width."""
        count = (self.n - width + 1) * self.batch
        first = (width - 1) * (2 * self.n - width + 2) // 2 * self.batch
        own = slice(first, first + count)
        max_plus(through if len(through) > 1 else through[0], self.symbols[which, own], self.columns[:, own])

    def _fill_continuous(self, width: int) -> None:
        starts, parents = self.n - width + 1, self.nonterminals
        launch(
            viterbi_kernels.split_spans,
            (tiles(starts * self.batch, _ROWS),),
            self,
            width=width,
            SYMBOLS=self.count,
            PARENTS=parents,
            BLOCK_PARENTS=power(parents),
            BLOCK_ROWS=_ROWS,
        )
        if self.cells and width > 2:
            launch(
                viterbi_kernels.wrap_spans,
                (starts, self.batch),
                self,
                wrapped=self.columns[self._wrapped :],
                width=width,
                PARENTS=parents,
                GAPPED=self.gapped,
                BLOCK_PARENTS=power(parents),
                BLOCK=power(self.n),
            )

    def _fill_discontinuous(self, width: int) -> None:
        size = self.n - width
        count = size * (size + 1) // 2
        block = min(_CELLS, power(count, 16))
        launch(
            viterbi_kernels.gapped_spans,
            (tiles(count, block), width - 1, self.batch),
            self,
            beyond=self.columns[self._beyond :],
            attached=self.columns[self._attached :],
            width=width,
            SYMBOLS=self.count,
            NONTERMINALS=self.nonterminals,
            GAPPED=self.gapped,
            BLOCK_GAPPED=power(self.gapped),
            BLOCK=block,
        )

    def nodes(self, lengths: Tensor) -> Tensor:
        """Return the nodes (S, n, 5) of the best derivations, see `walk_kernels.divide_nodes`.

        A sentence of l words has l - 1; the rest is not set.
        """
        batch, n, device = self.batch, self.n, self.symbols.device
        lengths = lengths.to(device)
        before = torch.arange(batch, device=device) * (n - lengths + 1)
        row = (lengths - 1) * (2 * n - lengths + 2) // 2 * batch + before
        whole = self.rules["root"] + self.symbols[: self.nonterminals, row].T
        nodes = torch.empty(batch, n, 5, device=device, dtype=torch.int32)
        nodes[:, 0] = 0
        nodes[:, 0, 1], nodes[:, 0, 4] = lengths, whole.argmax(1)
        counts = (lengths > 1).to(torch.int32)
        for step in range(n - 1):
            launch(
                walk_kernels.divide_nodes,
                (batch,),
                self,
                nodes=nodes,
                counts=counts,
                **{name: rules for name, rules in self.rules.items() if name != "root"},
                step=step,
                own=int(len(self.rules["root"]) > 1),
                NONTERMINALS=self.nonterminals,
                SYMBOLS=self.count,
                GAPPED=self.gapped if self.cells else 0,
                BLOCK_SYMBOLS=power(self.count),
                BLOCK_GAPPED=power(self.gapped),
                num_warps=8,
            )
        return nodes


@torch.no_grad()
def best_dense_derivations(rules: DenseRules, lengths: Tensor) -> list[Masks]:
    """Return the tree of the most probable derivation of each sentence; one transfer from the device.

    Takes O(n³ NT S) time without gaps; gaps add O(n⁵ D² + n⁴ D S).

    Parameters
    ----------
    rules : of the grammar.
    lengths : (S,).
    """
    return masks_of_nodes(DenseViterbiChart(rules).nodes(lengths), lengths)
