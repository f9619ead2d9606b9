"""Storage of the kernels over symbols, and how rules are laid out for them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable

from treemean.grammars.charts.gapped import gapped_offsets
from treemean.grammars.dense.rules import DenseRules
from treemean.grammars.dense.triton import layout
from treemean.grammars.gpu.launching import launch

#: The least number of symbols: what tensor cores multiply at once.
LEAST = 16
#: Columns of the matrix of rules that a program copies; their number divides that of each part.
_AT_ONCE = 32


@dataclass(frozen=True)
class Constants:
    """`Sizes` by the names of the parameters of kernels, into which they are compiled."""

    NT: int
    D: int
    S: int
    APART: int
    WRAP: int
    ATTACH: int
    VIEW: int
    COLUMNS: int


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
        gapped = _power_of_two(rules.discontinuous + 1)  # one more, see `fp16`
        return cls(nonterminals, gapped, symbols, rules.has_gaps)

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
    def view(self) -> int:
        """Length of a row without R5-R8."""
        return self.attach if self.has_gaps else self.apart

    @property
    def columns(self) -> int:
        """Length of a row."""
        return self.attach + 4 * self.gapped * self.gapped if self.has_gaps else self.apart

    @cached_property
    def constants(self) -> Constants:
        """All of them, as kernels know them."""
        return Constants(
            NT=self.nonterminals,
            D=self.gapped,
            S=self.symbols,
            APART=self.apart,
            WRAP=self.wrap,
            ATTACH=self.attach,
            VIEW=self.view,
            COLUMNS=self.columns,
        )


def rule_matrix(rules: DenseRules, sizes: Sizes) -> Tensor:
    """Return all rules as (R, symbols, columns): from the symbols of a span to its row; differentiable."""
    matrix: Tensor = _RuleMatrix.apply(  # type: ignore[no-untyped-call]
        sizes, rules.side_by_side, rules.apart, rules.wrapping, rules.attaching
    )
    return matrix


class _RuleMatrix(torch.autograd.Function):
    """Each rule is one entry of the matrix, so that gradients are copied back as rules were copied."""

    @staticmethod
    def forward(ctx: Any, sizes: Sizes, *rules: Tensor) -> Tensor:
        ctx.sizes, ctx.shapes = sizes, [kind.shape for kind in rules]
        matrix = rules[0].new_empty(len(rules[0]), sizes.symbols, sizes.columns)
        _lay_out(rules, matrix, sizes, back=False)
        return matrix

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor | None, ...]:
        rules = tuple(grad.new_empty(shape) for shape in ctx.shapes)
        _lay_out(rules, grad.contiguous(), ctx.sizes, back=True)
        return None, *rules


def _lay_out(rules: tuple[Tensor, ...], matrix: Tensor, sizes: Sizes, *, back: bool) -> None:
    """Copy rules in the order of `_RuleMatrix` to a matrix, or back; kinds may be parts of larger tensors."""
    nonterminals, symbols = rules[0].shape[1:3]
    kinds = [kind.flatten(2) for kind in rules]
    kinds = [kind if kind.stride(2) == 1 else kind.contiguous() for kind in kinds]
    of_pairs, apart, wrapping, attaching = kinds
    launch(
        layout.lay_out,
        (sizes.columns // _AT_ONCE, len(matrix)),
        sizes.constants,
        side_by_side=of_pairs,
        apart=apart,
        wrapping=wrapping,
        attaching=attaching,
        matrix=matrix,
        set_of_pairs=of_pairs.stride(0),
        set_apart=apart.stride(0),
        set_wrapping=wrapping.stride(0),
        set_attaching=attaching.stride(0),
        parent_of_pairs=of_pairs.stride(1),
        parent_apart=apart.stride(1),
        parent_wrapping=wrapping.stride(1),
        parent_attaching=attaching.stride(1),
        nonterminals=nonterminals,
        gapped=rules[1].shape[1],
        symbols=symbols,
        BLOCK=_AT_ONCE,
        BACK=back,
    )


def spans_of_length(chart: Tensor, length: int, n: int) -> Tensor:
    """Return the spans of one length, [B, start, ...], of a chart [B, rows, ...], as a view."""
    before = (length - 1) * (n + 1) - (length - 1) * length // 2
    return chart[:, before : before + n - length + 1]


def gapped_of_width(chart: Tensor, width: int, n: int) -> Tensor:
    """Return the discontinuous spans of one width, [B, a-1, i, m', D-1], of a chart; see `fp16`."""
    offsets = gapped_offsets(n)
    part = chart[:, offsets[width] : offsets[width + 1]]
    part = part.view(len(part), width - 1, n - width, n - width, -1)
    if part.dtype == torch.float16:
        part = part.float()
    return part[..., :-1] * part[..., -1:].exp2()


def fp16_type(like: Tensor) -> torch.dtype:
    """Return the type of discontinuous spans, see `fp16`."""
    return torch.float16 if like.is_cuda else like.dtype


def _power_of_two(size: int) -> int:
    return max(LEAST, 1 << (size - 1).bit_length()) if size else LEAST
