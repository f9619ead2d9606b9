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

from benchmarks.kernels.epochs import VOCABULARY, load, trained
from benchmarks.kernels.instances import stacked, whole_off
from benchmarks.kernels.parameters import beside_float64
from treemean.grammars.nan_policy import in_float64
from treemean.grammars.rank import torch as rank_torch
from treemean.grammars.rank import triton
from treemean.grammars.rank.grammar import LowRankGrammar
from treemean.grammars.rank.triton.parameters import rank_rules
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
    assert isinstance(precise, LowRankGrammar)
    named = stacked(grammar.named_parameters())
    with torch.no_grad():
        expected = rank_torch.log_partition(precise.rules(words))
        rules = rank_rules(named, words[None], grammar.config)
        exact_rules = rank_rules(named, words[None], grammar.config, dtype=torch.float32)
        off = triton.log_partition(rules).double()[0] - expected
        by_rules = rank_torch.log_partition(next(rules.unstack()).double()) - expected
        by_inside = triton.log_partition(exact_rules).double()[0] - expected
    row = {
        "value": float(expected.mean()),
        "largest": float(off.abs().max()),
        "mean": float(off.mean()),
        "rules": float(by_rules.abs().max()),
        "inside": float(by_inside.abs().max()),
    }
    if words.shape[1] == WITH_GRADIENTS:
        row["gradients"] = whole_off(*beside_float64(grammar, words)[1:])
    return row
