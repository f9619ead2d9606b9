"""Which inside algorithm runs: the naive one, the vectorised one, or kernels on a GPU."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from functools import lru_cache
from typing import Any

import torch
from torch import Tensor

from treemean.grammars.inside import dense_torch, rank_torch
from treemean.grammars.inside.dense_rules import DenseRules
from treemean.grammars.inside.rules import RankRules, Ranks

#: How far log Z of a tiny example, or its gradient, may be from that of the vectorised version before kernels
#: are distrusted.
_TRUSTED = 1e-2


def resolve(backend: str, sample: Tensor, *, dense: bool = False) -> str:
    """Return which of naive, torch and triton runs, for the setting of a grammar and one of its parameters.

    `auto` means kernels for float32 on a GPU, and the vectorised version elsewhere. Where kernels are wanted
    but cannot run, a warning says why, once, and the vectorised version is taken. `dense` asks for
    the kernels over symbols instead of those in rank space.

    >>> resolve("auto", torch.zeros(1))
    'torch'
    """
    if backend in ("naive", "torch"):
        return backend
    if backend == "auto" and (not sample.is_cuda or sample.dtype != torch.float32):
        return "torch"
    if sample.dtype != torch.float32:
        tell(f"Triton kernels take float32, not {sample.dtype}: the backend torch is used instead")
        return "torch"
    problem = triton_problem(sample.device, dense)
    if not problem:
        return "triton"
    tell(f"{problem}: the backend torch is used instead, which is slower")
    return "torch"


@lru_cache(maxsize=8)
def triton_problem(device: torch.device, dense: bool = False) -> str:
    """Return why kernels do not run on a device, or nothing; found out by running them once."""
    try:
        import triton
    except ImportError as error:
        return f"Triton is missing ({error})"
    if device.type != "cuda" and not triton.knobs.runtime.interpret:
        return f"Triton kernels need a GPU, and there are none for the device {device}"
    try:
        difference = _dense_difference(device) if dense else _difference(device)
    except Exception as error:
        # Whatever a compiler or a driver raises: it is told, and the result does not suffer.
        reason = (str(error).strip() or type(error).__name__).splitlines()[0]
        return f"Triton kernels cannot be compiled or run on {device} ({type(error).__name__}: {reason})"
    if not difference <= _TRUSTED:
        what = "log Z of an example, or its gradient,"
        return f"Triton kernels are wrong on {device} ({what} is off by {difference:.1e})"
    return ""


def _difference(device: torch.device) -> float:
    """Return how far log Z of a tiny example, or its gradient, is from that by the vectorised version."""
    from treemean.grammars.inside import triton

    ranks = Ranks(2, 1, 2, 1)
    draw = torch.Generator().manual_seed(1)

    def choice(*size: int) -> Tensor:
        return torch.randn(*size, generator=draw).softmax(-1).to(device)

    rules = RankRules(
        views=torch.rand(1, 4, ranks.views, generator=draw).to(device),
        scales=torch.zeros(1, 4, device=device),
        continuous=choice(ranks.r1 + ranks.r2, ranks.views),
        discontinuous=choice(ranks.r3 + ranks.r4, ranks.r2 + ranks.r4),
        root=choice(ranks.r1 + ranks.r2),
        ranks=ranks,
    )
    return _apart(triton.log_partition, rank_torch.log_partition, rules, rules.continuous)


def _dense_difference(device: torch.device) -> float:
    """Return the same for the kernels over symbols."""
    from treemean.grammars.inside import dense_kernels

    draw = torch.Generator().manual_seed(1)

    def choice(*size: int) -> Tensor:
        return torch.rand(1, *size, generator=draw).to(device)

    rules = DenseRules(
        words=-choice(4, 2),
        root=choice(2),
        side_by_side=choice(2, 4, 4),
        wrapping=choice(2, 4, 1),
        apart=choice(1, 4, 4),
        attaching=choice(1, 4, 4, 1),
    )
    return _apart(dense_kernels.log_partition, dense_torch.log_partition, rules, rules.side_by_side)


def _apart(
    first: Callable[[Any], Tensor], second: Callable[[Any], Tensor], rules: Any, leaf: Tensor
) -> float:
    """Return the largest difference of two functions of rules, and of their gradients by one tensor."""
    with torch.enable_grad():
        leaf.requires_grad_()
        values = [function(rules) for function in (first, second)]
        values += [torch.autograd.grad(value.sum(), leaf)[0] for value in values]
    return max(float((values[k] - values[k + 1]).detach().abs().max()) for k in (0, 2))


@lru_cache(maxsize=64)
def tell(message: str) -> None:
    """Warn, of the same thing once."""
    warnings.warn(message, RuntimeWarning, stacklevel=3)
