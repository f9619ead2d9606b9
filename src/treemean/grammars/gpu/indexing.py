# mypy: disable-error-code="no-untyped-def, untyped-decorator"
"""Where things lie in the charts of the kernels.

A sentence of ``n`` words has four kinds of things, all stored without holes:

*rows*, one per continuous span: by width, then sentence, then start, so that the spans of one width are the
rows of one matrix product;

*cells*, one per discontinuous span ``(i, j, m, e)``: by left length ``a``, then right length ``b``, and in
such a block by start ``i`` and position ``p = m - a - 1`` of the right part, ``0 <= i <= p < n - a - b``;

*splits*, one per triple ``i < k < j``: by width, start, split point;

*pairs*, one per discontinuous span again, but as a list of partners for each part. The left parts that can
stand before a right part are those that end before it, so that partners sorted by their distance from the
sentence's edge (``depth``: the end of a left part, ``n`` minus the start of a right part) are a prefix of one
common list.
"""

from __future__ import annotations

import triton
import triton.language as tl

# The interpreter holds bfloat16 as bit patterns and would multiply those.
INTERPRETED = tl.constexpr(bool(triton.knobs.runtime.interpret))
#: Whether products of matrices are computed without tensor cores; see `context.use_full_precision`.
EXACT = tl.constexpr(False)
#: Products of float32 by tensor cores that lose no digits: each operand is split into two.
EXACT_DOT = tl.constexpr("tf32x3")


@triton.jit
def triangle(x):
    """Count the pairs ``1 <= y <= z <= x``."""
    return x * (x + 1) // 2


@triton.jit
def tetrahedron(x):
    """Add up the first ``x`` triangles."""
    return x * (x + 1) * (x + 2) // 6


@triton.jit
def pentatope(x):
    """Add up the first ``x`` tetrahedra."""
    return x * (x + 1) * (x + 2) // 6 * (x + 3) // 4


@triton.jit
def row_of(width, start, local, n, batch):
    """Find the row of a span among those of one run; ``local`` numbers the sentence within the run."""
    return (width - 1) * (2 * n - width + 2) // 2 * batch + local * (n - width + 1) + start


@triton.jit
def block_of(left, right, n):
    """Find the first cell of a sentence with these lengths of parts."""
    return pentatope(n - 2) - pentatope(n - 2 - left) - tetrahedron(n - left - right)


@triton.jit
def cell_in_block(i, position, size):
    """Find a cell in its block of ``size = n - left - right`` rows."""
    return i * (2 * size - i - 1) // 2 + position


@triton.jit
def cell_of(i, j, m, e, n):
    """Find the cell of a discontinuous span."""
    left = j - i
    right = e - m
    return block_of(left, right, n) + cell_in_block(i, m - left - 1, n - left - right)


@triton.jit
def split_of(width, start, split, n):
    """Find the triple of a span of ``width`` at ``start`` that is split after ``split`` words."""
    return (width - 1) * (width - 2) * (3 * n - 2 * width + 3) // 6 + start * (width - 1) + split - 1


@triton.jit
def partner_of(depth, length):
    """Find a part in the common list of partners."""
    return depth * (depth - 1) // 2 + length - 1


@triton.jit
def partners_of(reach, index, n):
    """Find the first pair of a part whose partners have a depth of at most ``reach``.

    ``index`` numbers the parts that have the same reach (there are ``n - 1 - reach``).
    """
    return (n + 1) * tetrahedron(reach - 1) - 3 * pentatope(reach - 1) + index * triangle(reach)


@triton.jit
def unfold_triangle(x):
    """Decode ``x = triangle(y) + z`` with ``0 <= z <= y`` into ``y, z``.

    The square root is approximate on a GPU; half a unit under it keeps exact squares on the right side.
    """
    y = ((tl.sqrt(8.0 * x.to(tl.float32) + 1.5) - 1.0) * 0.5).to(tl.int32)
    return y, x - triangle(y)


@triton.jit
def unfold_cell(x, size):
    """Decode a number from 0 to ``triangle(size) - 1`` into start and position within a block."""
    y, z = unfold_triangle(triangle(size) - 1 - x)
    return size - 1 - y, size - 1 - z


@triton.jit
def spans_of(width, n, batch, BLOCK: tl.constexpr):
    """Find the continuous spans of one width of a program, by the first axis of the grid.

    Returns their starts, their sentences, and whether they exist; those that do not are the first of all.
    """
    number = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    starts = n - width + 1
    ok = number < starts * batch
    number = tl.where(ok, number, 0)
    return number % starts, number // starts, ok


@triton.jit
def gapped_spans_of(size, left, BLOCK: tl.constexpr):
    """Find the discontinuous spans with these lengths of parts of a program, by the first axis of the grid.

    Parameters
    ----------
    size : the number of words less both lengths, see `cell_in_block`.
    left : the length of the left part.

    Returns starts and positions, starts of the right part, and whether the spans exist; those that do not are
    the first of all.
    """
    number = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    ok = number < triangle(size)
    i, p = unfold_cell(tl.where(ok, number, 0), size)
    return i, p, p + 1 + left, ok


@triton.jit
def nearest_tf32(x):
    """Round to the nearest number that the tensor cores keep whole; by themselves they cut bits off."""
    if not EXACT:
        rounded = ((x.to(tl.int32, bitcast=True) + 0x1000) & -0x2000).to(tl.float32, bitcast=True)
        x = tl.where(x == x, rounded, x)  # all bits of a GPU's NaN are set, and would be carried over to -0
    return x


@triton.jit
def halves(x):
    """Split a float32 into two bfloat16 whose sum differs from it by less than 2^-16 of it."""
    high = x.to(tl.bfloat16)
    return high, (x - high.to(tl.float32)).to(tl.bfloat16)


@triton.jit
def add_product(left, right, total):
    """Add the matrix product of two bfloat16 tiles to a float32 one."""
    if INTERPRETED:
        left = left.to(tl.float32)
        right = right.to(tl.float32)
    return tl.dot(left, right, total)


@triton.jit
def times_square(rows, matrix, ROW: tl.constexpr, COLUMN: tl.constexpr, H: tl.constexpr):
    """Multiply rows (…, H) with a matrix (H, H) in memory, of which the strides are given.

    Few columns are taken one by one, many by tensor cores, as exactly as float32.
    """
    if H < 16:
        half = tl.arange(0, H)[None, :]
        total = tl.zeros_like(rows)
        for k in tl.static_range(H):
            one = tl.sum(tl.where(half == k, rows, 0.0), 1)[:, None]
            total += one * tl.load(matrix + k * ROW + half * COLUMN)
    else:
        at = tl.arange(0, H)
        square = tl.load(matrix + at[:, None] * ROW + at[None, :] * COLUMN)
        total = tl.dot(rows, square, input_precision=EXACT_DOT)
    return total


@triton.jit
def outer_sums(left, right, H: tl.constexpr):
    """Add up the outer products of the rows of two tensors (…, H): a matrix (H, H)."""
    if H < 16:
        total = tl.sum(left[:, :, None] * right[:, None, :], 0)
    else:
        total = tl.dot(tl.trans(left), right, input_precision=EXACT_DOT)
    return total
