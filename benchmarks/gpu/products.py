"""How fast matrix products of the shapes of this model run, and what the normaliser of emissions costs."""

from __future__ import annotations

import torch
from torch import Tensor

from gpu.timing import milliseconds
from treemean.grammars.inside.triton.emissions import log_normaliser

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


def normalisers() -> list[dict[str, object]]:
    """Time the normaliser of emissions, three ways, and compare its gradients with float64."""
    torch.manual_seed(1)
    hidden = torch.randn(4500, 512, device="cuda") * 0.5
    embeddings = torch.randn(10_000, 512, device="cuda") * 0.2
    weights = torch.rand(4500, device="cuda") ** 4

    def plain(h: Tensor, w: Tensor) -> Tensor:
        return (h @ w.T).logsumexp(-1)

    def both(function: object, h: Tensor, w: Tensor) -> tuple[Tensor, ...]:
        h, w = h.detach().requires_grad_(), w.detach().requires_grad_()
        value = function(h, w)  # type: ignore[operator]
        return value.detach(), *torch.autograd.grad(value, (h, w), weights.to(value.dtype))

    expected = both(plain, hidden.double(), embeddings.double())
    print("Normaliser of emissions, forward and backward:")
    results: list[dict[str, object]] = []
    for name, function, precision in (
        ("PyTorch, float32", plain, "highest"),
        ("PyTorch, TF32", plain, "high"),
        ("fused, half products", log_normaliser, "high"),
    ):
        torch.set_float32_matmul_precision(precision)
        found = both(function, hidden, embeddings)
        errors = [float((f - e).norm() / e.norm()) for f, e in zip(found, expected)]
        time = milliseconds(lambda function=function: both(function, hidden, embeddings))  # type: ignore[misc]
        print(f"  {name:24s} {time:6.3f} ms; value, hidden, embeddings off by {errors}", flush=True)
        results.append({"name": name, "milliseconds": time, "errors": errors})
    return results
