"""Storage of the kernels over symbols, and how rules are laid out for them."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor
from torch.nn.functional import pad

from treemean.grammars.inside.dense_rules import DenseRules
from treemean.grammars.inside.rank_charts import gapped_offsets

#: The least number of symbols: what tensor cores multiply at once.
LEAST = 16


@dataclass(frozen=True)
class Sizes:
    """Numbers of symbols padded to powers of two, and where things begin in the row of a span.

    A row has [nonterminals, symbols] for R2; with gaps then, from `apart` on, [gapped, symbols] for R4, from
    `wrap` on [nonterminals, gapped] for R3, and from `attach` on [4, gapped child, gapped parent] for R5-R8.
    """

    nonterminals: int
    gapped: int
    symbols: int
    has_gaps: bool

    @classmethod
    def of(cls, rules: DenseRules) -> Sizes:
        """Return the sizes for some rules."""
        nonterminals = _power_of_two(rules.nonterminals)
        symbols = _power_of_two(rules.nonterminals + rules.words.shape[-1])
        return cls(nonterminals, _power_of_two(rules.discontinuous), symbols, rules.has_gaps)

    @property
    def apart(self) -> int:
        """Where R4 begins."""
        return self.nonterminals * self.symbols

    @property
    def wrap(self) -> int:
        """Where R3 begins."""
        return self.apart + self.gapped * self.symbols

    @property
    def attach(self) -> int:
        """Where R5-R8 begin."""
        return self.wrap + self.nonterminals * self.gapped

    @property
    def columns(self) -> int:
        """Length of a row."""
        return self.attach + 4 * self.gapped * self.gapped if self.has_gaps else self.apart


def rule_matrix(rules: DenseRules, sizes: Sizes) -> Tensor:
    """Return all rules as (R, symbols, columns): from the symbols of a span to its row; differentiable."""
    nonterminals, gapped, symbols = sizes.nonterminals, sizes.gapped, sizes.symbols
    parts = [_padded(rules.side_by_side.permute(0, 3, 1, 2), (symbols, nonterminals, symbols))]
    if sizes.has_gaps:
        parts.append(_padded(rules.apart.permute(0, 2, 1, 3), (symbols, gapped, symbols)))
        parts.append(_padded(rules.wrapping.permute(0, 2, 1, 3), (symbols, nonterminals, gapped)))
        parts.append(_padded(rules.attaching.permute(0, 3, 2, 4, 1), (symbols, 4, gapped, gapped)))
    return torch.cat([part.flatten(2) for part in parts], 2)


def spans_of_length(chart: Tensor, length: int, n: int) -> Tensor:
    """Return the spans of one length, [B, start, ...], of a chart [B, rows, ...], as a view."""
    before = (length - 1) * (n + 1) - (length - 1) * length // 2
    return chart[:, before : before + n - length + 1]


def gapped_of_width(chart: Tensor, width: int, n: int) -> Tensor:
    """Return the discontinuous spans of one width, [B, a-1, i, m', 2, D], of a chart, as a view."""
    offsets = gapped_offsets(n)
    part = chart[:, offsets[width] : offsets[width + 1]]
    return part.view(len(part), width - 1, n - width, n - width, 2, -1)


def halves_of(like: Tensor) -> torch.dtype:
    """Return the type of discontinuous spans, see `places`."""
    return torch.bfloat16 if like.is_cuda else like.dtype


def _power_of_two(size: int) -> int:
    return max(LEAST, 1 << (size - 1).bit_length()) if size else LEAST


def _padded(tensor: Tensor, sizes: tuple[int, ...]) -> Tensor:
    """Pad all axes but the first with zeros."""
    missing: list[int] = []
    for have, want in zip(reversed(tensor.shape[1:]), reversed(sizes)):
        missing += [0, want - have]
    return pad(tensor, missing)
