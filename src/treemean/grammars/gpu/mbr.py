"""The tree with the largest sum of posteriors on a GPU; as in `rank.decoding.mbr`, ties included."""

from __future__ import annotations

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from treemean.grammars.decoding.choices import mask_of_span
from treemean.grammars.gpu import mbr_kernels as kernels
from treemean.grammars.gpu.posteriors import Posteriors
from treemean.grammars.gpu.tiles import power, tiles
from treemean.grammars.grammar import Masks, canonical
from treemean.grammars.spans import SpanPosteriors, full_lengths

_CELLS, _ROWS = 128, 16


def best_trees(posteriors: Posteriors, lengths: Tensor) -> list[Masks]:
    """Return the best tree of each sentence; one transfer from the device.

    Raises `NumericalError` for posteriors that are not finite.

    Parameters
    ----------
    posteriors : of S sentences.
    lengths : (S,).
    """
    posteriors.check_finite()
    ways, gapped_ways = best_ways(posteriors)
    return read_trees(ways, gapped_ways, lengths)


def best_trees_of_spans(spans: SpanPosteriors, lengths: Tensor | None = None) -> list[Masks]:
    """Return the same for posteriors in the common form."""
    batch, n = len(spans.continuous), spans.continuous.shape[1] - 1
    lengths = full_lengths(lengths, batch, n, spans.continuous.device)
    return best_trees(Posteriors.of_spans(spans), lengths)


@torch.no_grad()
def best_ways(posteriors: Posteriors) -> tuple[Tensor, Tensor]:
    """Return how each span is best divided, (S, n+1, n+1) and (S, cells); see the kernels.

    Takes O(n³) time without gaps and O(n⁵) with gaps.
    """
    sentences, n = len(posteriors.continuous), posteriors.continuous.shape[1] - 1
    device, cells = posteriors.continuous.device, posteriors.cells.shape[1]
    sums = torch.zeros(sentences, n + 1, n + 1, device=device)
    ways = torch.zeros(sentences, n + 1, n + 1, device=device, dtype=torch.int32)
    gapped_sums = torch.empty(sentences, cells, device=device)
    gapped_ways = torch.empty(sentences, cells, device=device, dtype=torch.int16)
    for width in range(2, n + 1):
        kernels.best_continuous[(n - width + 1, sentences)](
            posteriors=posteriors.continuous,
            sums=sums,
            ways=ways,
            gapped_sums=gapped_sums,
            width=width,
            n=n,
            cells=cells,
            GAPS=cells > 0,
            BLOCK=power(n + 1),
            ROWS=_ROWS,
        )
        if cells and width < n:
            count = (n - width) * (n - width + 1) // 2
            block = min(_CELLS, power(count, 16))
            kernels.best_discontinuous[(tiles(count, block), width - 1, sentences)](
                posteriors=posteriors.cells,
                sums=sums,
                gapped_sums=gapped_sums,
                gapped_ways=gapped_ways,
                width=width,
                n=n,
                cells=cells,
                BLOCK=block,
                num_warps=1 if block <= 32 else 4,
            )
    return ways, gapped_ways


def read_trees(ways: Tensor, gapped_ways: Tensor, lengths: Tensor) -> list[Masks]:
    """Follow the best ways from the top, for each sentence."""
    n = ways.shape[1] - 1
    blocks = _blocks(n) if gapped_ways.shape[1] else np.zeros((0, 0), dtype=np.int64)
    charts = zip(ways.cpu().numpy(), gapped_ways.cpu().numpy(), lengths.tolist())
    return [_read(own, gapped, blocks, n, length) for own, gapped, length in charts]


def _blocks(n: int) -> NDArray[np.int64]:
    """Return where the cells with each left and right length begin."""
    blocks = np.zeros((n + 1, n + 1), dtype=np.int64)
    start = 0
    for left in range(1, n - 1):
        for right in range(1, n - left):
            size = n - left - right
            blocks[left, right] = start
            start += size * (size + 1) // 2
    return blocks


def _read(
    ways: NDArray[np.int32], gapped_ways: NDArray[np.int16], blocks: NDArray[np.int64], n: int, length: int
) -> Masks:
    masks: list[int] = []
    todo: list[tuple[int, ...]] = [(0, length)] if length > 1 else []
    while todo:
        span = todo.pop()
        i, j = span[:2]
        if len(span) == 2:
            masks.append(mask_of_span(i, j))
            way = int(ways[i, j])
            if way > 0:
                children: list[tuple[int, ...]] = [(i, i + way), (i + way, j)]
            else:
                left, gap = divmod(-way, n + 1)
                m, p = i + left, i + left + gap
                children = [(m, p), (i, m, p, j)]
        else:
            m, e = span[2:]
            masks.append(mask_of_span(i, j) | mask_of_span(m, e))
            left, right = j - i, e - m
            size = n - left - right
            cell = blocks[left, right] + i * (2 * size - i - 1) // 2 + m - left - 1
            attachment, first = divmod(int(gapped_ways[cell]), n + 1)
            if first == 0:
                children = [(i, j), (m, e)]
            elif attachment == 0:
                children = [(i, i + first), (i + first, j, m, e)]
            elif attachment == 1:
                children = [(i + first, j), (i, i + first, m, e)]
            elif attachment == 2:
                children = [(m, m + first), (i, j, m + first, e)]
            else:
                children = [(m + first, e), (i, j, m, m + first)]
        todo += [child for child in children if len(child) == 4 or child[1] - child[0] > 1]
    return canonical(masks)
