"""The interface of all grammars."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import NamedTuple, Protocol

import torch
from torch import Tensor, nn

from treemean.errors import InvalidOption
from treemean.grammars.charts.weights import SpanWeights
from treemean.grammars.config import GrammarConfig
from treemean.grammars.decoding.choices import Choose, best, sampler
from treemean.grammars.decoding.semirings import MAX, SUM, Semiring
from treemean.grammars.spans import SpanPosteriors
from treemean.trees import bitsets

#: The constituents of a tree as bit masks (bit p is word p), in canonical order, the root first.
Masks = list[int]


class Loss(NamedTuple):
    """What training minimises: the sum of both, each (B,)."""

    negative_log_likelihood: Tensor
    divergence: Tensor


class Walker(Protocol):
    """Reads trees off charts from the top down."""

    def tree(self, sentence: int, length: int, choose: Choose) -> Masks:
        """Return the constituents of several words of one tree of a sentence."""


class TreeModel(nn.Module, ABC):
    """A distribution over sentences and their trees.

    In every method `words` is (B, n), word numbers padded with anything, and `lengths` (B,) says how many
    words each sentence has; without it all have n. The tree of one word has no constituent of several words.

    Parameters
    ----------
    vocabulary_size : words are numbers from 0 to this, exclusive.
    """

    def __init__(self, vocabulary_size: int) -> None:
        super().__init__()
        if vocabulary_size < 1:
            raise InvalidOption(f"a grammar needs a vocabulary of at least one word, not {vocabulary_size}")
        self.vocabulary_size = vocabulary_size

    @abstractmethod
    def log_prob(self, words: Tensor, lengths: Tensor | None = None) -> Tensor:
        """Return the log probability of each sentence, (B,), differentiable.

        For C- grammars this is log p(x | z) with z the mean of its posterior.
        """

    @abstractmethod
    def loss(
        self, words: Tensor, lengths: Tensor | None = None, *, generator: torch.Generator | None = None
    ) -> Loss:
        """Return the training objective of each sentence; C- grammars draw z with `generator`."""

    @abstractmethod
    def posteriors(self, words: Tensor, lengths: Tensor | None = None) -> SpanPosteriors:
        """Return how likely each span is a constituent, given the sentence."""

    @abstractmethod
    def mbr(self, words: Tensor, lengths: Tensor | None = None) -> list[Masks]:
        """Return the binary tree of each sentence that maximises the sum of its spans' posteriors."""

    def log_prob_and_mbr(self, words: Tensor, lengths: Tensor | None = None) -> tuple[Tensor, list[Masks]]:
        """Return what `log_prob` and `mbr` do; on a GPU in less time than both, but not differentiable."""
        with torch.no_grad():
            return self.log_prob(words, lengths), self.mbr(words, lengths)

    @abstractmethod
    def viterbi(self, words: Tensor, lengths: Tensor | None = None) -> list[Masks]:
        """Return the tree of the most probable derivation of each sentence."""

    @abstractmethod
    def sample(
        self,
        words: Tensor,
        lengths: Tensor | None = None,
        *,
        count: int = 1,
        generator: torch.Generator | None = None,
    ) -> list[list[Masks]]:
        """Draw `count` trees of each sentence from the distribution over derivations given the sentence."""

    @abstractmethod
    def entropy(self, words: Tensor, lengths: Tensor | None = None) -> Tensor:
        """Return the entropy (B,), in nats, of the distribution over derivations given the sentence."""


class Grammar(TreeModel):
    """A neural grammar.

    A sentence of one word has no derivation, because the start symbol becomes a symbol with two children: its
    log probability is -inf, with gradient zero. Numbers that are NaN or infinite are returned as they are;
    where trees would have to be made of them, `NumericalError` is raised. `nan_policy` says what comes then.

    Parameters
    ----------
    config : kind and sizes.
    vocabulary_size : number of words.
    """

    def __init__(self, config: GrammarConfig, vocabulary_size: int) -> None:
        super().__init__(vocabulary_size)
        self.config = config

    @abstractmethod
    def loss(
        self,
        words: Tensor,
        lengths: Tensor | None = None,
        *,
        generator: torch.Generator | None = None,
        weights: SpanWeights | None = None,
    ) -> Loss:
        """See `TreeModel.loss`; with weights of spans, trees count for as much more or less as their spans.

        The kernels of TN- grammars know weights. Those of N- and C- grammars do not: a grammar that uses them
        raises `InvalidOption`.
        """

    @abstractmethod
    def _walker(self, words: Tensor, lengths: Tensor, semiring: Semiring) -> Walker:
        """Return what reads derivations off the charts of a batch."""

    @torch.no_grad()
    def viterbi(self, words: Tensor, lengths: Tensor | None = None) -> list[Masks]:
        """See `TreeModel.viterbi`. A derivation names its symbols, and in TN- grammars its ranks."""
        words, lengths = check_batch(words, lengths, self.vocabulary_size)
        walker = self._walker(words, lengths, MAX)
        return [walker.tree(k, length, best) for k, length in enumerate(lengths.tolist())]

    @torch.no_grad()
    def sample(
        self,
        words: Tensor,
        lengths: Tensor | None = None,
        *,
        count: int = 1,
        generator: torch.Generator | None = None,
    ) -> list[list[Masks]]:
        """See `TreeModel.sample`."""
        words, lengths = check_batch(words, lengths, self.vocabulary_size)
        walker = self._walker(words, lengths, SUM)
        choose = sampler(generator)
        return [
            [walker.tree(k, length, choose) for _ in range(count)]
            for k, length in enumerate(lengths.tolist())
        ]


def check_batch(words: Tensor, lengths: Tensor | None, vocabulary_size: int) -> tuple[Tensor, Tensor]:
    """Check a batch and return it with its lengths, padding replaced by word 0.

    Values are looked at on the CPU only: elsewhere that would wait for the device.

    Raises
    ------
    InvalidOption : for shapes that do not fit, lengths outside 1..n, or words outside the vocabulary.
    """
    if words.dim() != 2 or not words.shape[1]:
        raise InvalidOption(
            "words must have the shape (sentences, length), with a length of 1 or more, not "
            f"{tuple(words.shape)}"
        )
    batch, n = words.shape
    if lengths is None:
        lengths = torch.full((batch,), n, device=words.device)
    if lengths.shape != (batch,):
        raise InvalidOption(
            f"lengths must have the shape ({batch},), one for each sentence, not {tuple(lengths.shape)}"
        )
    lengths = lengths.to(words.device)
    real = torch.arange(n, device=words.device) < lengths[:, None]
    words = torch.where(real, words, 0)
    if words.device.type != "cpu":
        return words, lengths
    if len(wrong := lengths[(lengths < 1) | (lengths > n)]):
        raise InvalidOption(f"lengths must be from 1 to {n}, the width of the batch, not {int(wrong[0])}")
    if len(wrong := words[(words < 0) | (words >= vocabulary_size)]):
        raise InvalidOption(
            f"words must be numbers from 0 to {vocabulary_size - 1}, the vocabulary of this grammar, not "
            f"{int(wrong[0])}"
        )
    return words, lengths


def canonical(masks: list[int]) -> Masks:
    """Sort constituents by first word, larger ones first.

    >>> canonical([0b110, 0b011, 0b111])
    [7, 3, 6]
    """
    return sorted(masks, key=lambda mask: (bitsets.first_of(mask), -mask.bit_count(), mask))
