"""Which inside algorithm runs: the naive one, the vectorised one, or kernels on a GPU."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import TypeVar

import torch
from torch import Tensor, nn
from torch.nn.functional import linear

from treemean.grammars.inside import dense_torch, rank_torch
from treemean.grammars.inside.dense_rules import DenseRules

#: How far log Z of a tiny example, or its gradient, may be from that of the vectorised version before kernels
#: are distrusted.
_TRUSTED = 1e-2
#: The sentence of that example: long enough for rules of all kinds.
_WORDS = (0, 1, 2, 3)

Module = TypeVar("Module", bound=nn.Module)


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
    """Return how far log Z of a tiny TN grammar, or its gradient, is from that by the vectorised version.

    The way is that of training, from parameters to log Z and back.
    """
    from treemean.grammars.config import GrammarConfig
    from treemean.grammars.fused import rank_rules
    from treemean.grammars.inside import triton
    from treemean.grammars.low_rank import LowRankGrammar

    config = GrammarConfig("tn-lcfrs", 2, 3, 2, ranks=(2, 1, 2, 1), embedding=4, backend="torch")
    grammar = _drawn(lambda: LowRankGrammar(config, len(_WORDS)), device)
    words = torch.tensor([_WORDS], device=device)

    def by_kernels() -> Tensor:
        stacked = {name: parameter[None] for name, parameter in grammar.named_parameters()}
        return triton.log_partition(rank_rules(stacked, words[None], config))[0]

    return _apart(
        by_kernels, lambda: rank_torch.log_partition(grammar.rules(words)), list(grammar.parameters())
    )


def _dense_difference(device: torch.device) -> float:
    """Return the same for the kernels over symbols, and for those of networks of C- grammars before them."""
    from treemean.grammars.compound import draw as draw_vectors
    from treemean.grammars.compound import largest_states, word_log_probs
    from treemean.grammars.fused.matrices import precision
    from treemean.grammars.inside import dense_kernels

    draw = torch.Generator().manual_seed(1)

    def choice(*size: int) -> Tensor:
        return torch.rand(1, *size, generator=draw).to(device)

    words = torch.tensor([_WORDS], device=device)
    rules = {
        "root": choice(2),
        "side_by_side": choice(2, 4, 4),
        "wrapping": choice(2, 4, 1),
        "apart": choice(1, 4, 4),
        "attaching": choice(1, 4, 4, 1),
    }
    lstm = _drawn(lambda: nn.LSTM(3, 2, bidirectional=True), device)
    # Large numbers, by which all gradients are so large that it would show if they were wrong.
    vectors, preterminals, weights, bias = (
        (6 * choice(*size) - 3).squeeze(0) for size in ((4, 1, 3), (2, 4), (4, 4), (4,))
    )

    def by_kernels() -> Tensor:
        states = largest_states(lstm, vectors)
        latent, _ = draw_vectors(states.repeat(1, 2), torch.zeros_like(states))  # without noise, the means
        hidden = preterminals * latent[:, None]
        return dense_kernels.log_partition(
            DenseRules(words=word_log_probs(hidden, weights, bias, words), **rules)
        )

    def by_torch() -> Tensor:
        hidden = preterminals * lstm(vectors)[0].amax(0)[:, None]
        emissions = linear(hidden, weights, bias).log_softmax(-1)
        return dense_torch.log_partition(DenseRules(words=emissions[..., words[0]].mT, **rules))

    leaves = [*rules.values(), vectors, preterminals, weights, bias, *lstm.parameters()]
    with precision(torch.float16):  # whatever is set where it is asked
        return _apart(by_kernels, by_torch, leaves)


def _drawn(build: Callable[[], Module], device: torch.device) -> Module:
    """Return a module with the same random parameters each time; no number is taken away from others."""
    with torch.random.fork_rng(devices=[]):
        torch.default_generator.manual_seed(1)
        return build().to(device)


def _apart(first: Callable[[], Tensor], second: Callable[[], Tensor], leaves: Sequence[Tensor]) -> float:
    """Return the largest difference of two functions, and of their gradients by some tensors."""
    with torch.enable_grad():
        for leaf in leaves:
            leaf.requires_grad_()
        found, expected = (
            (value.detach(), *torch.autograd.grad(value.sum(), leaves)) for value in (first(), second())
        )
    # Unlike Python's, the maximum of PyTorch is not a number if one of these is not.
    return float(torch.stack([(a - b).abs().max() for a, b in zip(found, expected)]).max())


@lru_cache(maxsize=64)
def tell(message: str) -> None:
    """Warn, of the same thing once."""
    warnings.warn(message, RuntimeWarning, stacklevel=3)
