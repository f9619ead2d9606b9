"""Which inside algorithm runs: the naive one, the vectorised one, or kernels on a GPU."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, Protocol

import torch
from torch import Tensor

from treemean.grammars.charts.weights import SpanWeights
from treemean.grammars.spans import SpanPosteriors

#: How far log Z of a tiny example, or its gradient, may be from that of the vectorised version before kernels
#: are distrusted.
_TRUSTED = 1e-2
#: What is done, and what it costs, where kernels are wanted but cannot run.
INSTEAD = "the backend torch is used instead, which takes many times as long and more memory"


class Backend(Protocol):
    """An inside algorithm of a family of rules: what its versions naive, torch and triton have in common."""

    def log_partition(
        self, rules: Any, lengths: Tensor | None = None, weights: SpanWeights | None = None
    ) -> Tensor:
        """Return log Z of each sentence, differentiable, with weights of its spans."""

    def span_posteriors(self, rules: Any, lengths: Tensor | None = None) -> SpanPosteriors:
        """Return how likely each span is a constituent."""


@dataclass(frozen=True)
class Trial:
    """How kernels are tried before they are used: from the parameters of a tiny grammar to log Z and back.

    Parameters
    ----------
    family : of rules; two trials of a family with the same sizes are the same.
    sizes : what is tried.
    difference : takes a device and the sizes; returns how far kernels are from the vectorised version.
    """

    family: str
    sizes: tuple[int, ...] = ()
    difference: Callable[[torch.device, tuple[int, ...]], float] = field(
        compare=False, default=lambda *_: torch.inf
    )


def uses_kernels(backend: str, sample: Tensor, trial: Trial) -> bool:
    """Tell whether kernels run, for the setting of a grammar and one of its parameters.

    `auto` means kernels for float32 on a GPU. Where kernels are wanted but cannot run, a warning says why,
    once, and the vectorised version is to be taken.

    >>> uses_kernels("auto", torch.zeros(1), Trial("rank"))
    False
    """
    if backend in ("naive", "torch"):
        return False
    if backend == "auto" and (not sample.is_cuda or sample.dtype != torch.float32):
        return False
    if sample.dtype != torch.float32:
        tell(f"Triton kernels take float32, not {sample.dtype}: the backend torch is used instead")
        return False
    problem = problem_of_kernels(sample.device, trial)
    if problem:
        tell(f"{problem}: {INSTEAD}")
    return not problem


@lru_cache(maxsize=8)
def problem_of_kernels(device: torch.device, trial: Trial) -> str:
    """Return why kernels do not run on a device, or nothing; found out by running them once."""
    try:
        import triton
    except ImportError as error:
        return f"Triton is missing ({error})"
    if device.type != "cuda" and not triton.knobs.runtime.interpret:
        return f"Triton kernels need a GPU, and there are none for the device {device}"
    try:
        difference = trial.difference(device, trial.sizes)
    except Exception as error:
        # Whatever a compiler or a driver raises: it is told, and the result does not suffer.
        reason = (str(error).strip() or type(error).__name__).splitlines()[0]
        told = f" for sizes {'/'.join(map(str, trial.sizes))}" if trial.sizes else ""
        return (
            f"Triton kernels cannot be compiled or run on {device}{told} ({type(error).__name__}: {reason})"
        )
    if not difference <= _TRUSTED:
        what = "log Z of an example, or its gradient,"
        return f"Triton kernels are wrong on {device} ({what} is off by {difference:.1e})"
    return ""


@lru_cache(maxsize=64)
def tell(message: str) -> None:
    """Warn, of the same thing once."""
    warnings.warn(message, RuntimeWarning, stacklevel=3)
