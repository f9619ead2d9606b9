"""What a trained TN-LCFRS makes of gaps, measured on development sentences; and what runs have in common.

Everything here but scores and recall is known without gold trees.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from treemean.errors import NumericalError
from treemean.evaluation.alignment import align
from treemean.evaluation.protocols import get_protocol
from treemean.grammars import Careful, Grammar, assemble_grammar, build_grammar
from treemean.grammars.rank.grammar import LowRankGrammar
from treemean.parsing.batches import cut_for
from treemean.training.corpus import Corpus, Data
from treemean.training.development import decode, evaluated
from treemean.training.sections import TrainingConfig
from treemean.trees import Treebank, bitsets

#: Discontinuous constituents of a treebank: the number of the sentence and the bit mask of the words.
Gapped = set[tuple[int, int]]


@dataclass(frozen=True)
class GapSets:
    """The discontinuous constituents of a run's trees, and the gold ones of two parts, each set once."""

    proposed: Gapped
    gold: Gapped


def measure_gaps(
    grammar: Grammar, data: Data, config: TrainingConfig, *, likelihoods: bool = True
) -> tuple[dict[str, Any], GapSets, Treebank]:
    """Return scores and what is known of gaps, by name; the discontinuous constituents and the trees.

    Likelihoods are those of the grammar without weights of gaps. What only TN-LCFRS has is NaN for others,
    and so is what takes more than the trees, unless likelihoods are asked for.
    """
    told, corpus = decode(grammar, data), data.development
    assert told.trees is not None
    scores, found = evaluated(told.trees, data, config), find_gaps(told.trees, data, config)
    words = int(corpus.lengths[corpus.lengths > 1].sum())
    weighed = isinstance(grammar, LowRankGrammar) and grammar.config.weighs_gaps
    nats = math.nan if weighed else -told.log_likelihood / words
    nats_without_gaps = divergence = expected = math.nan
    if likelihoods:
        expected = expected_gaps(grammar, corpus) / len(corpus)
        if isinstance(grammar, LowRankGrammar) and grammar.config.has_gaps:
            if weighed:
                nats = -log_likelihood(without_weights(grammar), corpus) / words
            nats_without_gaps = -log_likelihood(without_gaps(grammar), corpus) / words
            divergence = mean_divergence(gapped_choices(grammar))
    numbers = {
        "f1": scores.overall.f1,
        "f1_continuous": scores.continuous.f1,
        "f1_discontinuous": scores.discontinuous.f1,
        "recall": recall([found]),
        "nats": nats,
        "nats_without_gaps": nats_without_gaps,
        "expected": expected,
        "proposed": len(found.proposed) / len(corpus),
        "shorter_part": mean_shorter_part(found.proposed),
        "divergence": divergence,
    }
    return numbers, found, told.trees


def find_gaps(trees: Treebank, data: Data, config: TrainingConfig) -> GapSets:
    """Return the discontinuous constituents of development and gold trees, punctuation removed."""
    assert data.gold is not None
    punctuation: Any = frozenset() if config.data.punctuation == "keep" else config.data.punctuation
    pair = align(
        trees, data.gold, get_protocol("paper"), max_length=config.data.max_length, punctuation=punctuation
    )
    gold = {(number, mask) for number, mask in discontinuous(pair.gold) if bitsets.fan_out_of(mask) == 2}
    return GapSets(discontinuous(pair.predicted), gold)


def discontinuous(trees: Treebank) -> Gapped:
    """Return the discontinuous constituents of all trees."""
    return {
        (number, constituent.mask)
        for number, tree in enumerate(trees)
        for constituent in tree.constituents
        if bitsets.fan_out_of(constituent.mask) > 1
    }


def recall(runs: Sequence[GapSets]) -> float:
    """Return how many of the gold constituents some of the runs has, in percent; 0 if there are none.

    >>> gold = {(0, 0b101), (1, 0b1011)}
    >>> recall([GapSets({(0, 0b101)}, gold), GapSets({(1, 0b101)}, gold)])
    50.0
    """
    gold = runs[0].gold
    return 100.0 * len(gold & set().union(*(run.proposed for run in runs))) / max(len(gold), 1)


def mean_shorter_part(proposed: Gapped) -> float:
    """Return the mean number of words in the shortest part of what has gaps, 0 if nothing has.

    >>> mean_shorter_part({(0, 0b1011), (0, 0b110011)})
    1.5
    """
    shortest = [min(end - start for start, end in bitsets.spans_of(mask)) for _, mask in proposed]
    return float(np.mean(shortest)) if shortest else 0.0


def agreement(first: Gapped, second: Gapped) -> float:
    """Return the F1, in percent, of the discontinuous constituents of two runs; 0 if neither has any."""
    return 200.0 * len(first & second) / max(len(first) + len(second), 1)


