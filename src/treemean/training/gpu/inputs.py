"""What a step of several runs is computed from: the batches of all of them, as tensors of fixed shapes."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, fields

import torch
from torch import Tensor

from treemean.grammars.charts.weights import SpanWeights
from treemean.training.learner import Request


@dataclass(frozen=True)
class Inputs:
    """The batches of E runs, filled up to B sentences of n words.

    Parameters
    ----------
    words : int64 (E, B, n).
    lengths : int64 (E, B), None if all sentences have n words.
    weights : (E, B), one over the size of the batch for its sentences, 0 for what only fills it up.
    numbers : float64 (E, 3), for each run the rate, the limit and the number of words of its `Request`.
    spans, logarithms, others : int64 (E, B, S, 4), (E, B, S) and (E, B), of guides; see `SpanWeights`. S is
        the number of constituents that a tree over n words can have, words and the whole apart.
    """

    words: Tensor
    lengths: Tensor | None
    weights: Tensor
    numbers: Tensor
    spans: Tensor | None = None
    logarithms: Tensor | None = None
    others: Tensor | None = None

    @property
    def key(self) -> tuple[int, bool]:
        """What steps that can be computed alike have in common, given E and B."""
        return self.words.shape[2], self.lengths is not None

    def part(self, sentences: slice) -> Inputs:
        """Return some sentences of every run."""
        return Inputs(
            *(
                x if x is None or x is self.numbers else x[:, sentences]  # numbers are of runs
                for x in self._tensors()
            )  # type: ignore[arg-type]
        )

    def span_weights(self) -> SpanWeights | None:
        """Return the weights of spans; sentences are numbered one run after the other."""
        if self.spans is None or self.logarithms is None or self.others is None:
            return None
        runs, batch, slots = self.logarithms.shape
        sentences = torch.arange(runs * batch, device=self.spans.device)[:, None].expand(-1, slots)
        spans, logarithms = self.spans.flatten(0, 2), self.logarithms.flatten()
        return SpanWeights(sentences.flatten(), spans, logarithms, self.others.flatten())

    def to(self, device: torch.device) -> Inputs:
        """Return the same on a device."""
        return Inputs(*(None if x is None else x.to(device) for x in self._tensors()))  # type: ignore[arg-type]

    def copy_from(self, other: Inputs) -> None:
        """Take over the numbers of inputs on the CPU, without waiting for the device."""
        for mine, given in zip(self._tensors(), other._tensors(), strict=True):
            if mine is not None and given is not None:
                mine.copy_(given.pin_memory(), non_blocking=True)

    def _tensors(self) -> list[Tensor | None]:
        return [getattr(self, entry.name) for entry in fields(self)]


def stack_requests(requests: Mapping[int, Request], runs: int, size: int) -> Inputs:
    """Bring the requests of some runs together.

    Parameters
    ----------
    requests : by the place of the run, from 0. Runs without a request get sentences of zeros and a limit that
        nothing keeps to, so that they learn nothing.
    runs : E.
    size : B, the sentences of the largest batch.

    A batch that is too small is filled up with copies of its first sentence, which weigh nothing. Batches of
    different lengths are padded to the longest.
    """
    n = max(request.words.shape[1] for request in requests.values())
    words = torch.zeros(runs, size, n, dtype=torch.int64)
    lengths = torch.full((runs, size), n)
    weights = torch.zeros(runs, size)
    numbers = torch.tensor([[0.0, -math.inf, 1.0]] * runs, dtype=torch.float64)
    mixed, guides = False, None
    if any(request.weights is not None for request in requests.values()):
        slots = max(n - 2, 1)
        guides = (
            torch.zeros(runs, size, slots, 4, dtype=torch.int64),
            torch.zeros(runs, size, slots, dtype=torch.float64),
            torch.zeros(runs, size, dtype=torch.float64),
        )
    for run, request in requests.items():
        count, width = request.words.shape
        own = torch.full((count,), width) if request.lengths is None else request.lengths
        mixed = mixed or request.lengths is not None or width < n
        words[run, :count, :width], words[run, count:, :width] = request.words, request.words[0]
        lengths[run, :count], lengths[run, count:] = own, own[0]
        weights[run, :count] = 1 / count
        numbers[run] = torch.tensor([request.rate, request.limit, request.count], dtype=torch.float64)
        if guides is not None and request.weights is not None:
            spans, logarithms, others = guides
            sentence, slot, order = _slots_of(request.weights)
            spans[run, sentence, slot] = request.weights.spans[order]
            logarithms[run, sentence, slot] = request.weights.logarithms[order]
            if request.weights.others is not None:
                others[run, :count] = request.weights.others
    return Inputs(words, lengths if mixed else None, weights, numbers, *(guides or ()))


def _slots_of(weights: SpanWeights) -> tuple[Tensor, Tensor, Tensor]:
    """Return entries sentence by sentence: whose they are, their number in it, and where they were.

    >>> _slots_of(SpanWeights(torch.tensor([1, 0, 1]), torch.zeros(3, 4), torch.zeros(3)))
    (tensor([0, 1, 1]), tensor([0, 0, 1]), tensor([1, 0, 2]))
    """
    sentences, order = weights.sentences.sort(stable=True)
    return sentences, torch.arange(len(order)) - torch.searchsorted(sentences, sentences), order


def blank_inputs(runs: int, size: int, n: int, *, mixed: bool, guided: bool, device: torch.device) -> Inputs:
    """Return inputs of sentences of zeros from which nothing is learnt."""
    nothing = torch.zeros(0, dtype=torch.int64)
    nobody = Request(
        torch.zeros(1, n, dtype=torch.int64),
        torch.tensor([n]) if mixed else None,
        n,
        0.0,
        -math.inf,
        weights=SpanWeights(nothing, nothing.view(0, 4), nothing.double()) if guided else None,
    )
    return stack_requests({0: nobody}, runs, size).to(device)
