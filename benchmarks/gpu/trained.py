"""How exact are kernels for a grammar that has learnt something?

Rounding averages out where choices are even, as in the beginning, but not where few rules decide. So this
trains TN-LCFRS on the Dutch text for some seconds, and compares log Z and its gradient with float64.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

from gpu.epochs import VOCABULARY, load, trained
from treemean.grammars.fused import rank_rules
from treemean.grammars.inside import rank_torch, triton
from treemean.grammars.inside.rules import RankRules
from treemean.grammars.low_rank import LowRankGrammar
from treemean.grammars.precision import in_float64
from treemean.training.gpu import StackedLearner
from treemean.training.single import initial_grammar

LENGTHS = (5, 10, 20, 30, 40)
#: For how many words gradients are compared, too; float64 takes much memory for them.
WITH_GRADIENTS = 20


def measure(data: Path, *, seconds: float = 20.0, sentences: int = 8) -> dict[str, Any] | None:
    """Train, then tell for sentences of several lengths how far off log Z is, and because of what.

    Returns None if the prepared corpus is not at hand.
    """
    config, corpus = load(data)
    if corpus is None:
        return None
    learner = StackedLearner([initial_grammar(config, VOCABULARY)], [config])
    learner.prepare(corpus.train.lengths.tolist())
    rate = trained(learner, config, corpus, seconds)
    grammar = learner.grammars[0]
    assert isinstance(grammar, LowRankGrammar)
    rows = []
    for n in LENGTHS:
        places = np.flatnonzero(corpus.train.lengths == n)[:sentences]
        row = errors(grammar, corpus.train.batch(places)[0].cuda())
        print(
            f"  {n:2d} words, {rate * seconds:,.0f} sentences learnt: log Z {row['value']:.1f}, off by at "
            f"most {row['largest']:.1e}, on average {row['mean']:+.1e} nats; rules alone {row['rules']:.1e}, "
            f"inside alone {row['inside']:.1e}"
            + (f"; gradient {row['gradients']:.1e} of its norm" if "gradients" in row else ""),
            flush=True,
        )
        rows.append({"n": n, "sentences": len(places), **row})
    return {"learnt": round(rate * seconds), "lengths": rows}


def errors(grammar: LowRankGrammar, words: Tensor) -> dict[str, float]:
    """Return by how many nats log Z is off; by the rules alone, and by the inside algorithm alone."""
    precise = in_float64(grammar)
    named = {name: parameter.detach()[None] for name, parameter in grammar.named_parameters()}
    with torch.no_grad():
        expected = rank_torch.log_partition(precise.rules(words))
        rules = rank_rules(named, words[None], grammar.config)
        exact_rules = rank_rules(named, words[None], grammar.config, dtype=torch.float32)
        off = triton.log_partition(rules).double()[0] - expected
        by_rules = rank_torch.log_partition(_first(rules)) - expected
        by_inside = triton.log_partition(exact_rules).double()[0] - expected
    row = {
        "value": float(expected.mean()),
        "largest": float(off.abs().max()),
        "mean": float(off.mean()),
        "rules": float(by_rules.abs().max()),
        "inside": float(by_inside.abs().max()),
    }
    if words.shape[1] == WITH_GRADIENTS:
        row["gradients"] = _gradients_off(grammar, precise, words)
    return row


def _first(rules: RankRules) -> RankRules:
    """Return the rules of the first of several runs, in float64."""
    names = ("views", "scales", "continuous", "discontinuous", "root")
    return RankRules(
        **{name: getattr(rules, name)[0].double() for name in names}, ranks=rules.ranks, floor=rules.floor
    )


def _gradients_off(grammar: LowRankGrammar, precise: torch.nn.Module, words: Tensor) -> float:
    named = {name: p.detach()[None].requires_grad_() for name, p in grammar.named_parameters()}
    value = triton.log_partition(rank_rules(named, words[None], grammar.config)).mean()
    found = torch.autograd.grad(value, list(named.values()))
    assert isinstance(precise, LowRankGrammar)
    parameters = list(precise.parameters())
    expected = torch.autograd.grad(rank_torch.log_partition(precise.rules(words)).mean(), parameters)
    apart = sum(float((a[0].double() - b).square().sum()) for a, b in zip(found, expected))
    return float((apart / sum(float(b.square().sum()) for b in expected)) ** 0.5)
