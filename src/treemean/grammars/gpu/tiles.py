"""How much one program of a kernel takes: sizes of tiles, numbers of warps, and what is too much."""

from __future__ import annotations

from treemean.errors import InvalidOption


def tiles(extent: int, block: int) -> int:
    """Return how many blocks cover an extent."""
    return -(-extent // block)


def power(x: int, least: int = 1) -> int:
    """Return the smallest power of two that is at least ``x`` and ``least``.

    >>> power(5), power(1), power(3, 16)
    (8, 1, 16)
    """
    return max(least, 1 << (max(x, 1) - 1).bit_length())


def warps(elements: int) -> int:
    """Return how many warps should work on a row of so many elements."""
    return min(power(elements // 1024), 16)


def whole_row(columns: int) -> dict[str, int]:
    """Return the tile and the warps of programs that take a row of so many columns each."""
    block = power(columns)
    return {"BLOCK": block, "num_warps": warps(block)}


def check_reach(sentences: int, n: int, *, numbers: int = 0, programs: int = 0) -> None:
    """Raise `InvalidOption` if so many sentences of ``n`` words are more than kernels can count.

    Parameters
    ----------
    numbers : the largest number by which one of them finds something.
    programs : how many there are along the second or third axis of a launch.

    >>> check_reach(20, 40, numbers=2**30, programs=1000)
    >>> check_reach(1, 300, numbers=2**31)
    Traceback (most recent call last):
    treemean.errors.InvalidOption: 1 × 300 words at a time are too many for kernels: use the backend torch
    >>> check_reach(5000, 4, programs=2**16)
    Traceback (most recent call last):
    treemean.errors.InvalidOption: 5000 × 4 words at a time are too many for kernels: take fewer sentences
    """
    if numbers >= 2**31 or programs >= 2**16:
        advice = "take fewer sentences" if sentences > 1 else "use the backend torch"
        raise InvalidOption(f"{sentences} × {n} words at a time are too many for kernels: {advice}")


def synchronous(rows: int, warps: int) -> bool:
    """Tell whether a product whose tile has so many rows runs on synchronous tensor cores.

    Larger ones become asynchronous `wgmma` instructions on a Hopper GPU. In a pipelined loop Triton (3.6 and
    3.7 at least) lets such an instruction run on while the next round overwrites the registers it reads, if
    an operand was computed in registers; see docs/measurements/gpu.md. No kernel of ours may use them.

    >>> synchronous(32, 8), synchronous(128, 2), synchronous(64, 4)
    (True, True, False)
    """
    return rows < 64 or warps < 4
