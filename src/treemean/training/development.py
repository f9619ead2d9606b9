"""Measuring a grammar on the development set."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from functools import partial
from typing import Any

import torch
from torch import Tensor

from treemean.errors import NumericalError
from treemean.evaluation import Evaluation, evaluate
from treemean.grammars import Careful, Grammar
from treemean.grammars.grammar import Masks
from treemean.grammars.memory import told_if_too_little
from treemean.names import EpochRule
from treemean.parsing.batches import cut_for
from treemean.parsing.parse import LABEL
from treemean.training.corpus import Data
from treemean.training.sections import TrainingConfig
from treemean.trees import Constituent, Tree, Treebank

#: What C- models draw while they are measured is the same every time.
_SEED = 0
_LESS = "These are development sentences; leave out long ones (data.max_length)"


@dataclass(frozen=True)
class DevelopmentScores:
    """What a grammar is worth on the development set.

    Parameters
    ----------
    log_likelihood : of the words of all sentences of two words or more, in nats; for C- models its lower
        bound with one sentence vector drawn for each sentence, always the same.
    words, sentences : how many that is.
    f1, f1_continuous, f1_discontinuous : of the trees of smallest expected error, in percent, under the
        protocol `paper`; None where there are no gold trees.
    again : sentences computed once more in float64, because charts of their batch overflowed.
    """

    log_likelihood: float
    words: int
    sentences: int
    f1: float | None = None
    f1_continuous: float | None = None
    f1_discontinuous: float | None = None
    again: int = 0

    @property
    def perplexity(self) -> float:
        """Of a word."""
        return perplexity(-self.log_likelihood, self.words)

    def value(self, select: EpochRule) -> float:
        """Return the number by which models are selected; higher is better, NaN is worst."""
        value = self.f1 if select == "f1" else self.log_likelihood / self.words
        assert value is not None  # without gold trees, no run by F1 begins
        return value if math.isfinite(value) else -math.inf

    def to_dict(self) -> dict[str, Any]:
        """Return everything, perplexity included, as JSON-ready data."""
        return asdict(self) | {"perplexity": self.perplexity}


def perplexity(nats: float, words: int) -> float:
    """Return the perplexity per word of a negative log-likelihood; infinite rather than too large.

    >>> round(perplexity(math.log(8) * 2, 2), 6)
    8.0
    """
    return math.exp(nats / words) if nats / words < 700 else math.inf


@dataclass(frozen=True)
class Decoded:
    """What a grammar says about the development set: its log-likelihood, and trees where gold ones are.

    `again` counts the sentences that were computed once more in float64.
    """

    log_likelihood: float
    trees: Treebank | None
    again: int


def measure(grammar: Grammar, data: Data, config: TrainingConfig) -> DevelopmentScores:
    """Compute likelihood, and F1 where there are gold trees, on the development set.

    Raises `NumericalError` if something is not finite in float64 either: the parameters are broken.
    """
    found = decode(grammar, data)
    counted = data.development.lengths[data.development.lengths > 1]
    size = int(counted.sum()), len(counted)
    if found.trees is None:
        return DevelopmentScores(found.log_likelihood, *size, again=found.again)
    scores = evaluated(found.trees, data, config)
    f1 = (scores.overall.f1, scores.continuous.f1, scores.discontinuous.f1)
    return DevelopmentScores(found.log_likelihood, *size, *f1, again=found.again)


@torch.no_grad()
def decode(grammar: Grammar, data: Data) -> Decoded:
    """Compute the log-likelihood of the development set and, where there are gold trees, parse it."""
    corpus = data.development
    device = next(grammar.parameters()).device
    generator = torch.Generator(device).manual_seed(_SEED)
    careful = Careful(grammar)
    total = 0.0
    trees: list[Masks] = [[] for _ in range(len(corpus))]
    for places in cut_for(grammar, corpus.lengths):
        words, lengths = (None if part is None else part.to(device) for part in corpus.batch(places))
        assert words is not None
        task = partial(
            _measured, words=words, lengths=lengths, generator=generator, decoded=data.gold is not None
        )
        with told_if_too_little(len(words), words.shape[1], _LESS):
            log_likelihood, found = careful.compute(len(words), task)
        total += log_likelihood
        for place, masks in zip(places.tolist(), found):  # none without gold
            trees[place] = masks
    if data.gold is None:
        return Decoded(total, None, careful.again)
    predicted = Treebank.from_trees(
        Tree(words, [Constituent(mask, LABEL) for mask in masks or [(1 << len(words)) - 1]])
        for words, masks in zip(data.kept, trees, strict=True)
    )
    return Decoded(total, predicted, careful.again)


def evaluated(trees: Treebank, data: Data, config: TrainingConfig) -> Evaluation:
    """Return how trees of the development set compare with the gold ones, under the protocol `paper`."""
    assert data.gold is not None
    punctuation: Any = frozenset() if config.data.punctuation == "keep" else config.data.punctuation
    return evaluate(trees, data.gold, "paper", max_length=config.data.max_length, punctuation=punctuation)


def _measured(
    grammar: Grammar, *, words: Tensor, lengths: Tensor | None, generator: torch.Generator, decoded: bool
) -> tuple[float, list[Masks]]:
    """Return the log-likelihood of a batch and, if wished, its trees; raise `NumericalError` on overflow."""
    if decoded and not grammar.config.is_compound:
        log_probs, trees = grammar.log_prob_and_mbr(words, lengths)
    else:
        loss = grammar.loss(words, lengths, generator=generator)
        log_probs = -(loss.negative_log_likelihood + loss.divergence)
        trees = grammar.mbr(words, lengths) if decoded else []
    log_likelihood = float(log_probs.double().sum())
    if not math.isfinite(log_likelihood):
        raise NumericalError("the likelihood of the development sentences is NaN or infinite")
    return log_likelihood, trees
