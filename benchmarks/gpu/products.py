"""How fast matrix products of the shapes of this model run."""

from __future__ import annotations

import torch

from gpu.timing import milliseconds

SHAPES = [
    ("emissions", 4500, 512, 10_000),
    ("hidden layer", 4500, 512, 512),
    ("children", 800, 512, 6000),
    ("views of words", 800, 4500, 1620),
    ("views of spans, w = 2", 780, 404, 1620),
    ("views of spans, w = 38", 60, 404, 1620),
    ("scores from views, w = 2", 780, 1620, 404),
    ("scores from views, w = 38", 60, 1620, 404),
]


def rates() -> list[dict[str, object]]:
    """Time products in TF32 and half precision."""
    torch.set_float32_matmul_precision("high")
    print("Products (μs, TFLOP/s):")
    results: list[dict[str, object]] = []
    for name, m, k, n in SHAPES:
        line = f"  {name:26s} {m}×{k}×{n}:"
        for dtype in (torch.float32, torch.float16):
            a, b = (
                torch.randn(m, k, device="cuda", dtype=dtype),
                torch.randn(k, n, device="cuda", dtype=dtype),
            )
            time = milliseconds(lambda a=a, b=b: a @ b)  # type: ignore[misc]
            rate = 2 * m * k * n / time / 1e9
            line += f"  {'TF32' if dtype == torch.float32 else 'FP16'} {1000 * time:6.1f} μs {rate:4.0f};"
            results.append({"shape": name, "dtype": str(dtype), "milliseconds": time})
        print(line, flush=True)
    return results
