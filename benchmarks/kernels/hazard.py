# mypy: disable-error-code="no-untyped-def, untyped-decorator"
"""The smallest kernel that shows why ours use no asynchronous tensor cores (`wgmma`).

A loop over two products into one sum, whose left operands are computed in registers. With four warps and
64 rows Triton (3.6 and 3.7) makes them `wgmma` instructions, and if loads are pipelined it lets the second
one of a round run on while the next round already writes the registers that it still reads. Nothing waits:
the wait that it puts after the first product of the next round comes too late. Some results are wrong then,
now and then, depending on timing. With fewer warps the same source becomes `mma.sync`, which is not
asynchronous; without pipelining the products are waited for.
"""

from __future__ import annotations

import argparse
import time
from typing import Any

import torch
import triton
import triton.language as tl

from benchmarks.reports import need_gpu

#: Sizes like those of the large term of the inside pass, where it was seen first.
SIZES = {"TILES": 64, "K": 416, "ROWS": 16, "TIMES": 8, "COLUMNS": 32, "STEP": 32}


@triton.jit
def two_products(
    left,
    factors,
    right,
    out,
    TILES: tl.constexpr,
    K: tl.constexpr,
    ROWS: tl.constexpr,
    TIMES: tl.constexpr,
    COLUMNS: tl.constexpr,
    STEP: tl.constexpr,
):
    """Multiply rows, each times several factors and as a pair of bfloat16, with a tile of bfloat16."""
    program = tl.program_id(0)
    row = program % TILES * ROWS + tl.arange(0, ROWS)
    factor = tl.arange(0, TIMES)
    column = tl.arange(0, COLUMNS)
    total = tl.zeros([ROWS * TIMES, COLUMNS], dtype=tl.float32)
    for first in range(0, K, STEP):
        k = first + tl.arange(0, STEP)
        x = tl.load(left + row[:, None] * K + k[None, :]).to(tl.float32)
        f = tl.load(factors + factor[:, None] * K + k[None, :])
        y = tl.load(right + column[None, :] * K + k[:, None])
        x = tl.reshape(x[:, None, :] * f[None, :, :], (ROWS * TIMES, STEP))
        high = x.to(tl.bfloat16)
        low = (x - high.to(tl.float32)).to(tl.bfloat16)
        total = tl.dot(high, y, total)
        total = tl.dot(low, y, total)
    line = program * (ROWS * TIMES) + tl.arange(0, ROWS * TIMES)
    tl.store(out + line[:, None] * COLUMNS + column[None, :], total)


def differing(warps: int, stages: int, seconds: float) -> dict[str, object]:
    """Repeat the same products for some seconds; count calls and tiles that are not the same bits."""
    torch.manual_seed(0)
    programs = 50_000
    left = torch.rand(SIZES["TILES"] * SIZES["ROWS"], SIZES["K"], device="cuda").bfloat16()
    factors = torch.rand(SIZES["TIMES"], SIZES["K"], device="cuda")
    right = torch.rand(SIZES["COLUMNS"], SIZES["K"], device="cuda").bfloat16()
    out = torch.empty(programs * SIZES["ROWS"] * SIZES["TIMES"], SIZES["COLUMNS"], device="cuda")

    def launch() -> Any:
        options = {"num_warps": warps, "num_stages": stages}
        return two_products[(programs,)](left, factors, right, out, **SIZES, **options)

    kernel = launch()
    first, calls, wrong, wrong_tiles, worst = out.clone(), 0, 0, 0, 0.0
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        out.fill_(float("nan"))
        launch()
        off = (out - first).abs()
        different = (off != 0).view(programs, -1).any(1)
        calls += 1
        count = int(different.sum())
        if count:
            wrong, wrong_tiles = wrong + 1, wrong_tiles + count
            worst = max(worst, float((off / first).max()))
    return {
        "warps": warps,
        "stages": stages,
        "wgmma": "wgmma" in kernel.asm["ptx"],
        "calls": calls,
        "calls that differ": wrong,
        "tiles that differ": wrong_tiles,
        "of": calls * programs,
        "largest relative difference": worst,
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--seconds", type=float, default=8, help="for each of four variants")
    options = parser.parse_args()
    need_gpu()
    print(torch.cuda.get_device_name(), "PyTorch", torch.__version__, "Triton", triton.__version__)
    for warps, stages in ((4, 3), (4, 2), (4, 1), (2, 3)):
        print(differing(warps, stages, options.seconds), flush=True)


if __name__ == "__main__":
    main()
