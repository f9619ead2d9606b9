"""Kernels in rank space with weights of spans, against the definition in float64."""

from __future__ import annotations

import pytest
import torch
from kernel_checks import assert_same_gradients, differentiate, moved
from torch import Tensor

from grammar_instances import random_rank_rules, random_span_weights
from treemean.grammars import GrammarConfig, build_grammar
from treemean.grammars.charts.weights import SpanWeights
from treemean.grammars.rank import naive
from treemean.grammars.rank import torch as vectorised
from treemean.grammars.rank import triton as kernels
from treemean.grammars.rank.rules import RankRules, Ranks
from treemean.training.gpu.objective import FusedObjective, objective_of

pytestmark = pytest.mark.usefixtures("poisoned")

GAPS, NO_GAPS = Ranks(5, 2, 3, 1), Ranks(5)
#: Tensor cores keep ten binary digits of an operand.
TOLERANCE = 1e-3
CASES = {
    "two words": (2, 1, GAPS, 0.0, None),
    "three words": (3, 1, GAPS, 0.0, None),
    "four words": (4, 2, GAPS, 0.0, None),
    "several lengths": (4, 3, GAPS, 0.0, [4, 3, 1]),
    "floor": (4, 2, GAPS, 1e-2, [4, 3]),
    "no gaps": (6, 2, NO_GAPS, 0.0, [6, 4]),
    "six words": (6, 2, GAPS, 0.0, [6, 5]),
}
SLOW = {"six words"}


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=[pytest.mark.slow] * (name in SLOW)) for name in CASES]
)
def test_values_and_gradients_are_those_of_the_definition(name: str, device: str) -> None:
    n, batch, ranks, floor, given = CASES[name]
    rules = random_rank_rules(batch, n, ranks, seed=n, sharp=2.0, floor=floor)
    lengths = torch.tensor([n] * batch if given is None else given)
    check(
        rules, lengths, None if given is None else lengths, random_span_weights(n + 1, batch, n, 2.0), device
    )


def test_runs_have_weights_of_their_own(device: str) -> None:
    first, second = (random_rank_rules(2, 3, GAPS, seed=seed, sharp=2.0).stack() for seed in (1, 2))
    names = ("views", "scales", "continuous", "discontinuous", "root")
    both = {name: torch.cat([getattr(first, name), getattr(second, name)]) for name in names}
    check(RankRules(**both, ranks=GAPS), torch.full((2, 2), 3), None, random_span_weights(5, 4, 3), device)


def check(rules: RankRules, lengths: Tensor, given: Tensor | None, weights: SpanWeights, device: str) -> None:
    expected, wanted = differentiate(
        lambda rules, _: naive.log_partition(rules, lengths, weights), rules, lengths
    )
    on_device = weights.to(torch.empty(0, device=device))
    value, gradients = differentiate(
        lambda rules, _: kernels.log_partition(rules, None if given is None else given.to(device), on_device),
        moved(rules, device, torch.float32),
        given,
    )
    torch.testing.assert_close(value, expected, rtol=0, atol=TOLERANCE)
    assert_same_gradients(gradients, wanted, TOLERANCE)
    plain, _ = differentiate(lambda rules, _: vectorised.log_partition(rules, lengths), rules, lengths)
    known = expected.isfinite() & (lengths > 2)
    assert ((expected - plain).abs() > 0.01)[known].any() == known.any()  # weights do count


def test_no_weights_are_as_none(device: str) -> None:
    rules = moved(random_rank_rules(2, 4, GAPS, seed=3), device, torch.float32)
    nothing = SpanWeights(
        *(torch.zeros(0, *size, dtype=torch.int64, device=device) for size in ((), (4,))),
        torch.zeros(0, device=device),
    )
    assert torch.equal(kernels.log_partition(rules, None, nothing), kernels.log_partition(rules))


def test_grammars_by_kernels_take_weights(device: str) -> None:
    """One alone, and two that learn together."""
    torch.manual_seed(1)
    config = GrammarConfig("tn-lcfrs", 3, 5, 2, ranks=(4, 2, 3, 2), embedding=19, backend="triton")
    grammars = [build_grammar(config, 6).to(device) for _ in range(2)]
    words = torch.tensor([[[0, 3, 1, 4]], [[2, 1, 5, 3]]], device=device)
    weights, own = random_span_weights(1, 2, 4), []
    for run, grammar in enumerate(grammars):
        alone = weights.chosen(torch.tensor([run]))
        own.append(grammar.loss(words[run], weights=alone).negative_log_likelihood)
        grammar.config = config.replace(backend="torch")
        by_torch = grammar.loss(words[run], weights=alone).negative_log_likelihood
        torch.testing.assert_close(own[run], by_torch, rtol=0, atol=TOLERANCE)
        grammar.config = config
    names = [name for name, _ in grammars[0].named_parameters()]
    stacked = [torch.stack(same) for same in zip(*(grammar.parameters() for grammar in grammars))]
    objective = objective_of(grammars, dict(zip(names, stacked)))
    assert isinstance(objective, FusedObjective)
    together = objective.loss(words, None, weights=weights).negative_log_likelihood
    torch.testing.assert_close(together, torch.stack(own), rtol=0, atol=TOLERANCE)
