# mypy: disable-error-code="no-untyped-def, untyped-decorator"
"""Lists of the nodes of trees, as kernels fill them that read trees off charts from the top down.

They are (S, n, 5): start and end of a span, start and end of what is right of its gap or 0, and as what it
was chosen. A sentence of l words has l - 1 nodes, the spans of several words.
"""

from __future__ import annotations

import triton
import triton.language as tl
from torch import Tensor

from treemean.grammars.decoding.choices import mask_of_span
from treemean.grammars.grammar import Masks, canonical


@triton.jit
def node_at(nodes, number):
    """Read a node: its span, and as what it was chosen."""
    node = nodes + 5 * number
    return tl.load(node), tl.load(node + 1), tl.load(node + 2), tl.load(node + 3), tl.load(node + 4)


@triton.jit
def add_node(nodes, count, i, j, m, e, view):
    """Put a span, if it has several words, at the end of a list; return the length of the list."""
    several = (j - i > 1) | (m > 0)
    at = nodes + 5 * count
    tl.store(at, i, mask=several)
    tl.store(at + 1, j, mask=several)
    tl.store(at + 2, m, mask=several)
    tl.store(at + 3, e, mask=several)
    tl.store(at + 4, view, mask=several)
    return count + several.to(tl.int32)


def masks_of_nodes(nodes: Tensor, lengths: Tensor) -> list[Masks]:
    """Return the spans of the nodes of each sentence as bit masks."""
    charts = zip(nodes[..., :4].tolist(), lengths.tolist())
    return [
        canonical([mask_of_span(i, j) | mask_of_span(m, e) for i, j, m, e in own[: length - 1]])
        for own, length in charts
    ]
