"""The inside pass: which kernel handles which spans, in which order."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, TypedDict

import torch
from torch import Tensor

from treemean.grammars.charts.gapped import gapped_offsets
from treemean.grammars.dense.triton import attaching_kernels, forward_kernels
from treemean.grammars.dense.triton.charts import Sizes, fp16_type
from treemean.grammars.gpu.launching import launch
from treemean.grammars.gpu.streams import Streams
from treemean.grammars.gpu.tiles import check_reach, power, tiles


@dataclass(frozen=True)
class Settings:
    """How the kernels divide their work.

    Parameters
    ----------
    attach_rows : discontinuous spans that a program handles at once for R5-R8.
    rows : the same for gradients of what is attached.
    sharing : continuous spans that it handles at once where what is in or beside their gaps is the same.
    lines : spans that it handles at once for all else.
    wrap_chunks : into how many programs the gaps in spans are divided, at most.
    chunks, right_chunks, attach_chunks : into how many the sums over all that a continuous span is part of
        are divided, at most; those where it is a right part; and those over all that it is attached to. The
        more programs for one sentence, the fewer sentences at once, whose charts have to be kept close by.
    attach_warps, attach_stages, collect_warps, collect_stages : of the kernels that take the most time.
    streams : whether continuous and discontinuous spans are handled side by side.
    """

    attach_rows: int = 32
    rows: int = 32
    sharing: int = 16
    lines: int = 16
    chunks: int = 4
    wrap_chunks: int = 64
    right_chunks: int = 16
    attach_chunks: int = 8
    attach_warps: int = 1
    attach_stages: int = 3
    collect_warps: int = 1
    collect_stages: int = 2
    streams: bool = True


DEFAULT = Settings()


#: Columns that programs of `look_up` (forward) and `collect_rules` (backward) handle at once, and the latter
#: how often; their product divides all numbers of columns.
STEP, STEPS = 128, 2

#: The streams beside the main one: of discontinuous spans, of what is attached, and of what their parts are
#: to continuous ones.
GAPPED, ATTACHED, WRAPPED = 0, 1, 2


class _Kind(TypedDict):
    dtype: torch.dtype
    device: torch.device


class Inside:
    """All charts, from single words up, and log Z (B,): six launches for every width.

    Continuous and discontinuous spans of one width need only those of smaller ones, not each other.

    Parameters
    ----------
    words : (B, n, T) log probabilities.
    root : (R, NT).
    matrix : (R, symbols, columns), see `charts.rule_matrix`.
    lengths : (B,).
    """

    def __init__(
        self,
        words: Tensor,
        root: Tensor,
        matrix: Tensor,
        lengths: Tensor,
        sizes: Sizes,
        settings: Settings = DEFAULT,
    ) -> None:
        self.sizes, self.lengths, self.settings = sizes, lengths, settings
        self.batch, self.n, preterminals = words.shape
        batch, n, device = self.batch, self.n, words.device
        self.slots = gapped_offsets(n)[-1] if sizes.has_gaps else 0
        check_reach(1, n, numbers=self.slots * sizes.gapped)
        check_reach(batch, n, programs=batch * (sizes.columns // (STEP * STEPS)))
        self.first_preterminal = root.shape[-1]
        self.preterminals = preterminals
        rows = n * (n + 1) // 2
        self.kind = kind = _Kind(dtype=words.dtype, device=device)
        self.matrix = matrix.contiguous()
        self.each = len(matrix) > 1
        self.root = torch.zeros(len(root), sizes.nonterminals, **kind)
        self.root[:, : self.first_preterminal] = root
        self.symbols = torch.zeros(batch, rows, sizes.symbols, **kind)
        self.views = torch.empty(batch, rows, sizes.view, **kind)
        self.scales = torch.empty(batch, rows, **kind)
        self.factors = torch.empty(batch, n, n, n, **kind)
        halves = fp16_type(words)
        self.gapped = torch.empty(batch, max(self.slots, 1), sizes.gapped, dtype=halves, device=device)
        self.attachers = torch.empty(
            batch, rows, 2 * (sizes.columns - sizes.view), dtype=halves, device=device
        )
        self.probability = torch.zeros(batch, **kind)
        self.log_z = torch.full((batch,), -torch.inf, **kind)
        scales = words.amax(-1)
        self.scales[:, :n] = scales
        self.words_in(self.symbols).copy_((words - scales[..., None]).exp_())
        self._look_up(1)
        self._streams = streams = Streams(device, settings.streams)
        for width in range(2, n + 1):
            if sizes.has_gaps and width < n:
                with streams.beside(GAPPED):
                    self._fill_gapped(width)
            self._fill_continuous(width)
            if width < n:
                self._look_up(width)
            streams.join(GAPPED)

    def words_in(self, chart: Tensor) -> Tensor:
        """Return the preterminals of single words, (B, n, T), of a chart of symbols, as a view."""
        return chart[:, : self.n, self.first_preterminal : self.first_preterminal + self.preterminals]

    def possible_symbols(self, width: int) -> int:
        """Return how many symbols, padded, spans of a width can have."""
        return self.sizes.symbols if width == 1 else self.sizes.nonterminals

    def _look_up(self, width: int) -> None:
        """Multiply the spans of one width with the rules."""
        lines = self.settings.lines
        launch(
            forward_kernels.look_up,
            (tiles(self.n - width + 1, lines), self.sizes.columns // STEP, self.batch),
            self,
            self.sizes.constants,
            length=width,
            possible=self.possible_symbols(width),
            EACH=self.each,
            ROWS=lines,
            STEP=STEP,
            num_warps=2,
        )

    def _fill_continuous(self, width: int) -> None:
        sizes, n = self.sizes, self.n
        count = n - width + 1
        splits = power(n)
        rows, most = self.settings.sharing, self.settings.wrap_chunks if sizes.has_gaps else 0
        # In the spans that a program handles so many gaps begin.
        chunks = min(most, width - 3 + min(rows, count)) if width > 2 else 0
        parts = width - 1 + chunks
        partial = torch.empty(self.batch, count, parts, sizes.nonterminals, **self.kind)
        shared: dict[str, Any] = {"width": width, "partial": partial, "parts": parts, "SPLITS": splits}
        if chunks:
            with self._streams.beside(WRAPPED):
                launch(
                    forward_kernels.wrap,
                    (tiles(count, rows), chunks, self.batch),
                    self,
                    sizes.constants,
                    chunks=chunks,
                    ROWS=rows,
                    num_warps=1,
                    **shared,
                )
        launch(
            forward_kernels.combine,
            (count, width - 1, self.batch),
            self,
            sizes.constants,
            num_warps=1,
            **shared,
        )
        self._streams.join(WRAPPED)
        launch(
            forward_kernels.finish,
            (count, self.batch),
            self,
            sizes.constants,
            root_stride=0 if len(self.root) == 1 else sizes.nonterminals,
            PARTS=1 << (n - 2 + most).bit_length(),
            num_warps=1,
            **shared,
        )

    def _fill_gapped(self, width: int) -> None:
        launch(
            forward_kernels.set_apart,
            (self.n - width, width - 1, self.batch),
            self,
            self.sizes.constants,
            attached=self.attach(self.gapped, width, back=False),
            width=width,
            BLOCK=self.settings.lines,
            num_warps=1,
        )

    def attach(self, values: Tensor, width: int, *, back: bool) -> Tensor:
        """Return what R5-R8 make of a chart: [kind, B, slot of this width, D]; see `attaching_kernels`."""
        sizes, settings, n = self.sizes, self.settings, self.n
        gaps, rows = n - width, settings.attach_rows
        # Tiles are of two kinds, and the last ones of both may have but one span.
        programs = (width - 1) * (gaps + 1) // rows + 2
        results = torch.empty(4, self.batch, (width - 1) * gaps * gaps, sizes.gapped, **self.kind)
        launch(
            attaching_kernels.attach,
            (n, programs, 2 * self.batch),
            self,
            sizes.constants,
            values=values,
            results=results,
            width=width,
            BACK=back,
            ROWS=rows,
            num_warps=settings.attach_warps,
            num_stages=settings.attach_stages,
        )
        return results
