"""Grammars of published sizes with random parameters, and how far what they give is from float64."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import torch
from torch import Tensor

from treemean.grammars import Grammar, GrammarConfig, build_grammar
from treemean.grammars.charts.weights import SpanWeights
from treemean.grammars.rank.grammar import LowRankGrammar

VOCABULARY = 10_000
#: The parts of rules in rank space by which log Z is differentiated.
TENSORS = ("views", "continuous", "discontinuous", "root")

#: How far log Z of a sentence may be off in nats, and gradients, relative to their norm.
LARGEST_DIFFERENCE = 1e-3


def make_grammar(kind: str, seed: int = 0, floor: float = 0.0) -> Grammar:
    torch.manual_seed(seed)
    return build_grammar(GrammarConfig(kind, floor=floor), VOCABULARY).cuda()


def make_rank_grammar(kind: str, sharpness: float = 1.0, seed: int = 0, floor: float = 0.0) -> LowRankGrammar:
    """Return a grammar in rank space, its choices more decided if sharp."""
    grammar = make_grammar(kind, seed, floor)
    assert isinstance(grammar, LowRankGrammar)
    sharpen(grammar.named_parameters(), sharpness)
    return grammar


@torch.no_grad()
def sharpen(named: Iterable[tuple[str, Tensor]], sharpness: float) -> None:
    for name, parameter in named:
        if name.startswith("rank") or name == "words":
            parameter *= sharpness


def random_parameters(runs: int, sharpness: float = 1.0) -> dict[str, Tensor]:
    """Return the parameters of several runs of TN-LCFRS, stacked."""
    torch.manual_seed(0)
    config = GrammarConfig("tn-lcfrs")
    grammars = [dict(build_grammar(config, VOCABULARY).named_parameters()) for _ in range(runs)]
    named = {name: torch.stack([g[name].detach() for g in grammars]).cuda() for name in grammars[0]}
    sharpen(named.items(), sharpness)
    return named


def random_words(*shape: int) -> Tensor:
    return torch.randint(0, VOCABULARY, shape, device="cuda")


def span_weights(sentences: int, n: int, device: str = "cuda") -> SpanWeights:
    """Return weights of the spans that begin a sentence, of the shortest ones with a gap, and of other gaps.

    >>> span_weights(1, 5, "cpu").spans.tolist()
    [[0, 2, 2, 2], [0, 3, 3, 3], [0, 4, 4, 4], [0, 1, 2, 3], [1, 2, 3, 4], [2, 3, 4, 5]]
    """
    spans = [(0, j, j, j) for j in range(2, n)] + [(i, i + 1, i + 2, i + 3) for i in range(n - 2)]
    every = torch.tensor(spans, device=device).view(-1, 4).repeat(sentences, 1)
    owners = torch.arange(sentences, device=device).repeat_interleave(len(spans))
    logarithms = torch.linspace(-1, 3, len(every), device=device)
    return SpanWeights(owners, every, logarithms, torch.linspace(-3, 1, sentences, device=device))


def stacked(named: Iterable[tuple[str, Tensor]]) -> dict[str, Tensor]:
    """Return the parameters of one run as those of a stack of runs, for gradients by them."""
    return {name: parameter.detach()[None].requires_grad_() for name, parameter in named}


def gradients_of(total: Tensor, leaves: Iterable[Tensor]) -> tuple[Tensor, ...]:
    """Return the gradients by all leaves, those that have no influence included."""
    return torch.autograd.grad(total, list(leaves), allow_unused=True, materialize_grads=True)


def largest(errors: Iterable[float]) -> float:
    """Return the largest error; NaN is larger than any other, which `max` would pass over.

    >>> largest([1e-4, float("nan"), 2.0])
    nan
    """
    return float(torch.tensor(list(errors), dtype=torch.float64).max())


def off(found: Tensor, expected: Tensor) -> float:
    """Return the difference from float64, relative to the norm of what is expected."""
    return float((found.double() - expected).norm() / expected.norm().clamp(min=1e-30))


def whole_off(found: Sequence[Tensor], expected: Sequence[Tensor]) -> float:
    """Return the difference of a whole gradient, likewise."""
    return off(*(torch.cat([part.double().flatten() for part in parts]) for parts in (found, expected)))
