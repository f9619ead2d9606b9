"""The outside pass, gradients of the inside pass: which kernel handles which spans, in which order."""

from __future__ import annotations

import torch
from torch import Tensor

from treemean.grammars.dense.triton import attaching_kernels, backward_kernels
from treemean.grammars.dense.triton.forward_pass import ATTACHED, GAPPED, STEP, STEPS, WRAPPED, Inside
from treemean.grammars.gpu.launching import launch
from treemean.grammars.gpu.streams import Streams
from treemean.grammars.gpu.tiles import tiles


class Outside:
    """Gradients of log Z, times `grad` (B,), by the charts `symbols` and `gapped`, `root` and `matrix`."""

    def __init__(self, inside: Inside, grad: Tensor) -> None:
        self.inside = inside
        n, sizes = inside.n, inside.sizes
        self.symbols = torch.zeros_like(inside.symbols)
        self.gapped = torch.empty(inside.gapped.shape, dtype=inside.gapped.dtype, device=grad.device)
        self.views = torch.empty(*inside.views.shape[:2], sizes.columns, **inside.kind)
        possible = inside.probability > 0
        share = torch.where(possible, grad / torch.where(possible, inside.probability, 1.0), 0.0)[:, None]
        sentences, lengths = torch.arange(inside.batch, device=grad.device), inside.lengths
        top = (lengths - 1) * (n + 1) - (lengths - 1) * lengths // 2
        whole = inside.symbols[sentences, top, : sizes.nonterminals]
        self.root = (share * whole)[:, : inside.first_preterminal]
        self.symbols[sentences, top, : sizes.nonterminals] = share * inside.root
        self._streams = Streams(grad.device, inside.settings.streams)
        for width in range(n - 1, 0, -1):
            if sizes.has_gaps and width > 1:
                with self._streams.beside(GAPPED):
                    self._collect_gapped(width)
            self._collect_continuous(width)
            self._streams.join(GAPPED)
        self.matrix = torch.zeros(inside.batch, *inside.matrix.shape[1:], **inside.kind)
        if n > 1:
            torch.bmm(inside.symbols[:, :n].transpose(1, 2), self.views[:, :n], out=self.matrix)
            wide = inside.symbols[:, n:-1, : sizes.nonterminals].transpose(1, 2)
            self.matrix[:, : sizes.nonterminals].baddbmm_(wide, self.views[:, n:-1])

    def _collect_gapped(self, width: int) -> None:
        inside, n = self.inside, self.inside.n
        launch(
            backward_kernels.collect_gapped,
            (n - 2, n - width, inside.batch),
            inside,
            inside.sizes.constants,
            grad_symbols=self.symbols,
            attached=inside.attach(self.gapped, width, back=True),
            grad_gapped=self.gapped,
            width=width,
            BLOCK=inside.settings.lines,
            num_warps=1,
        )

    def _collect_continuous(self, width: int) -> None:
        inside, sizes, n, settings = self.inside, self.inside.sizes, self.inside.n, self.inside.settings
        count, uses = n - width + 1, 4 if sizes.has_gaps else 2
        most = max(1, (n - width) // 2) if sizes.has_gaps else 1
        chunks, attach_chunks = min(settings.chunks, most), min(settings.attach_chunks, most)
        right_chunks = min(settings.right_chunks, max(1, n - width - 1)) if sizes.has_gaps else 0
        parts, blocks = sizes.columns // (STEP * STEPS), tiles(count, settings.lines)
        kinds = inside.possible_symbols(width) // sizes.nonterminals
        partial = torch.empty(max(chunks, attach_chunks), inside.batch, count, sizes.columns, **inside.kind)
        view_shares = torch.empty(chunks + right_chunks, inside.batch, count, sizes.symbols, **inside.kind)
        if sizes.has_gaps:
            with self._streams.beside(WRAPPED):
                launch(
                    backward_kernels.collect_right_parts,
                    (tiles(count, settings.sharing) * kinds, right_chunks, inside.batch),
                    inside,
                    sizes.constants,
                    grad_gapped=self.gapped,
                    shares=view_shares[chunks:],
                    length=width,
                    chunks=right_chunks,
                    ROWS=settings.sharing,
                    num_warps=1,
                )
            with self._streams.beside(ATTACHED):
                launch(
                    attaching_kernels.collect_attached,
                    (count, 4 * attach_chunks, inside.batch),
                    inside,
                    sizes.constants,
                    grad_gapped=self.gapped,
                    partial=partial,
                    length=width,
                    chunks=attach_chunks,
                    ROWS=settings.rows,
                    num_warps=settings.collect_warps,
                    num_stages=settings.collect_stages,
                )
        launch(
            backward_kernels.collect_views,
            (count, uses * chunks, inside.batch),
            inside,
            sizes.constants,
            grad_symbols=self.symbols,
            grad_gapped=self.gapped,
            grad_views=partial,
            shares=view_shares,
            length=width,
            chunks=chunks,
            USES=uses,
            BLOCK=settings.lines,
            num_warps=1,
        )
        self._streams.join(ATTACHED, WRAPPED)
        shares = torch.empty(parts, inside.batch, count, inside.possible_symbols(width), **inside.kind)
        launch(
            backward_kernels.collect_rules,
            (blocks, parts * inside.batch, kinds),
            inside,
            sizes.constants,
            partial=partial,
            grad_views=self.views,
            shares=shares,
            length=width,
            chunks=chunks,
            attach_chunks=attach_chunks,
            EACH=inside.each,
            BLOCK=settings.lines,
            STEP=STEP,
            STEPS=STEPS,
            num_warps=2,
        )
        launch(
            backward_kernels.collect_symbols,
            (blocks, inside.batch, kinds),
            inside,
            sizes.constants,
            view_shares=view_shares,
            shares=shares,
            grad_symbols=self.symbols,
            length=width,
            chunks=chunks + right_chunks,
            PARTS=parts,
            BLOCK=settings.lines,
            num_warps=1,
        )