# ---- of a grammar -------------------------------------------------------------------------------


def without_weights(grammar: LowRankGrammar) -> Grammar:
    """Return the grammar whose derivations have their probabilities, whatever weights of gaps it has."""
    plain = grammar.config.replace(wrapping=1.0, wrapped_words=1.0, root_wrapping=1.0)
    return assemble_grammar(plain, grammar.vocabulary_size, grammar.state_dict()).eval()


def without_gaps(grammar: LowRankGrammar) -> Grammar:
    """Return the TN-PCFG that is left of a TN-LCFRS if nothing is wrapped: its rules, normalised again."""
    config = grammar.config
    plain = config.replace(
        kind="tn-pcfg",
        discontinuous=0,
        ranks=(config.ranks[0], 0, 0, 0),
        wrapping=1.0,
        wrapped_words=1.0,
        root_wrapping=1.0,
        gap_share=0.0,
    )
    with torch.device("meta"):
        names = set(build_grammar(plain, grammar.vocabulary_size).state_dict())
    tensors = {name: tensor for name, tensor in grammar.state_dict().items() if name in names}
    return assemble_grammar(plain, grammar.vocabulary_size, tensors).eval()


@torch.no_grad()
def log_likelihood(grammar: Grammar, corpus: Corpus) -> float:
    """Return the log-likelihood of all sentences of two words or more."""
    return _sum_of_batches(grammar, corpus, _log_likelihood)


@torch.no_grad()
def expected_gaps(grammar: Grammar, corpus: Corpus) -> float:
    """Return the expected number of discontinuous constituents in the trees of all sentences."""
    return _sum_of_batches(grammar, corpus, _expected_gaps)


def _log_likelihood(grammar: Grammar, words: Tensor, lengths: Tensor | None) -> float:
    value = float(grammar.log_prob(words, lengths).double().sum())
    if not math.isfinite(value):
        raise NumericalError("the likelihood of some sentences is NaN or infinite")
    return value


def _expected_gaps(grammar: Grammar, words: Tensor, lengths: Tensor | None) -> float:
    spans = grammar.posteriors(words, lengths)
    spans.check_finite()
    return sum(float(chart.double().sum()) for chart in spans.discontinuous.values())


def _sum_of_batches(grammar: Grammar, corpus: Corpus, task: Callable[..., float]) -> float:
    """Return the sum over batches; what is not finite is computed again in float64."""
    device, careful, total = next(grammar.parameters()).device, Careful(grammar), 0.0
    for places in cut_for(grammar, corpus.lengths):
        words, lengths = (None if part is None else part.to(device) for part in corpus.batch(places))
        assert words is not None
        total += careful.compute(len(words), partial(task, words=words, lengths=lengths))
    return total


@torch.no_grad()
def gapped_choices(grammar: LowRankGrammar) -> Tensor:
    """Return (D, r3 + r4): how each discontinuous symbol chooses its rank."""
    ranks = torch.cat([grammar.rank3, grammar.rank4], 1)
    return (grammar.gapped_parent(grammar.gapped_symbols) @ ranks).double().softmax(-1)


def mean_divergence(choices: Tensor) -> float:
    """Return the mean Jensen-Shannon divergence of all pairs of rows, in nats: 0 if all are the same.

    >>> round(mean_divergence(torch.eye(3)), 4)  # nothing in common: log 2
    0.6931
    """
    count = len(choices)
    entropy = -torch.special.xlogy(choices, choices).sum(-1)
    total = 0.0
    for place in range(count - 1):
        mixed = (choices[place] + choices[place + 1 :]) / 2
        joint = -torch.special.xlogy(mixed, mixed).sum(-1)
        total += float((joint - (entropy[place] + entropy[place + 1 :]) / 2).sum())
    return total / max(count * (count - 1) / 2, 1)


# ---- statistics ---------------------------------------------------------------------------------


def rank_correlation(first: Sequence[float], second: Sequence[float]) -> float | None:
    """Return Spearman's rank correlation, ties with mean ranks; None if one of the two is constant.

    >>> round(rank_correlation([1, 2, 3, 4], [10, 20, 20, 40]), 4)
    0.9487
    """
    a, b = _ranks(first), _ranks(second)
    if np.ptp(a) == 0 or np.ptp(b) == 0:
        return None
    return float(np.corrcoef(a, b)[0, 1])


def _ranks(values: Sequence[float]) -> NDArray[np.float64]:
    given = np.asarray(values, dtype=np.float64)
    below = (given[:, None] > given).sum(1)
    same = (given[:, None] == given).sum(1)
    return below + (same + 1) / 2
